export { acceptedExtensions } from './accepted-extensions.ts'
// The public interface of media: bytes and their content. Knows files, not users.

export { type Archive, type ArchiveFile, openArchive } from './archive/archive.ts'
export { ArchiveError, type ArchiveFault } from './archive/archive-error.ts'
export { archiveLimits } from './archive/limits.ts'
export { type ArchivedList, readList } from './archive/read-list.ts'
export { makeZipWriter, type ZipWriter } from './archive/zip-writer.ts'
export { cleanWebVtt, retimeWebVtt, toWebVtt } from './captions/captions.ts'
export type { DownloadedVideo, DownloadSource } from './downloads/download.ts'
export { DownloadError, type DownloadFailure } from './downloads/download-error.ts'
export { type Downloads, type DownloadsOptions, makeDownloads } from './downloads/downloads.ts'
export { readTorrent, type TorrentSummary } from './downloads/torrent/torrent-file.ts'
export type { RemoteMetadata, RemoteVideoEntry } from './downloads/yt-dlp/info.ts'
export { findSandbox } from './downloads/yt-dlp/sandbox.ts'
export { checkYtDlp, isSafeYtDlp, OLDEST_SAFE_YT_DLP } from './downloads/yt-dlp/version.ts'
export { isDiskFull, isRefusal, MediaError, type MediaErrorReason, StorageOutage, systemCode } from './errors.ts'
export { theoreticalBitrate } from './ffmpeg/bitrate.ts'
export { type Ffmpeg, type FindFfmpegOptions, findFfmpeg } from './ffmpeg/find.ts'
export { type JoinOptions, joinStreams } from './ffmpeg/join.ts'
export {
  type LadderFile,
  newPlaylistNames,
  type PlaylistNames,
  type RunLadderOptions,
  runLadder,
} from './ffmpeg/ladder.ts'
export type { AudioProbe, MediaProbe, VideoProbe } from './ffmpeg/media-probe.ts'
export type { FileMetadata } from './ffmpeg/metadata.ts'
export { type Mux, type MuxInput, type MuxOptions, muxStreams } from './ffmpeg/mux.ts'
export { withMuxInputs } from './ffmpeg/mux-inputs.ts'
export {
  type LadderPlan,
  type LadderSettings,
  type LadderStep,
  outlineOf,
  planLadder,
  type RenditionPlan,
} from './ffmpeg/plan.ts'
export { buildMasterPlaylist, buildSegmentHashes, type HlsEntry, playlistsOfMaster } from './ffmpeg/playlists.ts'
export { probe } from './ffmpeg/probe.ts'
export { describeRemoteRendition, MAX_PLAYLIST_BYTES, probeRendition, type WantedRendition } from './ffmpeg/remote-rendition.ts'
export type { RunLimits } from './ffmpeg/run.ts'
export { makeWarmFfprobe, type RunFfprobe } from './ffmpeg/warm-ffprobe.ts'
export { type ActorImageFile, fitActorImage } from './images/actor-images.ts'
export { renderIcon } from './images/icons.ts'
export {
  type DrawnProbe,
  type EncodedImage,
  fitImage,
  type ImageSize,
  imagesFromMedia,
  plainImage,
} from './images/images.ts'
export {
  type LiveAcceptor,
  type LiveAcceptorLimits,
  type LiveAcceptorOptions,
  type LiveAdmission,
  type LiveRequest,
  makeLiveAcceptor,
} from './live/acceptor.ts'
export { type CutEnd, type CutPiecesOptions, cutPieces, type LivePiece } from './live/cutter.ts'
export { encodeStream } from './live/encode-stream.ts'
export type { Handover } from './live/handover.ts'
export { joinPieces } from './live/join-pieces.ts'
export { pieceName } from './live/piece-name.ts'
export {
  type ReceivedStream,
  type ReceiveStreamOptions,
  receiveStream,
  type StreamEnd,
  type StreamEndReason,
} from './live/receiver.ts'
export {
  type EncodedPiece,
  type EncodedRendition,
  type EncodePieceOptions,
  encodePiece,
  hashedFile,
  type LivePlan,
  type LiveRendition,
  planLive,
  renditionOf,
  withSoundApart,
} from './live/renditions.ts'
export { type SendStreamOptions, type SentPiece, sendStream } from './live/sender.ts'
export { type MirrorLimits, mirrorFile, mirrorHls } from './mirror/mirror.ts'
export { hlsFile, hlsFolder, mirrorFolder, storeLadderFiles, storeMaster, webVideoFile } from './placement.ts'
export { writePooled } from './store/buffer-pool.ts'
export { contentTypeOf } from './store/content-types.ts'
export { type FileStore, makeFileStore } from './store/file-store.ts'
export {
  bucketOrigins,
  mixedBuckets,
  needsPathStyle,
  type ObjectSettings,
  objectAddress,
} from './store/object-settings.ts'
export { makePlacedStore } from './store/placed-store.ts'
export { makeS3Store, type ObjectStore } from './store/s3-store.ts'
export {
  type Appender,
  type ByteRange,
  type FileKind,
  type FileRef,
  type FileStat,
  fileKinds,
  type OpenedFile,
  type Place,
  places,
  type SavedAs,
  type Store,
} from './store/store.ts'
export { copyVerified } from './store/verified-copy.ts'
export { planStoryboard, type StoryboardPlan } from './storyboard/plan.ts'
export { type MakeStoryboardOptions, makeStoryboard, readStoryboard, type Storyboard } from './storyboard/storyboard.ts'
export { type EditTask, type EditVideoOptions, editVideo, planEdition } from './studio/edit.ts'
export { type StudioPlan, WATERMARK } from './studio/plan.ts'
export { afterAnother, arrangeClips, NothingLeft, type Retiming, type TimelineTask } from './studio/timeline.ts'
export { measureWatermark } from './studio/watermark.ts'
export {
  magnetOf,
  makeTorrent,
  renewTorrent,
  swarmsOfPlaylist,
  type Torrent,
  type TorrentFacts,
  type Trackers,
} from './torrents/torrent.ts'
