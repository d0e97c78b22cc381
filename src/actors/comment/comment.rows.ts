// The rows of comments as their commands lock, judge and change them.

import type { Sql } from '../../platform/database/index.ts'
import { type CommentState, commentMachine } from '../../state-machines/comment.ts'
import { untagComment } from '../automatic-tag/automatic-tag.writes.ts'
import { advanceRow, DomainError, defineLifecycle, notFound, type Unit } from '../runtime/index.ts'
import { addDelta, announceComments } from '../video/index.ts'
import { waits } from './comment.entity.ts'

export interface StoredComment {
  id: number
  url: string
  text: string
  videoId: number
  state: CommentState
  accountId: number | null
  updatedAt: Date
  parentId: number | null
  /** What it answers: the video or another comment. */
  parentUrl: string
  commentsPolicy: number
  ownerAccountId: number
  ownerActorId: number
  channelActorId: number
  isVideoOurs: boolean
  authorActorId: number | null
  isAuthorOurs: boolean
}

/** The comment. Throws `not_found`. */
export async function loadComment(query: Sql, commentId: number): Promise<StoredComment> {
  const [row] = await query<StoredComment>(
    `select m.id, m.url, m.text, m.video_id as "videoId", m.account_id as "accountId", m.updated_at as "updatedAt",
       m.parent_id as "parentId",
       case when m.deleted_at is not null then 'removed' when m.held_for_review then 'held' else 'shown' end as state,
       coalesce(p.url, v.url) as "parentUrl", v.comments_policy as "commentsPolicy", c.account_id as "ownerAccountId",
       o.actor_id as "ownerActorId", c.actor_id as "channelActorId", not v.remote as "isVideoOurs",
       x.id as "authorActorId", x.id is not null and x.host_id is null as "isAuthorOurs"
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
  const [found] = await query<{ id: number }>('select id from comment where url_hash = md5($1)::uuid and url = $1', [url])
  return found?.id
}

/** The state is told by two columns; a removed comment keeps whether it was held. */
export const commentLifecycle = defineLifecycle({
  table: 'comment',
  machine: commentMachine,
  touches: false,
  initial: { state: 'shown' as CommentState, context: {} },
  columns: ({ state }, now) => (state === 'removed' ? { deletedAt: now } : { heldForReview: state === 'held' }),
  refusal: () => new DomainError('conflict', 'This comment is already deleted'),
})

/**
 * Whether a comment, or one above it, waits for approval: then nothing below it is shown. Until the end of the transaction no
 * answer to this changes, and none of the comments is approved, removed or edited.
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

/** SQL: what answers the comment $1 and is hidden with it alone, without what was removed. */
const ANSWERS = `
  with recursive below as (
    select r.id, r.deleted_at from comment r where r.parent_id = $1 and not ${waits('r')}
    union all select r.id, r.deleted_at from below join comment r on r.parent_id = below.id where not ${waits('r')}
  ) select id from below where deleted_at is null`

async function countAnswers(query: Sql, commentId: number): Promise<number> {
  const [answers] = await query<{ n: number }>(`select count(*)::int as n from (${ANSWERS}) answer`, [commentId])
  return answers?.n ?? 0
}

/** Answers that one transaction announces. */
const ANSWERS_AT_ONCE = 100

/**
 * What answers a comment that does not wait any more is shown, and told after it, earlier ones first. Where there are many, the
 * next ones follow in a transaction of their own.
 */
export async function tellAnswers(unit: Unit, commentId: number, after = 0): Promise<void> {
  const answers = await unit.query<{ id: number }>(`${ANSWERS} and id > $2 order by id limit ${ANSWERS_AT_ONCE}`, [commentId, after])
  for (const { id } of answers) unit.emit({ aggregate: 'comment', id }, 'CommentShown', { commentId: id })
  const last = answers.at(-1)
  if (last && answers.length === ANSWERS_AT_ONCE) {
    unit.emit({ aggregate: 'comment', id: commentId }, 'AnswersShown', { commentId, lastId: last.id })
  }
}

/** Answers how many answers to a comment are shown now. */
async function showAnswers(unit: Unit, commentId: number): Promise<number> {
  await tellAnswers(unit, commentId)
  return await countAnswers(unit.query, commentId)
}

/** Shown from now on: to visitors, and to other servers. */
export async function showComment(unit: Unit, comment: StoredComment, approvalUrl: string | null): Promise<void> {
  const { id, videoId, parentId } = comment
  await advanceRow(unit, commentLifecycle, comment, { type: 'APPROVED' }, { approvalUrl })
  announceComments(unit, videoId)
  unit.emit({ aggregate: 'comment', id }, 'CommentApproved', { commentId: id })
  if (await isHidden(unit.query, parentId)) return
  await addDelta(unit, videoId, { comments: 1 + (await showAnswers(unit, id)) })
}

/** A comment that was shown waits again, and hides what answers it. */
export async function holdComment(unit: Unit, { id, videoId, parentId }: StoredComment): Promise<void> {
  unit.emit({ aggregate: 'comment', id }, 'CommentHeldAgain', { commentId: id, videoId })
  if (await isHidden(unit.query, parentId)) return
  await addDelta(unit, videoId, { comments: -1 - (await countAnswers(unit.query, id)) })
}

/**
 * The text goes, the place in the thread stays. `actorId` is in whose name it is removed. Of one that was never shown
 * only the server hears that knows it: that of the video, or of its author.
 */
export async function buryComment(unit: Unit, comment: StoredComment, actorId: number): Promise<void> {
  const { id, url, videoId, parentId, parentUrl } = comment
  const emptied = { text: '', heldActivity: null, updatedAt: unit.now }
  await advanceRow(unit, commentLifecycle, comment, { type: 'REMOVED' }, emptied)
  await untagComment(unit.query, id)
  announceComments(unit, videoId)
  const removal = { commentId: id, url, actorId, videoId, parentUrl }
  const hidden = await isHidden(unit.query, parentId)
  if (comment.state === 'held') {
    // Its place is shown, as that of every removed one, when there are answers.
    const answers = hidden ? 0 : await showAnswers(unit, id)
    if (answers > 0) await addDelta(unit, videoId, { comments: answers })
    if (!comment.isVideoOurs) unit.emit({ aggregate: 'comment', id }, 'CommentRemoved', removal)
    else if (actorId !== comment.authorActorId) unit.emit({ aggregate: 'comment', id }, 'CommentRefused', removal)
    return
  }
  if (!hidden) await addDelta(unit, videoId, { comments: -1 })
  // Also when something above it waits: that may have been shown before.
  unit.emit({ aggregate: 'comment', id }, 'CommentRemoved', removal)
}

/** Those who follow a local video may know the comment by us alone, so they hear of its end from the video's owner. */
export async function buryLost(unit: Unit, comment: StoredComment): Promise<void> {
  if (comment.state === 'removed') return
  const byOwner = comment.isVideoOurs && comment.state === 'shown'
  await buryComment(unit, comment, byOwner ? comment.ownerActorId : (comment.authorActorId ?? comment.ownerActorId))
}
