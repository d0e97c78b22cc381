// The ladder of a video: which renditions to make, of what size, rate and bit rate, and what can be copied. Pure.

import { audioBitrate, isAudioBitrateKept, targetBitrate, theoreticalBitrate } from './bitrate.ts'
import { outputRate } from './output-rate.ts'
import { isWide, type Looks } from './picture.ts'
import type { AudioProbe, MediaProbe, VideoProbe } from './probe.ts'
import { type Rational, toNumber } from './rate.ts'

/** The part of the configuration's `transcoding` section that decides a ladder. */
export interface LadderSettings {
  always_transcode_original_resolution: boolean
  /** `0p` (sound only), `144p` ... `2160p`. */
  resolutions: Readonly<Record<string, boolean>>
  fps: { max: number }
  hls: { enabled: boolean; split_audio_and_video: boolean }
  web_videos: { enabled: boolean }
}

export type AudioPlan = { mode: 'copy' } | { mode: 'encode'; bitrate: number; sampleRate: number | undefined }

export interface VideoPlan {
  /** px, even. */
  width: number
  height: number
  rate: Rational
  /** Undefined when the picture is copied. */
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
    /** What the picture is made of; `still` is an image (or black) under an audio file. */
    picture: 'video' | 'still'
    videoIndex: number | undefined
    audioIndex: number | undefined
    /** How its frames are turned and coloured; undefined for a still. */
    looks: Looks | undefined
    interlaced: boolean
    /** True when the decoded frames already have the top rendition's size and shape. */
    width: number
    height: number
    squarePixels: boolean
  }
  outputs: { hls: boolean; webVideos: boolean }
  /** True when HLS has its sound in a rendition of its own and none in the others. */
  splitAudio: boolean
  audio: AudioPlan | undefined
  /** Remuxed first, when the source's codecs already fit: playable within seconds. */
  copied: RenditionPlan | undefined
  /** Made by one process that decodes once, highest first. Sound only is the last. */
  encoded: RenditionPlan[]
}

export interface PlanLadderOptions {
  probe: MediaProbe
  settings: LadderSettings
  /** px of the picture to show under an audio file. */
  still?: { width: number; height: number } | undefined
}

const RESOLUTIONS = [2160, 1440, 1080, 720, 480, 360, 240, 144]
const AUDIO_UPLOAD = { resolution: 480, rate: { num: 25, den: 1 } }
const DEFAULT_STILL = { width: 850, height: 480 }
const QUICK_COPY = { codec: 'h264', pixelFormat: 'yuv420p', minFps: 2, audioCodec: 'aac' }
const MAX_SAMPLE_RATE = 48_000

/**
 * Plans the renditions of a probed file by the contract (limits.json, transcoding): every enabled resolution not above the
 * input's, and the input's own. Throws MediaError `frame-rate` when the picture is too slow.
 */
export function planLadder({ probe, settings, still }: PlanLadderOptions): LadderPlan {
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
      width: picture.width,
      height: picture.height,
      squarePixels: probe.video?.squarePixels ?? true,
    },
    outputs,
    splitAudio,
    audio: planAudio(probe),
    copied,
    encoded,
  }
}

type Picture = Pick<VideoProbe, 'width' | 'height' | 'rate' | 'variableRate' | 'bitrate'>

/** A still under an audio file is shown in 480p at 25 frames per second, whatever its own size. */
function stillPicture(still: { width: number; height: number } | undefined): Picture {
  const size = sizeFor(still ?? DEFAULT_STILL, AUDIO_UPLOAD.resolution)
  return { ...size, rate: AUDIO_UPLOAD.rate, variableRate: false, bitrate: undefined }
}

/** The even size with that short side and the picture's shape. */
function sizeFor({ width, height }: { width: number; height: number }, resolution: number) {
  const long = nearestEven((resolution * Math.max(width, height)) / Math.min(width, height))
  return height > width ? { width: resolution, height: long } : { width: long, height: resolution }
}

const toEven = (value: number): number => value + (value % 2)
const nearestEven = (value: number): number => Math.max(2, Math.round(value / 2) * 2)
const shownFps = (rate: Rational): number => Math.round(toNumber(rate))

/** Pixels must already be as players show them, since a copy cannot turn or stretch them. */
function canCopyVideo({ video, isCut }: MediaProbe, settings: LadderSettings): boolean {
  if (!video) return false
  const fps = toNumber(video.rate)
  return (
    video.codec === QUICK_COPY.codec &&
    video.pixelFormat === QUICK_COPY.pixelFormat &&
    video.rotation === 0 &&
    video.squarePixels &&
    !video.interlaced &&
    !isCut &&
    !isWide(video) &&
    fps >= QUICK_COPY.minFps &&
    video.fps <= settings.fps.max &&
    video.bitrate !== undefined &&
    video.bitrate <= theoreticalBitrate({ width: video.width, height: video.height, fps }, 'max')
  )
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
  if (canCopyAudioCodec(audio) && isPlain && isStereo && !isCut) return { mode: 'copy' }
  const sampleRate = audio.sampleRate > MAX_SAMPLE_RATE ? MAX_SAMPLE_RATE : undefined
  return { mode: 'encode', bitrate: audioBitrate(audio.bitrate), sampleRate }
}
