// Pages of videos. Pages of ids are cached for all requesters with the same view, and so are the videos; the requester's position in each
// video is read from the database.

import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import {
  type FileTokens,
  hasPrivateFiles,
  type ListedVideo,
  listVideoIds,
  listVideos,
  type Page,
  readCards,
  readVideosChange,
  VIDEOS_CHANGED,
  type VideoListQuery,
  type VideoListRow,
  videoPrivacies,
  withPositions,
} from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { makeTtlCache } from '../../platform/ttl-cache.ts'
import type { Here } from './actor.view.ts'
import { tokensFor } from './address-token.ts'
import type { VideoResponseCache } from './response-cache.ts'
import { toVideoView, toVideoViews, type videoView } from './video.view.ts'

type View = z.infer<typeof videoView>

/** `include`: bits of `includes`. */
export type VideoPages = (
  request: Pick<FastifyRequest, 'session' | 'headers'>,
  query: VideoListQuery,
  include: number | undefined,
) => Promise<{ total?: number; data: View[] }>

const MAX_VIEWS = 2000
const MAX_PAGES = 1000

export function makeVideoPages(deps: {
  db: Database
  config: () => Config
  clock: Clock
  bus: Pick<Bus, 'subscribe'>
  urls: Here
  fileTokens: Pick<FileTokens, 'issue'>
  /** Caches of responses that are made of these pages. */
  answers?: Pick<VideoResponseCache, 'isMadeOf'>
}): VideoPages {
  const { db, config, clock, bus, urls: here, fileTokens, answers } = deps
  /** Without data of the requester: positions and tokens. */
  const views = makeTtlCache<number, View>({ clock, max: MAX_VIEWS })
  /** Keyed by the query. */
  const pages = makeTtlCache<string, Page<ListedVideo>>({ clock, max: MAX_PAGES })
  const ttlMs = (): number => config().vireo.caching.routes.videos
  /** Not cached, but shared by concurrent requests. */
  const cards = makeTtlCache<string, VideoListRow[]>({ clock, max: 1 })
  bus.subscribe(VIDEOS_CHANGED, (payload) => {
    const change = readVideosChange(payload)
    if (change.what === 'comments') return
    cards.clear()
    if (change.what === 'any') views.clear()
    else views.drop((id) => id === change.videoId)
    if (change.what === 'counts') return
    pages.clear()
  })

  /** A response made of cached parts must not outlive them. */
  function endWith(request: object, parts: readonly (number | undefined)[]): void {
    const ends = parts.filter((end) => end !== undefined)
    if (ends.length > 0) answers?.isMadeOf(request, Math.min(...ends))
  }

  async function listed(query: VideoListQuery, request: object): Promise<Page<ListedVideo>> {
    if (!isForMany(query)) return await listVideoIds(db, query)
    const { watcher, ...shared } = query
    const key = JSON.stringify(shared)
    const page = await pages.get(key, ttlMs(), () => listVideoIds(db, shared))
    endWith(request, [pages.endOf(key)])
    return watcher === undefined ? page : { ...page, rows: await withPositions(db, page.rows, watcher) }
  }

  async function viewsOf(videos: readonly ListedVideo[], query: VideoListQuery, request: Parameters<VideoPages>[0]): Promise<View[]> {
    const found = new Map(videos.map(({ id }) => [id, views.find(id)]))
    const missing = [...found.keys()].filter((id) => found.get(id) === undefined)
    const ends = videos.map(({ id }) => (found.get(id) === undefined ? undefined : views.endOf(id)))
    endWith(request, ends)
    if (missing.length > 0) {
      const keep = views.reading(ttlMs())
      const tokenOf = tokensFor(fileTokens, request)
      for (const row of await cards.get(missing.join(), 0, () => readCards(db, missing))) {
        if (!isListable(row, query)) continue
        const view = await toVideoView(row, { here, include: 0, tokenOf })
        found.set(row.id, view)
        if (!hasPrivateFiles(row)) keep(row.id, view)
      }
    }
    return videos.flatMap(({ id, watchedSeconds }) => {
      const view = found.get(id)
      if (view === undefined) return []
      return [watchedSeconds === null ? view : { ...view, userHistory: { currentTime: watchedSeconds } }]
    })
  }

  async function read(...[request, query, include = 0]: Parameters<VideoPages>): Promise<{ total: number | undefined; data: View[] }> {
    if (include === 0) {
      const { total, rows } = await listed(query, request)
      return { total, data: await viewsOf(rows, query, request) }
    }
    const { total, rows } = await listVideos(db, query)
    return { total, data: await toVideoViews(rows, { here, include, tokenOf: tokensFor(fileTokens, request) }) }
  }

  return async (request, query, include) => {
    const { total, data } = await read(request, query, include)
    return total === undefined ? { data } : { total, data }
  }
}

/** True if the page depends on nothing of the requester but the positions. */
const isForMany = ({ scope, mutedFor, notWatchedBy }: VideoListQuery): boolean =>
  ['everybody', 'account', 'channel'].includes(scope.of) && mutedFor === null && notWatchedBy === undefined

/** False if a video of a shared page changed after that was read, and this process was not notified yet. */
function isListable({ privacy, blocked }: VideoListRow, query: VideoListQuery): boolean {
  if (!isForMany(query) || query.privacyOneOf !== undefined || query.named !== undefined) return true
  const isOpen = privacy === videoPrivacies.public || (query.internal && privacy === videoPrivacies.internal)
  return isOpen && (query.blocked === true || !blocked)
}
