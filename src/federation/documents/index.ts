export {
  announceActivity,
  createCommentActivity,
  createVideoActivity,
  publicAudience,
  rateActivity,
  type SharedVideo,
} from './activities.ts'
export { type ActorWhere, actorDocument } from './actor.ts'
export { commentDocument, type FoundComment, namedIn } from './comment.ts'
export { type FoundVideo, videoAudience, videoDocument, videoDocuments } from './video.ts'
