export { type Comments, MAX_COMMENT_LENGTH, makeComments, type ReceivedComment } from './comment.commands.ts'
export type { Comment } from './comment.entity.ts'
export { seesPendingReview } from './comment.policy.ts'
export {
  type CommentReader,
  type CommentRow,
  findComment,
  findPlace,
  findThread,
  listThreads,
  type ThreadQuery,
} from './comment.queries.ts'
export { type CommentReviews, makeCommentReviews } from './comment.review.ts'
export { dropPendingActivity } from './comment.writes.ts'
export { hiddenAnswers, hiddenFromAll, isHiddenFromAll, showsComments } from './hidden.ts'
export {
  type CommentListQuery,
  commentSorts,
  findChannelOwner,
  type ListedCommentRow,
  listComments,
} from './list-comments.ts'
export { toPlainText } from './plain-text.ts'
export { makeRemoveCommentsOf, type RemoveCommentsOf, removalScopes } from './remove-comments-of.ts'
export { maintainCommentTotals, reconcileCommentTotals, totalComments } from './totals.ts'
export { makeWaitingComments, type WaitingComment, type WaitingComments } from './waiting-comments.ts'
