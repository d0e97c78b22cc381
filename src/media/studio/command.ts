// Builds the arguments of one ffmpeg process from the plan of an edited video: each file is decoded once, only as far as needed, and the
// result is encoded once. Pure. Only options that ffmpeg 4.1 and newer both support.

import { NO_METADATA, SCALE_FLAGS, WEB_MP4, x264Options } from '../ffmpeg/command.ts'
import { inputGuard } from '../ffmpeg/guard.ts'
import { toStandardColours, upright } from '../ffmpeg/picture.ts'
import { formatRate, toNumber } from '../ffmpeg/rate.ts'
import type { CommandInput, FfmpegCommandSpec } from '../ffmpeg/run.ts'
import type { Mark, PlannedClip, StudioPlan } from './plan.ts'

export interface StudioCommandOptions {
  plan: StudioPlan
  /** Paths of the video's files, and of the tasks' files by index. The picture of a watermark has the planned size. */
  paths: { picture: string; sound: string; tasks: ReadonlyMap<number, string> }
  target: string
  /** 0 leaves all counts to ffmpeg. */
  threads: number
  canToneMap: boolean
  /** Supported option of the installed ffmpeg (`Ffmpeg.asFiltered`). */
  asFiltered: readonly string[]
}

/** So high that a second encoding does not look worse. */
const QUALITY = 18
/** Limits the file if filters handle strange times badly. */
const SPARE_SECONDS = 5
/** A picture made by this server. */
const STILL_IMAGE = ['-protocol_whitelist', 'file', '-codec_whitelist', 'png', '-f', 'image2', '-pattern_type', 'none']

export function studioCommand(options: StudioCommandOptions): FfmpegCommandSpec {
  const { plan, target, threads, asFiltered } = options
  const inputs = inputsOf(options)
  const parts = [...plan.clips.flatMap((clip, place) => clipFilters(options, clip, place, inputs)), ...markCopies(plan, inputs)]
  const streams = (place: number) => `${plan.picture ? `[v${place}]` : ''}${plan.sound ? `[a${place}]` : ''}`
  const [v, a] = [plan.picture ? 1 : 0, plan.sound ? 1 : 0]
  const ends = `${plan.picture ? '[v]' : ''}${plan.sound ? '[a]' : ''}`
  parts.push(`${plan.clips.map((_clip, place) => streams(place)).join('')}concat=n=${plan.clips.length}:v=${v}:a=${a}${ends}`)
  return {
    inputs: inputs.list,
    filter: parts.join(';'),
    threads,
    outputs: [
      {
        target,
        options: [
          ...pictureOptions(plan, threads, asFiltered),
          ...soundOptions(plan),
          '-t',
          seconds(plan.duration + SPARE_SECONDS),
          ...NO_METADATA,
          ...WEB_MP4,
        ],
      },
    ],
  }
}

interface Inputs {
  list: CommandInput[]
  /** Input numbers of each stretch. */
  clips: { picture: number; sound: number }[]
  /** Input number of each watermark's picture. */
  marks: Map<number, number>
}

function inputsOf({ plan, paths, threads }: StudioCommandOptions): Inputs {
  const list: CommandInput[] = []
  const add = (source: string, options: string[]): number => list.push({ source, options }) - 1
  const media = (path: string, { from, to, picture }: PlannedClip): number => {
    // Seeks before decoding; frames between the nearest key frame and the start are decoded and discarded.
    const seek = from > 0 ? ['-ss', seconds(from)] : []
    const turning = picture ? upright(picture.looks).options : []
    const decoding = [...inputGuard(), '-threads', `${Math.ceil(threads / 2)}`, ...turning]
    return add(path, [...decoding, ...seek, '-t', seconds(to - from)])
  }
  const clips = plan.clips.map((clip) => {
    if (clip.of !== 'video') {
      const input = media(pathOf(paths.tasks, clip.of), clip)
      return { picture: input, sound: input }
    }
    const picture = media(paths.picture, clip)
    return { picture, sound: paths.sound === paths.picture ? picture : media(paths.sound, clip) }
  })
  const marks = new Map<number, number>()
  for (const task of new Set(plan.clips.flatMap(({ marks: tasks }) => tasks))) {
    marks.set(task, add(pathOf(paths.tasks, task), STILL_IMAGE))
  }
  return { list, clips, marks }
}

function pathOf(paths: ReadonlyMap<number, string>, task: number): string {
  const path = paths.get(task)
  if (path === undefined) throw new Error(`The task ${task} has no file.`)
  return path
}

/** The picture and the sound of a stretch, both exactly as long as it is. */
function clipFilters(options: StudioCommandOptions, clip: PlannedClip, place: number, inputs: Inputs): string[] {
  const { plan } = options
  const input = inputs.clips[place] ?? { picture: 0, sound: 0 }
  const length = seconds(Math.max(clip.to - clip.from, shortest(plan)))
  const filters: string[] = []
  if (plan.picture) {
    const isMarked = clip.marks.length > 0
    filters.push(`${pictureFilters(options, clip, input.picture, length)}${isMarked ? `[p${place}_0]` : `[v${place}]`}`)
    clip.marks.forEach((task, index) => {
      const { x, y } = markOf(plan, task)
      const isLast = index === clip.marks.length - 1
      filters.push(
        `[p${place}_${index}][m${task}_${place}]overlay=${x}:${y}:eof_action=repeat,format=yuv420p${isLast ? `[v${place}]` : `[p${place}_${index + 1}]`}`,
      )
    })
  }
  if (plan.sound) filters.push(`${soundFilters(plan.sound, clip, input.sound, length)}[a${place}]`)
  return filters
}

/** Seconds: `trim` treats less than half a frame as no limit. */
const shortest = ({ picture }: StudioPlan): number => (picture ? 1 / toNumber(picture.rate) : 0)

function pictureFilters({ plan, canToneMap }: StudioCommandOptions, { picture }: PlannedClip, input: number, length: string): string {
  const { width, height, rate } = plan.picture ?? { width: 2, height: 2, rate: { num: 25, den: 1 } }
  const fps = formatRate(rate)
  if (!picture) return `color=c=black:s=${width}x${height}:r=${fps}:d=${length},setsar=1,format=yuv420p`
  const isWhole = picture.width === width && picture.height === height
  return `[${input}:${picture.index}]${[
    ...(picture.interlaced ? ['yadif=deint=interlaced'] : []),
    `fps=fps=${fps}:start_time=0`,
    ...upright(picture.looks).filters,
    `scale=${picture.width}:${picture.height}:flags=${SCALE_FLAGS}`,
    ...toStandardColours(picture.looks, canToneMap),
    'format=yuv420p',
    ...(isWhole ? [] : [`pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2:black`]),
    'setsar=1',
    // A picture that ends before its sound is frozen.
    `tpad=stop=-1:stop_mode=clone,trim=duration=${length},setpts=PTS-STARTPTS`,
  ].join(',')}`
}

function soundFilters(
  { sampleRate }: NonNullable<StudioPlan['sound']>,
  { sound, soundFilters: first }: PlannedClip,
  input: number,
  length: string,
): string {
  const same = 'aformat=sample_fmts=fltp:channel_layouts=stereo'
  const cut = `atrim=duration=${length},asetpts=PTS-STARTPTS`
  if (sound === undefined) return `anullsrc=r=${sampleRate}:cl=stereo,${same},${cut}`
  return `[${input}:${sound}]${[...first, `aresample=${sampleRate}:async=1:first_pts=0`, same, 'apad', cut].join(',')}`
}

/** A picture over several stretches is passed to each of them. */
function markCopies({ clips }: StudioPlan, { marks }: Inputs): string[] {
  return [...marks].map(([task, input]) => {
    const places = clips.flatMap((clip, place) => (clip.marks.includes(task) ? [place] : []))
    const outs = places.map((place) => `[m${task}_${place}]`).join('')
    return `[${input}:v:0]format=rgba${places.length > 1 ? `,split=${places.length}` : ''}${outs}`
  })
}

function markOf({ marks }: StudioPlan, task: number): Mark {
  const mark = marks.get(task)
  if (!mark) throw new Error(`The task ${task} has no picture.`)
  return mark
}

function pictureOptions({ picture }: StudioPlan, threads: number, asFiltered: readonly string[]): string[] {
  if (!picture) return ['-vn']
  const { rate, maxBitrate } = picture
  const encoder = x264Options({ rate, encode: { targetBitrate: maxBitrate } }, threads)
  return ['-map', '[v]', ...asFiltered, ...encoder, '-crf', `${QUALITY}`]
}

const soundOptions = ({ sound }: StudioPlan): string[] =>
  sound ? ['-map', '[a]', '-c:a', 'aac', '-b:a', `${sound.bitrate}`, '-ar', `${sound.sampleRate}`, '-ac', '2'] : ['-an']

const seconds = (value: number): string => value.toFixed(3)
