// Serialised answers, kept for a moment: a document that a thousand servers fetch is built once.

import type { Bus, JsonValue } from '../platform/bus/index.ts'
import { type ByteCache, makeByteCache } from '../platform/byte-cache.ts'
import type { Clock } from '../platform/clock.ts'

/**
 * The topic on which changes of documents are told: `{ url }`; with the id of a `video`, what outboxes and its rates say of it too;
 * `{ all: true }` when it may be any of them.
 */
export const DOCUMENT_CHANGED = 'document-changed'

export interface CachedAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** Its keys are addresses of ours without their origin. */
export interface DocumentCache extends Pick<ByteCache<CachedAnswer>, 'get' | 'clear'> {
  /** Any document may have changed; not so the figures of the instance, which take long to count. */
  forgetDocuments(): void
  /** Ends the subscription to changes. */
  close(): void
}

const MAX_BYTES = 16 * 1024 * 1024

export function makeDocumentCache(deps: { bus: Pick<Bus, 'subscribe'>; clock: Clock; origin: string }): DocumentCache {
  const { bus, clock, origin } = deps
  const cache = makeByteCache<CachedAnswer>({ clock, maxBytes: MAX_BYTES })

  const forgetDocuments = (): void => cache.drop((key) => !key.startsWith('/nodeinfo/'))

  const close = bus.subscribe(DOCUMENT_CHANGED, (payload) => {
    const change = changeIn(payload)
    if (change.all === true) return forgetDocuments()
    const path = pathOf(change.url, origin)
    if (path === undefined) return
    const isMeant = typeof change.video === 'number' ? isOfVideo(change.video) : () => false
    // Names and UUIDs are found however they are written.
    cache.drop((key) => isAtOrBelow(key.toLowerCase(), path) || isMeant(key))
  })
  return { get: cache.get, clear: cache.clear, forgetDocuments, close }
}

/** The document, its pages and what is below it. */
const isAtOrBelow = (key: string, path: string): boolean => key === path || key.startsWith(`${path}/`) || key.startsWith(`${path}?`)

/** An account, a channel and the instance list it in their outboxes, and former ones did; others have rated it. */
const isOfVideo = (id: number) => {
  const ofRate = new RegExp(`/(?:dis)?likes/0*${id}$`)
  return (key: string): boolean => OUTBOX.test(key) || ofRate.test(key)
}

const OUTBOX = /\/outbox(?:\?|$)/

function pathOf(url: JsonValue | undefined, origin: string): string | undefined {
  return typeof url === 'string' && url.startsWith(`${origin}/`) ? url.slice(origin.length).toLowerCase() : undefined
}

function changeIn(payload: JsonValue): Record<string, JsonValue | undefined> {
  return typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? payload : {}
}
