// A map of the entries that were used last. LRUCache takes the memory of `max` entries at once; this grows with what it holds, so that
// a wide bound costs nothing at the start.

import { LRUCache } from 'lru-cache'

export function makeLru<K extends {}, V extends {}>(max: number, times: { ttl?: number; updateAgeOnGet?: boolean } = {}): LRUCache<K, V> {
  return new LRUCache<K, V>({ ...times, maxSize: max, sizeCalculation: () => 1 })
}
