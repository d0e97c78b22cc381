// How long a job waits that met an outage: longer each time it meets one again, so that nothing is made over and over meanwhile.
// Known to this process alone; another one begins with the shortest.

import type { Clock } from '../../platform/clock.ts'

const LONGEST_MS = 600_000
/** A job that was not seen for so long ran on, or is over. */
const FORGET_MS = 2 * LONGEST_MS

export interface OutageWaits {
  /** In ms; `shortest` the first time. */
  next(job: number, shortest: number): number
}

export function makeOutageWaits(clock: Clock): OutageWaits {
  const waits = new Map<number, { ms: number; at: number }>()
  return {
    next(job, shortest) {
      const at = clock.now().getTime()
      for (const [id, wait] of waits) if (at - wait.at > FORGET_MS) waits.delete(id)
      const before = waits.get(job)?.ms
      const ms = before === undefined ? shortest : Math.min(before * 2, LONGEST_MS)
      waits.set(job, { ms, at })
      return ms
    },
  }
}
