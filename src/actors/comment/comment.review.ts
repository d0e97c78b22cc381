// Review of comments: approved, rejected or edited, here or on the server of the video.

import { type AutomaticTags, NO_TAGS, retagComment } from '../automatic-tag/index.ts'
import { type ActorDeps, advanceRow, DomainError, type PassOn } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { announceComments } from '../video/index.ts'
import { MAX_COMMENT_LENGTH } from './comment.commands.ts'
import { assertMayApprove, isPendingReview } from './comment.policy.ts'
import {
  announceReplies,
  commentLifecycle,
  isHidden,
  loadComment,
  markPendingReview,
  showComment,
  tombstoneComment,
} from './comment.rows.ts'
import { toPlainText } from './plain-text.ts'
import { findOrRestoreComment } from './retained-comments.ts'

export type CommentReviews = ReturnType<typeof makeCommentReviews>

export function makeCommentReviews(deps: ActorDeps & { automaticTags: AutomaticTags }) {
  const { db, tell, registry, automaticTags } = deps

  registry.on('AnswersShown', 'comments', async ({ commentId, lastId }, unit) => {
    // When it is visible again, its replies are announced again.
    if (!(await isHidden(unit.query, commentId))) await announceReplies(unit, commentId, lastId)
  })

  return {
    /** Throws `forbidden`, `conflict` if it is removed, and `invalid` unless it is pending review. */
    async approve(commentId: number, by: NonNullable<Viewer>): Promise<void> {
      await tell({ aggregate: 'comment', id: commentId }, async (unit) => {
        const comment = await loadComment(unit.query, commentId)
        assertMayApprove(comment, by)
        if (comment.state === 'shown') throw new DomainError('invalid', 'This comment is not held for review')
        await showComment(unit, comment, null)
      })
    },

    /**
     * Handles the review of a comment by the server of a remote video. Throws `forbidden` unless the actor is the owner of the video or its
     * channel, and `not_found` for an unknown comment.
     */
    async receiveReview(review: { url: string; actorId: number; isApproved: boolean; approvalUrl: string | null }): Promise<void> {
      const { url, actorId, isApproved, approvalUrl } = review
      const commentId = await findOrRestoreComment(deps, url)
      if (commentId === undefined) throw new DomainError('not_found', `${url} is no comment that we have.`)
      await tell({ aggregate: 'comment', id: commentId }, async (unit) => {
        const comment = await loadComment(unit.query, commentId)
        const { isVideoLocal, ownerActorId, channelActorId, state } = comment
        if (isVideoLocal || ![ownerActorId, channelActorId].includes(actorId)) {
          throw new DomainError('forbidden', 'Only the owner of the video approves or refuses its comments.')
        }
        if (!isApproved && state !== 'removed') await tombstoneComment(unit, comment, actorId)
        if (!isApproved || state === 'removed') return
        if (state === 'held') return await showComment(unit, comment, approvalUrl)
        await unit.query('update comment set approval_url = $2 where id = $1', [commentId, approvalUrl])
      })
    },

    /** The server of a remote video lists the comment, which approves it. */
    async receiveListing(url: string): Promise<void> {
      const commentId = await findOrRestoreComment(deps, url)
      if (commentId === undefined) return
      await tell({ aggregate: 'comment', id: commentId }, async (unit) => {
        const comment = await loadComment(unit.query, commentId)
        if (!comment.isVideoLocal && comment.state === 'held') await showComment(unit, comment, null)
      })
    },

    /**
     * Replaces the text of a remote comment. Returns the video if followers must be notified; undefined if nothing changed. Throws
     * `forbidden` unless the author sent the edit.
     */
    async receiveEdit(edit: {
      commentId: number
      actorId: number
      content: string
      mediaType: string
      updatedAt: Date | null
      /** The activity as received, to be forwarded after the approval. */
      activity: string | null
      /** Runs if the comment is visible. */
      passOn?: PassOn
    }): Promise<{ videoId: number } | undefined> {
      const { commentId, actorId, content, mediaType, updatedAt, activity, passOn } = edit
      const text = toPlainText(content, mediaType, MAX_COMMENT_LENGTH)
      if (text === '') throw new DomainError('unprocessable', 'This comment is empty.')
      const [place] = await db.query<{ videoId: number }>('select video_id as "videoId" from comment where id = $1', [commentId])
      const tags = place ? await automaticTags.ofComment({ ...place, text }) : NO_TAGS
      return await tell({ aggregate: 'comment', id: commentId }, async (unit) => {
        const comment = await loadComment(unit.query, commentId)
        if (comment.authorActorId !== actorId || comment.isAuthorLocal) {
          throw new DomainError('forbidden', 'Only its author changes a comment.')
        }
        const at = new Date(Math.min((updatedAt ?? unit.now).getTime(), unit.now.getTime()))
        if (at < comment.updatedAt || text === comment.text) return undefined
        const { commentsPolicy, ownerAccountId, isVideoLocal } = comment
        // An approval does not cover a changed text. On a remote video its server decides.
        const held = isVideoLocal && isPendingReview({ commentsPolicy, ownerAccountId, remote: false }, null, tags)
        const event = { type: 'EDITED', held } as const
        const { state } = await advanceRow(unit, commentLifecycle, comment, event, { text, updatedAt: at })
        const hidden = await isHidden(unit.query, comment.parentId)
        await unit.query('update comment set held_activity = case when $3 then coalesce($2, held_activity) end where id = $1', [
          commentId,
          isVideoLocal ? activity : null,
          state === 'held' || hidden,
        ])
        announceComments(unit, comment.videoId)
        await retagComment(unit.query, commentId, tags)
        if (comment.state === 'shown' && state === 'held') await markPendingReview(unit, comment)
        if (state !== 'shown' || hidden) return undefined
        await passOn?.(unit, comment.videoId)
        return { videoId: comment.videoId }
      })
    },
  }
}
