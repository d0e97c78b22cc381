export { buildAccept, readAccept } from './accept.ts'
export {
  type ActivityDocument,
  type Audience,
  activitiesOf,
  type ObjectPart,
  readActivity,
} from './activity.ts'
export {
  type ActorDocument,
  type ActorDocumentInput,
  type ActorType,
  buildActor,
  type MultikeyDocument,
  readActor,
} from './actor.ts'
export {
  type AnnounceDocument,
  type AnnounceDocumentInput,
  buildAnnounce,
  buildAnnouncement,
  readAnnounce,
} from './announce.ts'
export { buildCacheFile, type CacheFileDocument, type CopyDocument, readCacheFile } from './cache-file.ts'
export type { CarrierDocument } from './carrier.ts'
export { buildChapters, type ChapterDocument, type ChaptersDocument, readChapters } from './chapters.ts'
export {
  buildCollection,
  buildCollectionPage,
  buildFrame,
  buildWholeCollection,
  type CollectionDocument,
  readCollection,
} from './collection.ts'
export { AS_PUBLIC, type ContextKind, contextOf, type JsonObject, mergedContext, withoutContext } from './context.ts'
export { buildCreate, readCreate } from './create.ts'
export { buildDelete, type DeleteDocument, readDelete } from './delete.ts'
export { buildDislike, readDislike } from './dislike.ts'
export { buildFlag, type FlagDocument, readFlag } from './flag.ts'
export {
  buildFollow,
  type EmbeddedFollow,
  type FollowAnswer,
  type FollowDocument,
  readFollow,
} from './follow.ts'
export { buildHostMeta } from './host-meta.ts'
export type { ImageDocument } from './image.ts'
export { buildLike, readLike } from './like.ts'
export {
  buildNodeInfo,
  buildNodeInfoLinks,
  type NodeInfoDocument,
  type NodeInfoInput,
  type NodeInfoLinks,
  nodeInfoType,
  readNodeInfo,
  readNodeInfoLinks,
} from './nodeinfo.ts'
export {
  buildNote,
  type MentionDocument,
  type NoteDocument,
  type NoteDocumentInput,
  readNote,
  readReply,
  writtenIn,
} from './note.ts'
export {
  buildPlaylist,
  buildPlaylistElement,
  type PlaylistDocument,
  type PlaylistElementDocument,
  readPlaylist,
  readPlaylistElement,
} from './playlist.ts'
export type { RateDocument } from './rate.ts'
export { type Attribution, isPublic, type Read, typeOf, typesOf } from './read.ts'
export { buildReject, readReject } from './reject.ts'
export { buildReplyApproval, type ReplyApprovalDocument, readReplyApproval } from './reply-approval.ts'
export { ACTIVITY_BOUNDS, FETCHED_BOUNDS, type JsonBounds, parseDocument } from './safe-json.ts'
export { buildTombstone, readTombstone, type TombstoneDocument } from './tombstone.ts'
export { buildUndo, readUndo, type UndoDocument } from './undo.ts'
export { buildUpdate, readUpdate } from './update.ts'
export {
  buildVideo,
  type CaptionDocument,
  type LabelledDocument,
  readVideo,
  type StoryboardDocument,
  type VideoDocument,
  type VideoDocumentInput,
} from './video.ts'
export type { HlsDocument, TrackerDocument, VideoFileDocument, VideoLinks } from './video-links.ts'
export { buildView, readView, type ViewDocument } from './view.ts'
export { buildWatchAction, readWatchAction, type WatchActionDocument } from './watch-action.ts'
export {
  buildWebFinger,
  parseHandle,
  readWebFinger,
  type WebFingerDocument,
  type WebFingerInput,
} from './webfinger.ts'
