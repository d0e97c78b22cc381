// Makes a video of a file that arrived: looks into it, makes its pictures, places the files, stores the rows.

import { extname } from 'node:path'
import {
  type EncodedImage,
  type Ffmpeg,
  type FileRef,
  fitImage,
  type ImageSize,
  imagesFromMedia,
  isRefusal,
  MediaError,
  type MediaProbe,
  planLadder,
  probe,
  type Store,
  webVideoFile,
} from '../../media/index.ts'
import { newUuid, toShortUuid } from '../../platform/ids.ts'
import { startChapters } from '../chapter/index.ts'
import { type ActorDeps, DomainError, type Unit } from '../runtime/index.ts'
import { quotaUsed } from '../user/index.ts'
import { insertAsWebVideo, insertDetails, resolutionOf, rowOf, sourceOf } from './new-video-rows.ts'
import type { Leases, PendingFiles } from './pending-files.ts'
import { planTranscoding } from './plan-transcoding.ts'
import { moveAndTell, moveVideo } from './publish-video.ts'
import { Thumbnail, type ThumbnailType, thumbnailTypes, Video, VideoSource } from './video.entity.ts'
import { hasPrivateFiles } from './video.policy.ts'

/** What the uploader says about the video, checked. Plain JSON, so that an upload can keep it until the file is there. */
export interface NewVideoFields {
  channelId: number
  name: string
  privacy: number
  category: number | null
  licence: number | null
  language: string | null
  nsfw: boolean
  description: string | null
  support: string | null
  /** True: published when all renditions are there; false: as soon as one can be played. */
  waitTranscoding: boolean
  commentsPolicy: number
  downloadEnabled: boolean
  tags: string[]
  /** ISO 8601. */
  originallyPublishedAt: string | null
  passwords: string[]
  /** `updateAt` in ISO 8601; null as privacy leaves it as it is. */
  schedule: { updateAt: string; privacy: number | null } | null
}

/** Pictures that the uploader sent, in their final size. */
export interface GivenPictures {
  thumbnail?: EncodedImage
  preview?: EncodedImage
}

export type PictureName = keyof GivenPictures

export interface CreatedVideo {
  id: number
  uuid: string
  shortUUID: string
}

/** All that is needed to store the video, worked out before the transaction. */
export interface VideoDraft {
  uuid: string
  userId: number
  fields: NewVideoFields
  /** The name of the file on the uploader's machine. */
  inputFilename: string
  probe: MediaProbe
  /** Where the file is going to lie: an original that waits for its renditions, or a web video as it is. */
  place: FileRef
  pictures: { type: ThumbnailType; ref: FileRef; filename: string; image: EncodedImage; generated: boolean }[]
}

export interface InspectOptions {
  userId: number
  fields: NewVideoFields
  inputFilename: string
  /** The file; it is only read. */
  path: string
  pictures: GivenPictures
  /** Where an earlier try placed or meant to place the file. */
  place?: FileRef | undefined
  signal?: AbortSignal | undefined
}

export interface CreateVideo {
  /** Throws `invalid` when the channel is not one of the user's. */
  checkChannel(userId: number, channelId: number): Promise<void>
  /** Throws `too_large` (`quota_reached`) when so many more bytes are over one of the user's quotas. */
  checkQuota(userId: number, bytes: number): Promise<void>
  /** Bytes that the user may add, Infinity without quotas. */
  quotaLeft(userId: number): Promise<number>
  /**
   * Holds the user's quotas until the unit ends, so that what comes at once does not each take the last of them. Throws
   * `too_large` (`quota_reached`).
   */
  takeQuota(unit: Unit, userId: number, bytes: number): Promise<void>
  /** Fits an uploaded picture. Throws MediaError when it is none. */
  fitPicture(name: PictureName, path: string): Promise<EncodedImage>
  /** Looks into the file and makes what is missing. Throws `unprocessable` when it cannot be used. Writes nothing. */
  inspect(options: InspectOptions): Promise<VideoDraft>
  /** Moves the file into the store and writes the pictures. Done twice it stays done. */
  place(draft: VideoDraft, path: string): Promise<void>
  /** Stores the rows, with the job that makes the renditions. Throws `invalid` and `too_large` as the checks do. */
  insert(unit: Unit, draft: VideoDraft): Promise<CreatedVideo>
  /** Removes the pictures of a draft that was not stored, and with `source` its file. */
  discard(draft: VideoDraft, options: { source: boolean }): Promise<void>
  /** All at once, for a file that is ours to give away. Nothing stays behind when it is refused. */
  createFrom(options: InspectOptions): Promise<CreatedVideo>
}

export function makeCreateVideo(
  deps: ActorDeps & { store: Store; ffmpeg: Ffmpeg; pendingFiles: PendingFiles; leases: Leases },
): CreateVideo {
  const { db, tell, config, urls, store, ffmpeg, pendingFiles, leases } = deps

  const sizeOf = (name: PictureName): ImageSize => {
    const [thumbnail, preview] = config().thumbnails.sizes
    return (name === 'thumbnail' ? thumbnail : preview) ?? FALLBACK_SIZES[name]
  }

  const transcodes = (): boolean => {
    const { enabled, hls, web_videos } = config().transcoding
    return enabled && (hls.enabled || web_videos.enabled)
  }

  async function checkChannel(userId: number, channelId: number): Promise<void> {
    const [channel] = await db.query<{ user_id: number | null }>(
      "select a.user_id from channel c join account a on a.id = c.account_id where c.id = $1 and c.state = 'active'",
      [channelId],
    )
    refuseChannel(channel, userId)
  }

  async function quotaLeft(userId: number, { query } = { query: db.query }): Promise<number> {
    const [user] = await query<{ video_quota: number; video_quota_daily: number }>(
      'select video_quota, video_quota_daily from users where id = $1 and not blocked',
      [userId],
    )
    if (!user) throw new DomainError('forbidden', 'This user may not upload.')
    if (user.video_quota < 0 && user.video_quota_daily < 0) return Number.POSITIVE_INFINITY
    const used = await quotaUsed({ query }, userId)
    return Math.min(left(user.video_quota, used.total), left(user.video_quota_daily, used.daily))
  }

  async function inspect(options: InspectOptions): Promise<VideoDraft> {
    const { userId, fields, inputFilename, path, place, signal } = options
    try {
      const found = await probe({ ffmpeg, path, signal, timeoutMs: config().vireo.media.probe_timeout })
      const isTranscoded = place ? place.kind === 'original_video_files' : transcodes()
      refuseSound(found)
      if (isTranscoded) planLadder({ probe: found, settings: config().transcoding })
      const pictures = await makePictures(found, options)
      const uuid = newUuid()
      return { uuid, userId, fields, inputFilename, probe: found, pictures, place: place ?? placeFor(isTranscoded) }

      function placeFor(original: boolean): FileRef {
        const extension = extname(inputFilename).toLowerCase()
        if (original) return { kind: 'original_video_files', name: `${newUuid()}${extension}` }
        return webVideoFile(
          `${newUuid()}-${resolutionOf(found)}${extension}`,
          hasPrivateFiles({ privacy: fields.privacy, blocked: false }),
        )
      }
    } catch (error) {
      throw asRefusal(error)
    }
  }

  function refuseSound(found: MediaProbe): void {
    const { enabled, allow_audio_files } = config().transcoding
    if (found.video || (enabled && allow_audio_files)) return
    throw new DomainError('unsupported_media_type', 'Files without a picture are not accepted on this server.')
  }

  async function makePictures(found: MediaProbe, options: InspectOptions): Promise<VideoDraft['pictures']> {
    const names: PictureName[] = ['thumbnail', 'preview']
    const missing = names.filter((name) => !options.pictures[name])
    const generated = missing.length > 0 ? await generate(found, missing.map(sizeOf), options) : []
    return names.flatMap((name) => {
      const image = options.pictures[name] ?? generated[missing.indexOf(name)]
      if (!image) return []
      const filename = `${newUuid()}.jpg`
      const type = name === 'thumbnail' ? thumbnailTypes.miniature : thumbnailTypes.preview
      const ref: FileRef = { kind: name === 'thumbnail' ? 'thumbnails' : 'previews', name: filename }
      return [{ type, ref, filename, image, generated: !options.pictures[name] }]
    })
  }

  async function generate(found: MediaProbe, sizes: ImageSize[], { path, signal }: InspectOptions) {
    const { media } = config().vireo
    const folder = `pictures-${newUuid()}`
    await pendingFiles.reserve(leases.owner, [{ kind: 'tmp', name: folder, folder: true }])
    try {
      const frame = {
        ...{ ffmpeg, input: path, sizes, signal },
        framesToAnalyze: config().thumbnails.generation_from_video.frames_to_analyze,
        workFolder: await store.workFolder(folder),
        limits: { stallMs: media.stall_timeout },
        niceness: media.nice_thumbnail,
      }
      try {
        return await imagesFromMedia({ ...frame, probe: found })
      } catch (error) {
        // A cover that cannot be read is no reason to refuse the sound.
        if (found.video || found.coverIndex === undefined || !(error instanceof MediaError)) throw error
        return await imagesFromMedia({ ...frame, probe: { ...found, coverIndex: undefined } })
      }
    } finally {
      await pendingFiles.discard([{ kind: 'tmp', name: folder, folder: true }])
    }
  }

  const filesOf = ({ pictures }: VideoDraft): FileRef[] => pictures.map(({ ref }) => ref)

  async function place(draft: VideoDraft, path: string): Promise<void> {
    await pendingFiles.reserve(leases.owner, filesOf(draft))
    try {
      for (const { ref, image } of draft.pictures) await store.put(ref, image.bytes)
      if ((await store.stat(draft.place)) === undefined) await store.put(draft.place, { path })
    } catch (error) {
      throw asRefusal(error)
    }
  }

  async function takeQuota(unit: Unit, userId: number, bytes: number): Promise<void> {
    await unit.query("select pg_advisory_xact_lock(hashtext('video-quota'), $1)", [userId])
    if (bytes > (await quotaLeft(userId, unit))) throw overQuota()
  }

  async function insert(unit: Unit, draft: VideoDraft): Promise<CreatedVideo> {
    const { fields, uuid, userId } = draft
    await takeQuota(unit, userId, draft.probe.size)
    const [channel] = await unit.query<{ user_id: number | null }>(
      `select a.user_id from channel c join account a on a.id = c.account_id
       where c.id = $1 and c.state = 'active' for key share of c`,
      [fields.channelId],
    )
    refuseChannel(channel, userId)

    const transcode = draft.place.kind === 'original_video_files'
    const video = unit.em.create(Video, {
      ...rowOf(draft),
      url: urls.video(uuid),
      createdAt: unit.now,
      updatedAt: unit.now,
      publishedAt: unit.now,
    })
    const added = { type: 'ADDED', source: 'upload', transcode, waitTranscoding: fields.waitTranscoding } as const
    // The first flush gives the id that events and children need.
    await unit.em.flush()
    if (transcode) moveVideo(unit, video, added)
    else moveAndTell(unit, video, [added])
    for (const { type, filename, image, generated } of draft.pictures) {
      const { width, height } = image
      const of = { videoId: video.id, type, filename, width, height, onDisk: true, createdAt: unit.now }
      unit.em.create(Thumbnail, { ...of, automaticallyGenerated: generated })
    }
    unit.em.create(VideoSource, { ...sourceOf(draft), videoId: video.id, createdAt: unit.now })
    if (transcode) await planTranscoding(unit, video.id, config().vireo.jobs.priorities.transcoding)
    else await insertAsWebVideo(unit, video.id, draft)
    await insertDetails(unit, video.id, fields)
    await startChapters(unit, video.id, {
      description: fields.description,
      ofFile: draft.probe.metadata.chapters,
    })
    await pendingFiles.settle(unit.query, [...filesOf(draft), draft.place])
    return { id: video.id, uuid, shortUUID: toShortUuid(uuid) }
  }

  async function discard(draft: VideoDraft, { source }: { source: boolean }): Promise<void> {
    await pendingFiles.discard([...filesOf(draft), ...(source ? [draft.place] : [])])
  }

  return {
    checkChannel,
    quotaLeft,
    takeQuota,
    async checkQuota(userId, bytes) {
      if (bytes > (await quotaLeft(userId))) throw overQuota()
    },
    fitPicture: async (name, path) => firstOf(await fitImage(path, [sizeOf(name)])),
    inspect,
    place,
    insert,
    discard,
    async createFrom(options) {
      await checkChannel(options.userId, options.fields.channelId)
      const draft = await inspect(options)
      try {
        await pendingFiles.reserve(leases.owner, [draft.place])
        await place(draft, options.path)
        return await tell.create((unit) => insert(unit, draft))
      } catch (error) {
        // When the answer of a commit was lost the rows may be there, and then the files are theirs.
        const [stored] = await db.query('select id from video where uuid = $1', [draft.uuid])
        if (!stored) await discard(draft, { source: true })
        throw error
      }
    },
  }
}

const FALLBACK_SIZES = { thumbnail: { width: 280, height: 157 }, preview: { width: 850, height: 480 } } as const

const left = (quota: number, used: number): number => (quota < 0 ? Number.POSITIVE_INFINITY : Math.max(0, quota - used))

/** The refusal of a file that is over a quota of its user. */
export const overQuota = (): DomainError =>
  new DomainError('too_large', 'The video quota of this user is exceeded with this video.', { code: 'quota_reached' })

function refuseChannel(channel: { user_id: number | null } | undefined, userId: number): void {
  if (!channel) throw new DomainError('invalid', 'This video channel does not exist on this server.')
  if (channel.user_id !== userId) {
    throw new DomainError('invalid', 'This video channel does not belong to this account.')
  }
}

/** What an error of the media tools means for the uploader. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof MediaError)) return error
  if (error.reason === 'disk-full' || error.reason === 'ffmpeg-missing') {
    return new DomainError('unavailable', 'The server cannot take the file now.', { cause: error })
  }
  if (error.reason === 'aborted') return new DomainError('invalid', 'The upload was cancelled.', { cause: error })
  const isHostile = ['failed', 'stalled', 'memory', 'time-out'].includes(error.reason)
  if (!isRefusal(error) && !isHostile) return error
  return new DomainError('unprocessable', `The video file cannot be used: ${error.message}`, { cause: error })
}

function firstOf(images: EncodedImage[]): EncodedImage {
  const [image] = images
  if (!image) throw new Error('The picture was not made.')
  return image
}
