// Measures turns of the event loop in CPU time of this thread, so that other processes of a busy machine do not count.

import { atUsualSpeed, inMs } from './cpu-time.ts'

/** Limit of one turn that handles untrusted input, in ms. */
export const MAX_TURN_MS = 20

/** Between two measurements: one for each turn would use a processor while the work waits. A result includes this much of shorter turns. */
const EVERY_MS = 1

/**
 * Starts to measure the turns of the calling thread. The returned function stops it, and returns the longest turn in ms of CPU time.
 */
function watchTurns(): () => number {
  let longest = 0
  let before = cpuMs()
  let next: NodeJS.Timeout | undefined
  const measure = (): void => {
    const now = cpuMs()
    longest = Math.max(longest, now - before)
    before = cpuMs()
    next = setTimeout(measure, EVERY_MS)
  }
  next = setTimeout(measure, EVERY_MS)
  return () => {
    clearTimeout(next)
    return longest
  }
}

/** After this many runs the result is scaled by the current speed of the processor. */
const WARM_AFTER = 4
const MAX_RUNS = 20

/**
 * The longest turn of `work`, in its best run; stops at the first run within the limit. First runs compile code, garbage of earlier work
 * is collected at some time, and processors slow down while other cores are busy.
 */
export async function longestTurnOf(work: () => Promise<void>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let times = 1; times <= MAX_RUNS && best >= MAX_TURN_MS; times++) {
    const longestTurn = watchTurns()
    await work()
    const longest = longestTurn()
    best = Math.min(best, times < WARM_AFTER ? longest : atUsualSpeed(longest))
  }
  return best
}

const cpuMs = (): number => inMs(process.threadCpuUsage())
