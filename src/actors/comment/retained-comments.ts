// Retained comments: those of local users on a remote video that was removed. They come back when its server lists them again, unless they
// are removed before.

import type { Aliased } from '../../platform/database/index.ts'
import type { ActorDeps, Tell, Unit } from '../runtime/index.ts'
import { addDelta, announceComments } from '../video/index.ts'
import type { Comment, KeptComment } from './comment.entity.ts'
import { idOfComment, isHidden } from './comment.rows.ts'

/** Finds a comment by its URL; restores a retained one if its video exists again. */
export const findOrRestoreComment = async (
  { db, tell, urls }: Pick<ActorDeps, 'db' | 'tell' | 'urls'>,
  url: string,
): Promise<number | undefined> =>
  (await idOfComment(db.query, url)) ??
  (url.startsWith(`${urls.origin}/`) ? await tell.create((unit) => restoreComment(unit, url)) : undefined)

/**
 * Restores a retained comment if its video and its parent exist. Returns its id; undefined if it is not retained or cannot be placed yet.
 */
async function restoreComment(unit: Unit, url: string): Promise<number | undefined> {
  const [row] = await unit.query<Aliased<typeof Comment, 'id' | 'videoId' | 'parentId'> & { held: boolean }>(
    `with kept as (
       delete from kept_comment k using video v
       where k.url_hash = md5($1)::uuid and k.url = $1 and v.url_hash = k.video_url_hash and v.url = k.video_url
         and v.remote and v.state <> 'removed'
         and (k.parent_url is null or exists (
           select from comment p where p.url_hash = md5(k.parent_url)::uuid and p.url = k.parent_url and p.video_id = v.id))
       returning k.id, k.url, k.account_id, k.parent_url, k.text, k.held_for_review, k.approval_url, k.created_at,
         k.updated_at, v.id as video_id
     ) insert into comment (id, url, video_id, account_id, text, held_for_review, approval_url, thread_id, parent_id,
         created_at, updated_at)
       select k.id, k.url, k.video_id, k.account_id, k.text, k.held_for_review, k.approval_url, coalesce(p.thread_id, p.id),
         p.id, k.created_at, k.updated_at
       from kept k left join comment p on p.url_hash = md5(k.parent_url)::uuid and p.url = k.parent_url
       on conflict do nothing
       returning id, video_id as "videoId", parent_id as "parentId", held_for_review as held`,
    [url],
  )
  if (!row) return undefined
  announceComments(unit, row.videoId)
  if (!row.held && !(await isHidden(unit.query, row.parentId))) await addDelta(unit, row.videoId, { comments: 1 })
  return row.id
}

const AT_ONCE = 100

/** Removes retained comments of an account: one, or a batch of all. Returns how many. The servers of their videos are notified. */
export const removeRetained = async (tell: Tell, of: { accountId: number; commentId?: number }): Promise<number> =>
  await tell.create(async (unit) => {
    const removed = await unit.query<Aliased<typeof KeptComment, 'id' | 'url'> & { actorId: number; channelActorId: number }>(
      `with taken as (
         select id from kept_comment where account_id = $1 and ($2::int is null or id = $2) order by id limit ${AT_ONCE}
         for update
       ) delete from kept_comment k using taken, account a where k.id = taken.id and a.id = k.account_id
         returning k.id, k.url, a.actor_id as "actorId", k.actor_id as "channelActorId"`,
      [of.accountId, of.commentId ?? null],
    )
    for (const { id, ...comment } of removed) unit.emit({ aggregate: 'comment', id }, 'KeptCommentRemoved', comment)
    return removed.length
  })
