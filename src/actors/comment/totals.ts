// How many comments there are: triggers of the table write what changes, and it is folded into two rows all the time.

import type { Database } from '../../platform/database/index.ts'
import type { ActorDeps, Registry } from '../runtime/index.ts'

/** Rows that one fold takes. */
const BATCH = 1000

export function keepCommentTotals(
  deps: Pick<ActorDeps, 'db' | 'config'> & { registry: Pick<Registry, 'periodic'> },
): void {
  const { db, registry, config } = deps
  registry.periodic('comment-totals', {
    everyMs: () => config().vireo.runtime.counters_interval,
    async run() {
      while ((await fold()) === BATCH);
    },
  })

  /** One process at a time. Answers how many rows were taken. */
  async function fold(): Promise<number> {
    const [row] = await db.query<{ taken: number }>(
      `with locked as materialized (
         select held from comment_total order by held for no key update skip locked
       ), taken as (
         delete from comment_total_delta where id in (
           select id from comment_total_delta where held in (select held from locked) order by id limit ${BATCH}
         ) returning held, delta
       ), folded as (
         update comment_total t set total = t.total + s.delta
         from (select held, sum(delta)::int as delta from taken group by held) s where t.held = s.held
       ) select count(*)::int as taken from taken`,
    )
    return row?.taken ?? 0
  }
}

/** SQL for the number of comments that are not removed; `held` left out: whether they wait or not. */
export function totalComments(held?: boolean): string {
  const where = held === undefined ? '' : ` where held = ${held === true}`
  return `((select coalesce(sum(total), 0) from comment_total${where})
    + (select coalesce(sum(delta), 0) from comment_total_delta${where}))`
}

/** Adds to the totals what they lack, of one moment: two of these at once would add it twice. */
export async function reconcileCommentTotals(db: Pick<Database, 'query'>): Promise<void> {
  await db.query(
    `with counted as materialized (
       select (select count(*)::int from comment where deleted_at is null) as kept,
         (select count(*)::int from comment where deleted_at is null and held_for_review) as held
     ), lacking as materialized (
       select k.held, case when k.held then c.held else c.kept - c.held end - k.total
         - coalesce((select sum(d.delta) from comment_total_delta d where d.held = k.held), 0) as comments
       from comment_total k cross join counted c
     )
     update comment_total t set total = t.total + l.comments from lacking l where t.held = l.held and l.comments <> 0`,
  )
}
