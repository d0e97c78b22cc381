// Chooses the file of a video for an archive: the original if it is retained, otherwise the best file. Pure.

import { extname } from 'node:path'
import { type FileRef, hlsFile, webVideoFile } from '../../../media/index.ts'
import { hasPrivateFiles } from '../../video/index.ts'
import type { VideoFileRow, VideoRow } from './video-rows.ts'

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
