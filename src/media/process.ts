// Runs one media program as the leader of a process group: ending it ends all its children.

import { type ChildProcess, type Serializable, spawn } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import type { MediaErrorReason } from './errors.ts'

export interface ProcessLimits {
  /** Maximum runtime in milliseconds. */
  timeoutMs?: number | undefined
  /** Milliseconds without a sign of progress. */
  stallMs?: number | undefined
  /** Bytes of resident memory of the whole group (if /proc exists). */
  maxMemoryBytes?: number | undefined
  /** Bytes of standard output. */
  maxOutputBytes?: number | undefined
}

export interface ProcessOptions {
  path: string
  args: readonly string[]
  cwd?: string
  env?: NodeJS.ProcessEnv
  limits: ProcessLimits
  /** 0 to 19: its niceness. */
  niceness?: number | undefined
  signal?: AbortSignal | undefined
  onStart?: (pid: number) => void
  /** Called for each line of standard error; returns true for a sign of progress. */
  onLine?: (line: string) => boolean
  /** Called for each line of standard output, which is not buffered then. */
  onOutputLine?: (line: string) => void
  /** For a Node program: the first message to it, and a handler of its messages, which are signs of progress. */
  messages?: { first: Serializable; onMessage: (message: unknown) => void }
  /** File with its id while it runs, so that a restarted worker can kill an orphan. */
  pidFile?: string | undefined
  /** When its limits begin to count, if not at its start. */
  begun?: Promise<void>
  /** True if descriptor 3 is a pipe that ends with this process. */
  hasLifeline?: boolean
}

export interface ProcessEnd {
  /** Undefined if it ended by itself. */
  killedFor: MediaErrorReason | 'output' | undefined
  /** Undefined if a signal ended it. */
  code: number | undefined
  endedBy: NodeJS.Signals | undefined
  stdout: string
  /** The end of its output. */
  stderr: string
}

// The shell watches the pipe, and becomes the program itself.
const WRAPPER = '(read -r _; kill -9 $$) <&3 & exec "$@" 3<&-'
/** Exit codes of the shell if there is no such program, or if it cannot be run. */
export const NOT_RUN: readonly (number | undefined)[] = [126, 127]

/** Options with which a program ends when this process does, however that ends. */
export const endingWithUs = (path: string, args: readonly string[]) => ({
  path: '/bin/sh',
  args: ['-c', WRAPPER, 'sh', path, ...args],
  hasLifeline: true,
})

const WATCH_MS = 250
const TAIL_CHARS = 8_000
/** Streams that stay open this long after the process ended are held by a process that left its group. */
const GRACE_MS = 1_000

/** Runs it to its end, in any case. Throws only errors of `spawn`, such as ENOENT. */
export async function runProcess(options: ProcessOptions): Promise<ProcessEnd> {
  const { pidFile, onStart } = options
  if (pidFile === undefined) return await ended(options)
  let noted: Promise<void> | undefined
  try {
    return await ended({
      ...options,
      onStart: (pid) => {
        noted = writeFile(pidFile, `${pid}`).catch(() => undefined)
        onStart?.(pid)
      },
    })
  } finally {
    await noted
    await rm(pidFile, { force: true })
  }
}

function ended(options: ProcessOptions): Promise<ProcessEnd> {
  const { path, args, cwd, env, limits, niceness, signal, onStart, onLine, onOutputLine, messages } = options
  const { begun, hasLifeline = false } = options
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, {
      cwd,
      env,
      detached: true,
      windowsHide: true,
      serialization: 'advanced',
      stdio: [
        ...(['ignore', 'pipe', 'pipe'] as const),
        ...(messages ? (['ipc'] as const) : []),
        ...(hasLifeline ? (['pipe'] as const) : []),
      ],
    })
    let movedAt = performance.now()
    let killedFor: ProcessEnd['killedFor']
    let stdoutBytes = 0
    const stdout: Buffer[] = []
    let stderr = ''
    const outputLines = byLine((line) => onOutputLine?.(line))
    const lines = byLine((line) => {
      if (onLine?.(line)) movedAt = performance.now()
    })

    const kill = (reason: NonNullable<ProcessEnd['killedFor']>): void => {
      killedFor ??= reason
      killGroup(child)
    }
    const onAbort = (): void => kill('aborted')
    const look = (): void => {
      if (limits.stallMs !== undefined && performance.now() - movedAt > limits.stallMs) kill('stalled')
      const limit = limits.maxMemoryBytes
      if (limit === undefined || child.pid === undefined) return
      residentBytes(child.pid).then((bytes) => {
        if (bytes > limit) kill('memory')
      })
    }
    let watch: NodeJS.Timeout | undefined
    let end: NodeJS.Timeout | undefined
    let isOver = false
    const startLimits = (): void => {
      if (isOver) return
      movedAt = performance.now()
      watch = setInterval(look, Math.min(WATCH_MS, Math.max(20, (limits.stallMs ?? WATCH_MS * 4) / 4)))
      end = limits.timeoutMs === undefined ? undefined : setTimeout(() => kill('time-out'), limits.timeoutMs)
    }
    if (begun) begun.then(startLimits)
    else startLimits()
    const finish = (): void => {
      isOver = true
      clearInterval(watch)
      clearTimeout(end)
      signal?.removeEventListener('abort', onAbort)
    }

    child.stdout?.on('data', (chunk: Buffer) => {
      movedAt = performance.now()
      if (onOutputLine) return outputLines.push(chunk.toString('utf8'))
      stdoutBytes += chunk.length
      if (stdoutBytes > (limits.maxOutputBytes ?? 0)) kill('output')
      else stdout.push(chunk)
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-TAIL_CHARS)
      lines.push(text)
    })
    child.on('message', (message) => {
      movedAt = performance.now()
      messages?.onMessage(message)
    })
    child.on('error', (error) => {
      if (child.pid !== undefined) return
      finish()
      reject(error)
    })
    child.on('exit', () => {
      killGroup(child)
      setTimeout(() => {
        child.stdout?.destroy()
        child.stderr?.destroy()
        if (hasLifeline) child.stdio[3]?.destroy()
        if (child.connected) child.disconnect()
      }, GRACE_MS).unref()
    })
    child.on('close', (code, endedBy) => {
      finish()
      lines.end()
      outputLines.end()
      resolve({
        killedFor,
        code: code ?? undefined,
        endedBy: endedBy ?? undefined,
        stdout: Buffer.concat(stdout).toString('utf8'),
        stderr,
      })
    })

    if (child.pid === undefined) return
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted) onAbort()
    lowerPriority(child.pid, niceness ?? 0)
    onStart?.(child.pid)
    // If it has ended meanwhile, its end event tells.
    if (messages) child.send(messages.first, () => {})
  })
}

/** Splits text into lines; of a longer line only the end is kept. */
function byLine(onLine: (line: string) => void): { push(text: string): void; end(): void } {
  let rest = ''
  return {
    push(text) {
      const lines = (rest + text).split(/\r\n|\r|\n/)
      rest = (lines.pop() ?? '').slice(-TAIL_CHARS)
      for (const line of lines) onLine(line)
    },
    end() {
      if (rest !== '') onLine(rest)
    },
  }
}

/** SIGKILL, because a stopped or stuck process does not handle other signals. No output needs a graceful end. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || !killGroupOf(child.pid)) child.kill('SIGKILL')
}

/** Kills a group by its leader. Returns false if there is none. */
function killGroupOf(pid: number): boolean {
  try {
    return process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended meanwhile, or the system has no process groups.
    return false
  }
}

/**
 * Kills the process noted in `pidFile` by a dead worker, with its children, if it still runs with `folder` among its arguments or as its
 * temporary folder. Only if /proc shows that; elsewhere an orphan ends by itself and writes into a deleted folder.
 */
export async function killOrphan(pidFile: string, folder: string): Promise<void> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''))
  if (!Number.isInteger(pid) || pid <= 1) return
  const shown = await Promise.all(['cmdline', 'environ'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')))
  const isOfFolder = shown[0]?.includes(`${folder}/`) || shown[1]?.split('\0').includes(`TMPDIR=${folder}`)
  if (isOfFolder && !killGroupOf(pid)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended meanwhile.
    }
  }
  await rm(pidFile, { force: true })
}

/** `niceness`: 0 to 19. */
export function lowerPriority(pid: number, niceness: number): void {
  try {
    if (niceness > 0) setPriority(pid, Math.min(19, niceness))
  } catch {
    // The process may have ended, or a container may forbid it: it runs with the usual priority.
  }
}

/** Of a process and its children. */
async function residentBytes(pid: number): Promise<number> {
  const [status, children] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''),
    readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''),
  ])
  const own = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
  const theirs = await Promise.all(
    children
      .split(' ')
      .filter(Boolean)
      .map((child) => residentBytes(Number(child))),
  )
  return theirs.reduce((sum, bytes) => sum + bytes, own)
}
