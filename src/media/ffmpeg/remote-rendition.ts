// A rendition that another machine made: checked, and described like one of the ladder. Its playlist is written anew from the numbers in it.

import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MediaError } from '../errors.ts'
import type { Ffmpeg } from './find.ts'
import { describeFile, describeHls, type LadderFile } from './ladder.ts'
import type { MediaProbe } from './media-probe.ts'
import type { RenditionPlan } from './plan.ts'
import { type MediaPlaylist, parseMediaPlaylist } from './playlists.ts'
import { probe } from './probe.ts'

export interface WantedRendition {
  /** The short side in px, 0 for sound only. */
  resolution: number
  fps: number
  /** Undefined if both will do. */
  hasAudio: boolean | undefined
  /** Seconds. */
  duration: number
}

export interface RemoteRendition {
  ffmpeg: Ffmpeg
  wanted: WantedRendition
  /** The file, which is moved to its name in the same folder. */
  path: string
  /** The received playlist; undefined for a web video. */
  playlistPath?: string | undefined
  folder: string
  newUuid: () => string
  signal: AbortSignal
}

/** px: the size of a picture is even. */
const SIZE_TOLERANCE = 2
/** Seconds, and a share of the duration. */
const DURATION_TOLERANCE = { seconds: 3, share: 0.05 }
export const MAX_PLAYLIST_BYTES = 2 * 1024 * 1024
const LONGEST_LINE = 1000
const MAX_INIT_BYTES = 1024 * 1024

/** Throws MediaError if the file is not the wanted rendition. */
export async function describeRemoteRendition(options: RemoteRendition): Promise<{ file: LadderFile; found: MediaProbe }> {
  const { ffmpeg, wanted, path, playlistPath, folder, newUuid, signal } = options
  const found = await probeRendition({ ffmpeg, wanted, path, signal })
  const { resolution, fps } = wanted
  const rendition: RenditionPlan = { resolution, fps, video: found.video && { ...found.video, encode: undefined } }
  const name = `${newUuid()}-${resolution}`
  if (playlistPath === undefined) {
    const target = join(folder, `${name}.mp4`)
    await rename(path, target)
    return { found, file: await describeFile({ ffmpeg, signal }, rendition, 'web-video', target) }
  }
  const fragmented = join(folder, `${name}-fragmented.mp4`)
  const playlist = join(folder, `${name}.m3u8`)
  await writeFile(playlist, await rewritten(playlistPath, found, `${name}-fragmented.mp4`))
  await rename(path, fragmented)
  const file = await describeHls({ ffmpeg, signal }, rendition, { fragmented, playlist }).catch((error: unknown) => {
    throw error instanceof MediaError ? error : unfit('The playlist does not fit its file.', error)
  })
  return { found, file }
}

/** Probes the file. Throws MediaError unless it is an MP4 with the wanted streams, size and length. */
export async function probeRendition({
  ffmpeg,
  wanted,
  path,
  signal,
}: Pick<RemoteRendition, 'ffmpeg' | 'wanted' | 'path' | 'signal'>): Promise<MediaProbe> {
  const found = await probe({ ffmpeg, path, signal })
  const { resolution, hasAudio, duration } = wanted
  const { video, audio } = found
  if (!found.format.split(',').includes('mp4')) throw unfit(`The file is not an MP4, but ${found.format}.`)
  if (resolution > 0 !== (video !== undefined)) throw unfit(video ? 'The file has a picture.' : 'The file has no picture.')
  if (hasAudio !== undefined && hasAudio !== (audio !== undefined)) throw unfit(audio ? 'The file has sound.' : 'The file has no sound.')
  const shortSide = video ? Math.min(video.width, video.height) : 0
  if (Math.abs(shortSide - resolution) > SIZE_TOLERANCE) throw unfit(`The picture has ${shortSide} lines instead of ${resolution}.`)
  const tolerance = DURATION_TOLERANCE.seconds + duration * DURATION_TOLERANCE.share
  if (Math.abs(found.duration - duration) > tolerance) {
    throw unfit(`The file lasts ${Math.round(found.duration)} seconds instead of ${Math.round(duration)}.`)
  }
  return found
}

async function rewritten(path: string, { duration, size: bytes, isFragmented }: MediaProbe, filename: string): Promise<string> {
  if (!isFragmented) throw unfit('The file is not a fragmented MP4.')
  const { size } = await stat(path)
  if (size > MAX_PLAYLIST_BYTES) throw unfit('The playlist is too long.')
  const text = (await readFile(path, 'utf8')).replaceAll('\r\n', '\n')
  if (text.split('\n').some(({ length }) => length > LONGEST_LINE)) throw unfit('The playlist has too long lines.')
  refuseOtherFiles(text)
  const playlist = parsed(text)
  const seconds = playlist.segments.reduce((sum, segment) => sum + segment.duration, 0)
  const tolerance = DURATION_TOLERANCE.seconds + duration * DURATION_TOLERANCE.share
  if (!(Math.abs(seconds - duration) <= tolerance)) throw unfit('The playlist is not as long as its file.')
  if (!coversFile(playlist, bytes)) throw unfit('The playlist does not name the bytes of its file in order.')
  return buildMediaPlaylist(playlist, filename)
}

function parsed(text: string): MediaPlaylist {
  try {
    const playlist = parseMediaPlaylist(text)
    if (playlist.init.length > MAX_INIT_BYTES || playlist.segments.length === 0) throw new Error('It has no segments of a file.')
    return playlist
  } catch (cause) {
    throw unfit('The playlist is not one of byte ranges in a file.', cause)
  }
}

/** A playlist names one file, which lies beside it. */
function refuseOtherFiles(text: string): void {
  const names = new Set(namedBy(text))
  if (names.size > 1) throw unfit('The playlist names several files.')
  for (const name of names) if (!isPlainName(name)) throw unfit('The playlist names a file elsewhere.')
}

function* namedBy(text: string): Generator<string> {
  for (const line of text.split('\n').map((line) => line.trim())) {
    if (!line.startsWith('#')) {
      if (line !== '') yield line
      continue
    }
    for (const [, name = ''] of line.matchAll(/URI="?([^",]*)/g)) yield name
  }
}

/** No path, no address, and nothing that becomes one when it is decoded. */
const isPlainName = (name: string): boolean => /^[^/\\:%?#]+$/.test(name) && !/^\.+$/.test(name)

/** A muxer may write an index after the last segment. */
const LARGEST_REST = 0.1

function coversFile({ init, segments }: MediaPlaylist, bytes: number): boolean {
  let end = init.offset + init.length
  for (const { offset, length } of segments) {
    if (offset !== end || length <= 0) return false
    end += length
  }
  return init.offset === 0 && end <= bytes && bytes - end <= bytes * LARGEST_REST
}

/** A playlist of byte ranges in one file. */
function buildMediaPlaylist({ init, segments }: MediaPlaylist, filename: string): string {
  const longest = segments.reduce((most, { duration }) => Math.max(most, duration), 1)
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${Math.ceil(longest)}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    `#EXT-X-MAP:URI="${filename}",BYTERANGE="${init.length}@${init.offset}"`,
    ...segments.flatMap(({ duration, offset, length }) => [
      `#EXTINF:${duration.toFixed(6)},`,
      `#EXT-X-BYTERANGE:${length}@${offset}`,
      filename,
    ]),
    '#EXT-X-ENDLIST',
    '',
  ].join('\n')
}

const unfit = (message: string, cause?: unknown): MediaError => new MediaError('failed', message, { cause })
