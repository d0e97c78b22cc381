// tell() for a process without a runtime, such as that of a live stream. It wakes nobody after a commit: relay and sweeper of the server find
// what it stored.

import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { QueueName } from '../../platform/queue/index.ts'
import { makeTell, type Tell } from './tell.ts'
import { makeRunUnit } from './unit.ts'

export const makeDetachedTell = (options: {
  db: Database
  clock: Clock
  lockTimeoutMs: number
  /** The jobs that this process may queue. */
  jobs: Readonly<Record<string, { queue: QueueName; attempts: number; priority: number }>>
}): Tell =>
  makeTell(
    makeRunUnit({
      ...options,
      lockTimeoutMs: () => options.lockTimeoutMs,
      jobSettings(type) {
        const settings = options.jobs[type]
        if (!settings) throw new Error(`This process cannot queue jobs of the type ${type}.`)
        return settings
      },
      afterCommit: () => undefined,
    }),
  )
