// Totals of reports by state.

import type { Database } from '../../platform/database/index.ts'
import { type ActorDeps, foldTotal, type MaintainedTotal, type Registry, setTotalRight, sumOf } from '../runtime/index.ts'

const ABUSES: MaintainedTotal = { table: 'abuse_total', key: ['kind'] }

export function maintainAbuseTotals({
  db,
  registry,
  config,
}: Pick<ActorDeps, 'db' | 'config'> & { registry: Pick<Registry, 'periodic'> }): void {
  registry.periodic('abuse-totals', {
    everyMs: () => config().vireo.runtime.counters_interval,
    run: () => foldTotal(db, ABUSES),
  })
}

/** SQL for the number of all reports. */
export const totalAbuses = (): string => sumOf(ABUSES)

export const reconcileAbuseTotals = (db: Pick<Database, 'query'>): Promise<void> =>
  setTotalRight(db, ABUSES, 'select kind, count(*)::int as rows from abuse group by 1')
