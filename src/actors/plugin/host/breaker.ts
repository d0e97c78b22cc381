// When the process of a plugin starts again after it has ended, and when the plugin is switched off. Pure.

/** Ends within this time that switch a plugin off. */
const MOST_ENDS = 5
const ENDS_WITHIN_MS = 10 * 60_000
const FIRST_WAIT_MS = 500
/** Failed filters within this time that do. */
const MOST_FAILURES = 10
const FAILURES_WITHIN_MS = 60_000

export type Breaker = ReturnType<typeof makeBreaker>

/** Times are in ms since the epoch. */
export function makeBreaker() {
  let ends: number[] = []
  let failures: number[] = []
  return {
    /** Its process has ended, or could not be started. Returns when to start it again, or undefined if the plugin is to be switched off. */
    ended(now: number): number | undefined {
      ends = [...ends.filter((at) => now - at < ENDS_WITHIN_MS), now]
      return ends.length >= MOST_ENDS ? undefined : now + FIRST_WAIT_MS * 2 ** (ends.length - 1)
    },
    /** A filter was late, failed or answered nonsense. Returns true if the plugin is to be switched off. */
    failed(now: number): boolean {
      failures = [...failures.filter((at) => now - at < FAILURES_WITHIN_MS), now]
      return failures.length >= MOST_FAILURES
    },
  }
}
