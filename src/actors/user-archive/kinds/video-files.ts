// The files of one video in an archive: the video itself if wanted, which is the original if it is retained and otherwise the best file,
// its picture and its captions.

import { extname } from 'node:path'
import {
  contentTypeOf,
  type FileRef,
  hlsFile,
  MediaError,
  type MuxInput,
  muxStreams,
  webVideoFile,
  withMuxInputs,
} from '../../../media/index.ts'
import { hasPrivateFiles } from '../../video/index.ts'
import type { ArchivedVideo } from '../archive-documents.ts'
import type { Export } from '../export.ts'
import { type VideoFileRow, type VideoRow, videoRow } from './stored-videos.ts'

type Written = NonNullable<ArchivedVideo['videoFile']>

/** Undefined if the video is removed meanwhile. */
export async function writeVideoFiles(of: Export, row: VideoRow): Promise<ArchivedVideo | undefined> {
  const { writer, withVideoFiles } = of
  const videoFile = withVideoFiles ? await writeVideoFile(of, row) : null
  if (videoFile === undefined) return undefined
  const captions: Record<string, string> = {}
  for (const { language, filename } of row.captions) {
    const name = `files/videos/captions/${row.uuid}-${language}${extname(filename)}`
    const file = await writer.file(name, [{ kind: 'captions', name: filename }])
    if (file) captions[language] = file.path
  }
  return { videoFile, thumbnail: await writePicture(of, row), captions }
}

/** Null if it has none (any more). Reads the row again if the file was replaced in between. */
async function writeVideoFile(of: Export, row: VideoRow): Promise<Written | null | undefined> {
  for (let now: VideoRow | undefined = row, look = 1; now; now = await videoRow(of, row.key), look += 1) {
    const choices = videoChoices(now)
    for (const choice of choices) {
      const written = await writeChoice(of, row.uuid, choice)
      if (written) return written
    }
    if (choices.length === 0 || look === LOOKS) return null
  }
  return undefined
}

const LOOKS = 3

async function writeChoice(of: Export, uuid: string, choice: VideoChoice): Promise<Written | undefined> {
  const { extname, height, fps } = choice
  const name = `files/videos/video-files/${uuid}${extname}`
  const said = { mediaType: contentTypeOf(name), height, fps }
  if ('picture' in choice) {
    const made = await writeMux(of, name, choice)
    return made && { ...made, ...said, size: null }
  }
  const file = await of.writer.file(name, choice.refs)
  return file ? { ...file, ...said } : undefined
}

/** Muxed while it is written. */
async function writeMux(
  of: Export,
  name: string,
  { picture, sound }: { picture: FileRef[]; sound: FileRef[] },
): Promise<{ path: string } | undefined> {
  const { store, ffmpeg, config, writer, signal } = of
  const refs = [await firstOf(of, picture), await firstOf(of, sound)] as const
  if (!refs[0] || !refs[1]) return undefined
  const { stall_timeout: stallMs, nice: niceness } = config().vireo.media
  let isBegun = false
  const write = async (inputs: { picture: MuxInput; sound: MuxInput }) => {
    isBegun = true
    const { stream, gone } = muxStreams({ ffmpeg, ...inputs, stallMs, niceness })
    const made = await writer.made(name, stream)
    await gone
    return made
  }
  try {
    return await withMuxInputs(store, { picture: refs[0], sound: refs[1] }, write, signal)
  } catch (error) {
    if (!isBegun && error instanceof MediaError && error.reason === 'not-found') return undefined
    throw error
  }
}

async function firstOf({ store }: Export, refs: FileRef[]): Promise<FileRef | undefined> {
  for (const ref of refs) if (await store.stat(ref)) return ref
  return undefined
}

const PREVIEW = 2

/** The larger one. */
async function writePicture({ writer }: Export, { uuid, pictures }: VideoRow): Promise<string | null> {
  for (const { type, filename } of pictures.toReversed()) {
    const name = `files/videos/thumbnails/${uuid}${extname(filename)}`
    const file = await writer.file(name, [{ kind: type === PREVIEW ? 'previews' : 'thumbnails', name: filename }])
    if (file) return file.path
  }
  return null
}

/** A stored file, or separate picture and sound. Refs are the places where the file may be. */
export type VideoChoice = { extname: string; height: number; fps: number } & (
  | { refs: FileRef[] }
  | { picture: FileRef[]; sound: FileRef[] }
)

type Choosable = Pick<VideoRow, 'uuid' | 'privacy' | 'blocked' | 'files' | 'source'>

/** In order of preference: if one is removed meanwhile, the next one is tried. */
export function videoChoices(video: Choosable): VideoChoice[] {
  const web = bestOf(video.files.filter(({ hls }) => !hls))
  const hls = video.files.filter((file) => file.hls)
  return [...uploadOf(video), ...(web ? [fileChoice(video, web)] : []), ...hlsChoice(video, hls)]
}

function uploadOf({ source }: Choosable): VideoChoice[] {
  if (!source?.keptFilename) return []
  const { keptFilename: name, height, resolution, fps } = source
  const refs: FileRef[] = [{ kind: 'original_video_files', name }]
  return [{ refs, extname: extname(name), height: height ?? resolution ?? 0, fps: fps ?? 0 }]
}

const bestOf = (files: VideoFileRow[]): VideoFileRow | undefined => files.find(({ hasVideo }) => hasVideo) ?? files[0]

function hlsChoice(video: Choosable, files: VideoFileRow[]): VideoChoice[] {
  const picture = bestOf(files)
  if (!picture) return []
  const sound = picture.hasVideo && !picture.hasAudio ? soundOf(files) : undefined
  const choice = fileChoice(video, picture)
  if (!sound) return [choice]
  const { height, fps } = choice
  return [{ picture: placesOf(video, picture), sound: placesOf(video, sound), extname: '.mp4', height, fps }]
}

const soundOf = (files: VideoFileRow[]): VideoFileRow | undefined =>
  files.find(({ hasAudio, hasVideo }) => hasAudio && !hasVideo) ?? files.find(({ hasAudio }) => hasAudio)

const fileChoice = (video: Choosable, file: VideoFileRow) => ({
  refs: placesOf(video, file),
  extname: file.extname,
  height: file.height || file.resolution,
  fps: file.fps,
})

/** The folder of its privacy, and the one that it may still be moved from. */
function placesOf(video: Choosable, { hls, filename }: VideoFileRow): FileRef[] {
  const isPrivate = hasPrivateFiles(video)
  return [isPrivate, !isPrivate].map((hidden) => (hls ? hlsFile(video.uuid, filename, hidden) : webVideoFile(filename, hidden)))
}
