// Serialised answers, kept for a moment: a document that a thousand servers fetch is built once.

import type { Bus, JsonValue } from '../platform/bus/index.ts'
import { type ByteCache, makeByteCache } from '../platform/byte-cache.ts'
import type { Clock } from '../platform/clock.ts'

/** The topic on which changes of documents are told: `{ url }`. */
export const DOCUMENT_CHANGED = 'document-changed'

export interface CachedAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** Its keys are addresses of ours without their origin. */
export interface DocumentCache extends Pick<ByteCache<CachedAnswer>, 'get' | 'clear'> {
  /** Ends the subscription to changes. */
  close(): void
}

const MAX_BYTES = 16 * 1024 * 1024

export function makeDocumentCache(deps: { bus: Pick<Bus, 'subscribe'>; clock: Clock; origin: string }): DocumentCache {
  const { bus, clock, origin } = deps
  const cache = makeByteCache<CachedAnswer>({ clock, maxBytes: MAX_BYTES })

  const close = bus.subscribe(DOCUMENT_CHANGED, (payload) => {
    const url = urlOf(payload)
    if (!url?.startsWith(`${origin}/`)) return
    const path = url.slice(origin.length)
    // The document, its pages and what is below it.
    cache.drop((key) => key === path || key.startsWith(`${path}/`) || key.startsWith(`${path}?`))
  })
  return { get: cache.get, clear: cache.clear, close }
}

function urlOf(payload: JsonValue): string | undefined {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined
  return typeof payload.url === 'string' ? payload.url : undefined
}
