// Progress of the walks over the histories of followed actors, for administrators.

import type { Columns, Sql } from '../../platform/database/index.ts'
import type { HistoryWalk } from './follow.entity.ts'

export interface HistoryRow extends Columns<typeof HistoryWalk, 'seen' | 'total' | 'givenUp' | 'error' | 'dueAt' | 'updatedAt' | 'state'> {
  host_id: number
  actor_id: number
  actor_url: string
  /** Deferred items, which are tried again. */
  put_aside: number
  /** Number of walks over actors of the host, including those not listed. */
  walks: number
  seen_in_all: number
  total_in_all: number
}

/** Walks over actors of these hosts, at most `most` of each host; running ones come first. */
export async function historiesOf(query: Sql, hostIds: number[], most = 10): Promise<HistoryRow[]> {
  return await query<HistoryRow>(
    `select h.*, (select count(*)::integer from history_item i where i.walk_id = h.walk_id) as put_aside from (
       select a.host_id, a.id as actor_id, a.url as actor_url, w.id as walk_id, w.state, w.seen, w.total, w.given_up, w.error,
         w.due_at, w.updated_at, count(*) over host as walks, sum(w.seen) over host as seen_in_all,
         sum(coalesce(w.total, w.seen)) over host as total_in_all,
         row_number() over (partition by a.host_id order by w.state in ('done', 'stopped'), a.id) as place
       from history_walk w join actor a on a.id = w.actor_id where a.host_id = any($1)
       window host as (partition by a.host_id)
     ) h where place <= $2 order by h.host_id, h.place`,
    [hostIds, most],
  )
}
