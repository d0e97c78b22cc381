// Labels and cells that several screens share.

import { type Chapter, MAX_CHAPTERS, MAX_TITLE } from '../../../actors/chapter/index.ts'
import { isStaff } from '../../../actors/user/index.ts'
import { categoryLabels, languageLabels, licenceLabels, privacyLabels } from '../../../actors/video/index.ts'
import { isMailEnabled } from '../../../config/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { known, type Localized, t } from '../../../platform/language.ts'
import { newChapter } from '../../chapters/routes.ts'
import { HttpError } from '../../plugins/http-error.ts'
import { clock, languageName, shortText } from '../bodies/text.ts'
import { pageOfForm } from '../fields.ts'
import { textAt, valueAt } from './api.ts'
import { type Choices, type FieldWords, momentIn, type Words } from './fields.ts'
import { inOneLine, linesOf } from './lines.ts'
import { plain } from './list-html.ts'
import { type FormPart, form, type ListPart, type Screen, type Shown, type Text } from './parts.ts'

/** The operation that reads the account and the channels of the visitor. */
export const ME = 'GET /api/v1/users/me'
export const PICTURES = 'image/png,image/jpeg,image/webp'

const translated = (labels: Readonly<Record<number, string>>): Choices =>
  Object.fromEntries(Object.entries(labels).map(([name, label]) => [name, known(label)]))

const privacies = translated(privacyLabels)
export const languages = (): Choices => Object.fromEntries(Object.keys(languageLabels).map((code) => [code, languageName(code)]))
const commentPolicies: Choices = { 1: t('Everybody may comment'), 2: t('Nobody may comment'), 3: t('Comments wait for your approval') }
export const playlistPrivacies: Choices = { 1: t('Public'), 2: t('Unlisted'), 3: t('Private') }

export const channelsOf = ({ data }: Shown): Choices => choicesFrom(valueAt(data.me, 'videoChannels'), 'id', 'displayName')

export const choicesFrom = (rows: unknown, id: string, name: string): Choices =>
  Object.fromEntries((Array.isArray(rows) ? rows : []).map((row: unknown) => [textAt(row, id), textAt(row, name)]))

export const picture = (name: 'avatar' | 'banner' | 'thumbnail', title: Localized, operation: string): FormPart =>
  form(name, operation, {
    title,
    files: true,
    fields: { [`${name}file`]: { label: t('File'), as: 'file', accept: PICTURES, required: true } },
    button: t('Use the picture'),
  })

export const videoFields = (shown: Shown): Words => ({
  name: t('Title'),
  channelId: { label: t('Channel'), choices: channelsOf(shown) },
  privacy: { label: t('Who may watch'), choices: privacies },
  videoPasswords: { label: t('Passwords'), as: 'lines', help: t('All that are valid, one in a line.'), required: false },
  description: { label: t('Description'), as: 'long' },
  tags: { label: t('Tags'), as: 'list', help: t('At most five, separated by commas.') },
  language: { label: t('Language'), choices: languages(), byName: true },
  nsfw: { label: t('Sensitive content'), as: 'check' },
  // Plugins may add values to these.
  category: { label: t('Category'), choices: translated(categoryLabels), isRare: true },
  licence: { label: t('Licence'), choices: translated(licenceLabels), isRare: true },
  'scheduleUpdate.updateAt': {
    label: t('Change who may watch at'),
    as: 'moment',
    nullable: true,
    help: t('In UTC. Empty for no schedule.'),
    isRare: true,
  },
  'scheduleUpdate.privacy': { label: t('Who may watch then'), choices: without(privacies, '3', '5'), isRare: true },
  support: { label: t('How viewers can support you'), as: 'long', isRare: true },
  originallyPublishedAt: { label: t('First published elsewhere at'), as: 'moment', isRare: true },
  commentsPolicy: { label: t('Comments'), choices: commentPolicies, isRare: true },
  downloadEnabled: { label: t('Viewers may download it'), as: 'check', isRare: true },
})

/** The body of these fields: a schedule has both of its parts, or is none. */
export function videoBody(text: Text, made: object): object {
  if (!('scheduleUpdate' in made)) return made
  const updateAt = text('scheduleUpdate.updateAt')
  const privacy = text('scheduleUpdate.privacy') || '1'
  return { ...made, scheduleUpdate: updateAt ? { updateAt: momentIn(updateAt), privacy } : null }
}

export const captionFields = (more: Partial<FieldWords> = {}): Words => ({
  captionLanguage: { label: t('Language of the captions'), choices: languages(), byName: true, ...more },
  captionfile: { label: t('File'), as: 'file', accept: '.vtt,.srt', help: t('WebVTT or SubRip.'), ...more },
})

export const liveFields: Words = {
  permanentLive: { label: t('Stream again and again under the same key'), as: 'check' },
  saveReplay: { label: t('Keep each stream as a video'), as: 'check' },
  latencyMode: { label: t('Delay'), choices: { 1: t('Normal'), 2: t('High'), 3: t('Low') } },
}

export const without = (choices: Choices, ...names: string[]): Choices =>
  Object.fromEntries(Object.entries(choices).filter(([name]) => !names.includes(name)))

export const sendsMail = ({ tools }: Shown): boolean => isMailEnabled(tools.config())

export const is =
  (path: string, ...values: unknown[]) =>
  (row: unknown): boolean =>
    values.includes(valueAt(row, path))
export const isNot =
  (...condition: Parameters<typeof is>) =>
  (row: unknown): boolean =>
    !is(...condition)(row)

/** The operations that read what users have, and where their answers have the account. */
const OWN = {
  video: ['GET /api/v1/videos/:id', 'account.id'],
  playlist: ['GET /api/v1/video-playlists/:playlistId', 'ownerAccount.id'],
  channel: ['GET /api/v1/video-channels/:channelHandle', 'ownerAccount.id'],
} as const

/** What the screens of one thing have in common. For others there is no such screen; the staff changes all that is of this server. */
export const ofOwn = (name: keyof typeof OWN, reads: Screen['reads'], readsIfAny: Screen['reads'] = {}): Partial<Screen> => ({
  reads: { [name]: OWN[name][0], ...reads },
  readsIfAny,
  instead: ({ visit, data }) => {
    const isOwn = valueAt(data[name], OWN[name][1]) === visit?.user.accountId
    if (isOwn || (visit && isStaff(visit.user.role) && is('isLocal', true)(data[name]))) return undefined
    throw new HttpError(404, 'It does not exist, or it belongs to somebody else.')
  },
})

/** A text of which a row shows the beginning, until somebody asks for all of it. */
export const readable =
  (path: string) =>
  (row: unknown, { request, query }: Shown): Html => {
    const [text, whole] = [textAt(row, path), textAt(row, 'id')]
    if (shortText(text) === text) return html`<bdi>${text}</bdi>`
    if (query('whole') === whole) return html`<bdi id="${path}-whole">${text}</bdi>`
    return html`<bdi>${shortText(text)}</bdi> <a href="${pageOfForm(request, { whole })}#${path}-whole">${t('Read all of it')}</a>`
  }

/** The name of a row with a link to its page, whose address ends in `id`. */
export const link =
  (address: string, id: string, name: string) =>
  (row: unknown): Html =>
    html`<a href="${address}/${textAt(row, id)}"><bdi>${shortText(textAt(row, name))}</bdi></a>`

/** A link to the page of a video in a row; `prefix` is where the row has it. */
export const videoLink =
  (prefix = '', to: (id: string) => string = (id) => `/w/${id}`) =>
  (row: unknown): Html | null => {
    const at = (name: string) => valueAt(row, `${prefix}${name}`)
    const id = at('shortUUID') ?? at('uuid')
    return id === undefined ? null : html`<a href="${to(String(id))}"><bdi>${String(at('name'))}</bdi></a>`
  }

/** `name@host` of an account or channel; `prefix` is where the row has it, `page` the beginning of the address of its page. */
export const handle =
  (prefix = '', page?: string) =>
  (row: unknown): Html | null => {
    if (valueAt(row, `${prefix}name`) === undefined) return null
    const text = html`<bdi>${handleText(row, prefix)}</bdi>`
    return page === undefined ? text : html`<a href="${page}/${handleText(row, prefix)}">${text}</a>`
  }

export const handleText = (row: unknown, prefix = ''): string => `${textAt(row, `${prefix}name`)}@${textAt(row, `${prefix}host`)}`

/** Of the own account and channels. */
export const removeFollower = { label: t('Remove'), operation: 'DELETE /api/v1/vireo/followers/:id', danger: true } as const

export const reportReasons: Choices = {
  violentOrRepulsive: t('Violent or repulsive'),
  hatefulOrAbusive: t('Hateful or abusive'),
  spamOrMisleading: t('Spam or misleading'),
  privacy: t('Privacy'),
  rights: t('Copyright or other rights'),
  serverRules: t('Against the rules of this server'),
}

/** The video of a report, or the account. */
export const reportedThing = (row: unknown): Html | string => videoLink('video.')(row) ?? textAt(row, 'flaggedAccount.displayName')

export const reportColumns: ListPart['columns'] = {
  Reason: link('/admin/abuses', 'id', 'reason'),
  About: reportedThing,
  From: handle('reporterAccount.'),
  State: 'state',
  Messages: 'countMessages',
  Sent: 'createdAt',
}

/** A state, which is looked at again while it is one of `busy`. */
export const state =
  (path: string, busy: readonly unknown[]) =>
  (row: unknown): Html => {
    const isBusy = busy.includes(valueAt(row, `${path}.id`))
    return html`<span${isBusy && html` data-progress`}>${plain(valueAt(row, path))}</span>`
  }

export const facts = (pairs: readonly (readonly [Localized, unknown])[]): Html =>
  html`<dl class="details">${pairs.map(([name, value]) => {
    const shown = plain(value)
    return shown !== null && html`<dt>${name}</dt><dd>${shown}</dd>`
  })}</dl>`

/** `0:00 Title` in each line. */
export const chapterLines = linesOf<Chapter>({
  name: 'chapters',
  words: { label: t('Time and title'), as: 'long', help: t('One chapter in a line, such as: 1:30 The lake') },
  allIn: ({ data }) => (valueAt(data.chapters, 'chapters') ?? []) as Chapter[],
  lineOf: ({ timecode, title }) => `${clock(timecode)} ${inOneLine(title)}`,
  itemOf: chapterIn,
})

function chapterIn(line: string): Chapter {
  const [, time = '', title = ''] = /^([\d:]+)\s+(.*)$/.exec(inOneLine(line)) ?? []
  return { timecode: time === '' ? Number.NaN : time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0), title }
}

/** What is wrong with typed chapters among all that there would be. */
export function chapterRules(text: Text, shown: Shown): Record<string, Localized | false> {
  const all = chapterLines.changed(text, shown)
  const untouched = ['', ...text('before').split('\n')].map((line) => line.trim())
  const [problem = all.length > MAX_CHAPTERS && t('A video has at most {count} chapters.', { count: MAX_CHAPTERS })] = text('chapters')
    .split('\n')
    .flatMap((typed, index) => {
      const [chapter, line] = [chapterIn(typed), index + 1]
      if (untouched.includes(typed.trim())) return []
      if (!newChapter.safeParse(chapter).success)
        return [t('Line {line}: needed are a time such as 1:30, and a title of at most {count} characters.', { line, count: MAX_TITLE })]
      return all
        .filter((other) => other.timecode === chapter.timecode && inOneLine(other.title) !== chapter.title)
        .map(({ timecode, title }) =>
          t('Line {line}: there is another chapter at {time}, “{title}”.', { line, time: clock(timecode), title }),
        )
    })
  return { chapters: problem }
}
