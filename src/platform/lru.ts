// A map of the most recently used entries. LRUCache allocates `max` entries at once; this one grows on demand, so that a large limit is
// free at the start.

import { LRUCache } from 'lru-cache'

export function makeLru<K extends {}, V extends {}>(max: number, times: { ttl?: number; updateAgeOnGet?: boolean } = {}): LRUCache<K, V> {
  return new LRUCache<K, V>({ ...times, maxSize: max, sizeCalculation: () => 1 })
}
