// A short-lived cache of responses in memory, bounded in bytes: concurrent requests share one computation.

import { LRUCache } from 'lru-cache'
import type { Clock } from './clock.ts'

/** The size of an entry; a text counts by its length. */
interface Sized {
  body: Buffer | string
  /** Latest expiry, in ms since the epoch, given by its parts. */
  until?: number | undefined
}

export interface ByteCache<A extends Sized> {
  /** The entry of `key`, if it exists and has not expired. */
  find(key: string): A | undefined
  /**
   * The entry of `key`, computed by `fill` if it is missing; `fill` is called before this returns. Concurrent requests share one `fill`.
   * `ttlMs` is the lifetime from the start of `fill`.
   */
  get(key: string, ttlMs: number, fill: () => Promise<A>): Promise<A>
  /** Drops matching entries. An entry that is being computed has no answer yet. */
  drop(isMeant: (key: string, answer?: A) => boolean): void
  /** Drops all entries. */
  clear(): void
}

/** Overhead of an entry in addition to its key and its body. */
const OVERHEAD = 500

export function makeByteCache<A extends Sized>(options: { clock: Clock; maxBytes: number }): ByteCache<A> {
  const { clock, maxBytes } = options
  const kept = new LRUCache<string, { answer: A; until: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer }, key) => answer.body.length + key.length + OVERHEAD,
  })
  const filling = new Map<string, Promise<A>>()
  const now = () => clock.now().getTime()

  function find(key: string): A | undefined {
    const found = kept.get(key)
    return found && found.until > now() ? found.answer : undefined
  }

  async function make(key: string, ttlMs: number, fill: () => Promise<A>): Promise<A> {
    const until = now() + ttlMs
    const making = fill()
    filling.set(key, making)
    try {
      const answer = await making
      if (filling.get(key) === making) kept.set(key, { answer, until: Math.min(until, answer.until ?? until) })
      return answer
    } finally {
      if (filling.get(key) === making) filling.delete(key)
    }
  }

  return {
    find,
    async get(key, ttlMs, fill) {
      return find(key) ?? (await (filling.get(key) ?? make(key, ttlMs, fill)))
    },
    drop(isMeant) {
      for (const [key, { answer }] of [...kept.entries()]) if (isMeant(key, answer)) kept.delete(key)
      // A running computation may have read data before the change: its waiters get the result, but it is not stored.
      for (const key of [...filling.keys()]) if (isMeant(key)) filling.delete(key)
    },
    clear() {
      kept.clear()
      filling.clear()
    },
  }
}
