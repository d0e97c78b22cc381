// The place of a new comment: its video, which is locked until the comment is stored, its parent, and an existing comment with its URL.

import type { Aliased, Sql } from '../../platform/database/index.ts'
import type { CommentTags } from '../automatic-tag/index.ts'
import { isDeletedBy } from '../incoming-activity/index.ts'
import { DomainError, notFound } from '../runtime/index.ts'
import { type Comment, waits } from './comment.entity.ts'
import { type CommentedVideo, commentsPolicies } from './comment.policy.ts'
import { isHidden } from './comment.rows.ts'

export interface VideoRow extends CommentedVideo {
  uuid: string
  /** True if the author and the video are on the same remote server. */
  isOfVideosServer: boolean
}

export interface KnownComment extends Aliased<typeof Comment, 'videoId' | 'accountId'> {
  isPendingReview: boolean
}

export interface Parent {
  id: number
  threadId: number
  /** True if it or an ancestor is pending review. */
  waits: boolean
}

/** The data that decides about a remote comment. */
export interface PlaceForComment {
  /** The stored comment with this URL. */
  known: KnownComment | undefined
  video: VideoRow
  parent: Parent | undefined
  isDeleted: boolean
}

/** The columns of `VideoRow`, for a video `v` and its channel `c`; `accountId` is the author. */
const VIDEO_ROW = (accountId: string) => `v.uuid, v.remote, v.privacy, v.blocked, v.comments_policy as "commentsPolicy",
  c.account_id as "ownerAccountId",
  coalesce((select x.host_id from account a join actor x on x.id = a.actor_id where a.id = ${accountId})
    = (select y.host_id from actor y where y.id = c.actor_id), false) as "isOfVideosServer"`

/**
 * The video of each comment, locked until the comment is stored, with the parent. The owner of a remote video may remove a comment before
 * its author's activity arrives, as that comes from another server. `skipLocked`: undefined for a video that another transaction is
 * removing. Also undefined for a removed one.
 */
export async function placesFor(
  query: Sql,
  comments: readonly {
    url: string
    videoId: number
    accountId: number
    parentUrl: string | null
    askedAt?: Date | undefined
  }[],
  { skipLocked }: { skipLocked: boolean },
): Promise<(PlaceForComment | undefined)[]> {
  const owners = 'array[c.actor_id, o.actor_id]'
  const author = 'array(select a.actor_id from account a where a.id = n.account_id)'
  const rows = await query<PlaceRow>(
    `select n.place, ${VIDEO_ROW('n.account_id')}, k.video_id as "knownVideoId", k.account_id as "knownAccountId",
       k.held_for_review as "knownIsPending", p.id as "parentId", coalesce(p.thread_id, p.id) as "parentThreadId",
       ${waitsAt('p.id')} as "parentWaits",
       (v.remote and ${isDeletedBy({ url: 'n.url', actorIds: owners })})
         or (n.asked_at is not null and ${isDeletedBy({ url: 'n.url', actorIds: author, since: 'n.asked_at' })}) as "isDeleted"
     from unnest((select $1::text[]), (select $2::int[]), (select $3::int[]), (select $4::text[]), (select $5::timestamptz[]))
         with ordinality as n (url, video_id, account_id, parent_url, asked_at, place)
       join video v on v.id = n.video_id and v.state <> 'removed'
       join channel c on c.id = v.channel_id join account o on o.id = c.account_id
       left join ${commentAt('n.url')} k on true left join ${commentAt('n.parent_url')} p on p.video_id = n.video_id
     for key share of v ${skipLocked ? 'skip locked' : ''}`,
    [
      comments.map(({ url }) => url),
      comments.map(({ videoId }) => videoId),
      comments.map(({ accountId }) => accountId),
      comments.map(({ parentUrl }) => parentUrl),
      comments.map(({ askedAt = null }) => askedAt),
    ],
  )
  const byPlace = new Map(rows.map(({ place, ...row }) => [place, row]))
  return comments.map((_, at) => {
    const row = byPlace.get(at + 1)
    if (!row) return undefined
    const { knownVideoId, knownAccountId, knownIsPending, parentId, parentThreadId, parentWaits, isDeleted, ...video } = row
    return {
      video,
      known: knownVideoId === null ? undefined : { videoId: knownVideoId, accountId: knownAccountId, isPendingReview: knownIsPending },
      parent: parentId === null ? undefined : { id: parentId, threadId: parentThreadId, waits: parentWaits },
      isDeleted,
    }
  })
}

/** SQL: the comment with a URL, for a join that uses the index however few comments the planner expects. */
const commentAt = (url: string): string => `lateral (
  select m.id, m.video_id, m.account_id, m.thread_id, m.held_for_review from comment m
  where m.url_hash = md5(${url})::uuid and m.url = ${url} offset 0)`

interface PlaceRow extends VideoRow {
  /** Starts at 1. */
  place: number
  isDeleted: boolean
  knownVideoId: number | null
  knownAccountId: number | null
  knownIsPending: boolean
  parentId: number | null
  parentThreadId: number
  parentWaits: boolean
}

/** SQL: true if a comment or an ancestor is pending review. */
const waitsAt = (comment: string): string => `exists (
  with recursive above as (
    select self.parent_id, ${waits('self')} as waits from comment self where self.id = ${comment}
    union all select u.parent_id, ${waits('u')} from above join comment u on u.id = above.parent_id
  ) select from above where waits)`

/** True if an ancestor of a new comment may be pending review. Only then locks are needed to find out. */
export const mayBeHidden = (video: CommentedVideo, { parent, tags }: { parent: Parent | undefined; tags: CommentTags }): boolean =>
  parent !== undefined && (parent.waits || tags.reviews || video.commentsPolicy === commentsPolicies.requiresApproval)

/** True if an ancestor of a new comment is pending review. Waits for a concurrent approval. */
export const isHiddenBelow = async (
  query: Sql,
  video: CommentedVideo,
  { parent, tags }: { parent: Parent | undefined; tags: CommentTags },
): Promise<boolean> => parent !== undefined && mayBeHidden(video, { parent, tags }) && (await isHidden(query, parent.id))

export async function knownAs(query: Sql, url: string): Promise<KnownComment | undefined> {
  const [known] = await query<KnownComment>(
    `select video_id as "videoId", account_id as "accountId", held_for_review as "isPendingReview" from comment
     where url_hash = md5($1)::uuid and url = $1`,
    [url],
  )
  return known
}

/** The video, locked until the comment is stored, and its relation to the author. */
export async function videoOf(query: Sql, videoId: number, accountId: number | null): Promise<VideoRow> {
  const [video] = await query<VideoRow>(
    `select ${VIDEO_ROW('$2')} from video v join channel c on c.id = v.channel_id
     where v.id = $1 and v.state <> 'removed' for key share of v`,
    [videoId, accountId],
  )
  if (!video) throw notFound('Video not found')
  return video
}

/** A comment that is hidden from the author cannot be answered: one pending review, or one below it. */
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
