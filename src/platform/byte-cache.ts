// Answers made ready, kept in memory for a moment and bounded in bytes: what many ask for is made once.

import { LRUCache } from 'lru-cache'
import type { Clock } from './clock.ts'

/** What an entry is measured by; a text counts by its length. */
interface Sized {
  body: Buffer | string
  /** Until when it may be given at most, in ms since the epoch: what it is made of is too old then. */
  until?: number | undefined
}

export interface ByteCache<A extends Sized> {
  /** The answer of `key`, when it is there and not too old. */
  find(key: string): A | undefined
  /**
   * The answer of `key`, made by `fill` when it is not there; `fill` is called before this returns. Several requests at once
   * wait for one `fill`. `ttlMs` is how long after it began the answer may be given.
   */
  get(key: string, ttlMs: number, fill: () => Promise<A>): Promise<A>
  /** Forgets what is meant. Of what is still being made there is no answer yet. */
  drop(isMeant: (key: string, answer?: A) => boolean): void
  /** Forgets every answer: what all of them are made from has changed. */
  clear(): void
}

/** What an entry takes beside its key and its body. */
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
      // What is being made may have been read before the change: it goes to those who wait, and is not kept.
      for (const key of [...filling.keys()]) if (isMeant(key)) filling.delete(key)
    },
    clear() {
      kept.clear()
      filling.clear()
    },
  }
}
