// The rows of comments, as their commands lock, check and change them.

import type { Aliased, Columns, Sql } from '../../platform/database/index.ts'
import { type CommentState, commentMachine } from '../../state-machines/comment.ts'
import { untagComment } from '../automatic-tag/automatic-tag.writes.ts'
import { advanceRow, DomainError, defineLifecycle, notFound, type Unit } from '../runtime/index.ts'
import { addDelta, announceComments } from '../video/index.ts'
import { type Comment, waits } from './comment.entity.ts'

export interface StoredComment extends Aliased<typeof Comment, 'id' | 'url' | 'text' | 'videoId' | 'accountId' | 'updatedAt' | 'parentId'> {
  state: CommentState
  /** URL of its parent: the video or another comment. */
  parentUrl: string
  commentsPolicy: number
  ownerAccountId: number
  ownerActorId: number
  channelActorId: number
  isVideoLocal: boolean
  authorActorId: number | null
  isAuthorLocal: boolean
}

/** Throws `not_found`. */
export async function loadComment(query: Sql, commentId: number): Promise<StoredComment> {
  const [row] = await query<StoredComment>(
    `select m.id, m.url, m.text, m.video_id as "videoId", m.account_id as "accountId", m.updated_at as "updatedAt",
       m.parent_id as "parentId",
       case when m.deleted_at is not null then 'removed' when m.held_for_review then 'held' else 'shown' end as state,
       coalesce(p.url, v.url) as "parentUrl", v.comments_policy as "commentsPolicy", c.account_id as "ownerAccountId",
       o.actor_id as "ownerActorId", c.actor_id as "channelActorId", not v.remote as "isVideoLocal",
       x.id as "authorActorId", x.id is not null and x.host_id is null as "isAuthorLocal"
     from comment m join video v on v.id = m.video_id join channel c on c.id = v.channel_id
       join account o on o.id = c.account_id left join comment p on p.id = m.parent_id
       left join account a on a.id = m.account_id left join actor x on x.id = a.actor_id
     where m.id = $1`,
    [commentId],
  )
  if (!row) throw notFound('Video comment thread not found')
  return row
}

export async function idOfComment(query: Sql, url: string): Promise<number | undefined> {
  const [found] = await query<Columns<typeof Comment, 'id'>>('select id from comment where url_hash = md5($1)::uuid and url = $1', [url])
  return found?.id
}

/** The state derives from two columns; a removed comment keeps its review flag. */
export const commentLifecycle = defineLifecycle({
  table: 'comment',
  machine: commentMachine,
  touches: false,
  initial: { state: 'shown' as CommentState, context: {} },
  columns: ({ state }, now) => (state === 'removed' ? { deletedAt: now } : { heldForReview: state === 'held' }),
  refusal: () => new DomainError('conflict', 'This comment is already deleted'),
})

/**
 * True if a comment or an ancestor is pending review, which hides everything below. Locks the comments: until the end of the transaction
 * the result does not change, and none of them is approved, removed or edited.
 */
export async function isHidden(query: Sql, commentId: number | null): Promise<boolean> {
  if (commentId === null) return false
  const above = await query<{ waits: boolean }>(
    `with recursive above as (
       select id, parent_id from comment where id = $1
       union all select p.id, p.parent_id from above join comment p on p.id = above.parent_id
     ) select ${waits('m')} as waits from comment m where m.id in (select id from above) order by m.id for share`,
    [commentId],
  )
  return above.some((comment) => comment.waits)
}

/** SQL: replies that are hidden only because the comment $1 is, without removed ones. */
const ANSWERS = `
  with recursive below as (
    select r.id, r.deleted_at from comment r where r.parent_id = $1 and not ${waits('r')}
    union all select r.id, r.deleted_at from below join comment r on r.parent_id = below.id where not ${waits('r')}
  ) select id from below where deleted_at is null`

async function countAnswers(query: Sql, commentId: number): Promise<number> {
  const [answers] = await query<{ n: number }>(`select count(*)::int as n from (${ANSWERS}) answer`, [commentId])
  return answers?.n ?? 0
}

/** Replies that one transaction announces. */
const ANSWERS_AT_ONCE = 100

/**
 * Shows the replies to an approved comment and announces them after it, oldest first. Further batches follow in transactions of their own.
 */
export async function announceReplies(unit: Unit, commentId: number, after = 0): Promise<void> {
  const answers = await unit.query<{ id: number }>(`${ANSWERS} and id > $2 order by id limit ${ANSWERS_AT_ONCE}`, [commentId, after])
  for (const { id } of answers) unit.emit({ aggregate: 'comment', id }, 'CommentShown', { commentId: id })
  const last = answers.at(-1)
  if (last && answers.length === ANSWERS_AT_ONCE) {
    unit.emit({ aggregate: 'comment', id: commentId }, 'AnswersShown', { commentId, lastId: last.id })
  }
}

/** Returns how many replies become visible. */
async function showReplies(unit: Unit, commentId: number): Promise<number> {
  await announceReplies(unit, commentId)
  return await countAnswers(unit.query, commentId)
}

/** Makes a comment visible to visitors and other servers. */
export async function showComment(unit: Unit, comment: StoredComment, approvalUrl: string | null): Promise<void> {
  const { id, videoId, parentId } = comment
  await advanceRow(unit, commentLifecycle, comment, { type: 'APPROVED' }, { approvalUrl })
  announceComments(unit, videoId)
  unit.emit({ aggregate: 'comment', id }, 'CommentApproved', { commentId: id })
  if (await isHidden(unit.query, parentId)) return
  await addDelta(unit, videoId, { comments: 1 + (await showReplies(unit, id)) })
}

/** Makes a visible comment pending review, which hides its replies. */
export async function markPendingReview(unit: Unit, { id, videoId, parentId }: StoredComment): Promise<void> {
  unit.emit({ aggregate: 'comment', id }, 'CommentHeldAgain', { commentId: id, videoId })
  if (await isHidden(unit.query, parentId)) return
  await addDelta(unit, videoId, { comments: -1 - (await countAnswers(unit.query, id)) })
}

/**
 * Removes the text; the place in the thread stays. `actorId` is the actor in whose name it is removed. The removal of a comment that was
 * never visible is sent only to the server that knows it: that of the video or the author.
 */
export async function tombstoneComment(unit: Unit, comment: StoredComment, actorId: number): Promise<void> {
  const { id, url, videoId, parentId, parentUrl } = comment
  const emptied = { text: '', heldActivity: null, updatedAt: unit.now }
  await advanceRow(unit, commentLifecycle, comment, { type: 'REMOVED' }, emptied)
  await untagComment(unit.query, id)
  announceComments(unit, videoId)
  const removal = { commentId: id, url, actorId, videoId, parentUrl }
  const hidden = await isHidden(unit.query, parentId)
  if (comment.state === 'held') {
    // Like any removed comment, its place is visible if it has replies.
    const answers = hidden ? 0 : await showReplies(unit, id)
    if (answers > 0) await addDelta(unit, videoId, { comments: answers })
    if (!comment.isVideoLocal) unit.emit({ aggregate: 'comment', id }, 'CommentRemoved', removal)
    else if (actorId !== comment.authorActorId) unit.emit({ aggregate: 'comment', id }, 'CommentRefused', removal)
    return
  }
  if (!hidden) await addDelta(unit, videoId, { comments: -1 })
  // Also if an ancestor is pending review now: the comment may have been visible before.
  unit.emit({ aggregate: 'comment', id }, 'CommentRemoved', removal)
}

/** Followers of a local video may know the comment only through this server, so the video's owner announces the removal. */
export async function tombstoneLost(unit: Unit, comment: StoredComment): Promise<void> {
  if (comment.state === 'removed') return
  const byOwner = comment.isVideoLocal && comment.state === 'shown'
  await tombstoneComment(unit, comment, byOwner ? comment.ownerActorId : (comment.authorActorId ?? comment.ownerActorId))
}
