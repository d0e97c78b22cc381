// The file that renditions are made from: the original if it is retained, otherwise the best file of the video.

import { join } from 'node:path'
import { type FileRef, hlsFile, joinStreams, webVideoFile } from '../../media/index.ts'
import { PermanentFailure } from '../runtime/index.ts'
import { hasPrivateFiles, type Openness, transcodingOwner, workFolder } from '../video/index.ts'
import type { TranscodingDeps } from './transcoding-state.ts'

export interface SourceFile {
  /** The file, or only its picture. */
  picture: FileRef
  /** The file with the sound, if it is separate. */
  sound: FileRef | undefined
}

interface FileRow extends Openness {
  uuid: string
  filename: string
  hls: boolean
  /** `VideoFileStream` of the contract: 1 video, 2 audio, 3 both. */
  streams: number
}

const BEST_FIRST = `
  select v.uuid, v.privacy, v.blocked, f.filename, f.streaming_playlist_id is not null as hls, f.streams
  from video_file f join video v on v.id = f.video_id
  where f.video_id = $1 and not f.outdated and f.filename is not null
  order by f.streams = 2, f.resolution desc, f.streams desc, f.streaming_playlist_id nulls first, f.size desc`

/** Throws PermanentFailure if there is none. `kept` is the name of the original, null if it is removed. */
export async function findSourceFile(
  { db }: Pick<TranscodingDeps, 'db'>,
  { videoId, kept }: { videoId: number; kept: string | null },
): Promise<SourceFile> {
  if (kept !== null) return { picture: { kind: 'original_video_files', name: kept }, sound: undefined }
  const files = await db.query<FileRow>(BEST_FIRST, [videoId])
  const best = files[0]
  if (!best) throw new PermanentFailure('The original file is missing, and there is no other.')
  const sound = best.streams === 1 ? (files.findLast(({ streams }) => streams !== 1) ?? undefined) : undefined
  return { picture: refOf(best), sound: sound && refOf(sound) }
}

const refOf = ({ uuid, filename, hls, ...openness }: FileRow): FileRef =>
  hls ? hlsFile(uuid, filename, hasPrivateFiles(openness)) : webVideoFile(filename, hasPrivateFiles(openness))

/** True if the files are still in place: a change of the privacy moves them. */
export async function isThere({ store }: Pick<TranscodingDeps, 'store'>, source: SourceFile): Promise<boolean> {
  for (const ref of [source.picture, ...(source.sound ? [source.sound] : [])]) {
    if ((await store.stat(ref)) === undefined) return false
  }
  return true
}

/** Runs `work` with the path of a single file with picture and sound. */
export async function withSourceFile<T>(
  { store, ffmpeg, config, pendingFiles }: TranscodingDeps,
  { picture, sound }: SourceFile,
  { id, signal }: { id: number; signal: AbortSignal },
  work: (path: string) => Promise<T>,
): Promise<T> {
  const withPicture = async (picturePath: string): Promise<T> => {
    if (!sound) return await work(picturePath)
    const folder = workFolder('transcoding', `${id}-source`)
    await pendingFiles.reserve(transcodingOwner(id), [folder])
    const target = join(await store.workFolder(folder.name), 'joined.mp4')
    const { stall_timeout: stallMs, max_memory: maxMemoryBytes } = config().vireo.media
    const limits = { stallMs, maxMemoryBytes }
    const put = (soundPath: string): Promise<void> =>
      joinStreams({ ffmpeg, picture: picturePath, sound: soundPath, target, limits, signal })
    await store.withLocalPath(sound, put, signal)
    const result = await work(target)
    await pendingFiles.discard([folder])
    return result
  }
  return await store.withLocalPath(picture, withPicture, signal)
}
