// Results of incoming activities, by type, over all processes: each settlement writes small rows, which are folded into the totals; and the
// recent rate per second.

import type { Database } from '../../platform/database/index.ts'
import { type ActorDeps, foldTotal, type MaintainedTotal } from '../runtime/index.ts'

export const countedTypes = [
  'Create',
  'Update',
  'Delete',
  'Follow',
  'Accept',
  'Reject',
  'Announce',
  'Undo',
  'Like',
  'Dislike',
  'Flag',
  'View',
  'ApproveReply',
  'RejectReply',
] as const
export type CountedType = (typeof countedTypes)[number]

const counted = new Set<string>(countedTypes)

/** Null for types without a handler. */
export function countedAs(type: string): string | null {
  if (type === 'EmojiReact') return 'Like'
  return counted.has(type) ? type : null
}

const ACTIVITIES: MaintainedTotal = { table: 'activity_total', key: ['type', 'success'] }
const HANDLED = '((select coalesce(sum(total), 0) from activity_total) + (select coalesce(sum(delta), 0) from activity_total_delta))'
/** Period that the rate covers. */
const RATE_OF_MS = 3_600_000

export function maintainActivityTotals(
  deps: Pick<ActorDeps, 'db' | 'config' | 'clock'> & { registry: Pick<ActorDeps['registry'], 'periodic'> },
): void {
  const { db, registry, config, clock } = deps
  registry.periodic('activity-totals', {
    everyMs: () => config().vireo.schedulers.update_inbox_stats,
    run: async () => {
      await foldTotal(db, ACTIVITIES)
      await noteRate(db, clock.now(), config().vireo.schedulers.update_inbox_stats)
    },
  })
}

/** One process per interval. */
async function noteRate(db: Pick<Database, 'query'>, now: Date, everyMs: number): Promise<void> {
  await db.query(
    `insert into activity_rate (at, handled) select $1, ${HANDLED}
     where not exists (select from activity_rate where at > $2) on conflict do nothing`,
    [now, new Date(now.getTime() - 0.9 * everyMs)],
  )
  await db.query('delete from activity_rate where at < $1 or at > $2', [new Date(now.getTime() - RATE_OF_MS), now])
}

export interface ActivityTotals {
  successes: Record<CountedType, number>
  errors: Record<CountedType, number>
  waiting: number
  perSecond: number
}

/** One statement. */
export async function activityTotals(db: Pick<Database, 'query'>, now: Date): Promise<ActivityTotals> {
  const [row] = await db.query<{
    totals: { type: string; success: boolean; total: number }[]
    handled: number
    waiting: number
    since: { at: string; handled: number } | null
  }>(
    `select (select jsonb_agg(jsonb_build_object('type', type, 'success', success, 'total', total)) from (
         select type, success, sum(total) as total from (
           select type, success, total from activity_total
           union all select type, success, delta from activity_total_delta
         ) known group by type, success
       ) totals) as totals,
       ${HANDLED}::float8 as handled,
       (select count(*)::int from incoming_activity where state in ('received', 'unverified', 'retrying')) as waiting,
       (select jsonb_build_object('at', at, 'handled', handled) from activity_rate where at >= $1 order by at limit 1) as since`,
    [new Date(now.getTime() - RATE_OF_MS)],
  )
  const { totals = [], handled = 0, waiting = 0, since = null } = row ?? {}
  const of = (success: boolean) =>
    Object.fromEntries(
      countedTypes.map((type) => [type, totals.find((total) => total.type === type && total.success === success)?.total ?? 0]),
    ) as Record<CountedType, number>
  const seconds = since ? (now.getTime() - new Date(since.at).getTime()) / 1000 : 0
  const perSecond = since && seconds > 0 ? Math.max(0, handled - since.handled) / seconds : 0
  return { successes: of(true), errors: of(false), waiting, perSecond }
}
