// The home page, and the public lists, at the addresses that web clients use and people have bookmarked.

import { findHomepage, type InstanceFacts } from '../../actors/instance/index.ts'
import { type VideoSortField, videoSortFields } from '../../actors/video/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { type Language, t } from '../../platform/language.ts'
import { tabs, videosOr } from './bodies/listing.ts'
import { bannerOf } from './bodies/picture.ts'
import { customMarkup } from './custom-markup.ts'
import { pageNumber, queryOf } from './fields.ts'
import { type PageTools, pageOptions } from './send.ts'
import { videoPage } from './watched.ts'

/** The lists of videos with a tab, by the addresses that web clients use. */
const LISTS = {
  latest: { name: t('Latest'), title: t('Latest videos'), path: '/videos/browse' },
  trending: { name: t('Trending'), title: t('Trending videos'), path: '/videos/browse?sort=-trending' },
  liked: { name: t('Most liked'), title: t('Most liked videos'), path: '/videos/browse?sort=-likes' },
  live: { name: t('Live'), title: t('Live streams'), path: '/videos/browse?isLive=true' },
  local: { name: t('Local'), title: t('Videos of this server'), path: '/videos/browse?scope=local' },
} as const

const NO_VIDEOS = t('There are no videos yet.')

/** Older addresses of lists. */
const MOVED: Readonly<Record<string, string>> = {
  '/home': '/',
  '/videos': LISTS.latest.path,
  '/videos/overview': '/',
  '/discover': '/',
  '/videos/recently-added': LISTS.latest.path,
  '/videos/trending': LISTS.trending.path,
  '/videos/hot': '/videos/browse?sort=-hot',
  '/videos/best': '/videos/browse?sort=-best',
  '/videos/most-viewed': '/videos/browse?sort=-views',
  '/videos/most-liked': LISTS.liked.path,
  '/videos/local': LISTS.local.path,
}

export function addHomePage(tools: PageTools): void {
  const { app, db, site, urls, visitors, facts, languageOf, send, headOf, keep } = tools

  app.get('/', { ...pageOptions, ...keep([]) }, async (request, reply) => {
    const [visit, known] = await Promise.all([visitors.of(request), facts.recent()])
    const [content, videos] = await Promise.all([
      homepageOf(known, languageOf(request)),
      videoPage(tools, visit, { scope: { of: 'everybody' }, page: 1 }),
    ])
    const latest = LISTS.latest
    const body = html`${bannerOf(known.banners[0]?.filename)}${
      content ? html`<h1 dir="auto">${site().name}</h1>${content}<h2>${latest.title}</h2>` : html`<h1>${latest.title}</h1>`
    }
${listTabs(latest.path)}
${videosOr(NO_VIDEOS, latest.path, videos)}`
    return send(request, reply, { ...headOf({ kind: 'home' }), body })
  })

  /** The last content and its HTML by language, cached as long as the facts stay; rendered again when it changes. */
  let kept: { by?: InstanceFacts; from?: string | undefined; html: Map<string, Html> } = { html: new Map() }
  async function homepageOf(known: InstanceFacts, language: Language): Promise<Html | undefined> {
    if (!known.homepage) return undefined
    if (kept.by !== known) {
      const from = await findHomepage(db.query)
      kept = { by: known, from, html: kept.from === from ? kept.html : new Map() }
    }
    const { from, html } = kept
    if (!from) return undefined
    const made = html.get(language.tag) ?? customMarkup(from, urls.origin, language)
    html.set(language.tag, made)
    return made
  }

  app.get('/videos/browse', { ...pageOptions, ...keep(['page', 'sort', 'scope', 'isLive']) }, async (request, reply) => {
    const query = queryOf(request)
    const visit = await visitors.of(request)
    const sort = sortOf(query('sort'))
    const isLocal = query('scope') === 'local' || undefined
    const isLive = query('isLive') === 'true' || undefined
    const page = pageNumber(query)
    const videos = await videoPage(tools, visit, { scope: { of: 'everybody' }, page, sort, isLocal, isLive })
    const asked = new URLSearchParams({
      ...(sort.by === 'publishedAt' && sort.descending ? {} : { sort: `${sort.descending ? '-' : ''}${sort.by}` }),
      ...(isLocal ? { scope: 'local' } : {}),
      ...(isLive ? { isLive: 'true' } : {}),
    })
    const path = `/videos/browse${asked.size > 0 ? `?${asked}` : ''}`
    const title = Object.values(LISTS).find((list) => list.path === path)?.title ?? t('Videos')
    const body = html`<h1>${title}</h1>
${listTabs(path)}
${videosOr(NO_VIDEOS, path, videos)}`
    return send(request, reply, { title, body })
  })

  app.get('/videos/subscriptions', pageOptions, async (request, reply) => {
    const visit = await visitors.of(request)
    if (!visit) return reply.redirect('/login?next=%2Fvideos%2Fsubscriptions', 303)
    const scope = { of: 'followed', followerActorId: visit.user.actorId } as const
    const videos = await videoPage(tools, visit, { scope, page: pageNumber(queryOf(request)) })
    const nothing = t('There are no videos yet of the channels that you subscribed to.')
    const body = html`<h1>${t('Your subscriptions')}</h1>
${videosOr(nothing, '/videos/subscriptions', videos)}`
    return send(request, reply, { title: t('Your subscriptions'), body, isPrivate: true })
  })

  for (const [from, to] of Object.entries(MOVED)) {
    app.get(from, pageOptions, (_request, reply) => reply.redirect(to, 302))
  }
}

function sortOf(text = ''): { by: VideoSortField; descending: boolean } {
  const by = videoSortFields.find((field) => field === text.replace(/^-/, ''))
  return by === undefined ? { by: 'publishedAt', descending: true } : { by, descending: text.startsWith('-') }
}

const listTabs = (open: string): Html =>
  tabs(
    t('Lists of videos'),
    Object.values(LISTS).map(({ name, path }) => ({ name, path, isOpen: path === open })),
  )
