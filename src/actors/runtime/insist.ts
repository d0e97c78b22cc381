// What has to be noted of work that ended: also when the database is being restarted at that moment, since otherwise everybody
// waits for the end of a lease that nobody uses.

import { setTimeout as pause } from 'node:timers/promises'
import { isDatabaseOutage } from '../../platform/database/index.ts'

/** Longer than a restart takes, and no longer than a process may take to end. */
const INSISTS_MS = 10_000
const AGAIN_MS = 250

/** Repeats `write` while the database is out of reach. It may have been carried out though it failed: it must be safe to repeat. */
export async function insist<T>(write: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + INSISTS_MS
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!isDatabaseOutage(error) || performance.now() > giveUpAt) throw error
      await pause(AGAIN_MS)
    }
  }
}
