export {
  type AwaitedVideos,
  type FoundFields,
  makeAwaitedVideos,
  type NamedPicture,
  namedAs,
  type PlacedPicture,
} from './awaited-video.ts'
export { type CreateVideo, makeCreateVideo } from './create-video.ts'
export { currentViewers } from './current-viewers.ts'
export {
  addComments,
  addDelta,
  addViews,
  foldDeltas,
  PUBLIC_VIDEOS,
  reconcileCounters,
  reconcileVideoTotals,
  registerCounters,
  totalVideos,
  type VideoDelta,
} from './deltas.ts'
export {
  type DownloadRow,
  findDownload,
  findDownloads,
  findKeptUpload,
  findTorrent,
  type StoredFileRow,
} from './download.queries.ts'
export { type DrawPictures, makeDrawPictures } from './draw-pictures.ts'
export type { FileFormat } from './file-removal.ts'
export { type FileStorage, fileStorages, storageIn, storageOf } from './file-storage.ts'
export { type FileTokens, makeFileTokens } from './file-tokens.ts'
export {
  type FileDraft,
  type GivenPictures,
  type InspectFile,
  makeInspectFile,
  type PictureName,
  refOfPicture,
} from './inspect-file.ts'
export {
  categoryLabels,
  commentsPolicyLabels,
  type Labelled,
  labelled,
  labelledState,
  languageLabels,
  licenceLabels,
  privacyLabels,
  resolutionLabel,
} from './labels.ts'
export { type VideoListQuery, type VideoListScope, type VideoSortField, videoSortFields } from './list-query.ts'
export { type ListedVideo, listVideoIds, listVideos, type Page, type VideoPage, withPositions } from './list-videos.ts'
export { findUnfollowedActor, registerListing, relist } from './listing.ts'
export { type LiveStatusRow, listLiveStatus } from './live-status.queries.ts'
export { setDimensionsAsMade } from './new-video-rows.ts'
export { dropOutdated, dropProvisional } from './outdated-files.ts'
export { findSamples, listSamples, type Samples } from './overview.ts'
export { refuseBadPasswords } from './password-rows.ts'
export {
  editionOwner,
  failedImportOwner,
  importOwner,
  type Leases,
  makePendingFiles,
  type PendingFile,
  type PendingFiles,
  redundancyOwner,
  transcodingOwner,
} from './pending-files.ts'
export { pendingRetiming, type Retimed, type RetimedCaption } from './pending-parts.ts'
export { makePlaceFiles, type PlaceFiles } from './place-files.ts'
export { type PublishDefaults, publishDefaults } from './publish-defaults.ts'
export { advanceAndAnnounce, announceChange, touch, videoLifecycle } from './publish-video.ts'
export { videoBlockTypes } from './quarantine.ts'
export { queueStoryboard } from './queue-storyboard.ts'
export { queueTorrents } from './queue-torrents.ts'
export { overQuota, quotaLeft, refuseOverQuota } from './quota.ts'
export { makeRedrawPictures, type RedrawPictures } from './redraw-pictures.ts'
export { type LookedAt, makeLookedAt } from './refresh-video.ts'
export {
  makeRemoteVideos,
  type RemoteFile,
  type RemoteVideo,
  type RemoteVideos,
  videoStateOf,
} from './remote-video.ts'
export { makeRemoveFiles, type RemoveFiles } from './remove-files.ts'
export { makeRemoveVideo, type RemoveVideo, removeUnpublished } from './remove-video.ts'
export { makeReplaceSource, type ReplaceSource } from './replace-source.ts'
export { DAYS_OF_VIEWS, registerScores, renewScores } from './scores.ts'
export { removeStaleWorkFolders } from './stale-work-folders.ts'
export {
  type ChangeParts,
  makeUpdateVideo,
  type NewPictures,
  type UpdateVideo,
  type VideoChanges,
} from './update-video.ts'
export {
  FEDERATED_PRIVACIES,
  FEDERATED_STATES,
  isFederatedState,
  isPublic,
  type ThumbnailType,
  thumbnailTypes,
  videoPrivacies,
} from './video.entity.ts'
export {
  assertFollowed,
  assertMayChange,
  assertMaySee,
  hasPrivateFiles,
  isFederated,
  isOpen,
  isOpenBy,
  mayAskRemote,
  mayChange,
  type Openness,
  seesAllVideos,
  unfollowed,
  type Viewer,
} from './video.policy.ts'
export {
  findAccessBySmallFile,
  findAccessByWebVideo,
  findAwaitedPictures,
  findDescription,
  findFileMetadata,
  findRemoteActorImage,
  findRemoteAddress,
  findSource,
  findVideoAccess,
  findVideoAge,
  findVideoByUrl,
  findVideoDetails,
  findVideoId,
  findVideoIds,
  findWatchableVideo,
  listStoryboards,
  nsfwPolicyOf,
  type SmallFileKind,
  type VideoAccessRow,
  type VideoKey,
} from './video.queries.ts'
export type {
  ActorProfile,
  ActorSummary,
  PlaylistRow,
  SourceRow,
  VideoDetailsRow,
  VideoFileRow,
  VideoListRow,
  VideoRow,
} from './video.rows.ts'
export { accountProfile, channelProfile, isBegun, listColumns, summaryOf, videoJoins } from './video.rows.ts'
export { readCards } from './video-cards.ts'
export { type Chapters, makeChapters } from './video-chapters.ts'
export type { CreatedVideo, NewVideoFields, VideoDraft } from './video-draft.ts'
export {
  listPasswords,
  makeVideoPasswords,
  refuseUnprotected,
  type VideoPasswordRow,
  type VideoPasswords,
} from './video-passwords.ts'
export { announceComments, announceVideoChanges, VIDEOS_CHANGED } from './videos-changed.ts'
export {
  findOwnReading,
  findWatchedVideo,
  type NextVideo,
  type WatchedCaption,
  type WatchedVideoRow,
} from './watch.queries.ts'
export { workFolder } from './work-folders.ts'
