// Searches for videos, channels and playlists. A pasted address or handle leads to its page; other servers are asked about it if the user's
// search in the API would ask them, too.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { listChannels } from '../../actors/channel/index.ts'
import { listPlaylists, playlistTypes } from '../../actors/playlist/index.ts'
import type { Visit } from '../../actors/session/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { t } from '../../platform/language.ts'
import { seesStrangers } from '../videos/follow-constraints.ts'
import { channelCards } from './bodies/actor.ts'
import { pager, playlistCards, videosOr } from './bodies/listing.ts'
import { SEARCHES, type SearchKind, searchBody, taggedBody } from './bodies/search.ts'
import { PAGE_COUNT, pageNumber, queryOf } from './fields.ts'
import { loginPath } from './local-path.ts'
import { isPasted, makePastedPath } from './pasted.ts'
import { type PageTools, pageOptions } from './send.ts'
import { videoPage } from './video-page.ts'

/** Characters, as in the API. */
const LONGEST = 1000
const UNLISTED = html`<meta name="robots" content="noindex">`

export function addSearchPage(tools: PageTools): void {
  const { app, db, config, urls, visitors, send } = tools
  const pastedPath = makePastedPath(tools)

  app.get('/search', pageOptions, async (request, reply) => {
    const query = queryOf(request)
    const search = (query('search') ?? '').trim().slice(0, LONGEST)
    const kind = SEARCHES.find((one) => one.kind === query('type'))?.kind ?? 'videos'
    const visit = await visitors.of(request)
    const fetch = seesStrangers({ config }, visit !== null)
    const path = await pastedPath(search, { fetch })
    if (path !== undefined) return reply.redirect(path, 303)
    const page = pageNumber(query)
    const tag = (query('tagsOneOf') ?? '').slice(0, LONGEST)
    if (search === '' && tag !== '') return showTag(request, reply, { tag, page, visit })
    const content = search === '' ? undefined : await found[kind]({ search, page, visit, fetch })
    const isForUsers = isPasted(search) && !fetch && seesStrangers({ config }, true)
    const title = search === '' ? t('Search') : t('{words} - Search', { words: search })
    return send(request, reply, {
      title,
      head: UNLISTED,
      searched: search,
      body: searchBody({ search, kind, content, login: isForUsers ? loginPath(pathOf(kind, search)) : undefined }),
    })
  })

  /** The target of a video's tags. */
  async function showTag(
    request: FastifyRequest,
    reply: FastifyReply,
    { tag, page, visit }: { tag: string; page: number; visit: Visit | null },
  ): Promise<FastifyReply> {
    const tagsOneOf = [tag.toLowerCase()]
    const videos = await videoPage(tools, visit, { scope: { of: 'everybody' }, page, tagsOneOf })
    const content = videosOr(t('No video was found.'), `/search?${new URLSearchParams({ tagsOneOf: tag })}`, videos)
    return send(request, reply, { title: t('{words} - Search', { words: tag }), head: UNLISTED, body: taggedBody(tag, content) })
  }

  interface Asked {
    search: string
    page: number
    visit: Visit | null
    fetch: boolean
  }

  const range = (page: number) => ({ start: (page - 1) * PAGE_COUNT, count: PAGE_COUNT })
  const pathOf = (kind: SearchKind, search: string) => `/search?${new URLSearchParams({ search, type: kind })}`
  const byMatch = { by: 'match', descending: true } as const

  const found: Record<SearchKind, (asked: Asked) => Promise<Html>> = {
    async videos({ search, page, visit, fetch }) {
      const scope = { of: 'everybody' } as const
      const videos = await videoPage(tools, visit, { scope, page, search, sort: byMatch, strangers: fetch })
      return videosOr(t('No video was found.'), pathOf('videos', search), videos)
    },

    async channels({ search, page, visit }) {
      const mutedFor = visit?.user.accountId ?? null
      const { total, rows } = await listChannels(db, { ...range(page), sort: byMatch, search, mutedFor })
      if (rows.length === 0) return html`<p class="soft">${t('No channel was found.')}</p>`
      const hasMore = total > page * PAGE_COUNT
      return html`${channelCards(rows, urls, () => null)}${pager(pathOf('channels', search), { page, hasMore })}`
    },

    async playlists({ search, page, visit }) {
      const { total, rows } = await listPlaylists(db, {
        ...range(page),
        everyPrivacy: false,
        type: playlistTypes.regular,
        withVideos: true,
        search,
        sort: byMatch,
        mutedFor: visit?.user.accountId ?? null,
      })
      if (rows.length === 0) return html`<p class="soft">${t('No playlist was found.')}</p>`
      const hasMore = total > page * PAGE_COUNT
      return html`${playlistCards(rows)}${pager(pathOf('playlists', search), { page, hasMore })}`
    },
  }
}
