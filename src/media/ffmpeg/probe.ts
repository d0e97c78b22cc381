// Probes an uploaded file: ffprobe behind the guard, its output validated and converted to plain facts.

import { z } from 'zod'
import { MediaError, systemCode } from '../errors.ts'
import { type ProcessEnd, runProcess } from '../process.ts'
import type { Ffmpeg } from './find.ts'
import { inputGuard, isAllowedCodec } from './guard.ts'
import { longestDuration, tooLong } from './longest-duration.ts'
import { measureDuration } from './measure.ts'
import type { AudioProbe, Colours, MediaProbe, VideoProbe } from './media-probe.ts'
import { type Ffprobe, type FfprobeStream, ffprobeSchema, toMetadata } from './metadata.ts'
import { type Rational, snapRate, toNumber } from './rate.ts'
import { sniff } from './sniff.ts'
import type { RunFfprobe } from './warm-ffprobe.ts'

export interface ProbeOptions {
  ffmpeg: Ffmpeg
  path: string
  /** Milliseconds until ffprobe is killed. */
  timeoutMs?: number
  signal?: AbortSignal | undefined
  /** Replaces the default of a new process. */
  runFfprobe?: RunFfprobe | undefined
}

/** px on one side: beyond it decoders need gigabytes per frame. */
const MAX_SIDE = 16_384
const MAX_PIXELS = 8192 * 8192
const MAX_OUTPUT_BYTES = 8 << 20
/** Bytes: far more than ffprobe needs for a usable file. */
const MAX_MEMORY_BYTES = 2 * 2 ** 30
const RECKONED = new Set(['mp3', 'aac', 'ac3', 'eac3', 'dts', 'amr', 'mpeg', 'mpegvideo', 'm4v'])
/** Seconds. */
const MEASURED_TO = 0.5
const DEFAULT_TIMEOUT_MS = 30_000
/** The first packet of the picture is among this many. */
const FIRST_PACKETS = 100

/**
 * Probes a media file. Throws MediaError: `empty`, `playlist`, `truncated`, `not-media`, `unreadable`, `no-streams`, `unsupported-codec`,
 * `too-large`, `too-long`, or `time-out`, `stalled`, `memory`, `failed` and `aborted`. Files with only sound or only a picture are valid.
 */
export async function probe(options: ProbeOptions): Promise<MediaProbe> {
  const { size, isIsoMedia, isCut, isFragmented, keyFrameEvery } = await sniff(options.path, options)
  const output = await askFfprobe(options, isIsoMedia)
  const { format, streams, chapters, packets } = parse(output)
  const video = streams.find((stream) => stream.codec_type === 'video' && !isCover(stream))
  const audio = streams.find((stream) => stream.codec_type === 'audio')
  if (!video && !audio) throw new MediaError('no-streams', 'The file has neither a picture nor sound.')
  for (const stream of [video, audio]) {
    if (stream && !isAllowedCodec(stream.codec_name ?? '')) {
      throw new MediaError('unsupported-codec', `The codec ${stream.codec_name ?? 'of the file'} is not supported.`)
    }
  }
  const picture = video && toVideo(video, { format, packets })
  const sound = audio && toAudio(audio, format)
  const bitrate = positive(format.bit_rate)
  const stated = positive(format.duration) ?? Math.max(0, ...streams.map((stream) => positive(stream.duration) ?? 0))
  const index = video?.index ?? audio?.index ?? 0
  const isTrusted = stated > 0 && !isEstimate(format)
  const duration = isTrusted ? stated : await correctDuration(options, index, stated)
  if (duration > longestDuration(size)) throw tooLong()
  if (!video && duration === 0) throw new MediaError('empty', 'The sound of the file has no length.')
  return {
    size,
    duration,
    startTime: Number(format.start_time) || 0,
    format: format.format_name ?? '',
    bitrate,
    video: picture,
    audio: sound,
    isCut,
    isFragmented,
    keyFrameEvery,
    coverIndex: streams.find(isCover)?.index,
    metadata: toMetadata({ format, streams, chapters }),
  }
}

async function askFfprobe(options: ProbeOptions, isIsoMedia: boolean): Promise<string> {
  const { ffmpeg, path: input, timeoutMs, signal, runFfprobe = (run) => runProcess(run) } = options
  const shown = ['-show_format', '-show_streams', '-show_chapters', '-show_entries', 'packet=stream_index,flags']
  const args = ['-v', 'error', ...inputGuard(), '-of', 'json', ...shown, '-read_intervals', `%+#${FIRST_PACKETS}`, input]
  const end = await runFfprobe({
    path: ffmpeg.ffprobePath,
    args,
    signal,
    limits: {
      timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      maxMemoryBytes: MAX_MEMORY_BYTES,
    },
    // Static builds of ffprobe crash in the C library's character converters while they read the service names of a transport
    // stream; without converters to load they leave the names as they are.
    env: { ...process.env, GCONV_PATH: '/nonexistent' },
  }).catch((error: unknown) => {
    if (systemCode(error) === undefined) throw error
    throw new MediaError('ffmpeg-missing', 'ffprobe cannot be run.', { cause: error })
  })
  if (end.killedFor === undefined && end.code === 0) return end.stdout
  throw refusalOf(end, isIsoMedia)
}

function refusalOf({ killedFor, endedBy, stderr }: ProcessEnd, isIsoMedia: boolean): MediaError {
  const detail = stderr.slice(-2000)
  switch (killedFor) {
    case 'aborted':
      return new MediaError('aborted', 'Reading the file was cancelled.')
    case 'output':
      return new MediaError('unreadable', 'The file describes itself at too great a length.', { detail })
    case 'memory':
      return new MediaError('memory', 'Reading the file needs more memory than allowed.', { detail })
    case undefined:
      break
    default:
      return new MediaError('time-out', 'Reading the file took too long.', { detail })
  }
  // From outside, for example by the kernel when memory is short. A file can only make it crash.
  if (endedBy === 'SIGKILL' || endedBy === 'SIGTERM') return new MediaError('failed', `ffprobe was ended by ${endedBy}.`, { detail })
  if (/Codec \(\w+\) not on whitelist/.test(stderr)) {
    return new MediaError('unsupported-codec', 'A codec of the file is not supported.', { detail })
  }
  if (/Format not on whitelist|Invalid data found/.test(stderr) && !isIsoMedia) {
    return new MediaError('not-media', 'The file is not a video or sound file.', { detail })
  }
  return new MediaError('unreadable', 'The file cannot be read.', { detail })
}

function parse(output: string) {
  let json: unknown
  try {
    json = JSON.parse(output)
  } catch (error) {
    throw new MediaError('unreadable', 'The file cannot be read.', { cause: error })
  }
  const parsed = ffprobeSchema.safeParse(json)
  if (!parsed.success) {
    throw new MediaError('unreadable', 'The file cannot be read.', { detail: z.prettifyError(parsed.error) })
  }
  return parsed.data
}

/** Packets contain their start; if that agrees with the stated duration, that is exact to the end of the last one. */
async function correctDuration({ timeoutMs, ...file }: ProbeOptions, index: number, stated: number): Promise<number> {
  const limits = { stallMs: timeoutMs ?? DEFAULT_TIMEOUT_MS, maxMemoryBytes: MAX_MEMORY_BYTES }
  const measured = await measureDuration({ ...file, ...limits, index })
  return measured > 0 && Math.abs(measured - stated) > MEASURED_TO ? measured : stated
}

/** Formats whose duration ffprobe estimates from the bit rate, and Matroska files that do not count from their start. */
function isEstimate({ format_name: name = '', start_time: start }: Ffprobe['format']): boolean {
  return RECKONED.has(name) || (name.startsWith('matroska') && Number(start ?? 0) > 1)
}

function toVideo(stream: FfprobeStream, { format, packets }: Pick<Ffprobe, 'format' | 'packets'>): VideoProbe {
  const codedWidth = stream.width ?? 0
  const codedHeight = stream.height ?? 0
  if (codedWidth === 0 || codedHeight === 0 || stream.pix_fmt === undefined) {
    throw new MediaError('unreadable', 'The picture of the file cannot be read.')
  }
  const aspect = sampleAspect(stream.sample_aspect_ratio)
  const [width, height] = [Math.max(1, Math.round(codedWidth * aspect)), codedHeight]
  if (Math.max(codedWidth, codedHeight, width) > MAX_SIDE || codedWidth * codedHeight > MAX_PIXELS) {
    throw new MediaError('too-large', `A picture of ${codedWidth} × ${codedHeight} px is too large.`)
  }
  const { rotation, byTag } = rotationOf(stream)
  const sideways = rotation === 90 || rotation === 270
  const { rate, variable } = rateOf(stream)
  const first = packets.find(({ stream_index: index }) => index === stream.index)
  return {
    index: stream.index,
    codec: stream.codec_name ?? '',
    profile: stream.profile,
    level: stream.level,
    pixelFormat: stream.pix_fmt,
    codedWidth,
    codedHeight,
    width: sideways ? height : width,
    height: sideways ? width : height,
    rotation,
    rotatedByTag: byTag,
    squarePixels: aspect === 1,
    rate,
    fps: toNumber(rate) < 1 ? toNumber(rate) : Math.round(toNumber(rate)),
    variableRate: variable,
    interlaced: stream.field_order !== undefined && !['progressive', 'unknown'].includes(stream.field_order),
    hdr: stream.color_transfer === 'smpte2084' || stream.color_transfer === 'arib-std-b67',
    colours: coloursOf(stream),
    bitrate: positive(stream.bit_rate) ?? positive(format.bit_rate),
    startsAt: startOf(stream, format),
    endsAt: endOf(stream, format),
    startsWhole: first?.flags === undefined || first.flags.startsWith('K'),
  }
}

function toAudio(stream: FfprobeStream, format: Ffprobe['format']): AudioProbe {
  if (stream.sample_rate === undefined || positive(stream.sample_rate) === undefined) {
    throw new MediaError('unreadable', 'The sound of the file cannot be read.')
  }
  return {
    index: stream.index,
    codec: stream.codec_name ?? '',
    profile: stream.profile,
    channels: stream.channels ?? 0,
    sampleRate: Number(stream.sample_rate),
    layout: stream.channel_layout === 'unknown' ? undefined : stream.channel_layout,
    bitrate: positive(stream.bit_rate),
    startsAt: startOf(stream, format),
    endsAt: endOf(stream, format),
  }
}

function startOf(stream: FfprobeStream, format: Ffprobe['format']): number {
  const seconds = Number(stream.start_time) - Number(format.start_time)
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0
}

/** Matroska stores the end of a track in a tag. */
function endOf(stream: FfprobeStream, format: Ffprobe['format']): number | undefined {
  const length = positive(stream.duration)
  if (length !== undefined) return startOf(stream, format) + length
  const [, hours, minutes, seconds] = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(stream.tags?.DURATION ?? '') ?? []
  return seconds === undefined ? undefined : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}

const isCover = (stream: FfprobeStream): boolean => stream.codec_type === 'video' && stream.disposition?.attached_pic === 1

/** Newer ffprobe reports a display matrix (counter-clockwise), older ones a tag (clockwise), which Matroska writes in capitals. */
function rotationOf(stream: FfprobeStream): { rotation: number; byTag: boolean } {
  const matrix = stream.side_data_list?.find((data) => typeof data.rotation === 'number')?.rotation
  const tag = Object.entries(stream.tags ?? {}).find(([name]) => name.toLowerCase() === 'rotate')?.[1]
  const clockwise = matrix === undefined ? Number(tag ?? 0) : -matrix
  const quarters = Number.isFinite(clockwise) ? Math.round(clockwise / 90) : 0
  const rotation = (((quarters % 4) + 4) % 4) * 90
  return { rotation, byTag: matrix === undefined && rotation !== 0 }
}

function coloursOf(stream: FfprobeStream): Colours {
  const known = (name: string | undefined) => (name === 'unknown' || name === 'reserved' ? undefined : name)
  return {
    matrix: known(stream.color_space),
    primaries: known(stream.color_primaries),
    transfer: known(stream.color_transfer),
  }
}

function sampleAspect(text: string | undefined): number {
  const [x, y] = (text ?? '1:1').split(':').map(Number)
  return x && y && x / y > 0.01 && x / y < 100 ? x / y : 1
}

function rateOf(stream: FfprobeStream): { rate: Rational; variable: boolean } {
  const average = toRational(stream.avg_frame_rate)
  const nominal = toRational(stream.r_frame_rate)
  const chosen = average ?? nominal
  if (!chosen) return { rate: { num: 25, den: 1 }, variable: true }
  const variable = nominal !== undefined && Math.abs(toNumber(chosen) / toNumber(nominal) - 1) > 0.01
  return { rate: snapRate(chosen), variable }
}

function toRational(text: string | undefined): Rational | undefined {
  const [num, den] = (text ?? '').split('/').map(Number)
  return num && den && num > 0 && den > 0 ? { num, den } : undefined
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text)
  return Number.isFinite(value) && value > 0 ? value : undefined
}
