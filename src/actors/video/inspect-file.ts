// Looks into a file that arrived, for a new video or in the place of another file: what it holds, where it is going to lie,
// and the pictures of it.

import { availableParallelism } from 'node:os'
import { basename, extname } from 'node:path'
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
import { atMost } from '../../platform/at-most.ts'
import { newUuid } from '../../platform/ids.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'
import { type FileStorage, fileStorages, storageOf } from './file-storage.ts'
import { resolutionOf } from './new-video-rows.ts'
import type { Leases, PendingFiles } from './pending-files.ts'
import { type ThumbnailType, thumbnailTypes } from './video.entity.ts'
import { hasPrivateFiles, type Openness } from './video.policy.ts'
import { workFolder } from './work-folders.ts'

/** Pictures that the uploader sent, in their final size. */
export interface GivenPictures {
  thumbnail?: EncodedImage
  preview?: EncodedImage
}

export type PictureName = keyof GivenPictures

/** All that is known of a file before the transaction that stores it. */
export interface FileDraft {
  /** The name of the file on the uploader's machine. */
  inputFilename: string
  probe: MediaProbe
  /** Where the file is going to lie: an original that waits for its renditions, or a web video as it is. */
  place: FileRef
  /** The file as a web video that plays at once; null when the renditions are awaited. */
  webVideo: WebVideoDraft | null
  pictures: { type: ThumbnailType; ref: FileRef; filename: string; image: EncodedImage; generated: boolean }[]
}

/** The uploaded file as viewers and scripts read it. */
export interface WebVideoDraft {
  /** `place` itself, or a second name of the same bytes while the renditions are made of `place`. */
  ref: FileRef
  /** Of the row, and so of its torrent. */
  createdAt: Date
  /** Where the bytes are; known when the file was placed. */
  storage: FileStorage
  torrent: TorrentDraft | null
}

export interface TorrentDraft {
  ref: FileRef
  bytes: Uint8Array
  infoHash: string
  magnetUri: string
}

/** Makes the torrent of a file that is not stored yet. */
export type TorrentOfUpload = (file: {
  /** The file; it is only read. */
  path: string
  filename: string
  resolution: number
  /** Bytes. */
  size: number
  createdAt: Date
  video: Openness & { name: string }
  signal: AbortSignal
}) => Promise<TorrentDraft | null>

export interface InspectFileOptions {
  /** What the file is for: whether it is placed among the private files, and plays before its renditions are there. */
  video: Openness & { name: string; waitTranscoding: boolean }
  inputFilename: string
  /** The file; it is only read. */
  path: string
  pictures: GivenPictures
  /** Where an earlier try placed or meant to place the file. */
  place?: FileRef | undefined
  signal?: AbortSignal | undefined
}

export interface InspectFile {
  /** Fits an uploaded picture. Throws MediaError when it is none. */
  fitPicture(name: PictureName, path: string): Promise<EncodedImage>
  /** Looks into the file and makes what is missing. Throws `unprocessable` when it cannot be used. Writes nothing. */
  inspect(options: InspectFileOptions): Promise<FileDraft>
  /** Draws these pictures of a file that was accepted before. Throws MediaError. Writes nothing. */
  draw(names: readonly PictureName[], path: string): Promise<FileDraft['pictures']>
  /** Moves the file into the store and writes the pictures. Done twice it stays done. */
  place(draft: FileDraft, path: string): Promise<void>
  /** Removes what was written for a draft that was not stored, and with `source` its file. */
  discard(draft: FileDraft, options: { source: boolean }): Promise<void>
  /** What the rows of the draft name. */
  filesOf(draft: FileDraft): FileRef[]
}

/** Files of which a process draws pictures at the same time: each takes frames into memory, and processes of its own. */
export const DRAWN_AT_ONCE = Math.max(2, availableParallelism())

export function makeInspectFile(
  deps: Pick<ActorDeps, 'config' | 'clock'> & {
    store: Store
    ffmpeg: Ffmpeg
    pendingFiles: Pick<PendingFiles, 'reserve' | 'discard'>
    leases: Pick<Leases, 'owner'>
    torrentOf: TorrentOfUpload
  },
): InspectFile {
  const { config, store, ffmpeg, pendingFiles, leases, clock, torrentOf } = deps
  const inTurn = atMost(DRAWN_AT_ONCE)

  const sizeOf = (name: PictureName): ImageSize => {
    const [thumbnail, preview] = config().thumbnails.sizes
    return (name === 'thumbnail' ? thumbnail : preview) ?? FALLBACK_SIZES[name]
  }

  const transcodes = (): boolean => {
    const { enabled, hls, web_videos } = config().transcoding
    return enabled && (hls.enabled || web_videos.enabled)
  }

  async function inspect(options: InspectFileOptions): Promise<FileDraft> {
    const { video, inputFilename, path, place: given, signal } = options
    try {
      const found = await probe({ ffmpeg, path, signal, timeoutMs: config().vireo.media.probe_timeout })
      const isTranscoded = given ? given.kind === 'original_video_files' : transcodes()
      refuseSound(found)
      if (isTranscoded) planLadder({ probe: found, settings: config().transcoding })
      const extension = extname(given?.name ?? inputFilename).toLowerCase()
      const newWebVideo = (): FileRef =>
        webVideoFile(`${newUuid()}-${resolutionOf(found)}${extension}`, hasPrivateFiles(video))
      const newOriginal = (): FileRef => ({ kind: 'original_video_files', name: `${newUuid()}${extension}` })
      const place = given ?? (isTranscoded ? newOriginal() : newWebVideo())
      const isAwaited = isTranscoded && video.waitTranscoding
      const [pictures, webVideo] = await together(signal, [
        (stop) => makePictures(found, { ...options, signal: stop }),
        async (stop) =>
          isAwaited
            ? null
            : await webVideoOf(isTranscoded ? newWebVideo() : place, found, { ...options, signal: stop }),
      ])
      return { inputFilename, probe: found, pictures, place, webVideo }
    } catch (error) {
      throw asRefusal(error)
    }
  }

  async function webVideoOf(
    ref: FileRef,
    found: MediaProbe,
    { path, video, signal }: InspectFileOptions & { signal: AbortSignal },
  ): Promise<WebVideoDraft> {
    const createdAt = clock.now()
    const filename = basename(ref.name)
    const file = { path, filename, resolution: resolutionOf(found), size: found.size, createdAt, video, signal }
    return { ref, createdAt, storage: fileStorages.fileSystem, torrent: await torrentOf(file) }
  }

  function refuseSound(found: MediaProbe): void {
    const { enabled, allow_audio_files } = config().transcoding
    if (found.video || (enabled && allow_audio_files)) return
    throw new DomainError('unsupported_media_type', 'Files without a picture are not accepted on this server.')
  }

  async function makePictures(found: MediaProbe, options: InspectFileOptions): Promise<FileDraft['pictures']> {
    const names: PictureName[] = ['thumbnail', 'preview']
    const missing = names.filter((name) => !options.pictures[name])
    const generated = missing.length > 0 ? await inTurn(() => generate(found, missing.map(sizeOf), options)) : []
    return names.flatMap((name) => {
      const image = options.pictures[name] ?? generated[missing.indexOf(name)]
      return image ? [pictureOf(name, image, !options.pictures[name])] : []
    })
  }

  async function draw(names: readonly PictureName[], path: string): Promise<FileDraft['pictures']> {
    const found = await probe({ ffmpeg, path, timeoutMs: config().vireo.media.probe_timeout })
    const images = await inTurn(() => generate(found, names.map(sizeOf), { path }))
    return images.flatMap((image, index) => {
      const name = names[index]
      return name ? [pictureOf(name, image, true)] : []
    })
  }

  async function generate(
    found: MediaProbe,
    sizes: ImageSize[],
    { path, signal }: Pick<InspectFileOptions, 'path' | 'signal'>,
  ) {
    const { media } = config().vireo
    const folder = workFolder('pictures', newUuid())
    await pendingFiles.reserve(leases.owner, [folder])
    try {
      const frame = {
        ...{ ffmpeg, input: path, sizes, signal },
        framesToAnalyze: config().thumbnails.generation_from_video.frames_to_analyze,
        workFolder: await store.workFolder(folder.name),
        limits: { stallMs: media.stall_timeout, maxMemoryBytes: media.max_memory },
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
      await pendingFiles.discard([folder])
    }
  }

  async function place(draft: FileDraft, path: string): Promise<void> {
    const { pictures, webVideo, place: original } = draft
    await pendingFiles.reserve(leases.owner, addedTo(draft))
    try {
      for (const { ref, image } of pictures) await store.put(ref, image.bytes)
      if (webVideo?.torrent) await store.put(webVideo.torrent.ref, webVideo.torrent.bytes)
      if ((await store.stat(original)) === undefined) await store.put(original, { path })
      if (!webVideo) return
      if (!isSame(webVideo.ref, original)) await store.copy(original, webVideo.ref)
      webVideo.storage = await storageOf(store, webVideo.ref)
    } catch (error) {
      throw asRefusal(error)
    }
  }

  return {
    fitPicture: async (name, path) => firstOf(await inTurn(() => fitImage(path, [sizeOf(name)]))),
    inspect,
    draw,
    place,
    discard: (draft, { source }) => pendingFiles.discard([...addedTo(draft), ...(source ? [draft.place] : [])]),
    filesOf: (draft) => [...addedTo(draft), draft.place],
  }
}

function pictureOf(name: PictureName, image: EncodedImage, generated: boolean): FileDraft['pictures'][number] {
  const filename = `${newUuid()}.jpg`
  const [type, kind] =
    name === 'thumbnail'
      ? ([thumbnailTypes.miniature, 'thumbnails'] as const)
      : ([thumbnailTypes.preview, 'previews'] as const)
  return { type, ref: { kind, name: filename }, filename, image, generated }
}

/** What is written beside the file. */
const addedTo = ({ pictures, webVideo, place }: FileDraft): FileRef[] => [
  ...pictures.map(({ ref }) => ref),
  ...(webVideo ? filesOfWebVideo(webVideo).filter((ref) => !isSame(ref, place)) : []),
]

export const filesOfWebVideo = ({ ref, torrent }: WebVideoDraft): FileRef[] => [ref, ...(torrent ? [torrent.ref] : [])]

const isSame = (one: FileRef, other: FileRef): boolean => one.kind === other.kind && one.name === other.name

/** Runs both at once; when one fails, the other is stopped and has ended. */
async function together<A, B>(
  signal: AbortSignal | undefined,
  [one, other]: [(signal: AbortSignal) => Promise<A>, (signal: AbortSignal) => Promise<B>],
): Promise<[A, B]> {
  const failed = new AbortController()
  const stop = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  const works = [one(stop), other(stop)] as const
  try {
    return await Promise.all(works)
  } catch (error) {
    failed.abort()
    await Promise.allSettled(works)
    throw error
  }
}

const FALLBACK_SIZES = { thumbnail: { width: 280, height: 157 }, preview: { width: 850, height: 480 } } as const

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
