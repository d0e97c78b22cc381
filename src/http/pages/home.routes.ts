// The home page, and the public lists, at the addresses that web clients use and people have bookmarked.

import { findHomepage, type InstanceFacts } from '../../actors/instance/index.ts'
import { type VideoSortField, videoSortFields } from '../../actors/video/index.ts'
import type { Html } from '../../platform/html.ts'
import { type Language, t } from '../../platform/language.ts'
import { browseBody, homeBody, subscriptionsBody } from './bodies/home.ts'
import { LISTS, type ListName } from './bodies/lists.ts'
import { customMarkup } from './custom-markup.ts'
import { pageNumber, queryOf } from './fields.ts'
import { headTagsOf } from './heads/index.ts'
import { headed } from './layout.ts'
import { type PageTools, pageOptions } from './send.ts'
import { videoPage } from './video-page.ts'

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
  const { app, db, site, urls, visitors, facts, languageOf, send, keep } = tools

  app.get('/', { ...pageOptions, ...keep([]) }, async (request, reply) => {
    const [visit, known] = await Promise.all([visitors.of(request), facts.recent()])
    const [content, videos] = await Promise.all([
      homepageOf(known, languageOf(request)),
      videoPage(tools, visit, { scope: { of: 'everybody' }, page: 1 }),
    ])
    const body = homeBody({ name: site().name, banner: known.banners[0]?.filename, content, videos })
    return send(request, reply, { ...headed(headTagsOf({ kind: 'home' }, { site: site(), here: urls })), body })
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
    const open = listAt(path)
    return send(request, reply, {
      title: open === undefined ? t('Videos') : LISTS[open].title,
      body: browseBody(open, path, videos),
    })
  })

  app.get('/videos/subscriptions', pageOptions, async (request, reply) => {
    const visit = await visitors.of(request)
    if (!visit) return reply.redirect('/login?next=%2Fvideos%2Fsubscriptions', 303)
    const scope = { of: 'followed', followerActorId: visit.user.actorId } as const
    const videos = await videoPage(tools, visit, { scope, page: pageNumber(queryOf(request)) })
    return send(request, reply, { title: t('Your subscriptions'), body: subscriptionsBody(videos), isPrivate: true })
  })

  for (const [from, to] of Object.entries(MOVED)) {
    app.get(from, pageOptions, (_request, reply) => reply.redirect(to, 302))
  }
}

function sortOf(text = ''): { by: VideoSortField; descending: boolean } {
  const by = videoSortFields.find((field) => field === text.replace(/^-/, ''))
  return by === undefined ? { by: 'publishedAt', descending: true } : { by, descending: text.startsWith('-') }
}

const listAt = (path: string): ListName | undefined => (Object.keys(LISTS) as ListName[]).find((name) => LISTS[name].path === path)
