// Builds the arguments of one ffmpeg process from a plan. Pure. Only options that ffmpeg 4.1 and newer both support.

import { inputGuard } from './guard.ts'
import { colourOptions, toStandardColours, upright } from './picture.ts'
import type { AudioPlan, LadderPlan, RenditionPlan, VideoPlan } from './plan.ts'
import { formatRate, type Rational, toNumber } from './rate.ts'
import type { CommandInput, CommandOutput, FfmpegCommandSpec } from './run.ts'

/** The files of a rendition inside a work folder. */
export interface RenditionFiles {
  /** The HLS media playlist and the fragmented MP4 that it describes by byte ranges. */
  playlist: string
  fragmented: string
  webVideo: string
}

export interface CommandOptions {
  plan: LadderPlan
  /** Renditions of one step (`stepsOf`). */
  renditions: readonly RenditionPlan[]
  input: string
  /** The picture under an audio file; black without one. */
  stillPath?: string | undefined
  /** Threads of a single encoder; divided among several. 0 leaves all counts to ffmpeg. */
  threads: number
  canToneMap: boolean
  /** Supported option of the installed ffmpeg (`Ffmpeg.asFiltered`). */
  asFiltered: readonly string[]
  filesOf: (rendition: RenditionPlan) => RenditionFiles
}

/** Seconds of a segment (limits.json, transcoding.hls); the distance of key frames divides it. */
const SEGMENT_SECONDS = 4
const KEY_FRAME_SECONDS = 2
const X264 = ['-preset', 'veryfast', '-bf', '16', '-b_strategy', '1']
export const SCALE_FLAGS = 'bicubic'
/** Seconds. */
const SHORTEST_STILL = 0.04
/** The guard of media files allows no images; this one is a JPEG made by this server. */
const STILL_GUARD = ['-protocol_whitelist', 'file', '-codec_whitelist', 'mjpeg']
const STILL_IMAGE = [...STILL_GUARD, '-f', 'image2', '-pattern_type', 'none', '-loop', '1']
export const WEB_MP4 = ['-max_muxing_queue_size', '4096', '-movflags', '+faststart', '-f', 'mp4']
export const NO_METADATA = ['-map_metadata', '-1', '-map_metadata:s', '-1', '-map_chapters', '-1', '-sn', '-dn']

/** Remuxes the source's own picture for HLS and web video at once, with the sound if that is separate. */
export function copyCommand({ plan, renditions, input, threads, filesOf }: CommandOptions): FfmpegCommandSpec {
  const sound = soundOptions(plan)
  const outputs = renditions.flatMap((rendition) => {
    const picture = rendition.video ? ['-map', `0:${plan.source.videoIndex}`, '-c:v', 'copy'] : ['-vn']
    const files = filesOf(rendition)
    const isApart = rendition.video !== undefined && plan.splitAudio
    return [
      ...(plan.outputs.hls ? [hlsOutput(files, [...picture, ...(isApart ? ['-an'] : sound)])] : []),
      ...(plan.outputs.webVideos ? [mp4Output(files.webVideo, [...picture, ...sound])] : []),
    ]
  })
  return { inputs: [{ source: input, options: inputGuard() }], filter: undefined, threads, outputs }
}

/**
 * One process that decodes once and encodes all renditions of the step, each scaled from the next larger one. The filters make their rate
 * constant: otherwise ffmpeg 4 would repeat the picture before a long pause for its whole length.
 */
export function encodeCommand(options: CommandOptions): FfmpegCommandSpec {
  const { plan, renditions, threads, filesOf, asFiltered } = options
  const pictures = renditions.flatMap(({ video }) => (video ? [video] : []))
  const colours = plan.source.looks ? colourOptions(plan.source.looks) : []
  const outputs = renditions.map((rendition) => {
    const index = rendition.video ? pictures.indexOf(rendition.video) : -1
    const picture = rendition.video
      ? ['-map', `[v${index}]`, ...asFiltered, ...x264Options(rendition.video, threadsOf(index, threads)), ...colours]
      : ['-vn']
    const hasSound = rendition.video === undefined || !plan.splitAudio
    const streams = [...picture, ...(hasSound ? soundOptions(plan) : ['-an'])]
    const files = filesOf(rendition)
    return plan.outputs.hls ? hlsOutput(files, streams) : mp4Output(files.webVideo, streams)
  })
  return {
    inputs: encodeInputs(options),
    filter: pictures.length > 0 ? cascade(options, pictures) : undefined,
    threads,
    outputs,
  }
}

/**
 * Web videos next to HLS are remuxes of the same streams: one process copies all of them. With split sound they take it from the rendition
 * that has it, or from the source if an earlier step made that one and passed it on.
 */
export function packageCommand({ plan, renditions, input, threads, filesOf }: CommandOptions): FfmpegCommandSpec | undefined {
  if (!plan.outputs.hls || !plan.outputs.webVideos) return undefined
  const inputs = renditions.map((rendition) => ({ source: filesOf(rendition).fragmented, options: inputGuard() }))
  const soundIndex = renditions.findIndex(({ video }) => video === undefined)
  const fromSource = plan.splitAudio && soundIndex < 0
  const outputs = renditions.map((rendition, index) => {
    const own = ['-map', `${index}`, '-c', 'copy']
    const isApart = plan.splitAudio && rendition.video !== undefined
    const sound = fromSource ? soundOptions(plan, renditions.length) : ['-map', `${soundIndex}`]
    return mp4Output(filesOf(rendition).webVideo, [...own, ...(isApart ? sound : [])])
  })
  return {
    inputs: fromSource ? [...inputs, { source: input, options: inputGuard() }] : inputs,
    filter: undefined,
    threads,
    outputs,
  }
}

function encodeInputs({ plan, renditions, input, stillPath, threads }: CommandOptions): CommandInput[] {
  const turning = plan.source.looks ? upright(plan.source.looks).options : []
  // With several encoders half of the cores suffice; one small encoder would wait for the decoder.
  const decoding = renditions.filter(({ video }) => video).length > 1 ? half(threads) : threads
  const source = { source: input, options: [...inputGuard(), '-threads', `${decoding}`, ...turning] }
  if (plan.source.picture === 'video') return [source]
  const { width, height } = plan.source
  const rate = formatRate(plan.encoded.find(({ video }) => video)?.video?.rate ?? { num: 25, den: 1 })
  // A length of 0 means no limit: the still would never end.
  const length = ['-t', Math.max(plan.duration, SHORTEST_STILL).toFixed(3)]
  const still = stillPath
    ? { source: stillPath, options: [...STILL_IMAGE, '-framerate', rate] }
    : { source: `color=c=black:s=${width}x${height}:r=${rate}`, options: ['-f', 'lavfi'] }
  return [source, { source: still.source, options: [...still.options, ...length] }]
}

/** `[source] → rate → size 0 ⟶ [v0]`, and from size 0 → size 1 ⟶ [v1], and so on. */
function cascade({ plan, canToneMap, stillPath }: CommandOptions, pictures: VideoPlan[]): string {
  const { source } = plan
  const start = source.picture === 'video' ? `[0:${source.videoIndex}]` : '[1:v:0]'
  const parts: string[] = []
  let from = start
  let rate: Rational | undefined
  pictures.forEach((picture, index) => {
    const chain: string[] = []
    const isFirst = index === 0
    if (isFirst && source.interlaced) chain.push('yadif=deint=interlaced')
    if (!rate || toNumber(rate) !== toNumber(picture.rate)) {
      // From the start of the file: a picture that begins later stands still until then.
      chain.push(`fps=fps=${formatRate(picture.rate)}${isFirst ? ':start_time=0' : ''}`)
    }
    rate = picture.rate
    if (isFirst && source.frozenUntil !== undefined) {
      chain.push(`tpad=stop=-1:stop_mode=clone,trim=end=${source.frozenUntil.toFixed(3)}`)
    }
    const isSourceSize = source.width === picture.width && source.height === picture.height
    const fits = isFirst && source.squarePixels && isSourceSize && stillPath === undefined
    if (isFirst && source.looks) chain.push(...upright(source.looks).filters)
    if (!fits) chain.push(`scale=${picture.width}:${picture.height}:flags=${SCALE_FLAGS}`)
    chain.push('setsar=1')
    if (isFirst && source.looks) chain.push(...toStandardColours(source.looks, canToneMap))
    if (isFirst) chain.push('format=yuv420p')
    const isLast = index === pictures.length - 1
    parts.push(`${from}${chain.join(',')}${isLast ? `[v${index}]` : `,split=2[v${index}][n${index}]`}`)
    from = `[n${index}]`
  })
  return parts.join(';')
}

/** Constant quality with a ceiling; key frames at the same times in all renditions. */
export function x264Options({ rate, encode }: Pick<VideoPlan, 'rate' | 'encode'>, threads: number): string[] {
  const keyFrameEvery = Math.ceil(toNumber(rate) * KEY_FRAME_SECONDS)
  return [
    ...x264({ targetBitrate: encode?.targetBitrate ?? 0, keyFrameEvery, threads }),
    ...['-force_key_frames', `expr:gte(t,n_forced*${KEY_FRAME_SECONDS})`],
  ]
}

/** The encoder of uploads and lives. `targetBitrate` is in bits per second, `keyFrameEvery` the most frames from one key frame to the next. */
export function x264(options: { targetBitrate: number; keyFrameEvery: number; threads: number }): string[] {
  const { targetBitrate, keyFrameEvery, threads } = options
  return [
    '-c:v',
    'libx264',
    ...X264,
    '-pix_fmt',
    'yuv420p',
    '-maxrate:v',
    `${targetBitrate}`,
    '-bufsize:v',
    `${targetBitrate * 2}`,
    '-g',
    `${keyFrameEvery}`,
    '-sc_threshold',
    '0',
    '-threads:v',
    `${threads}`,
  ]
}

/**
 * The largest rendition uses most cores and must never delay the others; the smaller ones fill the gaps. With x264's own choice for each of
 * six encoders, a tenth of the time went into context switches (bench/ladder.ts).
 */
export function threadsOf(index: number, threads: number): number {
  const shares = [2, 1.5, 1]
  return Math.ceil(threads * (shares[index] ?? 0.5))
}

export const half = (threads: number): number => Math.ceil(threads / 2)

/** Inserts silence where there is no sound at the start, or for long in between. */
const FROM_THE_START = 'aresample=async=1:first_pts=0'

function soundOptions({ audio, source }: LadderPlan, input = 0): string[] {
  return audio ? ['-map', `${input}:${source.audioIndex}`, ...codecOptions(audio)] : ['-an']
}

function codecOptions(audio: AudioPlan): string[] {
  // AAC from a transport stream has its configuration in every frame; MP4 wants it once. Others pass unchanged.
  if (audio.mode === 'copy') return ['-c:a', 'copy', '-bsf:a', 'aac_adtstoasc']
  const rate = audio.sampleRate === undefined ? [] : ['-ar', `${audio.sampleRate}`]
  return ['-af', [...audio.filters, FROM_THE_START].join(','), '-c:a', 'aac', '-b:a', `${audio.bitrate}`, '-ac', '2', ...rate]
}

function hlsOutput({ playlist, fragmented }: RenditionFiles, streams: string[]): CommandOutput {
  const options = [
    ...streams,
    ...NO_METADATA,
    '-max_muxing_queue_size',
    '4096',
    // Otherwise each file would be shifted by its encoder's own delay, and separate sound would drift from the picture.
    ...['-avoid_negative_ts', 'disabled'],
    '-f',
    'hls',
    '-hls_time',
    `${SEGMENT_SECONDS}`,
    '-hls_list_size',
    '0',
    '-hls_playlist_type',
    'vod',
    '-hls_segment_type',
    'fmp4',
    '-hls_flags',
    'single_file',
    '-hls_segment_filename',
    fragmented,
  ]
  return { target: playlist, options }
}

function mp4Output(target: string, streams: string[]): CommandOutput {
  return { target, options: [...streams, ...NO_METADATA, ...WEB_MP4] }
}
