// How long a job waits after an outage: longer each time, so that it is not repeated constantly. Known to this process only; another
// process begins with the shortest wait.

import type { Clock } from '../../platform/clock.ts'

const LONGEST_MS = 600_000
/** A job that met no outage for this long has succeeded or ended. */
const FORGET_MS = 2 * LONGEST_MS

export function makeOutageWaits(clock: Clock) {
  const waits = new Map<number, { ms: number; at: number }>()
  return {
    /** In ms; `shortest` the first time. */
    next(job: number, shortest: number): number {
      const at = clock.now().getTime()
      for (const [id, wait] of waits) if (at - wait.at > FORGET_MS) waits.delete(id)
      const before = waits.get(job)?.ms
      const ms = before === undefined ? shortest : Math.min(before * 2, LONGEST_MS)
      waits.set(job, { ms, at })
      return ms
    },
  }
}
