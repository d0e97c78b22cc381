// Plans how one process makes an edited video: the size, rate and sound of the result, and its stretches. Pure.

import { MediaError } from '../errors.ts'
import { audioBitrate, theoreticalBitrate } from '../ffmpeg/bitrate.ts'
import { mixable } from '../ffmpeg/channels.ts'
import type { AudioProbe, MediaProbe, VideoProbe } from '../ffmpeg/media-probe.ts'
import { outputRate } from '../ffmpeg/output-rate.ts'
import type { Looks } from '../ffmpeg/picture.ts'
import { type Rational, toNumber } from '../ffmpeg/rate.ts'
import type { ImageSize } from '../images/images.ts'
import { arrangeClips, type Clip, lengthOf, type Retiming, retimingOf } from './timeline.ts'

/** A task with the properties of its file. */
export type StudioTask =
  | { name: 'cut'; start?: number | undefined; end?: number | undefined }
  | { name: 'add-intro' | 'add-outro'; probe: MediaProbe }
  | { name: 'add-watermark'; size: ImageSize }

/** A picture over the video, in px of the result. */
export interface Mark extends ImageSize {
  x: number
  y: number
}

/** A stretch, and how its picture and sound are converted. */
export interface PlannedClip extends Clip {
  picture:
    | {
        index: number
        interlaced: boolean
        looks: Looks
        /** px within the result; the rest is black. */
        width: number
        height: number
      }
    /** Without a picture it is black. */
    | undefined
  /** The index of the stream; undefined for silence. */
  sound: number | undefined
  /** For its sound, before all others. */
  soundFilters: readonly string[]
}

export interface StudioPlan {
  /** Seconds of the result. */
  duration: number
  clips: PlannedClip[]
  /** Undefined if the video has only sound; then the others contribute only theirs. */
  picture: { width: number; height: number; rate: Rational; maxBitrate: number } | undefined
  /** Undefined if nothing has sound. */
  sound: { sampleRate: number; bitrate: number } | undefined
  /** By the index of the task. */
  marks: Map<number, Mark>
  /** Position of the video in the result; undefined if its times stay. */
  retiming: Retiming | undefined
}

export interface PlanStudioOptions {
  video: MediaProbe
  /** The file with its sound, if that is separate. */
  sound?: MediaProbe | undefined
  tasks: readonly StudioTask[]
  /** Configuration `transcoding.fps.max`. */
  maxFps: number
}

/** limits.json, transcoding.watermark: shares of the height of the video. */
export const WATERMARK = { size: 0.1, horizontalMargin: 0.05, verticalMargin: 0.05 }
const SAMPLE_RATES = { usual: 48_000, max: 48_000 }
/** Below the bit rate up to which the ladder copies such a picture (`canCopyVideo`), including its container. */
const COPYABLE = 0.9

/**
 * Plans the result of the tasks: with the size and rate of the video, and the sound of whatever has some. Throws MediaError `empty` if a
 * cut leaves nothing, and `unreadable` for a file without a duration.
 */
export function planStudio({ video, sound, tasks, maxFps }: PlanStudioOptions): StudioPlan {
  const own: Source = { video: video.video, audio: (sound ?? video).audio, duration: lengthKnown(video) }
  const sources = new Map<Clip['of'], Source>([['video', own]])
  tasks.forEach((task, index) => {
    if (!('probe' in task)) return
    const { probe } = task
    sources.set(index, { video: probe.video, audio: probe.audio, duration: lengthKnown(probe) })
  })
  const clips = arrangeClips(
    own.duration,
    tasks.map((task, index) => ('probe' in task ? { name: task.name, duration: sources.get(index)?.duration ?? 0 } : task)),
  )
  const picture = own.video && pictureOf(own.video, maxFps)
  const used = clips.map(({ of }) => sources.get(of))
  return {
    duration: lengthOf(clips),
    clips: clips.map((clip) => {
      const { video, audio } = sources.get(clip.of) ?? {}
      return {
        ...clip,
        marks: picture ? clip.marks : [],
        picture: picture && fitted(video, picture),
        sound: audio?.index,
        soundFilters: audio ? mixable(audio) : [],
      }
    }),
    picture,
    sound: soundOf(
      own.audio,
      used.flatMap((source) => (source?.audio ? [source.audio] : [])),
    ),
    marks: picture ? marksOf(tasks, picture) : new Map(),
    retiming: movedOf(retimingOf(clips), own.duration),
  }
}

interface Source {
  video: VideoProbe | undefined
  audio: AudioProbe | undefined
  duration: number
}

const movedOf = (retiming: Retiming, duration: number): Retiming | undefined =>
  retiming.from === 0 && retiming.at === 0 && retiming.to === duration ? undefined : retiming

function lengthKnown({ duration }: MediaProbe): number {
  if (duration > 0) return duration
  throw new MediaError('unreadable', 'A file does not say how long it is.')
}

function pictureOf(video: VideoProbe, maxFps: number): NonNullable<StudioPlan['picture']> {
  const [width, height] = [toEven(video.width), toEven(video.height)]
  const resolution = Math.min(width, height)
  const rate = outputRate({ rate: video.rate, variable: video.variableRate, resolution, isOriginal: true, maxFps })
  const most = theoreticalBitrate({ width, height, fps: toNumber(rate) }, 'max')
  return { width, height, rate, maxBitrate: Math.floor(most * COPYABLE) }
}

/** As large as it fits into the result, with its own aspect ratio. */
function fitted(video: VideoProbe | undefined, result: ImageSize): PlannedClip['picture'] {
  if (!video) return undefined
  const scale = Math.min(result.width / video.width, result.height / video.height)
  const side = (value: number, most: number) => Math.min(most, Math.max(2, Math.round((value * scale) / 2) * 2))
  const { index, interlaced } = video
  return {
    index,
    interlaced,
    looks: video,
    width: side(video.width, result.width),
    height: side(video.height, result.height),
  }
}

/** Stereo, at the rate of the video's own sound, or of the first that has any. */
function soundOf(own: AudioProbe | undefined, used: readonly AudioProbe[]): StudioPlan['sound'] {
  const [first] = used
  if (!first) return undefined
  const best = used.toSorted((one, other) => (other.bitrate ?? 0) - (one.bitrate ?? 0))[0]
  return {
    sampleRate: Math.min(SAMPLE_RATES.max, (own ?? first).sampleRate || SAMPLE_RATES.usual),
    bitrate: audioBitrate(best?.bitrate === undefined ? undefined : Math.max(LEAST_SOUND, best.bitrate)),
  }
}

/** Bits per second, so that a second encoding does not degrade the sound. */
const LEAST_SOUND = 128_000

/** In the top right corner. One that is wider than the video is scaled down. */
function marksOf(tasks: readonly StudioTask[], { width, height }: ImageSize): Map<number, Mark> {
  const marks = new Map<number, Mark>()
  const [right, top] = [Math.round(height * WATERMARK.horizontalMargin), Math.round(height * WATERMARK.verticalMargin)]
  tasks.forEach((task, index) => {
    if (task.name !== 'add-watermark') return
    const scale = Math.min((height * WATERMARK.size) / task.size.height, Math.max(1, width - 2 * right) / task.size.width)
    const side = (value: number) => Math.max(1, Math.round(value * scale))
    const size = { width: side(task.size.width), height: side(task.size.height) }
    marks.set(index, { ...size, x: Math.max(0, width - size.width - right), y: top })
  })
  return marks
}

const toEven = (value: number): number => Math.max(2, value + (value % 2))
