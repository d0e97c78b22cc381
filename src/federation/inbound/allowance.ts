// Limits how often a sender may cause a key fetch. Anybody can claim to sign for any host, but the IP address of the sender is real.

import type { Clock } from '../../platform/clock.ts'
import { makeLru } from '../../platform/lru.ts'

/** Limit of cached senders. */
const SENDERS = 10_000
const MINUTE_MS = 60_000

/** Senders in one IPv6 /64 network count as one, since it belongs to one customer. */
export function makeAllowance(options: { clock: Clock; perMinute: () => number }) {
  const seen = makeLru<string, { since: number; count: number }>(SENDERS)
  const windowOf = (name: string) => {
    const now = options.clock.now().getTime()
    const known = seen.get(name)
    return known && Math.abs(now - known.since) < MINUTE_MS ? known : { since: now, count: 0 }
  }
  return {
    /** Returns true and counts it, if one more is allowed. */
    admits(sender: string) {
      const name = networkOf(sender)
      const window = windowOf(name)
      if (window.count >= options.perMinute()) return false
      window.count += 1
      seen.set(name, window)
      return true
    },
    /** Takes back an admission. */
    giveBack(sender: string) {
      const window = windowOf(networkOf(sender))
      if (window.count > 0) window.count -= 1
    },
  }
}

function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [front = '', back = ''] = address.split('::')
  const head = front.split(':').filter((part) => part !== '')
  const tail = back.split(':').filter((part) => part !== '')
  const gap = address.includes('::') ? Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0') : []
  return [...head, ...gap, ...tail].slice(0, 4).join(':')
}
