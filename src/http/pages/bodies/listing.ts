// Common parts of pages with lists: tabs, paging, and lists of videos and playlists.

import type { PlaylistRow } from '../../../actors/playlist/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { type Localized, t, type Word } from '../../../platform/language.ts'
import { playlistPath } from '../addresses.ts'
import type { VideoPage } from '../video-page.ts'
import { counted } from './text.ts'
import { videoCards } from './video-card.ts'

export interface Tab {
  name: Word
  path: string
  isOpen: boolean
}

export const tabs = (label: Localized, list: readonly Tab[]): Html =>
  html`<nav class="tabs" aria-label="${label}">${list.map(
    ({ name, path, isOpen }) => html`<a href="${path}"${isOpen ? html` aria-current="page"` : null}>${name}</a>`,
  )}</nav>`

/** Links to the previous and the next page; `path` may have a query, and `parameter` names the page in it. */
export function pager(
  path: string,
  { page, hasMore, parameter = 'page' }: { page: number; hasMore: boolean; parameter?: string },
): Html | null {
  if (page === 1 && !hasMore) return null
  const to = (number: number): string =>
    number === 1 ? path : `${path}${path.includes('?') ? '&' : '?'}${encodeURIComponent(parameter)}=${number}`
  return html`<nav class="pager" aria-label="${t('Pages')}">${
    page > 1 && html`<a href="${to(page - 1)}" rel="prev">${t('Previous page')}</a>`
  }<span class="soft">${t('Page {page}', { page })}</span>${hasMore && html`<a href="${to(page + 1)}" rel="next">${t('Next page')}</a>`}</nav>`
}

export const videosOr = (nothing: Localized, path: string, found: VideoPage): Html =>
  found.rows.length === 0
    ? html`<p class="soft">${nothing}</p>${pager(path, found)}`
    : html`${videoCards(found.rows, found)}${pager(path, found)}`

export const playlistCards = (playlists: readonly PlaylistRow[]): Html =>
  html`<ul class="videos">${playlists.map(
    (playlist) => html`<li><a href="${playlistPath(playlist)}"><div class="picture">${
      playlist.thumbnail && html`<img src="/lazy-static/thumbnails/${playlist.thumbnail}" alt="" loading="lazy" width="280" height="157">`
    }<span class="count">${counted.videos(playlist.elements_count)}</span></div><h2><bdi>${playlist.name}</bdi></h2></a>
<p>${(playlist.channel ?? playlist.account).name}</p></li>
`,
  )}</ul>`
