// The page of a video: the player, its channel, description and comments.

import type { ReplayRow } from '../../../actors/live/index.ts'
import { categoryLabels, licenceLabels, videoPrivacies, type WatchedVideoRow } from '../../../actors/video/index.ts'
import { Html, html, rich, webUrl } from '../../../platform/html.ts'
import { inNumbers, known, type Localized, t } from '../../../platform/language.ts'
import type { Here } from '../../videos/actor.view.ts'
import { accountPath, channelPath, watchPath } from '../addresses.ts'
import { cut } from '../heads/index.ts'
import { nextVideos } from './listing.ts'
import { avatarOf } from './picture.ts'
import { richText } from './rich-text.ts'
import { clock, counted, day, languageName } from './text.ts'

export interface WatchParts {
  video: WatchedVideoRow
  here: Here
  /** Shown instead of the player or above it. */
  notices: readonly Localized[]
  comments: Html | null
  downloads: Html | null
  share: Html | null
  covers: boolean
  /** Of a permanent live. */
  replays: readonly ReplayRow[]
  /** Replaces the latest videos of the channel. */
  aside?: Html
}

/** Where the viewer's own parts go into the HTML that viewers share. */
const PLACES = ['actions', 'subscribers', 'subscribe', 'comment'] as const
const PLACE = new RegExp(`<!--(${PLACES.join('|')})-->`)
const placeOf = (name: (typeof PLACES)[number]): Html => new Html(`<!--${name}-->`)

export const withOwnParts = (below: string, own: Partial<Record<(typeof PLACES)[number], Html | Localized | null>>): Html =>
  new Html(below.split(PLACE).flatMap((piece, index) => (index % 2 === 0 ? [piece] : html`${own[piece as keyof typeof own]}`.parts)))

export const subscribeLink = ({ channel }: WatchedVideoRow): Html =>
  html`<a class="button main" href="${channelPath(channel)}" aria-label="${t('Subscribe to {name}', { name: channel.name })}">${t('Subscribe')}</a>`

export const watchBody = (player: Html, below: Html): Html => html`<div class="watch">
${player}
<article>
${below}
</div>`

export function belowPlayer({ video, here, notices, comments, downloads, share, covers, replays, aside }: WatchParts): Html {
  return html`${notices.map((notice) => html`<p class="notice">${notice}</p>`)}
<h1 dir="auto"${video.language && html` lang="${video.language}"`}>${video.name}</h1>
<div id="own" data-region><p class="facts">${day(video.published_at)}<span>${counted.views(video.views)}</span><span>${counted.likes(video.likes)}</span>${
    video.is_live &&
    video.state === 'published' &&
    html`<span>${rich('Watching now: {count}', { count: html`<span class="viewers">${inNumbers(video.viewers)}</span>` })}</span><span class="mark live">${t('Live')}</span>`
  }${
    video.nsfw && html`<span class="mark">${t('Sensitive')}</span>`
  }${video.privacy === videoPrivacies.unlisted && html`<span class="mark">${t('Unlisted')}</span>`}${originOf(video)}</p>
${placeOf('actions')}
${makersOf(video, here)}</div>
${video.description && richText(video.description, here, { language: video.language, watch: watchPath(video) })}
${chaptersOf(video)}
${replaysOf(replays)}
${detailsOf(video)}
${video.support && html`<details><summary>${t('Support')}</summary>${richText(video.support, here, { longest: SUPPORT_BYTES })}</details>`}
${downloads}
${share}
${SHORTCUTS}
<div id="said" data-region>${placeOf('comment')}${comments}</div>
</article>
<aside aria-label="${t('More videos')}">${aside ?? nextVideos(video, { covers })}</aside>`
}

/** Bytes of HTML: 1,000 characters of any script. */
const SUPPORT_BYTES = 6000

function originOf({ remote, url, channel }: WatchedVideoRow): Html | null {
  if (!remote) return null
  const original = webUrl(url)
  const text = t('From {host}', { host: channel.host ?? t('another server') })
  return original ? html`<a href="${original}" rel="noopener">${text}</a>` : html`<span>${text}</span>`
}

function makersOf({ channel, account, remote }: WatchedVideoRow, here: Here): Html {
  const { avatars } = channel.avatars.length > 0 ? channel : account
  return html`<div class="by">${avatarOf({ name: channel.name, avatars }, 48)}<div><a class="channel" href="${channelPath(channel)}"><bdi>${channel.name}</bdi></a><p>${rich('by {name}', { name: html`<a href="${accountPath(account)}"><bdi>${account.name}</bdi></a>` })} · <bdi>@${channel.username}@${channel.host ?? here.host}</bdi> · ${placeOf('subscribers')}</p></div>${placeOf('subscribe')}${
    remote ? null : html`<a class="button plain" href="/feeds/videos.xml?videoChannelId=${channel.id}">RSS</a>`
  }</div>`
}

/** The chapters of the list: all if they take at most 16 kB of HTML, otherwise the first 8 kB. */
function chaptersThatFit({ chapters }: Pick<WatchedVideoRow, 'chapters'>): WatchedVideoRow['chapters'] {
  let bytes = 0
  const ends = chapters.map(({ title }) => {
    bytes += 220 + Buffer.byteLength(html`${title}`.text)
    return bytes
  })
  return bytes <= 16_000 ? chapters : chapters.filter((_chapter, place) => (ends[place] ?? 0) <= 8_000)
}

/** All chapters for the bar of the player, as JSON: of many, the titles are cut to 3,500 characters together. */
export const chaptersOfBar = ({ chapters }: Pick<WatchedVideoRow, 'chapters'>): string =>
  JSON.stringify(chapters.map(({ timecode, title }) => [timecode, cut(title, Math.ceil(3500 / chapters.length))]))

export function chaptersOf(video: Pick<WatchedVideoRow, 'uuid' | 'chapters'>): Html | null {
  if (video.chapters.length === 0) return null
  const [path, shown] = [watchPath(video), chaptersThatFit(video)]
  return html`<section aria-labelledby="chapters"><h2 id="chapters">${t('Chapters')}</h2>
<ol class="chapters">${shown.map(
    ({ timecode, title }) =>
      html`<li><a href="${path}?start=${timecode}" data-seek="${timecode}"><span class="preview"></span><time datetime="PT${timecode}S">${clock(timecode)}</time> <bdi>${title}</bdi></a></li>
`,
  )}</ol>${video.chapters.length > shown.length && html`<p class="soft">${t('And {count} more.', { count: video.chapters.length - shown.length })}</p>`}</section>`
}

/** Shown by the script, which listens to them. */
const SHORTCUTS = html`<details data-scripted hidden><summary>${t('Keyboard shortcuts')}</summary><dl class="details">
<dt><kbd>k</kbd> <kbd>${t('Space bar')}</kbd></dt><dd>${t('Play or pause')}</dd>
<dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>${t('5 seconds back or forward')}</dd>
<dt><kbd>j</kbd> <kbd>l</kbd></dt><dd>${t('10 seconds back or forward')}</dd>
<dt><kbd>m</kbd></dt><dd>${t('Sound on or off')}</dd>
<dt><kbd>c</kbd></dt><dd>${t('Captions on or off')}</dd>
<dt><kbd>f</kbd></dt><dd>${t('Full screen')}</dd>
<dt><kbd>t</kbd></dt><dd>${t('Theatre mode')}</dd>
<dt><kbd>p</kbd></dt><dd>${t('Picture in picture')}</dd>
</dl></details>`

function replaysOf(replays: readonly ReplayRow[]): Html | null {
  if (replays.length === 0) return null
  return html`<section aria-labelledby="replays"><h2 id="replays">${t('Earlier streams')}</h2>
<ul>${replays.map(
    (replay) =>
      html`<li><a href="${watchPath(replay)}"><bdi>${replay.name}</bdi></a> ${day(replay.startedAt)} · ${clock(replay.duration)}</li>
`,
  )}</ul></section>`
}

function detailsOf(video: WatchedVideoRow): Html | null {
  const { category, licence, language, tags, originally_published_at: originally, duration } = video
  const rows: [Localized, Html | Localized | string | null | undefined | false][] = [
    [t('Length'), !video.is_live && duration > 0 && clock(duration)],
    [t('Category'), category !== null && known(categoryLabels[category] ?? 'Other')],
    [t('Licence'), licence !== null && known(licenceLabels[licence] ?? 'Other')],
    [t('Language'), language !== null && languageName(language)],
    [t('First published'), originally && day(originally)],
    [t('Tags'), tags.length > 0 && html`<ul class="tags">${tags.map(tagOf)}</ul>`],
  ]
  return html`<dl class="details">${rows.map(([name, value]) => value && html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

const tagOf = (tag: string): Html => html`<li><a href="/search?tagsOneOf=${encodeURIComponent(tag)}" dir="auto">${tag}</a></li>`
