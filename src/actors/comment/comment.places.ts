// Where a comment comes to stand: the video, which stays until the comment is stored, what it answers, and what of it is here already.

import type { Sql } from '../../platform/database/index.ts'
import type { CommentTags } from '../automatic-tag/index.ts'
import { isDeletedBy } from '../incoming-activity/index.ts'
import { DomainError, notFound } from '../runtime/index.ts'
import { waits } from './comment.entity.ts'
import { type CommentedVideo, commentsPolicies } from './comment.policy.ts'
import { isHidden } from './comment.rows.ts'

export interface VideoRow extends CommentedVideo {
  uuid: string
  /** Of another server, as the video is, and of the same one. */
  isOfVideosServer: boolean
}

export interface KnownComment {
  videoId: number
  accountId: number | null
  isHeld: boolean
}

export interface Parent {
  id: number
  threadId: number
  /** For approval: it, or one above it. */
  waits: boolean
}

/** What decides about a comment of another server. */
export interface PlaceForComment {
  /** The comment that has its address. */
  known: KnownComment | undefined
  video: VideoRow | undefined
  parent: Parent | undefined
  isDeleted: boolean
}

/** The columns of `VideoRow`, of a video `v` and its channel `c`; `accountId` is who comments. */
const VIDEO_ROW = (accountId: string) => `v.uuid, v.remote, v.privacy, v.blocked, v.comments_policy as "commentsPolicy",
  c.account_id as "ownerAccountId",
  exists (select 1 from account a join actor x on x.id = a.actor_id join actor y on y.host_id = x.host_id
          where a.id = ${accountId} and y.id = c.actor_id) as "isOfVideosServer"`

/**
 * The video, which stays until the comment is stored, with the parent. The owner of a remote video may remove a comment before
 * the word of its author is here: that is another server.
 */
export async function placeFor(
  query: Sql,
  comment: {
    url: string
    videoId: number
    accountId: number
    parentUrl: string | null
    askedAt?: Date | undefined
  },
): Promise<PlaceForComment> {
  const { url, videoId, accountId, parentUrl, askedAt = null } = comment
  const owners = 'select unnest(array[c.actor_id, o.actor_id]) where v.remote'
  const author = 'select a.actor_id from account a where a.id = $3'
  const [parent, asked] = ['(select $4::text)', '(select $5::timestamptz)']
  const [row] = await query<Omit<PlaceForComment, 'known' | 'video' | 'parent'> & PlaceRow>(
    `select ${VIDEO_ROW('$3')}, k.video_id as "knownVideoId", k.account_id as "knownAccountId",
       k.held_for_review as "knownHeld", p.id as "parentId", coalesce(p.thread_id, p.id) as "parentThreadId",
       ${waitsAt('p.id')} as "parentWaits",
       ${isDeletedBy({ url: '$1', actorIds: owners })}
         or (${asked} is not null and ${isDeletedBy({ url: '$1', actorIds: author, since: asked })}) as "isDeleted"
     from video v join channel c on c.id = v.channel_id join account o on o.id = c.account_id
       left join comment k on k.url_hash = md5($1)::uuid and k.url = $1
       left join comment p on p.url_hash = md5(${parent})::uuid and p.url = ${parent} and p.video_id = $2
     where v.id = $2 and v.state <> 'removed' for key share of v`,
    [url, videoId, accountId, parentUrl, askedAt],
  )
  if (!row) return { known: await knownAs(query, url), video: undefined, parent: undefined, isDeleted: false }
  const { knownVideoId, knownAccountId, knownHeld, parentId, parentThreadId, parentWaits, isDeleted, ...video } = row
  return {
    video,
    known: knownVideoId === null ? undefined : { videoId: knownVideoId, accountId: knownAccountId, isHeld: knownHeld },
    parent: parentId === null ? undefined : { id: parentId, threadId: parentThreadId, waits: parentWaits },
    isDeleted,
  }
}

interface PlaceRow extends VideoRow {
  knownVideoId: number | null
  knownAccountId: number | null
  knownHeld: boolean
  parentId: number | null
  parentThreadId: number
  parentWaits: boolean
}

/** SQL: whether a comment, or one above it, waits for approval. */
const waitsAt = (comment: string): string => `exists (
  with recursive above as (
    select self.parent_id, ${waits('self')} as waits from comment self where self.id = ${comment}
    union all select u.parent_id, ${waits('u')} from above join comment u on u.id = above.parent_id
  ) select from above where waits)`

/** Whether something above a new comment waits. What is approved at this moment is waited for. */
export const isHiddenBelow = async (
  query: Sql,
  video: CommentedVideo,
  { parent, tags }: { parent: Parent | undefined; tags: CommentTags },
): Promise<boolean> =>
  parent !== undefined &&
  (parent.waits || tags.reviews || video.commentsPolicy === commentsPolicies.requiresApproval) &&
  (await isHidden(query, parent.id))

export async function knownAs(query: Sql, url: string): Promise<KnownComment | undefined> {
  const [known] = await query<KnownComment>(
    `select video_id as "videoId", account_id as "accountId", held_for_review as "isHeld" from comment
     where url_hash = md5($1)::uuid and url = $1`,
    [url],
  )
  return known
}

/** The video, which stays until the comment is stored, and what it is to the author. */
export async function videoOf(query: Sql, videoId: number, accountId: number | null): Promise<VideoRow> {
  const [video] = await query<VideoRow>(
    `select ${VIDEO_ROW('$2')} from video v join channel c on c.id = v.channel_id
     where v.id = $1 and v.state <> 'removed' for key share of v`,
    [videoId, accountId],
  )
  if (!video) throw notFound('Video not found')
  return video
}

/** Nobody answers what they cannot see: a comment that waits for approval, or one below it. */
export async function parentOf(
  query: Sql,
  videoId: number,
  commentId: number,
  sees: { accountId: number; held: boolean },
): Promise<Parent> {
  const [parent] = await query<Parent & { videoId: number; isHidden: boolean }>(
    `with recursive above as (
       select m.id, m.parent_id, m.account_id, ${waits('m')} as waits from comment m where m.id = $1
       union all
       select p.id, p.parent_id, p.account_id, ${waits('p')} from above join comment p on p.id = above.parent_id
     )
     select id, coalesce(thread_id, id) as "threadId", video_id as "videoId",
       exists (select 1 from above where waits and account_id is distinct from $2) as "isHidden",
       exists (select 1 from above where waits) as waits
     from comment where id = $1`,
    [commentId, sees.accountId],
  )
  if (!parent) throw notFound('Video comment thread not found')
  if (parent.videoId !== videoId) {
    throw new DomainError('invalid', 'Video comment is not associated to this video.', {
      code: 'comment_not_associated_to_video',
    })
  }
  if (parent.isHidden && !sees.held) throw notFound('Video comment thread not found')
  return parent
}

export const unknownParent = () => notFound('The comment that this answers is not known.')

export async function parentWith(query: Sql, videoId: number, url: string): Promise<Omit<Parent, 'waits'>> {
  const [parent] = await query<Omit<Parent, 'waits'>>(
    `select id, coalesce(thread_id, id) as "threadId" from comment
     where url_hash = md5($1)::uuid and url = $1 and video_id = $2`,
    [url, videoId],
  )
  if (!parent) throw unknownParent()
  return parent
}
