// Plans the ladder of a video: the renditions, their size, rate and bit rate, and what can be copied. Pure.

import { audioBitrate, isAudioBitrateKept, targetBitrate, theoreticalBitrate } from './bitrate.ts'
import { mixable } from './channels.ts'
import type { AudioProbe, MediaProbe, VideoProbe } from './media-probe.ts'
import { outputRate } from './output-rate.ts'
import { isWide, type Looks } from './picture.ts'
import { type Rational, toNumber } from './rate.ts'

/** The part of the configuration's `transcoding` section that the ladder depends on. */
export interface LadderSettings {
  always_transcode_original_resolution: boolean
  /** `0p` (sound only), `144p` ... `2160p`. */
  resolutions: Readonly<Record<string, boolean>>
  fps: { max: number }
  hls: { enabled: boolean; split_audio_and_video: boolean }
  web_videos: { enabled: boolean }
}

export type AudioPlan =
  | { mode: 'copy' }
  /** `filters` come before all others. */
  | { mode: 'encode'; bitrate: number; sampleRate: number | undefined; filters: readonly string[] }

export interface VideoPlan {
  /** px, even. */
  width: number
  height: number
  rate: Rational
  /** Undefined if the picture is copied. */
  encode: { targetBitrate: number } | undefined
}

export interface RenditionPlan {
  /** The short side in px, 0 for sound only: PeerTube's id of a resolution. */
  resolution: number
  /** Frames per second, rounded as shown to clients; 0 for sound only. */
  fps: number
  video: VideoPlan | undefined
}

export interface LadderPlan {
  /** Seconds. */
  duration: number
  source: {
    /** Source of the picture; `still` is an image (or black) under an audio file. */
    picture: 'video' | 'still'
    videoIndex: number | undefined
    audioIndex: number | undefined
    /** Rotation and colours of its frames; undefined for a still. */
    looks: Looks | undefined
    interlaced: boolean
    /** Seconds until which the last frame is shown, if the sound is longer than the picture. */
    frozenUntil: number | undefined
    /** True if the decoded frames already have the top rendition's size and shape. */
    width: number
    height: number
    squarePixels: boolean
  }
  outputs: { hls: boolean; webVideos: boolean }
  /** True if HLS has its sound in a separate rendition and none in the others. */
  splitAudio: boolean
  audio: AudioPlan | undefined
  /** Remuxed first, if the source's codecs fit: playable within seconds. */
  copied: RenditionPlan | undefined
  /** Made by one process that decodes once, highest first. Sound only is the last. */
  encoded: RenditionPlan[]
  /** The resolution among them that is made first, so that there is something to play. */
  quick: number | undefined
}

/** `copy` and `quick` are short; there is at most one of them. */
export type LadderStep = 'copy' | 'quick' | 'encode'

/** The steps in order. Separate sound is made with the first picture, which would be silent otherwise. */
export function stepsOf(plan: LadderPlan): { step: LadderStep; renditions: RenditionPlan[] }[] {
  const first = plan.copied ?? plan.encoded.find(({ resolution }) => resolution === plan.quick)
  const sound = plan.splitAudio ? plan.encoded.filter(({ video }) => !video) : []
  const early = first ? [first, ...sound] : []
  const rest = plan.encoded.filter((rendition) => !early.includes(rendition))
  return [
    { step: plan.copied ? ('copy' as const) : ('quick' as const), renditions: early },
    { step: 'encode' as const, renditions: rest },
  ].filter(({ renditions }) => renditions.length > 0)
}

/**
 * Describes the renditions, steps and file kinds: renditions of two plans are compatible if it is the same. Resolutions alone would not
 * distinguish a picture with sound from one without.
 */
export function outlineOf(plan: LadderPlan): string {
  const steps = stepsOf(plan).map(({ step, renditions }) => {
    return `${step} ${renditions.map(({ resolution }) => resolution).join(',')}`
  })
  const { hls, webVideos } = plan.outputs
  return [...steps, ...(hls ? ['hls'] : []), ...(webVideos ? ['web'] : []), ...(plan.splitAudio ? ['split'] : [])].join('; ')
}

export interface PlanLadderOptions {
  probe: MediaProbe
  settings: LadderSettings
  /** px of the picture under an audio file. */
  still?: { width: number; height: number } | undefined
  /** True if the video may be watched before all renditions exist. */
  early?: boolean
}

/** `order` as limits.json, transcoding.jobOrder; `share` of all pixels. All of 20 s of 1080p are some 2,300 million. */
const QUICK = { fromPixels: 2e9, share: 0.25, order: [480, 360, 720, 240, 144, 1080, 1440, 2160] }
export const RESOLUTIONS = [2160, 1440, 1080, 720, 480, 360, 240, 144]
const AUDIO_UPLOAD = { resolution: 480, rate: { num: 25, den: 1 } }
const DEFAULT_STILL = { width: 850, height: 480 }
const QUICK_COPY = { codec: 'h264', pixelFormat: 'yuv420p', minFps: 2, audioCodec: 'aac' }
/** Seconds by which a copied stream may begin late: players of HLS ignore the pause of a copy. */
const LATEST_START = 0.1
/** Seconds of sound after the end of the picture, which players of HLS would skip. */
const LONGEST_REST = 0.5
/** Seconds. A segment of a copy ends at a key frame, and players fetch whole segments. */
const RAREST_KEY_FRAMES = 20
/** Formats with reliable frame times, by FFmpeg's first name of them. */
const COPYABLE_FORMATS = ['mov', 'matroska', 'flv', 'mpegts']
const MAX_SAMPLE_RATE = 48_000

/**
 * Plans the renditions of a probed file by the contract (limits.json, transcoding): every enabled resolution not above the input's, and the
 * input's own. Throws MediaError `frame-rate` if the picture is too slow.
 */
export function planLadder({ probe, settings, still, early = false }: PlanLadderOptions): LadderPlan {
  const picture = probe.video ?? stillPicture(still)
  const hasAudio = probe.audio !== undefined
  const outputs = { hls: settings.hls.enabled, webVideos: settings.web_videos.enabled }
  const splitAudio = outputs.hls && settings.hls.split_audio_and_video && hasAudio
  const original = toEven(Math.min(picture.width, picture.height))
  const enabled = RESOLUTIONS.filter((resolution) => settings.resolutions[`${resolution}p`] && resolution <= original)
  const top = settings.always_transcode_original_resolution ? original : (enabled[0] ?? original)
  const resolutions = [top, ...enabled.filter((resolution) => resolution < top)]

  const renditions = resolutions.map((resolution): RenditionPlan => {
    const isOriginal = resolution === original
    const { rate, variableRate } = picture
    const output = outputRate({ rate, variable: variableRate, resolution, isOriginal, maxFps: settings.fps.max })
    const size = sizeFor(picture, resolution)
    const fps = toNumber(output)
    const target = targetBitrate({ ...size, fps }, picture.bitrate)
    return { resolution, fps: shownFps(output), video: { ...size, rate: output, encode: { targetBitrate: target } } }
  })

  const isCopied = top === original && canCopyVideo(probe, settings) && canCopyAudioCodec(probe.audio)
  const copied = isCopied && probe.video ? copyOf(renditions[0], probe.video) : undefined
  const encoded = copied ? renditions.slice(1) : renditions
  if (hasAudio && (settings.resolutions['0p'] || splitAudio)) {
    encoded.push({ resolution: 0, fps: 0, video: undefined })
  }
  return {
    duration: probe.duration,
    source: {
      picture: probe.video ? 'video' : 'still',
      videoIndex: probe.video?.index,
      audioIndex: probe.audio?.index,
      looks: probe.video,
      interlaced: probe.video?.interlaced ?? false,
      frozenUntil: frozenUntil(probe),
      width: picture.width,
      height: picture.height,
      squarePixels: probe.video?.squarePixels ?? true,
    },
    outputs,
    splitAudio,
    audio: planAudio(probe),
    copied,
    encoded,
    quick: early && !copied && probe.video ? quickOf(encoded, probe.duration) : undefined,
  }
}

/**
 * The first of the contract's order that is a small part of the whole work. It costs an additional decoding of the source, which is not
 * worth it for short videos.
 */
function quickOf(encoded: readonly RenditionPlan[], duration: number): number | undefined {
  const works = encoded.map(({ video }) => (video ? video.width * video.height * toNumber(video.rate) : 0))
  const all = works.reduce((sum, work) => sum + work, 0)
  if (all * duration < QUICK.fromPixels) return undefined
  const isSmall = (at: number): boolean => (works[at] ?? 0) <= all * QUICK.share
  return QUICK.order.find((wanted) => encoded.some(({ resolution }, at) => resolution === wanted && isSmall(at)))
}

type Picture = Pick<VideoProbe, 'width' | 'height' | 'rate' | 'variableRate' | 'bitrate'>

/** A still under an audio file is shown in 480p at 25 frames per second, whatever its own size. */
function stillPicture(still: { width: number; height: number } | undefined): Picture {
  const size = sizeFor(still ?? DEFAULT_STILL, AUDIO_UPLOAD.resolution)
  return { ...size, rate: AUDIO_UPLOAD.rate, variableRate: false, bitrate: undefined }
}

/** The even size with that short side and the picture's aspect ratio. */
export function sizeFor({ width, height }: { width: number; height: number }, resolution: number) {
  const long = nearestEven((resolution * Math.max(width, height)) / Math.min(width, height))
  return height > width ? { width: resolution, height: long } : { width: long, height: resolution }
}

const toEven = (value: number): number => value + (value % 2)
const nearestEven = (value: number): number => Math.max(2, Math.round(value / 2) * 2)
const shownFps = (rate: Rational): number => Math.round(toNumber(rate))

/** Pixels must already be as players show them, since a copy cannot rotate or scale them. */
function canCopyVideo(probe: MediaProbe, settings: LadderSettings): boolean {
  const { video, isCut, format, keyFrameEvery = 0 } = probe
  if (!video) return false
  const fps = toNumber(video.rate)
  return (
    video.codec === QUICK_COPY.codec &&
    video.pixelFormat === QUICK_COPY.pixelFormat &&
    video.rotation === 0 &&
    video.squarePixels &&
    !video.interlaced &&
    !isCut &&
    keyFrameEvery <= RAREST_KEY_FRAMES &&
    COPYABLE_FORMATS.includes(format.split(',', 1)[0] ?? '') &&
    video.startsAt <= LATEST_START &&
    video.startsWhole &&
    frozenUntil(probe) === undefined &&
    !isWide(video) &&
    fps >= QUICK_COPY.minFps &&
    video.fps <= settings.fps.max &&
    video.bitrate !== undefined &&
    video.bitrate <= theoreticalBitrate({ width: video.width, height: video.height, fps }, 'max')
  )
}

function frozenUntil({ video, audio, duration }: MediaProbe): number | undefined {
  if (video?.endsAt === undefined || audio?.endsAt === undefined) return undefined
  return audio.endsAt - video.endsAt > LONGEST_REST ? Math.max(duration, audio.endsAt) : undefined
}

const canCopyAudioCodec = (audio: AudioProbe | undefined): boolean =>
  audio === undefined || (audio.codec === QUICK_COPY.audioCodec && isAudioBitrateKept(audio.bitrate))

function copyOf(rendition: RenditionPlan | undefined, video: VideoProbe): RenditionPlan | undefined {
  if (!rendition) return undefined
  const { width, height, rate } = video
  return { resolution: rendition.resolution, fps: shownFps(rate), video: { width, height, rate, encode: undefined } }
}

/** Stereo or mono AAC-LC stays as it is; everything else becomes stereo AAC. */
function planAudio({ audio, isCut }: MediaProbe): AudioPlan | undefined {
  if (!audio) return undefined
  const isPlain = audio.profile === undefined || audio.profile === 'LC'
  const isStereo = audio.channels > 0 && audio.channels <= 2
  const isWhole = !isCut && audio.startsAt <= LATEST_START
  if (canCopyAudioCodec(audio) && isPlain && isStereo && isWhole) return { mode: 'copy' }
  const sampleRate = audio.sampleRate > MAX_SAMPLE_RATE ? MAX_SAMPLE_RATE : undefined
  return { mode: 'encode', bitrate: audioBitrate(audio.bitrate), sampleRate, filters: mixable(audio) }
}
