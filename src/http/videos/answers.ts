// Ready bytes of lists of videos and of single ones for readers without a session, who all get the same. Kept for seconds,
// forgotten by whoever writes before that is answered, and in other processes as soon as they hear of it.

import type { FastifyReply, FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify'
import { VIDEOS_CHANGED } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Bus, JsonValue } from '../../platform/bus/index.ts'
import { type ByteCache, makeByteCache } from '../../platform/byte-cache.ts'
import type { Clock } from '../../platform/clock.ts'
import { etagOf, type Prepared, sendAtOnce, smallEtagOf } from '../plugins/conditional.ts'

interface Answer extends Prepared {
  /** Of the one video that it is about. */
  videoId: number | undefined
}

/** The hooks of a route whose answers are kept. */
export interface Keeping {
  /** After limits and who asks: answers at once, waits for another request that makes the same, or lets the route make it. */
  onRequest: onRequestHookHandler
  /** Keeps what the route made. */
  onSend: onSendHookHandler
}

export interface VideoAnswers {
  /** By the names of the query that the route reads. */
  ofLists(names: readonly string[]): Keeping
  /** By the path and the names of the query that the route reads; of any content type, always with a tag. */
  ofFeeds(names: readonly string[]): Keeping
  /** By the path alone; the route says by `isAbout` which video it found. */
  ofVideos: Keeping
  isAbout(request: FastifyRequest, videoId: number): void
  /** Somebody changed something: this process forgets at once, the others as soon as they hear of it. */
  changed(): Promise<void>
  /** Forgets everything in this process. */
  clear(): void
  /** Ends the subscription to changes. */
  close(): void
}

/** An answer on its way, made for all who asked for it. */
interface Making {
  resolve(answer: Answer): void
  reject(reason: Error): void
  videoId?: number
}

export function makeVideoAnswers(deps: {
  config: () => Config
  bus: Pick<Bus, 'subscribe' | 'publish'>
  clock: Clock
}): VideoAnswers {
  const { config, bus, clock } = deps
  const maxBytes = Math.max(2, Math.floor(config().vireo.caching.memory.videos / 2))
  const lists = makeByteCache<Answer>({ clock, maxBytes })
  const videos = makeByteCache<Answer>({ clock, maxBytes })
  const makings = new WeakMap<FastifyRequest, Making>()

  const clear = (): void => {
    lists.clear()
    videos.clear()
  }
  const close = bus.subscribe(VIDEOS_CHANGED, (payload) => {
    const changed = videoIn(payload)
    if (changed === undefined) return clear()
    lists.clear()
    videos.drop((_key, answer) => answer === undefined || answer.videoId === changed)
  })

  function keeping(
    cache: ByteCache<Answer>,
    keyOf: (request: FastifyRequest) => string,
    tagOf: (body: string) => string | undefined = smallEtagOf,
  ): Keeping {
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
          // Whoever makes it has answered by its route.
          (answer) => leads || sendAtOnce(request, reply, answer),
          () => leads || done(),
        )
        if (leads) done()
      },
      onSend(request, reply, payload, done) {
        const making = makings.get(request)
        if (making) {
          makings.delete(request)
          if (reply.statusCode === 200 && typeof payload === 'string') {
            const { videoId } = making
            const contentType = String(reply.getHeader('content-type'))
            making.resolve({ body: Buffer.from(payload), etag: tagOf(payload), contentType, videoId })
          } else making.reject(NOT_FOR_ALL)
        }
        done(null, payload)
      },
    }
  }

  function begin(request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    makings.set(request, { resolve, reject })
    // However the request ends, nobody waits for it in vain.
    reply.raw.once('close', () => reject(NOT_FOR_ALL))
    return promise
  }

  return {
    ofLists: (names) => {
      const read = new Set(names)
      return keeping(lists, ({ query }) => keyOfQuery(query, read))
    },
    ofFeeds: (names) => {
      const read = new Set(names)
      return keeping(lists, ({ url, query }) => `${url.split('?')[0]} ${keyOfQuery(query, read)}`, etagOf)
    },
    ofVideos: keeping(videos, ({ params }) => nameIn(params)),
    isAbout(request, videoId) {
      const making = makings.get(request)
      if (making) making.videoId = videoId
    },
    async changed() {
      clear()
      await bus.publish(VIDEOS_CHANGED, {})
    },
    clear,
    close,
  }
}

const NOT_FOR_ALL = new Error('There is no such answer for everybody.')

/** HEAD has headers of its own. */
const isForAll = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && headers.authorization === undefined && headers['x-peertube-video-password'] === undefined

/** What the route reads of a query, in one order; texts and lists of texts stay apart. */
function keyOfQuery(query: unknown, names: ReadonlySet<string>): string {
  if (typeof query !== 'object' || query === null) return ''
  const read = Object.entries(query).filter(([name]) => names.has(name))
  return JSON.stringify(read.length > 1 ? read.sort(byName) : read)
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

/** The id or UUID of a path, as it was written. */
const nameIn = (params: unknown): string =>
  typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : ''

function videoIn(payload: JsonValue): number | undefined {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined
  return typeof payload.video === 'number' ? payload.video : undefined
}
