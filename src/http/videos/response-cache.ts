// Cached bytes of video lists, single videos, their comments and their pages, for requesters without a session, who all get the same. They
// expire within seconds. A write invalidates them before its response, and in other processes when they are notified.

import type { FastifyReply, FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify'
import { readVideosChange, VIDEOS_CHANGED } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { makeTtlCache, type TtlCache } from '../../platform/ttl-cache.ts'
import { etagOf, type Prepared, sendAtOnce, smallEtagOf } from '../plugins/conditional.ts'

interface Answer extends Prepared {
  /** The single video that it is about, or `any` if comments of any video are in it. */
  videoId: number | 'any' | undefined
  /** Expiry of the part that expires first, if it is made of parts; in ms since the epoch. */
  until?: number
}

/** A part of a video's page. */
export interface Part {
  body: string
  videoId: number
  /** Set by the cache: its expiry, in ms since the epoch. */
  until?: number
}

/** The hooks of a route with cached responses. */
export interface Keeping {
  /**
   * Runs after limits and authentication: responds from the cache, waits for another request that builds the same, or lets the route build
   * it.
   */
  onRequest: onRequestHookHandler
  /** Caches the response of the route. */
  onSend: onSendHookHandler
}

export type VideoResponseCache = ReturnType<typeof makeVideoResponseCache>

/** Bytes of an entry in addition to its key and its body; a text counts by its length. */
const OVERHEAD = 500

export type CachePart<P extends Part> = (key: string, make: () => Promise<P | undefined>) => Promise<P | undefined>

/** A response that is being built, for all who wait for it. */
interface Making {
  resolve(answer: Answer): void
  reject(reason: Error): void
  videoId?: number | 'any'
  until?: number
}

export function makeVideoResponseCache(deps: { config: () => Config; bus: Pick<Bus, 'subscribe' | 'publish'>; clock: Clock }) {
  const { config, bus, clock } = deps
  const cacheOf = <A extends Answer | Part>(share: number): TtlCache<string, A> =>
    makeTtlCache({
      clock,
      max: Math.max(1, Math.floor(config().vireo.caching.memory.videos * share)),
      sizeOf: ({ body }, key) => body.length + key.length + OVERHEAD,
      endsAt: ({ until }) => until,
    })
  const lists = cacheOf<Answer>(1 / 2)
  const videos = cacheOf<Answer>(1 / 4)
  const pages = cacheOf<Answer>(1 / 8)
  /** The pages, and their parts. They show other videos too. */
  const ofPages: Pick<TtlCache<string, Answer | Part>, 'drop' | 'clear'>[] = [pages]
  const makings = new WeakMap<object, Making>()

  const clearAllButVideos = (): void => {
    for (const cache of [lists, ...ofPages]) cache.clear()
  }
  /** Clears the cache of this process. */
  const clear = (): void => {
    clearAllButVideos()
    videos.clear()
  }
  const close = bus.subscribe(VIDEOS_CHANGED, (payload) => {
    const change = readVideosChange(payload)
    if (change.what === 'any') return clear()
    const isAbout = isAboutVideo(change.videoId)
    if (change.what === 'video') clearAllButVideos()
    // Lists contain the comments of a video, or of any.
    else for (const cache of [lists, ...ofPages]) cache.drop(isAbout)
    if (change.what !== 'comments') videos.drop(isAbout)
  })

  function keeping(kind: {
    cache: TtlCache<string, Answer>
    keyOf: (request: FastifyRequest) => string
    isForAll?: (request: FastifyRequest) => boolean
    tagOf?: (body: string) => string | undefined
    headers?: readonly string[]
  }): Keeping {
    const { cache, keyOf, isForAll = isPlainGet, tagOf = smallEtagOf, headers } = kind
    return {
      onRequest(request, reply, done) {
        const ttlMs = config().vireo.caching.routes.videos
        if (ttlMs === 0 || !isForAll(request)) return done()
        const key = keyOf(request)
        const found = cache.find(key)
        if (found) return sendAtOnce(request, reply, found)

        let leads = false
        const making = cache.get(key, ttlMs, () => {
          leads = true
          return begin(request, reply)
        })
        making.then(
          // The request that builds it responds by its route.
          (answer) => leads || sendAtOnce(request, reply, answer),
          () => leads || done(),
        )
        if (leads) done()
      },
      onSend(request, reply, payload, done) {
        const making = makings.get(request)
        if (making) {
          makings.delete(request)
          if (reply.statusCode === 200 && typeof payload === 'string' && !isForOne(reply)) {
            const { videoId, until } = making
            const contentType = String(reply.getHeader('content-type'))
            making.resolve({
              body: Buffer.from(payload),
              etag: tagOf(payload),
              contentType,
              videoId,
              until,
              headers: headers && Object.fromEntries(headers.map((name) => [name, String(reply.getHeader(name))])),
            })
          } else making.reject(NOT_FOR_ALL)
        }
        done(null, payload)
      },
    }
  }

  function begin(request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    makings.set(request, { resolve, reject })
    // However the request ends, the waiting ones must continue.
    reply.raw.once('close', () => reject(NOT_FOR_ALL))
    return promise
  }

  return {
    /** Keyed by the path and the named query parameters of the route. */
    ofLists(names: readonly string[]): Keeping {
      return keeping({ cache: lists, keyOf: keyOfPath(names) })
    },
    /** The same, for any content type, always with an ETag. */
    ofFeeds(names: readonly string[]): Keeping {
      return keeping({ cache: lists, keyOf: keyOfPath(names), tagOf: etagOf })
    },
    /**
     * HTML, keyed by the path and the named query parameters of the route, always with an ETag. `headers`: names of additional headers of
     * the route; `isForAll`: whether the response depends on nothing else of the request but on its `variantOf`. Also for HEAD.
     */
    ofPages(
      names: readonly string[],
      options: {
        headers: readonly string[]
        isForAll: (request: FastifyRequest) => boolean
        variantOf: (request: FastifyRequest) => string
      },
    ): Keeping {
      const { variantOf, ...others } = options
      const keyOf = keyOfPath(names)
      return keeping({ cache: pages, keyOf: (request) => `${variantOf(request)} ${keyOf(request)}`, tagOf: etagOf, ...others })
    },
    /**
     * A cache of parts of such pages, with keys of the caller; they are invalidated together. Nothing is cached if `make` returns
     * undefined.
     */
    ofParts<P extends Part>(): CachePart<P> {
      const parts = cacheOf<P>(1 / 8)
      ofPages.push(parts)
      const keep: CachePart<P> = async (key, make) => {
        const ttlMs = config().vireo.caching.routes.videos
        if (ttlMs === 0) return await make()
        const until = clock.now().getTime() + ttlMs
        try {
          return await parts.get(key, ttlMs, async () => {
            const part = await make()
            if (!part) throw NOT_FOR_ALL
            return { ...part, until }
          })
        } catch (error) {
          if (error === NOT_FOR_ALL) return undefined
          throw error
        }
      }
      return keep
    },
    /** Keyed by the path; the route reports the found video by `isAbout`. */
    ofVideos: keeping({ cache: videos, keyOf: ({ params }) => nameIn(params) }),
    /** `any`: it contains comments of any video. `until`: expiry of the part that the response is made of. */
    isAbout(request: FastifyRequest, videoId: number | 'any', until?: number) {
      const making = makings.get(request)
      if (making) Object.assign(making, { videoId, until })
    },
    /** Limits the expiry of the response: `until` is that of the part that expires first. */
    isMadeOf(request: object, until: number) {
      const making = makings.get(request)
      if (making) making.until = Math.min(until, making.until ?? until)
    },
    /** Reports a change: this process drops its cache at once, the others when they are notified. */
    changed() {
      return bus.publish(VIDEOS_CHANGED, {})
    },
    clear,
    /** Unsubscribes from changes. */
    close,
  }
}

const NOT_FOR_ALL = new Error('There is no such shared response.')

/** HEAD has other headers. */
const isPlainGet = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && headers.authorization === undefined && headers['x-peertube-video-password'] === undefined

/** True if the response is private, or sets a cookie. */
const isForOne = (reply: FastifyReply): boolean =>
  reply.hasHeader('set-cookie') || /private|no-store/.test(String(reply.getHeader('cache-control')))

function keyOfPath(names: readonly string[]): (request: FastifyRequest) => string {
  const read = new Set(names)
  return ({ url, query }) => `${url.split('?', 1)[0]} ${keyOfQuery(query, read)}`
}

/** The query parameters of the route, in a canonical order; texts and lists of texts stay distinct. */
function keyOfQuery(query: unknown, names: ReadonlySet<string>): string {
  if (typeof query !== 'object' || query === null) return ''
  const read = Object.entries(query).filter(([name]) => names.has(name))
  return JSON.stringify(read.length > 1 ? read.sort(byName) : read)
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

/** The id or UUID in the path, as it was written. */
const nameIn = (params: unknown): string => (typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '')

/** The video of a response is not known before it is built. */
const isAboutVideo =
  (videoId: number) =>
  (_key: string, answer?: Answer | Part): boolean =>
    answer === undefined || answer.videoId === videoId || answer.videoId === 'any'
