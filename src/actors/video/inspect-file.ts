// Looks into a file that arrived, for a new video or in the place of another file: what it holds, where it is going to lie,
// and the pictures of it.

import { availableParallelism } from 'node:os'
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
import { atMost } from '../../platform/at-most.ts'
import { newUuid } from '../../platform/ids.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'
import { type FileStorage, fileStorages, storageOf } from './file-storage.ts'
import { resolutionOf } from './new-video-rows.ts'
import type { Leases, PendingFiles } from './pending-files.ts'
import { type ThumbnailType, thumbnailTypes } from './video.entity.ts'
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
  /** Where that is; known when the file was placed. */
  storage: FileStorage
  pictures: { type: ThumbnailType; ref: FileRef; filename: string; image: EncodedImage; generated: boolean }[]
}

export interface InspectFileOptions {
  /** Whether it is placed among the private files, as its video wants it. */
  isPrivate: boolean
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
  /** Removes the pictures of a draft that was not stored, and with `source` its file. */
  discard(draft: FileDraft, options: { source: boolean }): Promise<void>
  /** What the rows of the draft name. */
  filesOf(draft: FileDraft): FileRef[]
}

/** Files of which a process draws pictures at the same time: each takes frames into memory, and processes of its own. */
export const DRAWN_AT_ONCE = Math.max(2, availableParallelism())

export function makeInspectFile(
  deps: Pick<ActorDeps, 'config'> & {
    store: Store
    ffmpeg: Ffmpeg
    pendingFiles: Pick<PendingFiles, 'reserve' | 'discard'>
    leases: Pick<Leases, 'owner'>
  },
): InspectFile {
  const { config, store, ffmpeg, pendingFiles, leases } = deps
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
    const { isPrivate, inputFilename, path, place, signal } = options
    try {
      const found = await probe({ ffmpeg, path, signal, timeoutMs: config().vireo.media.probe_timeout })
      const isTranscoded = place ? place.kind === 'original_video_files' : transcodes()
      refuseSound(found)
      if (isTranscoded) planLadder({ probe: found, settings: config().transcoding })
      const pictures = await makePictures(found, options)
      return {
        ...{ inputFilename, probe: found, pictures, place: place ?? placeFor(isTranscoded) },
        storage: fileStorages.fileSystem,
      }

      function placeFor(original: boolean): FileRef {
        const extension = extname(inputFilename).toLowerCase()
        if (original) return { kind: 'original_video_files', name: `${newUuid()}${extension}` }
        return webVideoFile(`${newUuid()}-${resolutionOf(found)}${extension}`, isPrivate)
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
    await pendingFiles.reserve(leases.owner, picturesOf(draft))
    try {
      for (const { ref, image } of draft.pictures) await store.put(ref, image.bytes)
      if ((await store.stat(draft.place)) === undefined) await store.put(draft.place, { path })
      draft.storage = await storageOf(store, draft.place)
    } catch (error) {
      throw asRefusal(error)
    }
  }

  return {
    fitPicture: async (name, path) => firstOf(await inTurn(() => fitImage(path, [sizeOf(name)]))),
    inspect,
    draw,
    place,
    discard: (draft, { source }) => pendingFiles.discard([...picturesOf(draft), ...(source ? [draft.place] : [])]),
    filesOf: (draft) => [...picturesOf(draft), draft.place],
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

const picturesOf = ({ pictures }: FileDraft): FileRef[] => pictures.map(({ ref }) => ref)

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
