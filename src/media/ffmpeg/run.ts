// Runs one ffmpeg process: guarded inputs, progress, abort, limits on stalls and memory, and useful errors.

import { statfs } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import ffmpegCommand from 'fluent-ffmpeg'
import { MediaError, type MediaErrorReason, systemCode } from '../errors.ts'
import { endingWithUs, NOT_RUN, type ProcessEnd, runProcess } from '../process.ts'
import type { Ffmpeg } from './find.ts'
import { guarded } from './guard.ts'
import { tooLong } from './longest-duration.ts'

export interface CommandInput {
  source: string
  options: string[]
}

export interface CommandOutput {
  target: string
  options: string[]
}

export interface FfmpegCommandSpec {
  inputs: CommandInput[]
  /** The text of `-filter_complex`. */
  filter: string | undefined
  /** 0 lets ffmpeg choose. */
  threads: number
  outputs: CommandOutput[]
}

export interface RunLimits {
  /** Milliseconds without a new frame or timestamp until the process is killed. */
  stallMs: number
  /** Bytes of resident memory beyond which the process is killed (if /proc exists). */
  maxMemoryBytes?: number | undefined
}

export interface RunOptions {
  ffmpeg: Ffmpeg
  spec: FfmpegCommandSpec
  limits: RunLimits
  /** Seconds of the result, for progress; 0 if unknown. */
  duration: number
  /** Seconds of the result beyond which the process is killed. */
  longest?: number
  /** 0 to 19: the niceness of the process. */
  niceness?: number
  signal?: AbortSignal | undefined
  /** 0 to 100, monotonic. */
  onProgress?: (percent: number) => void
  /** Finished seconds of the result. */
  onTime?: (seconds: number) => void
  onStart?: (process: { pid: number; commandLine: string }) => void
  /** File with the process id while it runs, so that a restarted worker can kill an orphan. */
  pidFile?: string
}

const TAIL_CHARS = 2000
/** A disk with less space counts as full: a file is written in blocks of this size. */
const NO_ROOM_BYTES = 32 * 1024
const NO_SPACE = /No space left on device|Disk quota exceeded/i

/**
 * Runs until ffmpeg ends. Throws MediaError `aborted`, `stalled`, `memory`, `too-long`, `disk-full`, `ffmpeg-missing` or `failed`, always
 * after the process and its children have ended.
 */
export async function runFfmpeg(options: RunOptions): Promise<void> {
  const { ffmpeg, spec, limits, duration, longest, niceness, signal, onProgress, onTime, onStart, pidFile } = options
  if (signal?.aborted) throw new MediaError('aborted', 'The work was cancelled.')
  const args = argumentsOf(spec)
  let mark = ''
  let percent = 0
  let isFull = false
  const over = new AbortController()

  function onLine(line: string): boolean {
    isFull ||= NO_SPACE.test(line)
    const seen = /time=\s*(-?[\d:.]+)/.exec(line)
    if (!seen) return false
    const seconds = secondsOf(seen[1] ?? '')
    const current = `${/frame=\s*(\d+)/.exec(line)?.[1] ?? ''} ${seen[1]} ${/size=\s*(\S+)/.exec(line)?.[1] ?? ''}`
    const hasMoved = current !== mark
    mark = current
    onTime?.(seconds)
    if (longest !== undefined && seconds > longest) over.abort()
    const next = duration > 0 ? Math.min(99, (seconds / duration) * 100) : 0
    if (next > percent) {
      percent = next
      onProgress?.(percent)
    }
    return hasMoved
  }

  const end = await runProcess({
    // What it makes would be of no use to anybody.
    ...endingWithUs(ffmpeg.ffmpegPath, args),
    limits,
    niceness,
    onLine,
    pidFile,
    signal: signal ? AbortSignal.any([signal, over.signal]) : over.signal,
    onStart: (pid) => onStart?.({ pid, commandLine: [ffmpeg.ffmpegPath, ...args].join(' ') }),
  }).catch((error: unknown) => {
    throw systemCode(error) === undefined ? error : missing(error)
  })
  if (NOT_RUN.includes(end.code)) throw missing()
  if (over.signal.aborted) throw tooLong()
  if (end.killedFor !== undefined || end.code !== 0 || isFull) throw toError(end, isFull)
  await refuseFullDisk(spec)
  onProgress?.(100)
}

const missing = (cause?: unknown) => new MediaError('ffmpeg-missing', 'ffmpeg cannot be run.', { cause })

/** ffmpeg succeeds silently if the last bytes of a file do not fit: its output is truncated then. */
async function refuseFullDisk({ outputs }: FfmpegCommandSpec): Promise<void> {
  const files = outputs.map(({ target }) => target).filter(isAbsolute)
  for (const folder of new Set(files.map(dirname))) {
    const disk = await statfs(folder).catch(() => undefined)
    if (disk && disk.bavail * disk.bsize < NO_ROOM_BYTES) throw new MediaError('disk-full', DISK_FULL)
  }
}

/**
 * The arguments of one process, built by fluent-ffmpeg; `runProcess` runs it in its own process group, which that library cannot do. No
 * input is opened without its guard.
 */
function argumentsOf({ inputs, filter, threads, outputs }: FfmpegCommandSpec): string[] {
  const command = ffmpegCommand()
  // Options are separate arguments: in an array, fluent-ffmpeg would split a path at its space.
  for (const [index, { source, options }] of inputs.entries()) {
    const general = index === 0 ? ['-hide_banner', '-nostdin', '-loglevel', 'warning', '-stats'] : []
    command.input(source).inputOptions(...general, ...guarded(options))
  }
  if (filter !== undefined) command.complexFilter(filter)
  for (const [index, { target, options }] of outputs.entries()) {
    const general = index === 0 && filter !== undefined ? ['-filter_complex_threads', `${threads}`] : []
    command.output(target).outputOptions(...general, ...options)
  }
  if (!hasArguments(command)) throw new Error('fluent-ffmpeg gives no arguments.')
  return command._getArguments()
}

/** The library's internal method, which its types omit. */
const hasArguments = (command: object): command is { _getArguments(): string[] } =>
  typeof Reflect.get(command, '_getArguments') === 'function'

const DISK_FULL = 'There is no space left on the disk.'

const MESSAGES: Partial<Record<MediaErrorReason, string>> = {
  aborted: 'The work was cancelled.',
  stalled: 'ffmpeg made no progress and was stopped.',
  memory: 'ffmpeg used more memory than allowed and was stopped.',
  'disk-full': DISK_FULL,
}

function toError({ killedFor, code, endedBy, stderr }: ProcessEnd, isFull: boolean): MediaError {
  const detail = stderr.slice(-TAIL_CHARS)
  const reason = killedFor === undefined || killedFor === 'output' ? (isFull ? 'disk-full' : 'failed') : killedFor
  const how = endedBy === undefined ? `exited with code ${code}` : `was ended by ${endedBy}`
  return new MediaError(reason, MESSAGES[reason] ?? `ffmpeg ${how}${said(detail)}`, { detail })
}

/** The last line of output that is not about progress. */
function said(detail: string): string {
  const lines = detail.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '' && !/time=\s*\S+ bitrate=/.test(line))
  const last = lines.at(-1)
  return last === undefined ? '' : `: ${last.trim()}`
}

function secondsOf(timemark: string): number {
  const [hours, minutes, seconds] = timemark.split(':').map(Number)
  return (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0) || 0
}
