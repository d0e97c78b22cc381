// Probes a file that arrived, for a new video or as a replacement: its streams, its place in the store, and its pictures. Pictures that the
// uploader did not send are drawn later.

import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import pLimit from 'p-limit'
import {
  type DrawnProbe,
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
  type RunFfprobe,
  type Store,
  webVideoFile,
} from '../../../media/index.ts'
import { newUuid } from '../../../platform/ids.ts'
import { makeLru } from '../../../platform/lru.ts'
import { type ActorDeps, DomainError } from '../../runtime/index.ts'
import { type ThumbnailType, thumbnailTypes } from '../video.entity.ts'
import { hasPrivateFiles, type Openness } from '../video.policy.ts'
import { type FileStorage, fileStorages, storageOf } from './file-storage.ts'
import type { Leases, PendingFiles } from './pending-files.ts'
import { workFolder } from './work-folders.ts'

/** Pictures that the uploader sent, in their final size. */
export interface GivenPictures {
  thumbnail?: EncodedImage | undefined
  preview?: EncodedImage | undefined
}

export type PictureName = keyof GivenPictures

export const pictureNames: readonly PictureName[] = ['thumbnail', 'preview']

/** What is known of a file before the transaction that stores it. */
export interface FileDraft {
  /** The name of the file on the uploader's machine. */
  inputFilename: string
  probe: MediaProbe
  /** Destination of the file: an original that waits for its renditions, or a web video as it is. */
  place: FileRef
  /** The file as a web video that plays at once; null if the video waits for its renditions. */
  webVideo: WebVideoDraft | null
  pictures: DraftPicture[]
}

/** A picture with the name and the size that its row gets. */
export interface DraftPicture {
  type: ThumbnailType
  ref: FileRef
  filename: string
  image: DraftImage
  generated: boolean
}

/** An encoded JPEG; `bytes` is null until it is drawn. */
export interface DraftImage extends ImageSize {
  bytes: Buffer | null
}

/** The uploaded file as viewers and scripts read it. */
export interface WebVideoDraft {
  /** `place` itself, or a second name of the same bytes while renditions are made from `place`. */
  ref: FileRef
  /** Where the bytes are; set when the file is placed. */
  storage: FileStorage
}

export interface InspectFileOptions {
  /** Decides whether the file is placed among the private files, and whether it plays before its renditions exist. */
  video: Openness & { waitTranscoding: boolean }
  inputFilename: string
  /** The file. It is only read. */
  path: string
  pictures: GivenPictures
  /** Where an earlier attempt placed the file, or was about to. */
  place?: FileRef | undefined
  signal?: AbortSignal | undefined
}

/** Pictures that a process resizes at the same time: each is decoded in memory. */
const FITTED_AT_ONCE = Math.max(2, availableParallelism())

const REMEMBERED = 100

export type InspectFile = ReturnType<typeof makeInspectFile>

export function makeInspectFile(
  deps: Pick<ActorDeps, 'config'> & {
    store: Store
    ffmpeg: Ffmpeg
    pendingFiles: Pick<PendingFiles, 'reserve' | 'discard'>
    leases: Pick<Leases, 'owner'>
    /** Replaces the default of one process for each file. */
    runFfprobe?: RunFfprobe
  },
) {
  const { config, store, ffmpeg, pendingFiles, leases, runFfprobe } = deps
  const inTurn = pLimit(FITTED_AT_ONCE)
  /** Keyed by the file name, which is unique. Pictures are usually drawn where the file was uploaded, soon after. */
  const probes = makeLru<string, DrawnProbe>(REMEMBERED)

  const sizeOf = (name: PictureName): ImageSize => {
    const [thumbnail, preview] = config().thumbnails.sizes
    return (name === 'thumbnail' ? thumbnail : preview) ?? FALLBACK_SIZES[name]
  }

  const transcodes = (): boolean => {
    const { enabled, hls, web_videos } = config().transcoding
    return enabled && (hls.enabled || web_videos.enabled)
  }

  /** Probes the file. Throws `unprocessable` if it cannot be used. Writes nothing. */
  async function inspect(options: InspectFileOptions): Promise<FileDraft> {
    const { video, inputFilename, path, place: earlier, signal } = options
    try {
      const timeoutMs = config().vireo.media.probe_timeout
      const found = await probe({ ffmpeg, path, signal, timeoutMs, runFfprobe })
      const isTranscoded = earlier ? earlier.kind === 'original_video_files' : transcodes()
      refuseSound(found)
      if (isTranscoded) planLadder({ probe: found, settings: config().transcoding })
      const extension = extname(earlier?.name ?? inputFilename).toLowerCase()
      const newWebVideo = (): FileRef => webVideoFile(`${newUuid()}-${resolutionOf(found)}${extension}`, hasPrivateFiles(video))
      const newOriginal = (): FileRef => ({ kind: 'original_video_files', name: `${newUuid()}${extension}` })
      const place = earlier ?? (isTranscoded ? newOriginal() : newWebVideo())
      const { video: picture, duration, coverIndex } = found
      probes.set(place.name, { video: picture, duration, coverIndex })
      const ref = isTranscoded ? newWebVideo() : place
      const webVideo = isTranscoded && video.waitTranscoding ? null : { ref, storage: fileStorages.fileSystem }
      return { inputFilename, probe: found, pictures: picturesOf(options.pictures), place, webVideo }
    } catch (error) {
      throw asRefusal(error)
    }
  }

  function refuseSound(found: MediaProbe): void {
    const { enabled, allow_audio_files } = config().transcoding
    if (found.video || (enabled && allow_audio_files)) return
    throw new DomainError('unsupported_media_type', 'Files without a picture are not accepted on this server.')
  }

  /** A picture to be drawn, in the configured size. */
  const planPicture = (name: PictureName): DraftPicture => newPicture(name, { image: { ...sizeOf(name), bytes: null }, generated: true })

  const picturesOf = (given: GivenPictures): DraftPicture[] => [
    ...uploadedPictures(given),
    ...pictureNames.filter((name) => !given[name]).map(planPicture),
  ]

  /** Draws one picture of each size from a file in the store. Throws MediaError. Writes nothing. */
  const draw = (source: FileRef, sizes: readonly ImageSize[], signal?: AbortSignal): Promise<EncodedImage[]> =>
    store.withLocalPath(
      source,
      async (path) => {
        const timeoutMs = config().vireo.media.probe_timeout
        const found = probes.get(source.name) ?? (await probe({ ffmpeg, path, signal, timeoutMs }))
        return await generate(found, sizes, { path, signal })
      },
      signal,
    )

  async function generate(
    found: DrawnProbe,
    sizes: readonly ImageSize[],
    { path, signal }: Pick<InspectFileOptions, 'path' | 'signal'>,
  ): Promise<EncodedImage[]> {
    const { media } = config().vireo
    const folder = workFolder('pictures', newUuid())
    await pendingFiles.reserve(leases.owner, [folder])
    try {
      const frame = {
        ffmpeg,
        input: path,
        sizes,
        signal,
        framesToAnalyze: config().thumbnails.generation_from_video.frames_to_analyze,
        workFolder: await store.workFolder(folder.name),
        limits: { stallMs: media.stall_timeout, maxMemoryBytes: media.max_memory },
        niceness: media.nice_thumbnail,
      }
      try {
        return await imagesFromMedia({ ...frame, probe: found })
      } catch (error) {
        // An unreadable cover is no reason to refuse the sound.
        if (found.video || found.coverIndex === undefined || !(error instanceof MediaError)) throw error
        return await imagesFromMedia({ ...frame, probe: { ...found, coverIndex: undefined } })
      }
    } finally {
      await pendingFiles.discard([folder])
    }
  }

  /** Moves the file into the store and writes the pictures that were sent. Idempotent. */
  async function place(draft: FileDraft, path: string): Promise<void> {
    const { pictures, webVideo, place: original } = draft
    await pendingFiles.reserve(leases.owner, addedTo(draft))
    try {
      for (const { ref, image } of pictures) if (image.bytes) await store.put(ref, image.bytes)
      if ((await store.stat(original)) === undefined) await store.put(original, { path })
      if (!webVideo) return
      if (!isSame(webVideo.ref, original)) await store.copy(original, webVideo.ref)
      webVideo.storage = await storageOf(store, webVideo.ref)
    } catch (error) {
      throw asRefusal(error)
    }
  }

  return {
    /** Resizes an uploaded picture. Throws MediaError if it is not a picture. */
    async fitPicture(name: PictureName, path: string): Promise<EncodedImage> {
      return firstOf(await inTurn(() => fitImage(path, [sizeOf(name)])))
    },
    inspect,
    planPicture,
    draw,
    place,
    /** Removes the written files of a draft that was not stored and, with `source`, its file. */
    discard(draft: FileDraft, { source }: { source: boolean }): Promise<void> {
      return pendingFiles.discard([...addedTo(draft), ...(source ? [draft.place] : [])])
    },
    /** Files that the rows of the draft name. */
    filesOf(draft: FileDraft): FileRef[] {
      return [...addedTo(draft), draft.place]
    },
  }
}

/** A new name for each picture, because caches store responses by address. */
function newPicture<I extends DraftImage>(name: PictureName, of: { image: I; generated: boolean }): DraftPicture & { image: I } {
  const filename = `${newUuid()}.jpg`
  const type = name === 'thumbnail' ? thumbnailTypes.miniature : thumbnailTypes.preview
  return { ...of, type, filename, ref: refOfPicture({ type, filename }) }
}

/** Pictures that were sent, in the order of their types. */
export const uploadedPictures = (given: GivenPictures): (DraftPicture & { image: EncodedImage })[] =>
  pictureNames.flatMap((name) => {
    const image = given[name]
    return image ? [newPicture(name, { image, generated: false })] : []
  })

/** Location of a video's picture. */
export const refOfPicture = ({ type, filename }: Pick<DraftPicture, 'type' | 'filename'>): FileRef => ({
  kind: type === thumbnailTypes.miniature ? 'thumbnails' : 'previews',
  name: filename,
})

/** Files written in addition to the uploaded one. */
const addedTo = ({ pictures, webVideo, place }: FileDraft): FileRef[] => [
  ...pictures.flatMap(({ ref, image }) => (image.bytes ? [ref] : [])),
  ...(webVideo && !isSame(webVideo.ref, place) ? [webVideo.ref] : []),
]

const isSame = (one: FileRef, other: FileRef): boolean => one.kind === other.kind && one.name === other.name

const FALLBACK_SIZES = { thumbnail: { width: 280, height: 157 }, preview: { width: 850, height: 480 } } as const

/** Translates an error of the media tools into a refusal for the uploader. */
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

/** Short side in px, 0 for sound only. */
export const resolutionOf = ({ video }: MediaProbe): number => (video ? Math.min(video.width, video.height) : 0)
