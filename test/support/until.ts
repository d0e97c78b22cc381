// Waits for a condition instead of a fixed time.

import { setTimeout as pause } from 'node:timers/promises'
import { slowness } from './cpu-time.ts'

/** Between two checks, in ms: the awaited work runs on the same processors, so a long wait has few checks. */
const MIN_PAUSE = 2
const MAX_PAUSE = 100
/** A pause in relation to the time waited so far. */
const PAUSE_SHARE = 0.2
/** In ms, on any machine. */
const DEFAULT_TIMEOUT = 600_000

/**
 * Returns the first truthy result of `check`. Throws what `check` throws, or a timeout: after `withinMs` of a quiet machine, or else
 * after ten minutes.
 */
export async function until<T>(
  check: () => T | Promise<T>,
  { withinMs, what = 'the condition' }: { withinMs?: number; what?: string } = {},
): Promise<NonNullable<Awaited<T>>> {
  const begun = performance.now()
  const isOver = (waited: number) =>
    withinMs === undefined ? waited > DEFAULT_TIMEOUT : waited > withinMs && waited > withinMs * slowness()
  for (;;) {
    const result = await check()
    if (result) return result
    const waited = performance.now() - begun
    if (isOver(waited)) throw new Error(`${what} did not come true within ${Math.round(waited)} ms`)
    await pause(pauseAfter(waited))
  }
}

const pauseAfter = (waited: number): number => Math.min(Math.max(waited * PAUSE_SHARE, MIN_PAUSE), MAX_PAUSE)

/** Between two attempts of an assertion, in ms: assertions may be expensive. */
const MIN_RETRY_PAUSE = 10
const MAX_RETRY_PAUSE = 80

/** Retries until the assertion passes; throws its last error after `withinMs`. */
export async function eventually(assertion: () => void | Promise<void>, withinMs = DEFAULT_TIMEOUT): Promise<void> {
  const deadline = performance.now() + withinMs
  for (let wait = MIN_RETRY_PAUSE; ; wait = Math.min(wait * 1.5, MAX_RETRY_PAUSE)) {
    try {
      return await assertion()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await pause(wait)
  }
}

/** A promise that a test resolves by `open`. */
export function latch(): { opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}
