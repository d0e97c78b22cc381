// The elements of a playlist, next to the player.

import type { ElementRow, PlaylistRow } from '../../../actors/playlist/index.ts'
import { type Html, html, rich } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import { accountPath } from '../addresses.ts'
import type { FileToken } from '../sources.ts'
import { ELEMENTS_PER_PAGE } from '../watched-playlist.ts'
import { pictureOf, sensitiveMark } from './picture.ts'
import { counted } from './text.ts'

interface Elements {
  playlist: PlaylistRow
  total: number
  elements: readonly ElementRow[]
  playable: ReadonlyMap<ElementRow, FileToken>
  current: ElementRow | undefined
  /** The page of the playlist with this element playing. */
  urlOf(position: number): string
  /** True if the pictures of sensitive videos are covered. */
  covers: boolean
  /** True if there is no player, whose page has a heading of its own. */
  isAlone?: boolean
  /** In a frame of another site, which shows only the player. */
  embed?: boolean
}

export function playlistElements({
  playlist,
  total,
  elements,
  playable,
  current,
  urlOf,
  covers,
  isAlone = false,
  embed = false,
}: Elements): Html {
  const first = (elements[0]?.position ?? 1) - 1
  const pages =
    total > ELEMENTS_PER_PAGE &&
    html`<nav class="paging" aria-label="${t('Playlist')}">${
      first > 0 && html`<a class="button" href="${urlOf(first - ELEMENTS_PER_PAGE + 1)}">${t('Earlier')}</a>`
    }${first + elements.length < total && html`<a class="button" href="${urlOf(first + ELEMENTS_PER_PAGE + 1)}">${t('Later')}</a>`}</nav>`
  return html`${isAlone ? html`<h1 dir="auto">${playlist.name}</h1>` : html`<h2 dir="auto">${playlist.name}</h2>`}
<p class="soft">${rich('Playlist by {name}', { name: html`<a href="${accountPath(playlist.account)}"${embed && html` target="_blank" rel="noopener"`}><bdi>${playlist.account.name}</bdi></a>` })} · ${counted.videos(total)}</p>
<ol class="rows playlist">${elements.map(
    (element) =>
      html`<li${element === current && html` aria-current="true"`}>${playable.has(element) ? elementOf(element, { urlOf, covers, fileToken: playable.get(element) }) : MISSING}</li>\n`,
  )}</ol>${pages}`
}

const MISSING = html`<p class="soft">${t('This video is not there any more, or not for everybody.')}</p>`

function elementOf(element: ElementRow, { urlOf, covers, fileToken }: Pick<Elements, 'urlOf' | 'covers'> & { fileToken: FileToken }): Html {
  const { video, position } = element
  if (!video) return MISSING
  return html`<a href="${urlOf(position)}">${pictureOf(video, { covers, fileToken })}<span class="about"><strong dir="auto">${video.name}</strong><span><bdi>${
    video.channel.name
  }</bdi>${sensitiveMark(video)}</span></span></a>`
}
