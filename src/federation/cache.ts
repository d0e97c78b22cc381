// Short-lived cache of serialised responses: a document that a thousand servers fetch is built once.

import type { Bus, JsonValue } from '../platform/bus/index.ts'
import type { Clock } from '../platform/clock.ts'
import { makeTtlCache } from '../platform/ttl-cache.ts'

/**
 * The topic for changes of documents. `{ url }`: this document changed; with the id of a `video`, also outboxes and ratings that contain
 * it. `{ all: true }`: any document may have changed.
 */
export const DOCUMENT_CHANGED = 'document-changed'

export interface CachedAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** Keyed by local addresses without their origin. */
export type DocumentCache = ReturnType<typeof makeDocumentCache>

const MAX_BYTES = 16 * 1024 * 1024
/** Bytes of an entry in addition to its key and its body. */
const OVERHEAD = 500

export function makeDocumentCache(deps: { bus: Pick<Bus, 'subscribe'>; clock: Clock; origin: string }) {
  const { bus, clock, origin } = deps
  const sizeOf = ({ body }: CachedAnswer, key: string): number => body.length + key.length + OVERHEAD
  const cache = makeTtlCache({ clock, max: MAX_BYTES, sizeOf })

  /** Drops all documents, but not the statistics of the instance, which take long to count. */
  const forgetDocuments = (): void => cache.drop((key) => !key.startsWith('/nodeinfo/'))

  /** Unsubscribes from changes. */
  const close = bus.subscribe(DOCUMENT_CHANGED, (payload) => {
    const change = changeIn(payload)
    if (change.all === true) return forgetDocuments()
    const path = pathOf(change.url, origin)
    if (path === undefined) return
    const isMeant = typeof change.video === 'number' ? isOfVideo(change.video) : () => false
    // Names and UUIDs match in any case.
    cache.drop((key) => isAtOrBelow(key.toLowerCase(), path) || isMeant(key))
  })
  return { get: cache.get, clear: cache.clear, forgetDocuments, close }
}

/** The document, its pages and what is below it. */
const isAtOrBelow = (key: string, path: string): boolean => key === path || key.startsWith(`${path}/`) || key.startsWith(`${path}?`)

/** Accounts, channels and the instance list it in their outboxes, as do former owners; others have rated it. */
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
