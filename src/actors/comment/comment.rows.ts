// The rows of comments as their commands lock, judge and change them.

import type { Sql } from '../../platform/database/index.ts'
import { type CommentEvent, type CommentState, commentMachine } from '../../state-machines/comment.ts'
import { can, step } from '../../state-machines/step.ts'
import { DomainError, notFound, type Unit } from '../runtime/index.ts'
import { addDelta } from '../video/index.ts'

export interface StoredComment {
  id: number
  url: string
  text: string
  videoId: number
  state: CommentState
  accountId: number | null
  updatedAt: Date
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
  const [found] = await query<{ id: number }>('select id from comment where url_hash = md5($1)::uuid and url = $1', [
    url,
  ])
  return found?.id
}

/** The state after the event. Throws `conflict` where the machine takes none: a removed comment is over. */
export function moveComment(comment: StoredComment, event: CommentEvent): CommentState {
  const from = { state: comment.state, context: {} }
  if (!can(commentMachine, from, event)) throw new DomainError('conflict', 'This comment is already deleted')
  return step(commentMachine, from, event).state
}

/** Shown from now on: to visitors, and to other servers. */
export async function showComment(unit: Unit, comment: StoredComment, approvalUrl: string | null): Promise<void> {
  const { id, videoId } = comment
  moveComment(comment, { type: 'APPROVED' })
  await unit.query('update comment set held_for_review = false, approval_url = $2 where id = $1', [id, approvalUrl])
  await addDelta(unit, videoId, { comments: 1 })
  unit.emit({ aggregate: 'comment', id }, 'CommentApproved', { commentId: id })
}

/**
 * The text goes, the place in the thread stays. `actorId` is in whose name it is removed. Of one that was never shown
 * only the server hears that knows it: that of the video, or of its author.
 */
export async function buryComment(unit: Unit, comment: StoredComment, actorId: number): Promise<void> {
  const { id, url, videoId, parentUrl } = comment
  moveComment(comment, { type: 'REMOVED' })
  await unit.query(
    "update comment set text = '', held_activity = null, deleted_at = $2, updated_at = $2 where id = $1",
    [id, unit.now],
  )
  const removal = { commentId: id, url, actorId, videoId, parentUrl }
  if (comment.state === 'held') {
    if (!comment.isVideoOurs) unit.emit({ aggregate: 'comment', id }, 'CommentRemoved', removal)
    else if (actorId !== comment.authorActorId) unit.emit({ aggregate: 'comment', id }, 'CommentRefused', removal)
    return
  }
  await addDelta(unit, videoId, { comments: -1 })
  unit.emit({ aggregate: 'comment', id }, 'CommentRemoved', removal)
}
