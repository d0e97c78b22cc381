// The public face of media: bytes and what they hold. Knows files, not users.

export { cleanWebVtt, toWebVtt } from './captions/captions.ts'
export { isRefusal, MediaError, type MediaErrorReason, StorageOutage } from './errors.ts'
export { type Ffmpeg, type FindFfmpegOptions, findFfmpeg } from './ffmpeg/find.ts'
export { type JoinOptions, joinStreams } from './ffmpeg/join.ts'
export { type LadderFile, type LadderStep, type RunLadderOptions, runLadder } from './ffmpeg/ladder.ts'
export type { FileMetadata } from './ffmpeg/metadata.ts'
export { type LadderPlan, type LadderSettings, planLadder, type RenditionPlan } from './ffmpeg/plan.ts'
export { buildMasterPlaylist, buildSegmentHashes, type HlsEntry, playlistsOfMaster } from './ffmpeg/playlists.ts'
export { type AudioProbe, type MediaProbe, probe, type VideoProbe } from './ffmpeg/probe.ts'
export type { RunLimits } from './ffmpeg/run.ts'
export { type ActorImageFile, fitActorImage } from './images/actor-images.ts'
export { type EncodedImage, fitImage, type ImageSize, imagesFromMedia } from './images/images.ts'
export { type MirrorLimits, mirrorFile, mirrorHls } from './mirror/mirror.ts'
export { hlsFile, hlsFolder, mirrorFolder, storeLadderFiles, storeMaster, webVideoFile } from './placement.ts'
export { carryFile } from './store/carry.ts'
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
  type Store,
} from './store/store.ts'
export { type MakeStoryboardOptions, makeStoryboard, type Storyboard } from './storyboard/storyboard.ts'
