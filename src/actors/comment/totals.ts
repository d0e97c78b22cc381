// Totals of comments that are not removed: those pending review, and the others.

import type { Database } from '../../platform/database/index.ts'
import { type ActorDeps, foldTotal, type MaintainedTotal, type Registry, setTotalRight, sumOf } from '../runtime/index.ts'

const COMMENTS: MaintainedTotal = { table: 'comment_total', key: ['held'] }

export function maintainCommentTotals({
  db,
  registry,
  config,
}: Pick<ActorDeps, 'db' | 'config'> & { registry: Pick<Registry, 'periodic'> }): void {
  registry.periodic('comment-totals', {
    everyMs: () => config().vireo.runtime.counters_interval,
    run: () => foldTotal(db, COMMENTS),
  })
}

/** SQL for the number of comments that are not removed. Without `held`, both kinds. */
export const totalComments = (held?: boolean): string => sumOf(COMMENTS, held === undefined ? undefined : `held = ${held === true}`)

/** Comments pending review are few and have an index of their own. */
export const reconcileCommentTotals = (db: Pick<Database, 'query'>): Promise<void> =>
  setTotalRight(
    db,
    COMMENTS,
    `select k.held, case when k.held then c.held else c.kept - c.held end as rows
     from (values (true), (false)) k (held) cross join (
       select (select count(*)::int from comment where deleted_at is null) as kept,
         (select count(*)::int from comment where deleted_at is null and held_for_review) as held) c`,
  )
