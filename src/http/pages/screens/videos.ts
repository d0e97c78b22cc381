// Screens of the visitor's videos: their list, details, lives, statistics.

import { type Html, html } from '../../../platform/html.ts'
import { known, type Localized, t } from '../../../platform/language.ts'
import { capital, languageName } from '../bodies/text.ts'
import { textAt, valueAt } from './api.ts'
import { form, type ListPart, list, type Screen, type Shown, screen } from './parts.ts'
import {
  captionFields,
  channelsOf,
  chapterLines,
  chapterRules,
  facts,
  is,
  isNot,
  link,
  liveFields,
  ME,
  ofOwn,
  PICTURES,
  picture,
  state,
  videoBody,
  videoFields,
  videoLink,
} from './words.ts'

const CONFIG = 'GET /api/v1/config'
const OFFER = 'POST /api/v1/videos/:id/give-ownership'
export const PROCESSING = 'GET /api/v1/vireo/users/me/videos/processing?count=100'
/** Transcoding, importing, waiting for a live, moving, editing. */
const BUSY_STATES = [2, 3, 6, 7, 9]
/** Only protected videos have any, at most 100. */
const PASSWORDS = 'GET /api/v1/videos/:id/passwords?count=100'
const ownLink = link('/my-library/videos', 'shortUUID', 'name')

/** The state of a video, and what is done with it now; while that is awaited, in place of the state. */
function progressOf(video: unknown, { data }: Shown): Html {
  const works = (valueAt(data.processing, 'data') as unknown[]).filter(is('video.id', valueAt(video, 'id')))
  return html`${(works.length === 0 || is('state.id', 1)(video)) && state('state', BUSY_STATES)(video)}${works.map((work) => {
    const [step, percent] = [known(capital(textAt(work, 'step'))), Math.floor(Number(valueAt(work, 'progress')))]
    return html` <span data-progress>${is('state', 'waiting')(work) ? t('{step}, waiting', { step }) : t('{step}, {percent} %', { step, percent })}</span>`
  })}`
}

/** The video is published, and the configuration allows it. */
const isEditable =
  (key: string) =>
  ({ data: { video, config } }: Shown): boolean =>
    is(key, true)(config) && is('state.id', 1)(video)

const aboutEdition =
  (key: string, disabled: Localized) =>
  ({ data: { video, config } }: Shown): Html =>
    html`<p>${ownLink(video)}: ${state('state', BUSY_STATES)(video)}.</p>
${valueAt(config, key) !== true && html`<p class="soft">${disabled}</p>`}`

const taskFile = (label: Localized, accept: string) => ({
  'tasks[0][options][file]': { label, as: 'file', accept, required: true } as const,
})

export const ownVideos: Omit<ListPart, 'list' | 'operation'> = {
  columns: {
    Title: ownLink,
    Watch: (row) =>
      html`<a href="/w/${textAt(row, 'shortUUID')}" aria-label="${t('Watch {name}', { name: textAt(row, 'name') })}">${t('Watch')}</a>`,
    Privacy: 'privacy',
    State: progressOf,
    Views: 'views',
    Published: 'publishedAt',
  },
  actions: {
    publish: { label: t('Publish'), operation: 'PUT /api/v1/videos/:id', body: () => ({ privacy: 1 }), when: isNot('privacy.id', 1) },
    hide: { label: t('Make private'), operation: 'PUT /api/v1/videos/:id', body: () => ({ privacy: 3 }), when: isNot('privacy.id', 3) },
    delete: { label: t('Delete'), operation: 'DELETE /api/v1/videos/:id', danger: true },
    // One alone is offered on its own screen.
    offer: { label: t('Offer'), operation: OFFER, body: {}, when: () => false },
  },
  inputs: { operation: OFFER, fields: { username: { label: t('Account that gets an offer'), required: false } } },
  empty: t('No videos yet.'),
}

export const videoScreens: readonly Screen[] = [
  screen('/my-library/videos', t('Videos'), { reads: { processing: PROCESSING } }, [
    list('videos', 'GET /api/v1/users/me/videos', { ...ownVideos, filters: { isLive: t('Lives') } }),
  ]),
  screen('/my-library/videos/:id', t('Edit the video'), ofOwn('video', { me: ME, processing: PROCESSING }, { passwords: PASSWORDS }), [
    (shown) => {
      const { video } = shown.data
      const id = textAt(video, 'shortUUID')
      return html`<p><strong><bdi>${textAt(video, 'name')}</bdi></strong>: ${progressOf(video, shown)}. <a href="/w/${id}">${t('Watch')}</a> · <a href="/my-library/videos/${id}/statistics">${t('Statistics')}</a>${is('isLive', true)(video) ? html` · <a href="/my-library/videos/${id}/live">${t('Key and state of the live')}</a>` : html` · <a href="/my-library/videos/${id}/chapters">${t('Chapters')}</a> · <a href="/my-library/videos/${id}/studio">${t('Cut, intro and outro')}</a> · <a href="/my-library/videos/${id}/source">${t('Replace the file')}</a>`}</p>`
    },
    form('details', 'PUT /api/v1/videos/:id', {
      initial: ({ data: { video, passwords } }) => ({
        ...(video as object),
        videoPasswords: [valueAt(passwords, 'data') ?? []].flat().map((one) => textAt(one, 'password')),
        channelId: valueAt(video, 'channel.id'),
        scheduleUpdate: valueAt(video, 'scheduledUpdate'),
      }),
      changesOnly: true,
      fields: (shown) => {
        const own = { [textAt(shown.data.video, 'channel.id')]: textAt(shown.data.video, 'channel.displayName') }
        return { ...videoFields(shown), channelId: { label: t('Channel'), choices: { ...own, ...channelsOf(shown) } } }
      },
      body: videoBody,
    }),
    picture('thumbnail', t('Thumbnail'), 'PUT /api/v1/videos/:id'),
    list('captions', 'GET /api/v1/videos/:videoId/captions', {
      title: t('Captions'),
      id: 'language.id',
      columns: { Language: (row) => languageName(textAt(row, 'language.id')), Automatic: 'automaticallyGenerated', Changed: 'updatedAt' },
      actions: { remove: { label: t('Remove'), operation: 'DELETE /api/v1/videos/:videoId/captions/:captionLanguage' } },
      empty: t('No captions yet.'),
    }),
    form('caption', 'PUT /api/v1/videos/:videoId/captions/:captionLanguage', {
      files: true,
      inPath: ['captionLanguage'],
      fields: () => captionFields({ required: true, none: t('Choose one') }),
      button: t('Add the captions'),
    }),
    form('give', OFFER, {
      title: t('Give it to somebody else'),
      fields: { username: t('Account of this server') },
      button: t('Offer'),
      said: t('The offer waits for an answer.'),
    }),
    form('delete', 'DELETE /api/v1/videos/:id', {
      title: t('Delete the video'),
      button: t('Delete'),
      danger: true,
      text: t('It cannot be brought back.'),
      leadsTo: () => '/my-library/videos',
    }),
  ]),
  screen('/my-library/videos/:id/chapters', t('Chapters'), ofOwn('video', { chapters: 'GET /api/v1/videos/:videoId/chapters' }), [
    ({ data: { video } }) => html`<p>${ownLink(video)}</p>`,
    form('chapters', 'PUT /api/v1/videos/:videoId/chapters', {
      when: isNot('data.video.isLive', true),
      initial: chapterLines.initial,
      fields: chapterLines.fields,
      rules: chapterRules,
      body: (text, _made, shown) => ({ chapters: chapterLines.changed(text, shown) }),
      button: t('Save the chapters'),
    }),
    chapterLines.pages,
  ]),
  screen('/my-library/videos/:id/studio', t('Studio'), ofOwn('video', { config: CONFIG }), [
    aboutEdition('videoStudio.enabled', t('This server does not edit videos.')),
    ...[
      {
        name: 'cut',
        title: t('Cut'),
        fields: {
          'tasks[0][options][start]': { label: t('From, in seconds'), help: t('Empty for the beginning.') },
          'tasks[0][options][end]': { label: t('To, in seconds'), help: t('Empty for the end.') },
        },
        button: t('Cut the video'),
      },
      { name: 'add-intro', title: t('Intro'), fields: taskFile(t('Video'), 'video/*'), button: t('Add the intro') },
      { name: 'add-outro', title: t('Outro'), fields: taskFile(t('Video'), 'video/*'), button: t('Add the outro') },
      { name: 'add-watermark', title: t('Watermark'), fields: taskFile(t('Picture'), PICTURES), button: t('Add the watermark') },
    ].map(({ name, title, fields, button }) => ({
      form: name,
      title,
      operation: 'POST /api/v1/videos/:id/studio/edit',
      files: true,
      when: isEditable('videoStudio.enabled'),
      initial: () => ({ 'tasks[0][name]': name }),
      fields: { 'tasks[0][name]': { label: t('Task'), as: 'hidden' as const }, ...fields },
      button,
      danger: true,
      leadsTo: (_answer: unknown, { values }: Shown) => `/my-library/videos/${values.id}`,
    })),
  ]),
  screen('/my-library/videos/:id/source', t('Replace the file'), ofOwn('video', { config: CONFIG }), [
    aboutEdition('videoFile.update.enabled', t('This server does not replace the files of videos.')),
    form('replace', 'POST /api/v1/videos/:id/source/replace-resumable', {
      files: true,
      pieces: 'POST /api/v1/videos/:id/source/replace-resumable',
      text: () =>
        html`${t('The new file takes the place of the old one when it has arrived. Address, comments and views stay.')}<noscript> ${t('It needs JavaScript.')}</noscript>`,
      when: isEditable('videoFile.update.enabled'),
      fields: { videofile: { label: t('Video'), as: 'file', accept: 'video/*,audio/*', required: true } },
      button: t('Replace'),
    }),
  ]),
  screen('/my-library/videos/:id/live', t('Live'), ofOwn('video', { live: 'GET /api/v1/videos/live/:videoId' }), [
    ({ data: { live, video } }) => html`<p>${ownLink(video)}</p>
<p>${t('In OBS: Settings, Stream, service “Custom”. The key is a secret: who has it streams in your name.')}</p>${facts([
      [t('State'), valueAt(video, 'state')],
      [t('Server'), valueAt(live, 'rtmpUrl')],
      [t('Server, encrypted'), valueAt(live, 'rtmpsUrl')],
      [t('Stream key'), valueAt(live, 'streamKey')],
      [t('Viewers'), valueAt(video, 'viewers')],
    ])}<p data-progress></p>`,
    form('settings', 'PUT /api/v1/videos/live/:videoId', {
      initial: ({ data }) => data.live,
      changesOnly: true,
      fields: liveFields,
    }),
    list('sessions', 'GET /api/v1/videos/live/:videoId/sessions', {
      title: t('Streams'),
      columns: { Begun: 'startDate', Ended: 'endDate', Problem: 'error', Replay: videoLink('replayVideo.') },
      empty: t('No stream yet.'),
    }),
  ]),
  screen(
    '/my-library/videos/:id/statistics',
    t('Statistics'),
    ofOwn('video', {
      overall: 'GET /api/v1/videos/:id/stats/overall',
      viewers: 'GET /api/v1/videos/:id/stats/timeseries/viewers',
      retention: 'GET /api/v1/videos/:id/stats/retention',
    }),
    [
      ({ data: { video, overall, viewers, retention } }) =>
        html`<p><bdi>${textAt(video, 'name')}</bdi></p>${facts([
          [t('Views'), valueAt(video, 'views')],
          [t('Viewers'), valueAt(overall, 'totalViewers')],
          [t('Most at once'), valueAt(overall, 'viewersPeak')],
          [t('Watched, in minutes'), Math.round(Number(valueAt(overall, 'totalWatchTime') ?? 0) / 60)],
          [t('Watched on average, in seconds'), Math.round(Number(valueAt(overall, 'averageWatchTime') ?? 0))],
        ])}${plot(t('Viewers'), valueAt(viewers, 'data'), 'value')}${plot(t('Of 100 viewers still watching'), valueAt(retention, 'data'), 'retentionPercent')}`,
    ],
  ),
]

/** A line over the points of a series. */
function plot(title: Localized, series: unknown, field: string) {
  const values = (Array.isArray(series) ? series : []).map((point) => Number(valueAt(point, field) ?? 0))
  const most = Math.max(1, ...values)
  const [width, height] = [600, 120]
  const points = values.map(
    (value, index) => `${((index * width) / Math.max(1, values.length - 1)).toFixed(1)},${(height - (value * height) / most).toFixed(1)}`,
  )
  return html`<figure><figcaption>${t('{title}, at most {most}', { title, most: Math.round(most) })}</figcaption><svg viewBox="-2 -2 ${width + 4} ${height + 4}" role="img" aria-label="${t('{title}, at most {most}', { title, most: Math.round(most) })}" class="plot"><polyline points="${points.join(' ')}"/></svg></figure>`
}
