// How many accounts and channels there are: triggers write a small row for each that comes or goes, which are folded into the
// total now and then; reads add what is not folded yet.

import type { Database } from '../../platform/database/index.ts'
import type { ActorDeps } from '../runtime/index.ts'

/** SQL for a total. */
export function totalOfActors(of: 'accounts' | 'channels'): string {
  const rows = of === 'channels' ? 'where channels' : 'where not channels'
  return `((select coalesce(sum(total), 0) from actor_total ${rows})
    + (select coalesce(sum(delta), 0) from actor_total_delta ${rows}))::int`
}

export function registerActorTotals({ db, registry, config }: ActorDeps): void {
  registry.periodic('actor-totals', {
    everyMs: () => config().vireo.runtime.counters_interval,
    run: () => foldActorTotals(db),
  })
}

/** Leaves to another process what that is folding. */
export async function foldActorTotals(db: Pick<Database, 'query'>): Promise<void> {
  await db.query(
    `with locked as materialized (
       select channels from actor_total for no key update skip locked
     ), taken as (
       delete from actor_total_delta where channels in (select channels from locked) returning channels, delta
     ), sums as (select channels, sum(delta) as delta from taken group by channels)
     update actor_total t set total = t.total + s.delta from sums s where t.channels = s.channels`,
  )
}

/** Adds to the totals what they lack, of one moment: two of these at once would add it twice. */
export async function reconcileActorTotals(db: Pick<Database, 'query'>): Promise<void> {
  await db.query(
    `with counted as materialized (
       select type = 'Group' as channels, count(*)::int as actors from actor
       where deleted_at is null and type <> 'Application' group by 1
     ), lacking as materialized (
       select k.channels, coalesce(c.actors, 0) - k.total
         - coalesce((select sum(d.delta) from actor_total_delta d where d.channels = k.channels), 0) as actors
       from actor_total k left join counted c on c.channels = k.channels
     )
     update actor_total t set total = t.total + l.actors from lacking l where t.channels = l.channels and l.actors <> 0`,
  )
}
