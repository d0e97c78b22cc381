// Totals of accounts and channels.

import type { Database } from '../../platform/database/index.ts'
import { type ActorDeps, foldTotal, type MaintainedTotal, setTotalRight, sumOf } from '../runtime/index.ts'

const ACTORS: MaintainedTotal = { table: 'actor_total', key: ['channels'] }

/** SQL for a total. */
export const totalOfActors = (of: 'accounts' | 'channels'): string => sumOf(ACTORS, of === 'channels' ? 'channels' : 'not channels')

export function registerActorTotals({ db, registry, config }: ActorDeps): void {
  registry.periodic('actor-totals', {
    everyMs: () => config().vireo.runtime.counters_interval,
    run: () => foldActorTotals(db),
  })
}

export const foldActorTotals = (db: Pick<Database, 'query'>): Promise<void> => foldTotal(db, ACTORS)

export const reconcileActorTotals = (db: Pick<Database, 'query'>): Promise<void> =>
  setTotalRight(
    db,
    ACTORS,
    `select type = 'Group' as channels, count(*)::int as rows from actor
     where deleted_at is null group by 1`,
  )
