// Queues the lost jobs of rows again, such as those that an operator cancelled.

import { CHECK_OWNER_EVERY } from './lifecycle.ts'
import type { ActorDeps } from './ports.ts'
import type { Unit } from './unit.ts'

/** Periodically queues the jobs of the rows whose ids the SQL `waiting` selects. `ask` skips jobs that wait or run already. */
export function resumeJobs(
  { db, tell, registry }: Pick<ActorDeps, 'db' | 'tell' | 'registry'>,
  task: string,
  { waiting, ask, everyMs = CHECK_OWNER_EVERY }: { waiting: string; ask: (unit: Unit, id: number) => void; everyMs?: number },
): void {
  registry.periodic(task, {
    everyMs: () => everyMs,
    async run() {
      const rows = await db.query<{ id: number }>(waiting)
      if (rows.length === 0) return
      await tell.create(async (unit) => {
        for (const { id } of rows) ask(unit, id)
      })
    },
  })
}
