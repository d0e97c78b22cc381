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
export { type FederatedVideo, findFederatedVideo, listFederatedVideos } from './federated-video.queries.ts'
export {
  type DownloadRow,
  findDownload,
  findDownloads,
  findKeptUpload,
  findTorrent,
  type StoredFileRow,
} from './files/download.queries.ts'
export { type DrawPictures, makeDrawPictures } from './files/draw-pictures.ts'
export type { FileFormat } from './files/file-removal.ts'
export { type FileStorage, fileStorages, storageIn, storageOf } from './files/file-storage.ts'
export { type FileTokens, makeFileTokens } from './files/file-tokens.ts'
export {
  type FileDraft,
  type GivenPictures,
  type InspectFile,
  makeInspectFile,
  type PictureName,
  refOfPicture,
} from './files/inspect-file.ts'
export { dropOutdated, dropProvisional } from './files/outdated-files.ts'
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
} from './files/pending-files.ts'
export { pendingRetiming, type Retimed, type RetimedCaption } from './files/pending-parts.ts'
export { makePlaceFiles, type PlaceFiles } from './files/place-files.ts'
export { queueStoryboard } from './files/queue-storyboard.ts'
export { queueTorrents } from './files/queue-torrents.ts'
export { makeRedrawPictures, type RedrawPictures } from './files/redraw-pictures.ts'
export { makeRemoveFiles, type RemoveFiles } from './files/remove-files.ts'
export { makeReplaceSource, type ReplaceSource } from './files/replace-source.ts'
export { removeStaleWorkFolders } from './files/stale-work-folders.ts'
export { workFolder } from './files/work-folders.ts'
export type { StreamingPlaylist, VideoFile } from './files.entity.ts'
export {
  categoryLabels,
  commentsPolicyLabels,
  type Labelled,
  labelled,
  labelledState,
  languageLabels,
  licenceLabels,
  ownLabels,
  privacyLabels,
  resolutionLabel,
  setAddedLabels,
} from './labels.ts'
export { type VideoListQuery, type VideoListScope, type VideoSortField, videoSortFields } from './lists/list-query.ts'
export { type ListedVideo, listVideoIds, listVideos, type Page, type VideoPage, withPositions } from './lists/list-videos.ts'
export { findSamples, listSamples, type Samples } from './lists/overview.ts'
export { readCards } from './lists/video-cards.ts'
export { type LiveStatusRow, listLiveStatus } from './live-status.queries.ts'
export { setDimensionsAsMade } from './new-video-rows.ts'
export { refuseBadPasswords } from './password-rows.ts'
export { type PublishDefaults, publishDefaults } from './publish-defaults.ts'
export { advanceAndAnnounce, announceChange, touch, videoLifecycle } from './publish-video.ts'
export { videoBlockTypes } from './quarantine.ts'
export { overQuota, quotaLeft, refuseOverQuota } from './quota.ts'
export { findUnfollowedActor, registerListing, relist } from './remote/listing.ts'
export { type LookedAt, makeLookedAt } from './remote/refresh-video.ts'
export {
  makeRemoteVideos,
  type RemoteFile,
  type RemoteVideo,
  type RemoteVideos,
  videoStateOf,
} from './remote/remote-video.ts'
export { makeRemoveVideo, type RemoveVideo, removeUnpublished } from './remove-video.ts'
export { DAYS_OF_VIEWS, registerScores, renewScores } from './scores.ts'
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
  type Thumbnail,
  type ThumbnailType,
  thumbnailTypes,
  type Video,
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
  PlaylistRow,
  SourceRow,
  VideoDetailsRow,
  VideoFileRow,
  VideoListRow,
  VideoRow,
} from './video.rows.ts'
export { isBegun, listColumns, videoJoins } from './video.rows.ts'
export { type Chapters, makeChapters } from './video-chapters.ts'
export type { CreatedVideo, NewVideoFields, VideoDraft } from './video-draft.ts'
export {
  listPasswords,
  makeVideoPasswords,
  refuseUnprotected,
  type VideoPasswordRow,
  type VideoPasswords,
} from './video-passwords.ts'
export { announceComments, announceCounts, announceVideoChanges, readVideosChange, VIDEOS_CHANGED } from './videos-changed.ts'
export {
  findOwnReading,
  findWatchedVideo,
  type NextVideo,
  type WatchedCaption,
  type WatchedVideoRow,
} from './watch.queries.ts'
