export { type Comments, MAX_COMMENT_LENGTH, makeComments, type ReceivedComment } from './comment.commands.ts'
export { seesHeld } from './comment.policy.ts'
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
export {
  findChannelOwner,
  listOwnedComments,
  type OwnedCommentQuery,
  type OwnedCommentRow,
  type OwnedCommentSort,
  ownedCommentSorts,
} from './owned-comments.queries.ts'
export { toPlainText } from './plain-text.ts'
export { makeRemoveCommentsOf, type RemoveCommentsOf, removalScopes } from './remove-comments-of.ts'
export { makeWaitingComments, type WaitingComment, type WaitingComments } from './waiting-comments.ts'
