// Writes of comments in the transactions of other nouns and of federation.

import type { Sql } from '../../platform/database/index.ts'
import type { Unit } from '../runtime/index.ts'

/** Deletes the stored activity of a comment that was pending review, once it is forwarded. */
export const dropPendingActivity = (query: Sql, commentId: number) =>
  query('update comment set held_activity = null where id = $1', [commentId])

/** Comments of a removed account keep their place in the thread, without an author. */
export const disownComments = (query: Sql, accountId: number) =>
  query('update comment set account_id = null where account_id = $1', [accountId])

/** The same for removed comments, at most `limit`. */
export const disownRemovedComments = (query: Sql, accountId: number, limit: number) =>
  query(
    `update comment set account_id = null where id in (
       select id from comment where account_id = $1 and deleted_at is not null order by id limit ${limit}
     ) returning id`,
    [accountId],
  )

/** Deletes an actor's replies that wait for their parents, at most `limit`. */
export const removeWaitingCommentsOf = (query: Sql, actorId: number, limit: number) =>
  query(
    `delete from waiting_comment where id in (select id from waiting_comment where actor_id = $1 order by id limit ${limit})
     returning id`,
    [actorId],
  )

/** Retains the comments of local users on a remote video that is removed: if the video comes back, they return as its server lists them. */
export const retainComments = (unit: Unit, videoId: number) =>
  unit.query(
    `insert into kept_comment (id, url, video_url, actor_id, account_id, parent_url, text, held_for_review, approval_url,
       created_at, updated_at, kept_at)
     select said.id, said.url, v.url, c.actor_id, a.id, p.url, said.text, said.held_for_review, said.approval_url,
       said.created_at, said.updated_at, $2
     from comment said join account a on a.id = said.account_id and a.user_id is not null
       join video v on v.id = said.video_id join channel c on c.id = v.channel_id left join comment p on p.id = said.parent_id
     where said.video_id = $1 and v.remote and said.deleted_at is null on conflict do nothing`,
    [videoId, unit.now],
  )

export const dropRetainedCommentsOf = (query: Sql, accountId: number) =>
  query('delete from kept_comment where account_id = $1', [accountId])
