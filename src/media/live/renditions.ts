// The renditions of a live stream: planned once from its first piece, then made from each piece by itself.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type BitrateLevel, targetBitrate, theoreticalBitrate } from '../ffmpeg/bitrate.ts'
import { half, SCALE_FLAGS, threadsOf, x264 } from '../ffmpeg/command.ts'
import type { Ffmpeg } from '../ffmpeg/find.ts'
import { inputGuard } from '../ffmpeg/guard.ts'
import type { AudioProbe, MediaProbe, VideoProbe } from '../ffmpeg/media-probe.ts'
import { outputRate } from '../ffmpeg/output-rate.ts'
import { type LadderSettings, RESOLUTIONS, sizeFor } from '../ffmpeg/plan.ts'
import { toNumber } from '../ffmpeg/rate.ts'
import { type RunLimits, runFfmpeg } from '../ffmpeg/run.ts'
import { pieceName } from './piece-name.ts'
import type { PieceFile } from './piece-writer.ts'

/** The part of the configuration's `live.transcoding` section that the renditions depend on. */
export type LiveSettings = Pick<LadderSettings, 'resolutions' | 'always_transcode_original_resolution' | 'fps'> & { enabled: boolean }

export interface LiveRendition {
  /** As in the names of its pieces: 0 is the stream as it was received. */
  rendition: number
  /** px; 0 for sound only. */
  width: number
  height: number
  /** RFC 6381; empty if they are not known. */
  codecs: string[]
}

export interface EncodedRendition extends LiveRendition {
  /** Undefined for sound only. */
  picture:
    | {
        /** Bits per second at most. */
        targetBitrate: number
        /** Frames per second. */
        fps: number
        /** One frame in this many is kept; a multiple of that of the rendition before. */
        everyNth: number
        /** Frames from one key frame to the next at most: a piece begins with one. */
        keyFrameEvery: number
        /** Of H.264, times ten. */
        level: number
      }
    | undefined
  /** Bits per second at most, with the sound. */
  bandwidth: number
}

export interface LivePlan {
  source: LiveRendition
  /** False if viewers get only what is encoded. */
  isSourceShown: boolean
  /** The highest first, sound only last. */
  encoded: EncodedRendition[]
  /** The rendition with the sound of all others; undefined if each has its own. */
  sound?: number
}

/** Seconds. */
const KEY_FRAME_SECONDS = 4
/** Bits per second of sound whose rate is not known: transport streams do not tell it. */
const SOUND_BITRATE = 192_000
/** Of a transport stream, over its content. */
const OVERHEAD = 1.1
const SHOWN_LEVEL: BitrateLevel = 'max'

/** The rendition that a file or a piece of a stream contains. */
export function renditionOf({ video, audio }: Streams, rendition: number): LiveRendition {
  const codecs = [...(video ? pictureCodecs(video) : []), ...(audio ? soundCodecs(audio) : [])]
  const isKnown = codecs.length === [video, audio].filter((stream) => stream !== undefined).length
  return { rendition, width: video?.width ?? 0, height: video?.height ?? 0, codecs: isKnown ? codecs : [] }
}

type Streams = Pick<MediaProbe, 'video' | 'audio'>

/**
 * Plans the renditions of a live from its first piece, like those of an upload: every enabled resolution below the source's, and the
 * source's own unless the configuration wants none. That one is the stream as it was received, if all players can play it, and otherwise
 * encoded too. `isRemote`: remote runners encode, and that one too: their pieces do not fit beside those that were received.
 */
export function planLive({ video, audio }: Streams, settings: LiveSettings, { isRemote = false } = {}): LivePlan {
  const source = renditionOf({ video, audio }, 0)
  if (!settings.enabled || !video) return { source, isSourceShown: true, encoded: [] }

  const sound = audio ? soundCodecs(audio) : []
  const original = Math.min(video.width, video.height)
  const enabled = RESOLUTIONS.filter((resolution) => settings.resolutions[`${resolution}p`] && resolution <= original)
  const wantsOriginal = settings.always_transcode_original_resolution || enabled.length === 0 || enabled[0] === original
  const isSourceShown = wantsOriginal && !isRemote && source.codecs.length > 0 && isPlayable(video, settings.fps.max)
  const resolutions = enabled.filter((resolution) => resolution < original)
  if (wantsOriginal && !isSourceShown) resolutions.unshift(original)

  const encoded: EncodedRendition[] = []
  for (const resolution of resolutions) {
    const size = sizeFor(video, resolution + (resolution % 2))
    const { rate, variableRate: variable } = video
    const wanted = outputRate({ rate, variable, resolution, isOriginal: resolution === original, maxFps: settings.fps.max })
    const before = encoded.at(-1)?.picture?.everyNth ?? 1
    const everyNth = before * Math.max(1, Math.ceil(toNumber(rate) / toNumber(wanted) / before - 0.01))
    const fps = toNumber(rate) / everyNth
    const target = targetBitrate({ ...size, fps }, video.bitrate)
    const level = levelOf({ ...size, fps })
    encoded.push({
      rendition: encoded.length + 1,
      ...size,
      codecs: [`avc1.6400${level.toString(16)}`, ...sound],
      picture: { targetBitrate: target, fps: Math.round(fps), everyNth, keyFrameEvery: Math.ceil(fps * KEY_FRAME_SECONDS), level },
      bandwidth: Math.ceil((target + (audio ? SOUND_BITRATE : 0)) * OVERHEAD),
    })
  }
  if (audio && settings.resolutions['0p']) encoded.push(soundOnly(encoded.length + 1, sound))
  return { source, isSourceShown, encoded }
}

/** The plan if all renditions share one of sound only. */
export function withSoundApart(plan: LivePlan): LivePlan {
  const own = plan.encoded.find(({ width }) => width === 0)
  if (own) return { ...plan, sound: own.rendition }
  const sound = soundOnly(plan.encoded.length + 1, [])
  return { ...plan, encoded: [...plan.encoded, sound], sound: sound.rendition }
}

const soundOnly = (rendition: number, codecs: string[]): EncodedRendition => ({
  rendition,
  width: 0,
  height: 0,
  codecs,
  picture: undefined,
  bandwidth: Math.ceil(SOUND_BITRATE * OVERHEAD),
})

const isPlayable = (video: VideoProbe, maxFps: number): boolean =>
  video.codec === 'h264' &&
  video.pixelFormat === 'yuv420p' &&
  video.squarePixels &&
  video.fps <= maxFps &&
  (video.bitrate ?? 0) <= theoreticalBitrate({ ...video, fps: toNumber(video.rate) }, SHOWN_LEVEL)

/** `profile_idc` and the constraint flags of H.264 (A.2), by ffprobe's names of profiles. */
const PROFILES: Readonly<Record<string, string>> = { 'Constrained Baseline': '42c0', Baseline: '4200', Main: '4d00', High: '6400' }

function pictureCodecs({ codec, profile = '', level }: VideoProbe): string[] {
  const known = codec === 'h264' ? PROFILES[profile] : undefined
  return known === undefined || level === undefined ? [] : [`avc1.${known}${level.toString(16).padStart(2, '0')}`]
}

/** MPEG-4 audio object types, by ffprobe's names of profiles. */
const SOUND_PROFILES: Readonly<Record<string, number>> = { LC: 2, 'HE-AAC': 5, 'HE-AACv2': 29 }
const MP3_OBJECT = 34

function soundCodecs({ codec, profile = 'LC' }: AudioProbe): string[] {
  const object = codec === 'mp3' ? MP3_OBJECT : codec === 'aac' ? SOUND_PROFILES[profile] : undefined
  return object === undefined ? [] : [`mp4a.40.${object}`]
}

/** Macroblocks of a frame and of a second (H.264, table A-1), with the level times ten. */
const LEVELS = [
  { frame: 1620, second: 40_500, level: 30 },
  { frame: 3600, second: 108_000, level: 31 },
  { frame: 8192, second: 245_760, level: 40 },
  { frame: 8704, second: 522_240, level: 42 },
  { frame: 36_864, second: 983_040, level: 51 },
]
const HIGHEST_LEVEL = 52

function levelOf({ width, height, fps }: { width: number; height: number; fps: number }): number {
  const blocks = Math.ceil(width / 16) * Math.ceil(height / 16)
  return LEVELS.find(({ frame, second }) => blocks <= frame && blocks * fps <= second)?.level ?? HIGHEST_LEVEL
}

export interface EncodePieceOptions {
  ffmpeg: Ffmpeg
  /** A piece as it was received. */
  path: string
  sequence: number
  /** At least one. */
  renditions: readonly EncodedRendition[]
  /** Exists, and is the caller's own. */
  folder: string
  /** Configuration `live.transcoding.threads`; 0 means the number of cores. */
  threads: number
  limits: RunLimits
  niceness?: number
  signal?: AbortSignal | undefined
}

export interface EncodedPiece extends PieceFile {
  rendition: number
}

/**
 * Makes all renditions of one piece: one process decodes it once. Timestamps stay and the sound is not encoded, so that the results join
 * like the pieces themselves. Throws MediaError like `runFfmpeg`.
 */
export async function encodePiece(options: EncodePieceOptions): Promise<EncodedPiece[]> {
  const { ffmpeg, path, sequence, renditions, folder, limits, niceness, signal } = options
  const threads = options.threads === 0 ? availableParallelism() : options.threads
  const pictures = renditions.flatMap(({ picture, ...rendition }) => (picture ? [{ ...rendition, ...picture }] : []))
  const passOn = [ffmpeg.asFiltered[0] ?? '-vsync', 'passthrough', '-enc_time_base', '1:90000']
  const outputs = renditions.map(({ rendition, picture }) => {
    const index = pictures.findIndex((other) => other.rendition === rendition)
    const stream = picture
      ? [...['-map', `[v${index}]`, ...passOn, ...x264({ ...picture, threads: threadsOf(index, threads) })], ...asHigh(picture)]
      : ['-vn']
    return {
      target: join(folder, pieceName(rendition, sequence)),
      options: [...stream, '-map', '0:a:0?', '-c:a', 'copy', '-map_metadata', '-1', ...AS_TIMED, '-f', 'mpegts'],
    }
  })
  await runFfmpeg({
    ffmpeg,
    limits,
    niceness: niceness ?? 0,
    signal,
    duration: 0,
    spec: {
      inputs: [{ source: path, options: [...inputGuard(), '-copyts', '-threads', `${half(threads)}`] }],
      filter: pictures.length > 0 ? cascade(pictures) : undefined,
      threads,
      outputs,
    },
  })
  return await Promise.all(
    outputs.map(async ({ target }, index) => ({ rendition: renditions[index]?.rendition ?? 0, ...(await hashedFile(target)) })),
  )
}

const asHigh = ({ level }: { level: number }): string[] => ['-profile:v', 'high', '-level:v', `${level / 10}`]

/** ffmpeg would otherwise begin each file at the same time, and delay it. */
const AS_TIMED = ['-mpegts_copyts', '1', '-avoid_negative_ts', 'disabled', '-muxpreload', '0', '-muxdelay', '0']

/** Each picture is scaled from the next larger one. The aspect ratio stays, also if the publisher comes back with another one. */
function cascade(pictures: readonly { width: number; height: number; everyNth: number }[]): string {
  let from = '[0:v:0]'
  let before = 1
  return pictures
    .map(({ width, height, everyNth }, index) => {
      const step = everyNth / before
      before = everyNth
      const chain = [...(step > 1 ? [`framestep=${step}`] : []), `scale=${width}:${height}:flags=${SCALE_FLAGS}`, 'format=yuv420p']
      const isLast = index === pictures.length - 1
      const part = `${from}${chain.join(',')}${isLast ? `[v${index}]` : `,split=2[v${index}][n${index}]`}`
      from = `[n${index}]`
      return part
    })
    .join(';')
}

/** A file with its hash. */
export async function hashedFile(path: string): Promise<PieceFile> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return { path, bytes: (await stat(path)).size, sha256: hash.digest('hex') }
}
