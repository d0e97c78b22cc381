// Waits for a condition instead of a time.

import { setTimeout as pause } from 'node:timers/promises'

/** Between two looks, in ms: what is waited for runs on the same processors. */
const SHORTEST = 1
const LONGEST = 20

/** The first truthy answer of `look`; throws what the last look threw, or a time-out, after `withinMs`. */
export async function until<T>(
  look: () => T | Promise<T>,
  { withinMs = 25_000, what = 'the condition' } = {},
): Promise<NonNullable<Awaited<T>>> {
  const giveUpAt = performance.now() + withinMs
  for (let wait = SHORTEST; ; wait = Math.min(wait * 2, LONGEST)) {
    const found = await look()
    if (found) return found
    if (performance.now() > giveUpAt) throw new Error(`${what} did not come true within ${withinMs} ms`)
    await pause(wait)
  }
}
