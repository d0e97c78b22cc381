// Watching a playlist: its videos one after another, on a page and in frames of other sites.

import { z } from 'zod'
import { type ElementRow, playlistPrivacies } from '../../actors/playlist/index.ts'
import type { Visit } from '../../actors/session/index.ts'
import { type Html, html, rich } from '../../platform/html.ts'
import { t } from '../../platform/language.ts'
import { accountPath, playlistPath } from './addresses.ts'
import { pictureOf, sensitiveMark } from './bodies/picture.ts'
import { counted } from './bodies/text.ts'
import { playerOptions, playerQuery } from './player-options.ts'
import { type Answer, type PageTools, pageOptions } from './send.ts'
import { makePart, reportsOf, type Shown, showPlayer, showWatch } from './show-watch.ts'
import type { FileToken } from './sources.ts'
import { coversOf, ELEMENTS_PER_PAGE, findWatchedPlaylist, type WatchedPlaylist } from './watched.ts'

const MOST = 1_000_000
const querystring = playerQuery.extend({ playlistPosition: z.coerce.number().int().min(1).max(MOST).optional().catch(undefined) })
const options = { ...pageOptions, schema: { params: z.object({ id: z.string() }), querystring, hide: true } } as const

type Query = z.infer<typeof querystring>
type Asked = Pick<Shown, 'visit'> & Pick<Elements, 'urlOf'> & { query: Query }

export function addPlaylistWatchPages(tools: PageTools): void {
  const { app, config, visitors, languageOf, send, sendMissing, headOf, hiddenHead } = tools

  const find = (visit: Visit | null, id: string, query: Query) =>
    findWatchedPlaylist(tools, visit, { id, position: query.playlistPosition })

  /** A private one is seen by its owner alone. */
  const headOfList = ({ playlist }: WatchedPlaylist, embed: boolean) =>
    playlist.privacy === playlistPrivacies.private ? hiddenHead(playlist.name) : headOf({ kind: 'playlist', playlist, embed })

  /** The current element; undefined if nothing plays. */
  function shownOf({ watched, current, next }: WatchedPlaylist, { query, visit, urlOf }: Asked): Shown | undefined {
    if (watched?.found !== 'video' || !current) return undefined
    const asked = playerOptions(query)
    const { video, fileToken } = watched
    return {
      video,
      visit,
      fileToken,
      options: {
        ...asked,
        start: query.start === undefined ? (current.start_timestamp ?? 0) : asked.start,
        stop: asked.stop ?? current.stop_timestamp ?? undefined,
      },
      nextUrl: next && `${urlOf(next.position)}&autoplay=1`,
    }
  }

  for (const path of ['/w/p/:id', '/videos/watch/playlist/:id']) {
    app.get(path, options, async (request, reply) => {
      const visit = await visitors.of(request)
      const list = await find(visit, request.params.id, request.query)
      if (!list) return sendMissing(request, reply)
      const urlOf = (position: number) => `${playlistPath(list.playlist)}?playlistPosition=${position}`
      const shown = shownOf(list, { query: request.query, visit, urlOf })
      const aside = playlistElements({ ...list, urlOf, covers: coversOf(config(), visit), isAlone: shown === undefined })
      const page: Answer = shown
        ? showWatch(tools, await makePart(tools, { ...shown, aside, language: languageOf(request) }), {
            ...shown,
            reports: reportsOf(tools, { request, reply }, shown),
          })
        : {
            title: list.playlist.name,
            body: html`<div class="watch"><aside aria-label="${t('Playlist')}">${aside}</aside></div>`,
            isPrivate: visit !== null,
          }
      return send(request, reply, { ...page, ...headOfList(list, false) })
    })
  }

  app.get('/video-playlists/embed/:id', { ...options, config: { ...options.config, frameguard: false } }, async (request, reply) => {
    const list = await find(null, request.params.id, request.query)
    if (!list) return sendMissing(request, reply, true)
    const urlOf = (position: number) => `/video-playlists/embed/${list.playlist.uuid}?playlistPosition=${position}`
    const shown = shownOf(list, { query: request.query, visit: null, urlOf })
    const listed = playlistElements({ ...list, urlOf, covers: coversOf(config(), null), isAlone: shown === undefined, embed: true })
    const elements = html`<nav class="elements" aria-label="${t('Playlist')}">${listed}</nav>`
    const player = shown && showPlayer(tools, { ...shown, embed: true })
    return send(request, reply, {
      ...headOfList(list, true),
      body: html`<div class="list">${player?.player}${elements}</div>`,
      embed: true,
      player: true,
      origins: player?.sources.origins ?? [],
    })
  })
}

interface Elements extends WatchedPlaylist {
  /** The page of the playlist with this element playing. */
  urlOf(position: number): string
  covers: boolean
  /** True if there is no player, whose page has a heading of its own. */
  isAlone?: boolean
  /** In a frame of another site, which shows only the player. */
  embed?: boolean
}

function playlistElements({ playlist, total, elements, playable, current, urlOf, covers, isAlone = false, embed = false }: Elements): Html {
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
