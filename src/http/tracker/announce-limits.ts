// Limits of announces: per address, and per address and swarm. Memory is bounded.

import type { Config } from '../../config/index.ts'
import { makeLru } from '../../platform/lru.ts'

export type AnnounceLimits = ReturnType<typeof makeAnnounceLimits>

/** Addresses, and pairs of address and swarm, that are counted; the oldest are dropped. */
const MOST_COUNTED = 50_000

export function makeAnnounceLimits(config: () => Config) {
  const counts = makeLru<string, { count: number }>(MOST_COUNTED)
  const blocked = makeLru<string, true>(MOST_COUNTED)

  function count(key: string): number {
    const entry = counts.get(key)
    if (entry) return ++entry.count
    counts.set(key, { count: 1 }, { ttl: config().vireo.tracker.announce_window })
    return 1
  }

  return {
    /** Counts an announce; true if it exceeds the limit, and while the address is blocked for it. */
    isTooMany(address: string, infoHash: string) {
      const { announces_per_ip, announces_per_ip_per_infohash, block_for } = config().vireo.tracker
      if (blocked.has(address)) return true
      const ofAddress = count(address)
      const ofSwarm = count(`${address} ${infoHash}`)
      if (ofAddress <= announces_per_ip && ofSwarm <= announces_per_ip_per_infohash) return false
      blocked.set(address, true, { ttl: block_for })
      return true
    },
  }
}
