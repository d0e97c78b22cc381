// Reads about parked and waiting activities.

import type { Aliased, Database } from '../../platform/database/index.ts'
import type { IncomingActivity } from './incoming-activity.entity.ts'

export type ParkedActivityRow = Aliased<
  typeof IncomingActivity,
  'id' | 'activityId' | 'type' | 'actorUrl' | 'host' | 'error' | 'receivedAt'
>

/** One page of the parked activities, newest first, with the total. */
export async function listParkedActivities(
  db: Database,
  query: { start: number; count: number; host?: string | undefined },
): Promise<{ total: number; rows: ParkedActivityRow[] }> {
  const host = query.host?.toLowerCase() ?? null
  const matching = "where state = 'parked' and ($1::text is null or host = $1)"
  const [count] = await db.query<{ total: number }>(`select count(*) as total from incoming_activity ${matching}`, [host])
  const rows = await db.query<ParkedActivityRow>(
    `select id, activity_id as "activityId", type, actor_url as "actorUrl", host, error, received_at as "receivedAt"
     from incoming_activity ${matching} order by id desc limit $2 offset $3`,
    [host, query.count, query.start],
  )
  return { total: count?.total ?? 0, rows }
}

/** Activities that wait to be verified or handled. */
export async function countWaitingActivities(db: Database): Promise<number> {
  const [row] = await db.query<{ waiting: number }>(
    "select count(*) as waiting from incoming_activity where state in ('received', 'unverified', 'retrying')",
  )
  return row?.waiting ?? 0
}
