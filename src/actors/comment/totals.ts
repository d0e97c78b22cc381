// How many comments there are: triggers of the table write what changes, and it is folded into two rows all the time.

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
