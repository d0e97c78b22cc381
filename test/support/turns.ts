// How long single turns of the event loop take, by what this thread computes in them: other processes of a busy machine do not count.

import { atUsualSpeed, inMs } from './cpu-time.ts'

/** What no turn may take for what strangers send (ms). */
export const LONGEST_TURN_MS = 20

/**
 * Starts to look at each turn; the function that it answers ends that and tells the longest one (ms of processor time). It only
 * sees turns of the thread that calls it.
 */
function watchTurns(): () => number {
  let longest = 0
  let before = computedMs()
  let next: NodeJS.Immediate | undefined
  const look = (): void => {
    const now = computedMs()
    longest = Math.max(longest, now - before)
    before = computedMs()
    next = setImmediate(look)
  }
  next = setImmediate(look)
  return () => {
    clearImmediate(next)
    return longest
  }
}

/** After so many times it counts that the processor is slower than usual at that moment. */
const WARM_AFTER = 4
const MOST_TIMES = 20

/**
 * The longest turn while this is done, at the best of some times, until one is short enough: what is done first compiles code, garbage of
 * what went before is collected at some time, and processors are slower while their neighbours are busy.
 */
export async function longestTurnOf(work: () => Promise<void>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let times = 1; times <= MOST_TIMES && best >= LONGEST_TURN_MS; times++) {
    const longestTurn = watchTurns()
    await work()
    const longest = longestTurn()
    best = Math.min(best, times < WARM_AFTER ? longest : atUsualSpeed(longest))
  }
  return best
}

const computedMs = (): number => inMs(process.threadCpuUsage())
