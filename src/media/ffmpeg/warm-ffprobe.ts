// Starts an ffprobe process before its file exists, since most of its time is spent loading libraries. It blocks while opening the pipe for
// its output, and then reads the file that a link names by then. Each process still reads one file and ends.

import { execFile } from 'node:child_process'
import { constants, open } from 'node:fs'
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { systemCode } from '../errors.ts'
import { endingWithUs, type ProcessEnd, type ProcessOptions, runProcess } from '../process.ts'

/** Runs ffprobe like `runProcess`. Its last argument is the file. */
export type RunFfprobe = (options: ProcessOptions) => Promise<ProcessEnd>

interface Waiting {
  ended: Promise<ProcessEnd>
  stop: AbortController
  /** Its limits count from then on. */
  begin(): void
  isOver: boolean
}

type Answer = Awaited<ReturnType<typeof readPipe>>

const PREFIX = 'vireo-ffprobe-'
const IDLE_MS = 600_000
/** For the rest of the output after the process has ended. */
const DRAIN_MS = 1_000

/** After each file one process waits for the next one, for a while. Without named pipes, none does. */
export function makeWarmFfprobe() {
  let place: Promise<{ folder: string; output: string; input: string } | undefined> | undefined
  let waiting: Waiting | undefined
  let idle: NodeJS.Timeout | undefined
  let isOff = false
  /** One process at a time uses the folder: another one would find the pipe open, and read the same link. */
  let isAsked = false

  async function makePlace() {
    await removeLeftovers()
    const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`))
    const output = join(folder, 'output')
    try {
      await promisify(execFile)('mkfifo', ['-m', '600', output])
      return { folder, output, input: join(folder, 'input') }
    } catch {
      await rm(folder, { recursive: true, force: true })
      return undefined
    }
  }

  async function prepare({ path, args, env, limits }: ProcessOptions): Promise<void> {
    place ??= makePlace()
    const there = await place
    if (!there) isOff = true
    if (!there || isOff || isAsked || waiting) return
    const stop = new AbortController()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const ended = runProcess({
      // It would wait forever.
      ...endingWithUs(path, [...args.slice(0, -1), '-o', there.output, there.input]),
      limits,
      signal: stop.signal,
      begun,
      ...(env ? { env } : {}),
    })
    const next: Waiting = { ended, stop, begin, isOver: false }
    waiting = next
    const over = (): void => {
      next.isOver = true
      // It ended before it was used: this ffprobe cannot wait.
      if (waiting === next && !stop.signal.aborted) isOff = true
    }
    ended.then(over, over)
    clearTimeout(idle)
    idle = setTimeout(() => stopWaiting(), IDLE_MS).unref()
  }

  function stopWaiting(): void {
    waiting?.stop.abort()
    waiting = undefined
  }

  async function ask({ stop, begin, ended }: Waiting, { args, limits, signal }: ProcessOptions): Promise<ProcessEnd> {
    const there = await place
    if (!there) throw new Error('There is no place to wait at.')
    const end = (): void => stop.abort()
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    let answer: Answer | undefined
    try {
      begin()
      await symlink(resolve(args.at(-1) ?? ''), there.input)
      answer = await readPipe(there.output, limits.maxOutputBytes ?? 0, end)
      const ending = await ended
      const stdout = await answer.text()
      return { ...ending, killedFor: answer.isTooLong() ? 'output' : ending.killedFor, stdout }
    } finally {
      end()
      await ended.catch(() => undefined)
      answer?.close()
      signal?.removeEventListener('abort', end)
      await rm(there.input, { force: true })
    }
  }

  async function askWaiting(options: ProcessOptions): Promise<ProcessEnd | undefined> {
    const next = waiting
    if (!next || next.isOver) return undefined
    waiting = undefined
    isAsked = true
    try {
      return await ask(next, options)
    } catch {
      return undefined
    } finally {
      isAsked = false
    }
  }

  return {
    async run(options: ProcessOptions): Promise<ProcessEnd> {
      // FFmpeg also uses the extension, which the link lacks.
      if (extname(options.args.at(-1) ?? '') !== '') return await runProcess(options)
      try {
        const end = await askWaiting(options)
        // The wait may have caused the failure.
        const isSure = end?.code === 0 || end?.killedFor !== undefined
        return end && isSure ? end : await runProcess(options)
      } finally {
        if (!isOff) prepare(options).catch(() => (isOff = true))
      }
    },
    /** Ends the waiting process. */
    async close() {
      isOff = true
      clearTimeout(idle)
      const last = waiting
      stopWaiting()
      await last?.ended.catch(() => undefined)
      const there = await place?.catch(() => undefined)
      if (there) await rm(there.folder, { recursive: true, force: true })
    },
  }
}

/** Folders of killed processes. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1])
    if (pid > 0 && !isRunning(pid)) await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {})
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return systemCode(error) !== 'ESRCH'
  }
}

/** Opened without waiting for the writer, which unblocks it. */
async function readPipe(path: string, maxBytes: number, tooLong: () => void) {
  const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const socket = new Socket({ fd, readable: true, writable: false })
  const chunks: Buffer[] = []
  let length = 0
  socket.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > maxBytes) tooLong()
    else chunks.push(chunk)
  })
  const drained = new Promise<void>((done) => {
    socket.once('close', () => done())
    socket.once('error', () => done())
  })
  return {
    isTooLong() {
      return length > maxBytes
    },
    close() {
      socket.destroy()
    },
    async text() {
      // A process that never reached its output did not open the pipe, which then has no end.
      await Promise.race([drained, pause(DRAIN_MS, undefined, { ref: false })])
      return Buffer.concat(chunks).toString('utf8')
    },
  }
}
