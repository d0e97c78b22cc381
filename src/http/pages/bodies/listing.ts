// Common parts of pages with lists: tabs, paging, and lists of videos and playlists.

import type { ActorSummary } from '../../../actors/actor/index.ts'
import type { ChannelRow } from '../../../actors/channel/index.ts'
import type { PlaylistRow } from '../../../actors/playlist/index.ts'
import type { NextVideo, VideoListRow, WatchedVideoRow } from '../../../actors/video/index.ts'
import { type Html, html, rich } from '../../../platform/html.ts'
import { type Localized, t, type Word } from '../../../platform/language.ts'
import type { Here } from '../../videos/actor.view.ts'
import { channelPath, playlistPath, watchPath } from '../addresses.ts'
import { PAGE_COUNT } from '../fields.ts'
import type { VideoPage } from '../watched.ts'
import { avatarOf, pictureOf, sensitiveMark } from './picture.ts'
import { counted, day } from './text.ts'

export interface Tab {
  name: Word
  path: string
  isOpen: boolean
}

export const tabs = (label: Localized, list: readonly Tab[]): Html =>
  html`<nav class="tabs" aria-label="${label}">${list.map(
    ({ name, path, isOpen }) => html`<a href="${path}"${isOpen ? html` aria-current="page"` : null}>${name}</a>`,
  )}</nav>`

/** Links to the previous and the next page; `path` may have a query, and `parameter` names the page in it. Each has its own `label`. */
export function pager(
  path: string,
  { page, hasMore, parameter = 'page', label = t('Pages') }: { page: number; hasMore: boolean; parameter?: string; label?: Localized },
): Html | null {
  if (page === 1 && !hasMore) return null
  const to = (number: number): string =>
    number === 1 ? path : `${path}${path.includes('?') ? '&' : '?'}${encodeURIComponent(parameter)}=${number}`
  return html`<nav class="pager" aria-label="${label}">${
    page > 1 && html`<a href="${to(page - 1)}" rel="prev">${t('Previous page')}</a>`
  }<span class="soft">${t('Page {page}', { page })}</span>${hasMore && html`<a href="${to(page + 1)}" rel="next">${t('Next page')}</a>`}</nav>`
}

const rowsOr = (nothing: Localized, isEmpty: boolean, rows: () => Html): Html => (isEmpty ? html`<p class="soft">${nothing}</p>` : rows())

export const videosOr = (nothing: Localized, path: string, found: VideoPage): Html =>
  html`${rowsOr(nothing, found.rows.length === 0, () => videoCards(found.rows, found))}${pager(path, found)}`

/** A page of a list with a total; `show` makes its rows. */
export async function pageOr<Row>(
  { nothing, path, page }: { nothing: Localized; path: string; page: number },
  find: (range: { start: number; count: number }) => Promise<{ total: number; rows: readonly Row[] }>,
  show: (rows: readonly Row[]) => Html,
): Promise<Html> {
  const { total, rows } = await find({ start: (page - 1) * PAGE_COUNT, count: PAGE_COUNT })
  const ways = pager(path, { page, hasMore: total > page * PAGE_COUNT })
  return html`${rowsOr(nothing, rows.length === 0, () => show(rows))}${ways}`
}

/** `covers`: cover the pictures of sensitive videos. */
const videoCards = (videos: readonly VideoListRow[], options: { covers: boolean }): Html =>
  html`<ul class="videos">${videos.map(
    (video) => html`<li><a href="${watchPath(video)}">${pictureOf(video, options)}<h2 dir="auto">${video.name}</h2></a>
<p><a href="${channelPath(video.channel)}"><bdi>${video.channel.name}</bdi></a></p><p>${day(video.published_at)} · ${counted.views(video.views)}${sensitiveMark(video)}</p></li>
`,
  )}</ul>`

/** The latest other videos of the channel, as a narrow list next to a video. */
export function nextVideos({ next, channel }: WatchedVideoRow, options: { covers: boolean }): Html | null {
  if (next.length === 0) return null
  const rowOf = (video: NextVideo) =>
    html`<a href="${watchPath(video)}">${pictureOf(video, options)}<span class="about"><strong dir="auto">${
      video.name
    }</strong><span>${day(new Date(video.published_at))} · ${counted.views(video.views)}${sensitiveMark(video)}</span></span></a>`
  return html`<h2>${rich('More of {name}', { name: html`<a href="${channelPath(channel)}"><bdi>${channel.name}</bdi></a>` })}</h2>
<ul class="rows">${next.map((video) => html`<li>${rowOf(video)}</li>\n`)}</ul>`
}

export const playlistCards = (playlists: readonly PlaylistRow[]): Html =>
  html`<ul class="videos">${playlists.map(
    (playlist) => html`<li><a href="${playlistPath(playlist)}"><div class="picture">${
      playlist.thumbnail && html`<img src="/lazy-static/thumbnails/${playlist.thumbnail}" alt="" loading="lazy" width="280" height="157">`
    }<span class="count">${counted.videos(playlist.elements_count)}</span></div><h2><bdi>${playlist.name}</bdi></h2></a>
<p>${(playlist.channel ?? playlist.account).name}</p></li>
`,
  )}</ul>`

export const fullHandle = ({ username, host }: ActorSummary, here: Here): string => `@${username}@${host ?? here.host}`

/** Channels in a list; `button`: the action for each. */
export const channelCards = (rows: readonly ChannelRow[], here: Here, button: (row: ChannelRow) => Html | null): Html =>
  html`<ul class="channels">${rows.map(
    (row) => html`<li>${avatarOf(row.channel, 48)}<div class="who"><h2><a href="${channelPath(row.channel)}"><bdi>${
      row.channel.name
    }</bdi></a></h2><p class="soft">${fullHandle(row.channel, here)} · ${counted.subscribers(row.channel.followers)}</p></div>${button(
      row,
    )}</li>
`,
  )}</ul>`
