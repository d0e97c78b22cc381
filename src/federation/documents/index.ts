export {
  announceActivity,
  createCommentActivity,
  createPlaylistActivity,
  createVideoActivity,
  publicAudience,
  rateActivity,
  type SharedVideo,
} from './activities.ts'
export { type ActorWhere, actorDocument } from './actor.ts'
export { approvalOf, commentDocument, type FoundComment, namedIn } from './comment.ts'
export { type FoundPlaylist, playlistAudience, playlistDocument, playlistElementDocument } from './playlist.ts'
export { copyDocument, createCopyActivity, type FoundCopy, findCopy } from './redundancy.ts'
export { type FoundVideo, videoAudience, videoDocument, videoDocuments } from './video.ts'
export { createWatchActivity, type FoundWatch, watchActionDocument } from './watch-action.ts'
