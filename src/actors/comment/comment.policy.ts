// Who may write, see and remove comments. Pure.

import { DomainError } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { hasRight } from '../user/index.ts'
import { isOpen, type Openness } from '../video/index.ts'

/** `VideoCommentPolicy` of the contract. */
export const commentsPolicies = { enabled: 1, disabled: 2, requiresApproval: 3 } as const

export interface CommentedVideo extends Openness {
  commentsPolicy: number
  remote: boolean
  ownerAccountId: number
}

/** Throws `conflict` if comments are disabled, here or on the server of the video. */
export function assertTakesComments(video: CommentedVideo): void {
  if (video.commentsPolicy !== commentsPolicies.disabled) return
  throw new DomainError('conflict', 'Video comments are disabled for this video.')
}

/** Throws `forbidden` if the video is not federated, and `conflict` if comments are disabled. */
export function assertTakesRemoteComments(video: CommentedVideo): void {
  if (!isOpen(video)) throw new DomainError('forbidden', 'This video is not public.')
  assertTakesComments(video)
}

/**
 * True if a new comment needs a review by the owner of the video. `author` is null for remote authors; `review` is true if the local owner
 * reviews comments with its tags. On a remote video all comments wait until its server approves or lists them, except those which that
 * server sent.
 */
export const isPendingReview = (
  video: Pick<CommentedVideo, 'commentsPolicy' | 'remote' | 'ownerAccountId'>,
  author: Viewer,
  { isOfVideosServer = false, review = false }: { isOfVideosServer?: boolean; review?: boolean } = {},
): boolean => {
  if (review && !video.remote) return !seesPendingReview(video, author)
  return (
    video.commentsPolicy === commentsPolicies.requiresApproval && !isOfVideosServer && (video.remote || !seesPendingReview(video, author))
  )
}

/** Who sees all comments that are pending review: the owner of the video, and users with the right to see all comments. */
export const seesPendingReview = (video: { ownerAccountId: number }, viewer: Viewer): boolean =>
  viewer !== null && (viewer.accountId === video.ownerAccountId || hasRight(viewer.role, 'SEE_ALL_COMMENTS'))

/** Throws `forbidden` unless `by` wrote the comment, owns the video or manages all comments. */
export function assertMayRemove(comment: { accountId: number | null; ownerAccountId: number }, by: NonNullable<Viewer>): void {
  if (by.accountId === comment.accountId || by.accountId === comment.ownerAccountId) return
  if (hasRight(by.role, 'MANAGE_ANY_VIDEO_COMMENT')) return
  throw new DomainError('forbidden', 'Cannot remove video comment of another user')
}

/** Throws `forbidden` unless `by` owns the video or manages all comments. Comments on remote videos are reviewed by their servers. */
export function assertMayApprove(comment: { ownerAccountId: number; isVideoLocal: boolean }, by: NonNullable<Viewer>): void {
  const isOwner = by.accountId === comment.ownerAccountId
  if (comment.isVideoLocal && (isOwner || hasRight(by.role, 'MANAGE_ANY_VIDEO_COMMENT'))) return
  throw new DomainError('forbidden', 'Cannot approve video comment of another user')
}
