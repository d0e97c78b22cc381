// A map of the most recently used entries. LRUCache allocates `max` entries at once; this one grows on demand, so that a large limit is
// free at the start.

import { LRUCache } from 'lru-cache'

type Options<K extends {}, V extends {}, C> = Pick<LRUCache.OptionsBase<K, V, C>, 'ttl' | 'perf' | 'updateAgeOnGet' | 'fetchMethod'>

/** A load by `fetchMethod` whose entry is removed or evicted meanwhile still answers its callers, and is not stored. */
export function makeLru<K extends {}, V extends {}, C = unknown>(max: number, options: Options<K, V, C> = {}): LRUCache<K, V, C> {
  return new LRUCache<K, V, C>({ ignoreFetchAbort: true, ...options, maxSize: max, sizeCalculation: () => 1 })
}
