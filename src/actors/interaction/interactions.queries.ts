// Remote likes, dislikes, shares and comments on local videos, a bounded number of rows at a time.

import type { Sql } from '../../platform/database/index.ts'

export const CLEANED_KINDS = ['rating', 'share', 'comment'] as const
export type CleanedKind = (typeof CLEANED_KINDS)[number]

/** A remote object. */
export interface RemoteInteraction {
  id: number
  /** URL on its own server. */
  url: string
  videoId: number
  actorId: number
  accountId: number | null
  hostId: number
}

export interface InteractionBatch {
  interactions: RemoteInteraction[]
  /** Everything up to this id is included, or need not be checked. */
  lastId: number
}

/** Rows that one statement reads, and the maximum that it returns. */
const WINDOW = 1000
const BATCH = 50

const AUTHORS: Record<CleanedKind, string> = {
  rating: 'join account a on a.id = w.account_id join actor x on x.id = a.actor_id',
  comment: 'join account a on a.id = w.account_id join actor x on x.id = a.actor_id',
  share: 'join actor x on x.id = w.actor_id left join account a on a.actor_id = x.id',
}

/** Those after `afterId`; undefined without rows. Excludes unresponsive servers, and objects on another server than their author. */
export async function nextInteractions(query: Sql, kind: CleanedKind, afterId: number): Promise<InteractionBatch | undefined> {
  const [answer] = await query<{ lastId: number | null; interactions: RemoteInteraction[] | null }>(
    `with w as materialized (select * from ${kind} where id > $1 order by id limit ${WINDOW}), found as (
       select w.id, w.url, w.video_id as "videoId", x.id as "actorId", a.id as "accountId", h.id as "hostId"
       from w join video v on v.id = w.video_id ${AUTHORS[kind]} join remote_host h on h.id = x.host_id
       where not v.remote and v.state <> 'removed' and h.state = 'healthy' ${kind === 'comment' ? 'and w.deleted_at is null' : ''}
         and (starts_with(w.url, 'https://' || h.host || '/') or starts_with(w.url, 'http://' || h.host || '/'))
       order by w.id limit ${BATCH}
     )
     select case when (select count(*) from found) = ${BATCH} then (select max(id) from found) else (select max(id) from w) end as "lastId",
       (select json_agg(found order by id) from found) as interactions`,
    [afterId],
  )
  if (!answer || answer.lastId === null) return undefined
  return { interactions: answer.interactions ?? [], lastId: answer.lastId }
}
