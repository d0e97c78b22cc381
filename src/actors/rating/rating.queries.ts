// Ratings of an account, by date.

import { type Database, pageOf } from '../../platform/database/index.ts'
import { listColumns, type VideoListRow, videoJoins } from '../video/index.ts'
import { SHARED_PRIVACIES } from '../video/video.entity.ts'
import type { RatingType } from './rating.entity.ts'

export interface RatingListQuery {
  accountId: number
  start: number
  count: number
  sort: { descending: boolean }
  rating?: RatingType | undefined
}

export type RatedVideoRow = VideoListRow & { rating: RatingType }

/** A page with the total, in one statement. Videos that became private are left out. */
export async function listRatings(db: Pick<Database, 'query'>, query: RatingListQuery): Promise<{ total: number; rows: RatedVideoRow[] }> {
  const { text, values } = buildRatingList(query)
  const rows = await db.query<(RatedVideoRow | { id: null }) & { total: number }>(text, values)
  return { total: rows[0]?.total ?? 0, rows: rows.filter((row): row is typeof row & RatedVideoRow => row.id !== null) }
}

/** The statement of a page. An empty page gives one row of nulls, so that the total is always there. */
export function buildRatingList(query: RatingListQuery): { text: string; values: unknown[] } {
  const { accountId, sort, rating } = query
  const direction = sort.descending ? 'desc' : 'asc'
  const order = (table: string) => `${table}.created_at ${direction}, ${table}.id ${direction}`
  const values: unknown[] = [accountId, rating ?? null]
  const matching = `rating r join video v on v.id = r.video_id join channel c on c.id = v.channel_id
    where r.account_id = $1 and ($2::text is null or r.type = $2)
      and (v.state = 'published' and v.privacy in ${SHARED_PRIVACIES} and not v.blocked or v.state <> 'removed' and c.account_id = $1)`
  const text = `with page as materialized (
      ${pageOf({ columns: 'r.id, r.video_id, r.type, r.created_at', rows: matching, order: order('r') }, query, (value) => `$${values.push(value)}`)}
    )
    select (select count(*)::int from ${matching}) as total, page.type as rating, ${listColumns}
    from (values (1)) one left join page on true left join video v on v.id = page.video_id ${videoJoins}
    order by ${order('page')}`
  return { text, values }
}
