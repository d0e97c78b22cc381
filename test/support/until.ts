// Waits for a condition instead of a time.

import { setImmediate as nextTurn } from 'node:timers/promises'

/** The first truthy answer of `look`; throws what the last look threw, or a time-out, after `withinMs`. */
export async function until<T>(
  look: () => T | Promise<T>,
  { withinMs = 15_000, what = 'the condition' } = {},
): Promise<NonNullable<Awaited<T>>> {
  const giveUpAt = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > giveUpAt) throw new Error(`${what} did not come true within ${withinMs} ms`)
    await nextTurn()
  }
}
