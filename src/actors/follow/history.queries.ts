// How far the walks over the histories of followed actors are, for those who look after the peers.

import type { Sql } from '../../platform/database/index.ts'

export interface HistoryRow {
  host_id: number
  actor_id: number
  actor_url: string
  state: string
  /** Items that were read, of `total` that the collection speaks of (null when it does not say). */
  seen: number
  total: number | null
  /** Items that cannot be had now and are tried again. */
  put_aside: number
  /** Items that were given up. */
  given_up: number
  error: string | null
  /** When it is tried or looked at again. */
  due_at: Date | null
  updated_at: Date
}

/** The walks over actors of these hosts. */
export async function historiesOf(query: Sql, hostIds: number[]): Promise<HistoryRow[]> {
  return await query<HistoryRow>(
    `select a.host_id, a.id as actor_id, a.url as actor_url, w.state, w.seen, w.total, w.given_up, w.error, w.due_at,
       w.updated_at, (select count(*)::integer from history_item i where i.walk_id = w.id) as put_aside
     from history_walk w join actor a on a.id = w.actor_id where a.host_id = any($1) order by a.host_id, a.id`,
    [hostIds],
  )
}
