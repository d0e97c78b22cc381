export {
  buildFeedComments,
  type FeedCommentRow,
  type FeedCommentsQuery,
  listFeedComments,
} from './list-feed-comments.ts'
export {
  type FeedOwnerKey,
  findFeedAccount,
  findFeedChannel,
  findSubscriber,
  type Subscriber,
} from './owner.queries.ts'
