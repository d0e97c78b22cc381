// The rows of a new video, built from its draft.

import { basename, extname } from 'node:path'
import type { Config } from '../../config/index.ts'
import type { LadderFile, MediaProbe } from '../../media/index.ts'
import { initialVideo } from '../../state-machines/video.ts'
import type { Unit } from '../runtime/index.ts'
import { type FileDraft, resolutionOf, type WebVideoDraft } from './files/inspect-file.ts'
import { insertPasswords } from './password-rows.ts'
import type { Video } from './video.entity.ts'
import type { NewVideoFields, VideoDraft } from './video-draft.ts'

/** 1 video, 2 audio, 3 both: `VideoFileStream` of the contract. */
const streamsOf = ({ video, audio }: MediaProbe): number => (video ? 1 : 0) + (audio ? 2 : 0)

/** The columns that the draft decides, in the machine's first state. */
export const rowOf = ({ fields, uuid, probe }: VideoDraft) => ({
  ...rowWithoutFile(fields, uuid),
  ...dimensionsOf(probe),
})

/** The same for a video whose file has not arrived. */
export function rowWithoutFile(fields: NewVideoFields, uuid: string) {
  const { channelId, name, category, licence, language, privacy, nsfw, description, support } = fields
  return {
    uuid,
    channelId,
    name,
    category,
    licence,
    language,
    privacy,
    nsfw,
    description,
    support,
    remote: false,
    blocked: false,
    isLive: false,
    duration: 0,
    aspectRatio: null,
    state: initialVideo.state,
    context: { ...initialVideo.context },
    waitTranscoding: fields.waitTranscoding,
    commentsPolicy: fields.commentsPolicy,
    downloadEnabled: fields.downloadEnabled,
    tags: fields.tags,
    originallyPublishedAt: fields.originallyPublishedAt === null ? null : new Date(fields.originallyPublishedAt),
  }
}

/** Length (s) and shape of the picture. */
export const dimensionsOf = ({ video, duration }: MediaProbe) => ({
  duration: Math.round(duration),
  aspectRatio: video ? Number((video.width / video.height).toFixed(4)) : null,
})

/** Seconds by which the header of a file may be wrong. */
const HEADER_TOLERANCE = 1

/** The dimensions of the source, unless renditions prove it wrong: truncated files, and the picture added to a sound. */
export function setDimensionsAsMade(video: Video, source: MediaProbe, files: readonly LadderFile[]): void {
  const stated = dimensionsOf(source)
  const [longest = 0] = files.map(({ metadata }) => Number(metadata.format.duration)).toSorted((a, b) => b - a)
  const isOff = longest > 0 && Math.abs(longest - source.duration) > HEADER_TOLERANCE
  const picture = files.find(({ hasVideo }) => hasVideo)
  Object.assign(video, {
    duration: isOff ? Math.round(longest) : stated.duration,
    aspectRatio: stated.aspectRatio ?? (picture ? Number((picture.width / picture.height).toFixed(4)) : null),
  })
}

/** The columns of the uploaded file. */
export function sourceOf({ inputFilename, place, probe: found }: FileDraft) {
  return {
    inputFilename,
    keptFilename: place.kind === 'original_video_files' ? place.name : null,
    size: found.size,
    resolution: resolutionOf(found),
    width: found.video?.codedWidth ?? null,
    height: found.video?.codedHeight ?? null,
    fps: found.video ? Math.round(found.video.fps) : null,
    metadata: { ...found.metadata },
  }
}

/** Stores the uploaded file as a web video. A `provisional` one is removed when its renditions exist. */
export async function insertWebVideo(
  unit: Unit,
  videoId: number,
  { webVideo, probe: found, provisional }: { webVideo: WebVideoDraft; probe: MediaProbe; provisional: boolean },
): Promise<void> {
  const { ref, storage } = webVideo
  const filename = basename(ref.name)
  await unit.query(
    `insert into video_file (video_id, resolution, width, height, size, extname, fps, filename, metadata, streams,
       created_at, updated_at, storage, provisional)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13)`,
    [
      videoId,
      resolutionOf(found),
      found.video?.codedWidth ?? 0,
      found.video?.codedHeight ?? 0,
      found.size,
      extname(filename),
      found.video ? Math.round(found.video.fps) : 0,
      filename,
      JSON.stringify(found.metadata),
      streamsOf(found),
      unit.now,
      storage,
      provisional,
    ],
  )
}

/** Stores passwords and schedule. */
export async function insertDetails(
  unit: Unit,
  videoId: number,
  { passwords, schedule, transcribe }: NewVideoFields,
  { video_transcription }: Pick<Config, 'video_transcription'>,
): Promise<void> {
  if (transcribe && video_transcription.enabled) unit.enqueue({ type: 'transcribe', data: { videoId } })
  if (passwords.length > 0) await insertPasswords(unit, videoId, passwords)
  if (schedule) {
    await unit.query('insert into video_schedule (video_id, update_at, privacy) values ($1, $2, $3)', [
      videoId,
      schedule.updateAt,
      schedule.privacy,
    ])
  }
}
