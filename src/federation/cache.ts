// Serialised answers, kept for a moment: a document that a thousand servers fetch is built once.

import { LRUCache } from 'lru-cache'
import type { Bus, JsonValue } from '../platform/bus/index.ts'
import type { Clock } from '../platform/clock.ts'

/** The topic on which changes of documents are told: `{ url }`. */
export const DOCUMENT_CHANGED = 'document-changed'

export interface CachedAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

export interface ByteCache {
  /**
   * The answer of `key`, an address of ours without its origin; made by `fill` when it is not there. Several requests
   * at once wait for one `fill`. `ttlMs` is how long it may be given.
   */
  get(key: string, ttlMs: number, fill: () => Promise<CachedAnswer>): Promise<CachedAnswer>
  /** Forgets every answer: what all of them are made from has changed. */
  clear(): void
  /** Ends the subscription to changes. */
  close(): void
}

const MAX_BYTES = 16 * 1024 * 1024

export function makeByteCache(deps: { bus: Pick<Bus, 'subscribe'>; clock: Clock; origin: string }): ByteCache {
  const { bus, clock, origin } = deps
  const kept = new LRUCache<string, { answer: CachedAnswer; until: number }>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ answer }, key) => answer.body.length + key.length + 500,
  })
  const filling = new Map<string, Promise<CachedAnswer>>()
  const now = () => clock.now().getTime()

  /** The document, its pages and what is below it. */
  function drop(path: string): void {
    const isBelow = (key: string) => key === path || key.startsWith(`${path}/`) || key.startsWith(`${path}?`)
    for (const key of [...kept.keys()].filter(isBelow)) kept.delete(key)
    // What is being made may have been read before the change: it goes to those who wait, and is not kept.
    for (const key of [...filling.keys()].filter(isBelow)) filling.delete(key)
  }

  const unsubscribe = bus.subscribe(DOCUMENT_CHANGED, (payload) => {
    const url = urlOf(payload)
    if (url?.startsWith(`${origin}/`)) drop(url.slice(origin.length))
  })

  async function make(key: string, ttlMs: number, fill: () => Promise<CachedAnswer>): Promise<CachedAnswer> {
    const making = fill()
    filling.set(key, making)
    try {
      const answer = await making
      if (filling.get(key) === making) kept.set(key, { answer, until: now() + ttlMs })
      return answer
    } finally {
      if (filling.get(key) === making) filling.delete(key)
    }
  }

  return {
    async get(key, ttlMs, fill) {
      const found = kept.get(key)
      if (found && found.until > now()) return found.answer
      return await (filling.get(key) ?? make(key, ttlMs, fill))
    },
    clear() {
      kept.clear()
      filling.clear()
    },
    close: unsubscribe,
  }
}

function urlOf(payload: JsonValue): string | undefined {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined
  return typeof payload.url === 'string' ? payload.url : undefined
}
