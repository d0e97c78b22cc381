// The files that yt-dlp wrote into its folder: a video, or separate picture and sound, and related files.

import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Ffmpeg } from '../../ffmpeg/find.ts'
import { runFfmpeg } from '../../ffmpeg/run.ts'
import { killOrphan } from '../../process.ts'
import { completePath, subtitleAt } from '../completed-download.ts'
import type { DownloadedVideo, DownloadOptions } from '../download.ts'
import { DownloadError, isDiskFull, tooLarge } from '../download-error.ts'

const FORMAT = 'yt-dlp.format'
const JOIN_PID = 'join.pid'
/** Prefix of its file names. Related files may have any extension, and must not be taken for the video. */
const OF_VIDEO = 'video.'
const BESIDE = 'beside.'
export const videoOutput = ['--output', `${OF_VIDEO}%(ext)s`]
export const besideOutput = ['--output', `${BESIDE}%(ext)s`]
const NOT_WHOLE = ['.part', '.ytdl', '.json', '.temp']
const WHOLE = /^video\.[a-z0-9]{1,5}$/
/** Its name pattern for the parts of a video. */
const PART = /^video\.f.+\.[a-z0-9]{1,5}$/s
const SUBTITLE = /^beside\.([A-Za-z0-9-]{2,20})\.(vtt|srt)$/
const PICTURE = /^beside\.[A-Za-z0-9]{1,20}$/

const MAX_SUBTITLES = 100
/** Bytes of one, and of all of a video. */
const MAX_SUBTITLE_SIZE = 20 * 1024 * 1024
const MAX_SUBTITLES_SIZE = 40 * 1024 * 1024

/** Removes partial files of another format; those of the same format are resumed. */
export async function forgetOthers(folder: string, format: string | undefined): Promise<void> {
  const note = join(folder, FORMAT)
  if (format !== undefined && (await readFile(note, 'utf8').catch(() => undefined)) === format) return
  for (const name of [...(await named(folder, OF_VIDEO)), ...(await named(folder, BESIDE))]) {
    await rm(join(folder, name), { recursive: true, force: true })
  }
  await writeFile(note, format ?? '')
}

/** Ends the muxing process of a worker that died in this folder. */
export const killOrphanedJoin = (folder: string): Promise<void> => killOrphan(join(folder, JOIN_PID), folder)

export interface FoundOptions extends Pick<DownloadOptions, 'folder' | 'maxBytes' | 'signal'> {
  ffmpeg: Ffmpeg
  limits: { stallMs: number; maxMemoryBytes: number }
}

/** Throws DownloadError, MediaError `disk-full`, and the reason of the signal. */
export async function videoIn(options: FoundOptions): Promise<Pick<DownloadedVideo, 'path' | 'fileName'>> {
  const { folder, maxBytes, signal } = options
  const media = (await named(folder, OF_VIDEO)).filter((name) => !NOT_WHOLE.includes(extname(name)))
  const [whole, another] = media.filter((name) => WHOLE.test(name))
  const parts = media.filter((name) => PART.test(name))
  if (another !== undefined || (whole === undefined && parts.length !== 2)) {
    throw new DownloadError('unusable', 'There is no video at this address.')
  }
  const taken = whole === undefined ? parts : [whole]
  const sizes = await Promise.all(taken.map(async (name) => (await stat(join(folder, name))).size))
  if (sizes.reduce((sum, size) => sum + size, 0) > maxBytes) throw tooLarge()
  const extension = whole === undefined ? '.mp4' : extname(whole)
  const path = completePath(folder, extension)
  if (whole === undefined) {
    await joinParts(parts, path, options)
    signal.throwIfAborted()
  } else await rename(join(folder, whole), path)
  return { path, fileName: `video${extension}` }
}

/** In any order, and without encoding. */
async function joinParts(parts: readonly string[], target: string, { folder, signal, ffmpeg, limits }: FoundOptions): Promise<void> {
  const streams = ['0:V?', '1:V?', '0:a?', '1:a?'].flatMap((stream) => ['-map', stream])
  // Older builds of ffmpeg treat some sound in MP4 as experimental.
  const shape = ['-c', 'copy', '-strict', 'experimental', '-max_muxing_queue_size', '4096', '-f', 'mp4']
  try {
    await runFfmpeg({
      ffmpeg,
      limits,
      signal,
      duration: 0,
      pidFile: join(folder, JOIN_PID),
      spec: {
        inputs: parts.map((name) => ({ source: join(folder, name), options: [] })),
        filter: undefined,
        threads: 0,
        outputs: [{ target, options: [...streams, ...shape] }],
      },
    })
  } catch (error) {
    signal.throwIfAborted()
    if (isDiskFull(error)) throw error
    throw new DownloadError('failed', 'The picture and the sound of this video cannot be put together.', {
      cause: error,
    })
  }
  for (const name of parts) await rm(join(folder, name))
}

/** Whatever its extension is. */
export async function pictureIn(folder: string): Promise<string | undefined> {
  const found = (await named(folder, BESIDE)).find((name) => PICTURE.test(name))
  return found && join(folder, found)
}

/** Limited in number and size. */
export async function subtitlesIn(folder: string): Promise<NonNullable<DownloadedVideo['subtitles']>> {
  const found: NonNullable<DownloadedVideo['subtitles']> = []
  let left = MAX_SUBTITLES_SIZE
  for (const name of await named(folder, BESIDE)) {
    const language = SUBTITLE.exec(name)?.[1]
    if (language === undefined || found.length === MAX_SUBTITLES) continue
    const path = join(folder, name)
    const { size } = await stat(path)
    if (size > Math.min(MAX_SUBTITLE_SIZE, left)) continue
    left -= size
    found.push(subtitleAt(language, path))
  }
  return found
}

const named = async (folder: string, beginning: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith(beginning)).toSorted()
