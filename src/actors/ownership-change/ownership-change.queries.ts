// Videos that were offered to an account.

import { type Columns, type Database, type InJson, pageOf } from '../../platform/database/index.ts'
import { type ActorProfile, accountProfile } from '../actor/index.ts'
import { listColumns, type VideoListRow, videoJoins } from '../video/index.ts'
import { isPublic } from '../video/video.entity.ts'
import type { OwnershipChange } from './ownership-change.entity.ts'

export interface OwnershipChangeRow {
  change: InJson<Columns<typeof OwnershipChange, 'id' | 'state' | 'createdAt'>> & Record<'initiator' | 'receiver', ActorProfile>
  video: VideoListRow
}

type Flat = { change: OwnershipChangeRow['change'] | null; total: number } & VideoListRow

/**
 * SQL: true if the receiver may see the video: it is offered, owned or public. A video that the giver kept, or gave to another user, is
 * hidden.
 */
const SHOWN = `o.receiver_id = $1 and v.state <> 'removed' and (
    o.state = 'waiting' and c.account_id = o.giver_id or c.account_id = o.receiver_id
    or ${isPublic('v')})`

/** A page of the offers to an account, by date. One statement. */
export async function listOwnershipChanges(
  db: Pick<Database, 'query'>,
  query: { receiverId: number; start: number; count: number; descending: boolean },
): Promise<{ total: number; rows: OwnershipChangeRow[] }> {
  const order = query.descending ? 'desc' : 'asc'
  const values: unknown[] = [query.receiverId]
  const shown = `ownership_change o join video v on v.id = o.video_id join channel c on c.id = v.channel_id where ${SHOWN}`
  const rows = await db.query<Flat>(
    `with page as materialized (
       ${pageOf({ columns: 'o.*', rows: shown, order: `o.created_at ${order}, o.id ${order}` }, query, (value) => `$${values.push(value)}`)}
     )
     select (select count(*)::int from ${shown}) as total, ${listColumns},
       case when page.id is not null then jsonb_build_object('id', page.id, 'state', page.state,
         'created_at', page.created_at, 'initiator', ${accountProfile('i', 'ix')}, 'receiver', ${accountProfile('r', 'rx')})
       end as change
     from (values (1)) one left join page on true
       left join account i on i.id = page.initiator_id left join actor ix on ix.id = i.actor_id
       left join account r on r.id = page.receiver_id left join actor rx on rx.id = r.actor_id
       left join video v on v.id = page.video_id ${videoJoins}
     order by page.created_at ${order}, page.id ${order}`,
    values,
  )
  return {
    total: rows[0]?.total ?? 0,
    rows: rows.flatMap(({ total: _total, change, ...video }) => (change ? [{ change, video }] : [])),
  }
}
