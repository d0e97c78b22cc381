// A short-lived cache of values by key, limited to the most recently used ones.

import type { Clock } from './clock.ts'
import { makeLru } from './lru.ts'

export interface TtlCache<K, V> {
  /** The value, if it exists and has not expired. */
  find(key: K): V | undefined
  /** Its expiry, in ms since the epoch. */
  endOf(key: K): number | undefined
  /** Begins a read: the returned function caches a value for `ttlMs` from now on, unless something was dropped since. */
  reading(ttlMs: number): (key: K, value: V) => void
  drop(isMeant: (key: K, value: V) => boolean): void
  clear(): void
}

export function makeTtlCache<K extends {}, V>({ clock, max }: { clock: Clock; max: number }): TtlCache<K, V> {
  const entries = makeLru<K, { value: V; until: number }>(max)
  let drops = 0
  const now = (): number => clock.now().getTime()
  return {
    find(key) {
      const found = entries.get(key)
      return found && found.until > now() ? found.value : undefined
    },
    endOf: (key) => entries.peek(key)?.until,
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
    },
    clear() {
      drops += 1
      entries.clear()
    },
  }
}
