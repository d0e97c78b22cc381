// Searches for videos, channels and playlists. A pasted address or handle leads to its page; other servers are asked about it if the user's
// search in the API would ask them, too.

import { listChannels } from '../../actors/channel/index.ts'
import { listPlaylists, playlistTypes } from '../../actors/playlist/index.ts'
import type { Visit } from '../../actors/session/index.ts'
import { type Html, html, rich } from '../../platform/html.ts'
import { t } from '../../platform/language.ts'
import { loginPath } from '../plugins/local-path.ts'
import { seesStrangers } from '../videos/follow-constraints.ts'
import { channelCards, pageOr, playlistCards, tabs, videosOr } from './bodies/listing.ts'
import { linkTo } from './bodies/text.ts'
import { pageNumber, queryOf } from './fields.ts'
import { isPasted, makePastedPath } from './pasted.ts'
import { type PageTools, pageOptions } from './send.ts'
import { videoPage } from './watched.ts'

const SEARCHES = { videos: t('Videos'), channels: t('Channels'), playlists: t('Playlists') }
type SearchKind = keyof typeof SEARCHES
const KINDS = Object.keys(SEARCHES) as SearchKind[]

/** Characters, as in the API. */
const LONGEST = 1000
const UNLISTED = html`<meta name="robots" content="noindex">`

export function addSearchPage(tools: PageTools): void {
  const { app, db, config, urls, visitors, send } = tools
  const pastedPath = makePastedPath(tools)

  app.get('/search', pageOptions, async (request, reply) => {
    const query = queryOf(request)
    const search = (query('search') ?? '').trim().slice(0, LONGEST)
    const kind = KINDS.find((one) => one === query('type')) ?? 'videos'
    const visit = await visitors.of(request)
    const fetch = seesStrangers({ config }, visit !== null)
    const path = await pastedPath(search, { fetch })
    if (path !== undefined) return reply.redirect(path, 303)
    const page = pageNumber(query)
    const tag = (query('tagsOneOf') ?? '').slice(0, LONGEST)
    const words = search || tag
    const title = words ? t('{words} - Search', { words }) : t('Search')
    const body = search ? await results({ search, kind, page, visit, fetch }) : tag ? await tagged(tag, page, visit) : SEARCH_HELP
    return send(request, reply, { title, head: UNLISTED, searched: search, body })
  })

  async function tagged(tag: string, page: number, visit: Visit | null): Promise<Html> {
    const videos = await videoPage(tools, visit, { scope: { of: 'everybody' }, page, tagsOneOf: [tag.toLowerCase()] })
    return html`<h1>${rich('Videos tagged “{tag}”', { tag: html`<bdi>${tag}</bdi>` })}</h1>
${videosOr(t('No video was found.'), `/search?${new URLSearchParams({ tagsOneOf: tag })}`, videos)}`
  }

  interface Asked {
    search: string
    kind: SearchKind
    page: number
    visit: Visit | null
    fetch: boolean
  }

  async function results({ search, kind, page, visit, fetch }: Asked): Promise<Html> {
    const pathOf = (one: SearchKind) => `/search?${new URLSearchParams({ search, type: one })}`
    const path = pathOf(kind)
    const kinds = KINDS.map((one) => ({ name: SEARCHES[one], path: pathOf(one), isOpen: one === kind }))
    const wanted = { search, sort: { by: 'match', descending: true }, mutedFor: visit?.user.accountId ?? null } as const
    const publicPlaylists = { everyPrivacy: false, type: playlistTypes.regular, withVideos: true } as const
    const found: Record<SearchKind, () => Promise<Html>> = {
      async videos() {
        const videos = await videoPage(tools, visit, { ...wanted, scope: { of: 'everybody' }, page, strangers: fetch })
        return videosOr(t('No video was found.'), path, videos)
      },
      channels: () =>
        pageOr(
          { nothing: t('No channel was found.'), path, page },
          (range) => listChannels(db, { ...range, ...wanted }),
          (rows) => channelCards(rows, urls, () => null),
        ),
      playlists: () =>
        pageOr(
          { nothing: t('No playlist was found.'), path, page },
          (range) => listPlaylists(db, { ...range, ...wanted, ...publicPlaylists }),
          playlistCards,
        ),
    }
    // Other servers are asked about a pasted address once the visitor is logged in.
    const isForUsers = isPasted(search) && !fetch && seesStrangers({ config }, true)
    return html`<h1>${t('Results for “{words}”', { words: search })}</h1>
${tabs(t('Kinds of results'), kinds)}
${isForUsers && html`<p class="notice">${rich('<a>Log in</a> to look for it on other servers.', linkTo(loginPath(path)))}</p>`}
${await found[kind]()}`
  }
}

const SEARCH_HELP = html`<h1>${t('Search')}</h1>
<p class="soft">${rich('Type words, the address of a video, or a handle such as {example} into the field above.', { example: html`<code>@name@video.example</code>` })}</p>`
