// Writes the end of some work even while the database restarts, since otherwise others wait for a lease that nobody uses.

import { setTimeout as pause } from 'node:timers/promises'
import { isDatabaseOutage } from '../../platform/database/index.ts'

/** Longer than a restart takes, and within the time that a process has to stop. */
const RETRY_FOR_MS = 10_000
const AGAIN_MS = 250

/** Repeats `write` while the database is unreachable. A failed write may have been committed: it must be safe to repeat. */
export async function retryThroughOutage<T>(write: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + RETRY_FOR_MS
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!isDatabaseOutage(error) || performance.now() > giveUpAt) throw error
      await pause(AGAIN_MS)
    }
  }
}
