// Runs one ffmpeg process through fluent-ffmpeg: progress, cancel, limits on stalls and memory, and a useful error.

import { ChildProcess } from 'node:child_process'
import { readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { dirname, isAbsolute } from 'node:path'
import ffmpegCommand, { type FfmpegCommand } from 'fluent-ffmpeg'
import { MediaError, type MediaErrorReason } from '../errors.ts'
import type { FfmpegCommandSpec } from './command.ts'
import type { Ffmpeg } from './find.ts'

export interface RunLimits {
  /** Milliseconds without a new frame or time mark until the process is killed. */
  stallMs: number
  /** Bytes of resident memory beyond which the process is killed (where /proc tells). */
  maxMemoryBytes?: number | undefined
}

export interface RunOptions {
  ffmpeg: Ffmpeg
  spec: FfmpegCommandSpec
  limits: RunLimits
  /** Seconds of the result, for progress; 0 when not known. */
  duration: number
  /** 0 to 19: how much this process yields to others. */
  niceness?: number
  signal?: AbortSignal | undefined
  /** 0 to 100, never falling. */
  onProgress?: (percent: number) => void
  onStart?: (process: { pid: number; commandLine: string }) => void
  /** Where the process id is noted while it runs, so that a restarted worker can end an orphan. */
  pidFile?: string
}

const WATCH_MS = 500
const TAIL_CHARS = 2000
/** A disk with less room is full: a file is written in pieces of this size. */
const NO_ROOM_BYTES = 32 * 1024
const NO_SPACE = /No space left on device|Disk quota exceeded/i

/**
 * Runs until ffmpeg ended. Throws MediaError `aborted`, `stalled`, `memory`, `disk-full` or `failed`, always after the
 * process is gone.
 */
export async function runFfmpeg(options: RunOptions): Promise<void> {
  if (options.signal?.aborted) throw new MediaError('aborted', 'The work was cancelled.')
  try {
    await execute(options)
    await refuseFullDisk(options.spec)
  } finally {
    if (options.pidFile !== undefined) await rm(options.pidFile, { force: true })
  }
}

/** ffmpeg ends well, and says nothing, when the last bytes of a file have no room: what it wrote is cut off then. */
async function refuseFullDisk({ outputs }: FfmpegCommandSpec): Promise<void> {
  for (const folder of new Set(
    outputs
      .map(({ target }) => target)
      .filter(isAbsolute)
      .map(dirname),
  )) {
    const disk = await statfs(folder).catch(() => undefined)
    if (disk && disk.bavail * disk.bsize < NO_ROOM_BYTES) throw toError('disk-full', '')
  }
}

function execute({ ffmpeg, spec, limits, duration, niceness, signal, onProgress, onStart, pidFile }: RunOptions) {
  return new Promise<void>((resolve, reject) => {
    const command = buildCommand(ffmpeg, spec)
    let killedFor: MediaErrorReason | undefined
    let child: ChildProcess | undefined
    let isFull = false
    let mark = ''
    let movedAt = performance.now()
    let percent = 0

    const kill = (reason: MediaErrorReason): void => {
      killedFor ??= reason
      // SIGKILL, because a stopped or stuck process does not hear anything else. No files are worth a soft end.
      child?.kill('SIGKILL')
    }
    const onAbort = (): void => kill('aborted')
    const watch = setInterval(
      () => {
        if (performance.now() - movedAt > limits.stallMs) kill('stalled')
        if (limits.maxMemoryBytes === undefined || child?.pid === undefined) return
        const limit = limits.maxMemoryBytes
        residentBytes(child.pid).then((bytes) => {
          if (bytes > limit) kill('memory')
        })
      },
      Math.min(WATCH_MS, Math.max(20, limits.stallMs / 4)),
    )
    const finish = (): void => {
      clearInterval(watch)
      signal?.removeEventListener('abort', onAbort)
    }

    signal?.addEventListener('abort', onAbort)
    command.on('start', (commandLine: string) => {
      const running: unknown = Reflect.get(command, 'ffmpegProc')
      if (!(running instanceof ChildProcess) || running.pid === undefined) return
      child = running
      movedAt = performance.now()
      if (killedFor) child.kill('SIGKILL')
      lowerPriority(running.pid, niceness ?? 0)
      if (pidFile !== undefined) writeFile(pidFile, `${running.pid}`).catch(() => undefined)
      onStart?.({ pid: running.pid, commandLine })
    })
    // The `progress` event of fluent-ffmpeg would first probe the input without our guard, so the lines are read here.
    command.on('stderr', (line: string) => {
      isFull ||= NO_SPACE.test(line)
      const seen = /time=\s*(-?[\d:.]+)/.exec(line)
      if (!seen) return
      const current = `${/frame=\s*(\d+)/.exec(line)?.[1] ?? ''} ${seen[1]} ${/size=\s*(\S+)/.exec(line)?.[1] ?? ''}`
      if (current !== mark) movedAt = performance.now()
      mark = current
      const next = duration > 0 ? Math.min(99, (secondsOf(seen[1] ?? '') / duration) * 100) : 0
      if (next > percent) {
        percent = next
        onProgress?.(percent)
      }
    })
    command.on('end', () => {
      finish()
      if (killedFor) return reject(toError(killedFor, ''))
      if (isFull) return reject(toError('disk-full', ''))
      onProgress?.(100)
      resolve()
    })
    command.on('error', (error: Error, _stdout: string | null, stderr: string | null) => {
      finish()
      const detail = (stderr || error.message).slice(-TAIL_CHARS)
      const reason = killedFor ?? (isFull || NO_SPACE.test(detail) ? 'disk-full' : 'failed')
      reject(toError(reason, detail))
    })
    command.run()
  })
}

function buildCommand(ffmpeg: Ffmpeg, spec: FfmpegCommandSpec): FfmpegCommand {
  const command = ffmpegCommand({ stdoutLines: 60 })
  // Options are given as separate arguments below: in an array, fluent-ffmpeg would split a path at its space.
  // The path is kept once per process by fluent-ffmpeg; all servers of a process use the same binary.
  command.setFfmpegPath(ffmpeg.ffmpegPath)
  for (const [index, { source, options }] of spec.inputs.entries()) {
    const general = index === 0 ? ['-hide_banner', '-nostdin', '-loglevel', 'warning', '-stats'] : []
    command.input(source).inputOptions(...general, ...options)
  }
  if (spec.filter !== undefined) {
    command.complexFilter(spec.filter)
  }
  for (const [index, { target, options }] of spec.outputs.entries()) {
    const general = index === 0 && spec.filter !== undefined ? ['-filter_complex_threads', `${spec.threads}`] : []
    command.output(target).outputOptions(...general, ...options)
  }
  return command
}

const MESSAGES: Partial<Record<MediaErrorReason, string>> = {
  aborted: 'The work was cancelled.',
  stalled: 'ffmpeg made no progress and was stopped.',
  memory: 'ffmpeg used more memory than allowed and was stopped.',
  'disk-full': 'There is no space left on the disk.',
}

const toError = (reason: MediaErrorReason, detail: string): MediaError =>
  new MediaError(reason, MESSAGES[reason] ?? `ffmpeg failed: ${lastLine(detail)}`, { detail })

const lastLine = (text: string): string =>
  text
    .trim()
    .split(/\r\n|\r|\n/)
    .at(-1) ?? ''

function secondsOf(timemark: string): number {
  const [hours, minutes, seconds] = timemark.split(':').map(Number)
  return (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0) || 0
}

function lowerPriority(pid: number, niceness: number): void {
  try {
    if (niceness > 0) setPriority(pid, Math.min(19, niceness))
  } catch {
    // The process may have ended already, and a container may forbid it: the work goes on at the usual priority.
  }
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}

/**
 * Ends the process noted in `pidFile` by a worker that died, if it still runs with `folder` among its arguments. Only
 * where /proc shows arguments; elsewhere an orphan ends by itself and writes into a folder that is gone.
 */
export async function killOrphan(pidFile: string, folder: string): Promise<void> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''))
  if (!Number.isInteger(pid) || pid <= 1) return
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  if (commandLine.includes(folder)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended in between.
    }
  }
  await rm(pidFile, { force: true })
}
