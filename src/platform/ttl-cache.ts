// A short-lived cache in memory, limited to the most recently used values. Its loads are not those of lru-cache, which does not list the
// keys that it is loading: `drop` could not reach them.

import { LRUCache } from 'lru-cache'
import type { Clock } from './clock.ts'

export interface TtlCache<K, V> {
  /** The value, if it exists and has not expired. */
  find(key: K): V | undefined
  /** Its expiry, in ms since the epoch. */
  endOf(key: K): number | undefined
  /**
   * The value, loaded if it is missing; `load` is called before this returns, and shared by concurrent calls. Cached for `ttlMs` from the
   * start of `load`, or until `endsAt` of the value, unless it fails or its key is dropped meanwhile.
   */
  get(key: K, ttlMs: number, load: () => Promise<V>): Promise<V>
  /** Begins a read of several values: the returned function caches one for `ttlMs` from now on, unless something was dropped since. */
  reading(ttlMs: number): (key: K, value: V) => void
  /** Drops what matches. A value that is being loaded is undefined. */
  drop(isMeant: (key: K, value: V | undefined) => boolean): void
  clear(): void
}

/** `max`: in units of `sizeOf`, which counts values by default. `endsAt`: an earlier expiry of a value, in ms since the epoch. */
export function makeTtlCache<K extends {}, V extends {}>(options: {
  clock: Clock
  max: number
  sizeOf?: (value: V, key: K) => number
  endsAt?: (value: V) => number | undefined
}): TtlCache<K, V> {
  const { clock, max, sizeOf = () => 1, endsAt } = options
  const entries = new LRUCache<K, { value: V; until: number }>({ maxSize: max, sizeCalculation: ({ value }, key) => sizeOf(value, key) })
  const loading = new Map<K, Promise<V>>()
  let drops = 0
  const now = (): number => clock.now().getTime()

  function find(key: K): V | undefined {
    const found = entries.get(key)
    return found && found.until > now() ? found.value : undefined
  }

  async function load(key: K, ttlMs: number, make: () => Promise<V>): Promise<V> {
    const until = now() + ttlMs
    const making = make()
    loading.set(key, making)
    try {
      const value = await making
      if (loading.get(key) === making) entries.set(key, { value, until: Math.min(until, endsAt?.(value) ?? until) })
      return value
    } finally {
      if (loading.get(key) === making) loading.delete(key)
    }
  }

  return {
    find,
    endOf: (key) => entries.peek(key)?.until,
    async get(key, ttlMs, make) {
      return find(key) ?? (await (loading.get(key) ?? load(key, ttlMs, make)))
    },
    reading(ttlMs) {
      const before = drops
      const until = now() + ttlMs
      return (key, value) => {
        if (drops === before) entries.set(key, { value, until })
      }
    },
    drop(isMeant) {
      drops += 1
      for (const [key, { value }] of [...entries.entries()]) if (isMeant(key, value)) entries.delete(key)
      // Its callers get the result, which may be older than the change: it is not stored.
      for (const key of [...loading.keys()]) if (isMeant(key, undefined)) loading.delete(key)
    },
    clear() {
      drops += 1
      entries.clear()
      loading.clear()
    },
  }
}
