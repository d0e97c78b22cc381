// Waits for a condition instead of a time.

import { setTimeout as pause } from 'node:timers/promises'
import { slowness } from './cpu-time.ts'

/** Between two looks, in ms: what is waited for runs on the same processors. */
const SHORTEST = 1
const LONGEST = 20
/** In ms, on any machine. */
const LONG = 600_000

/** The first truthy answer of `look`; throws what `look` throws, or a time-out: after `withinMs` of a quiet machine, or else ten minutes. */
export async function until<T>(
  look: () => T | Promise<T>,
  { withinMs, what = 'the condition' }: { withinMs?: number; what?: string } = {},
): Promise<NonNullable<Awaited<T>>> {
  const begun = performance.now()
  const isOver = (waited: number) => (withinMs === undefined ? waited > LONG : waited > withinMs && waited > withinMs * slowness())
  for (let wait = SHORTEST; ; wait = Math.min(wait * 2, LONGEST)) {
    const found = await look()
    if (found) return found
    const waited = performance.now() - begun
    if (isOver(waited)) throw new Error(`${what} did not come true within ${Math.round(waited)} ms`)
    await pause(wait)
  }
}
