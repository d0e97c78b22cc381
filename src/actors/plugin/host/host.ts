// The process of one plugin, from its start to its end: started with Node's permission model, watched, and killed if it does not answer or
// takes too much memory.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../../../platform/logger.ts'
import { processIdentity } from '../../../platform/process-identity.ts'
import { ChannelError, openChannel, PING } from './channel.ts'
import type { About } from './child/api.ts'

export interface Host {
  readonly pid: number
  /** What the library has declared. */
  readonly declared: unknown
  /** Throws ChannelError. */
  call(name: string, args: unknown, withinMs: number): Promise<unknown>
  /** Resolves when the process has ended, with the reason. */
  readonly ended: Promise<string>
  stop(): Promise<void>
}

export interface HostOptions {
  /** The real path of the plugin's files. */
  folder: string
  library: string
  about: About
  /** Bytes of its heap; resident it may have twice that, and what Node itself takes. */
  memory: number
  answer: (name: string, args: unknown) => Promise<unknown>
  /** Names the process, so that one that outlived its server is found. */
  pidFile: string
  /** Ends the start: the process is killed. */
  signal: AbortSignal
  logger: Logger
}

const PROGRAM = fileURLToPath(new URL('./child/main.ts', import.meta.url))
/** All that its program imports from elsewhere. */
const JSON_DEPTH = fileURLToPath(new URL('../../../platform/json-depth.ts', import.meta.url))
const START_MS = 30_000
const PING_EVERY_MS = 1_000
const PONG_WITHIN_MS = 3_000
/** A process that computed so long since a ping, without an answer, is in a loop; a silent one is given more time. */
const BUSY_MS = PONG_WITHIN_MS / 2
const SILENT_MS = 30_000
/** Of processor times in /proc. */
const TICK_MS = 10
const WATCH_EVERY_MS = 200
/** Bytes of Node without a plugin. */
const NODE_BYTES = 128 * 1024 * 1024
const NICENESS = 10
const LAST_OUTPUT = 2_000
const MIB = 1024 * 1024

/** Throws an Error with the reason if the library cannot be loaded or the signal comes first; no process is left then. */
export async function startHost(options: HostOptions): Promise<Host> {
  const { folder, library, about, memory, answer, pidFile, signal, logger } = options
  await killOrphan(pidFile)
  signal.throwIfAborted()
  const child = spawn(
    process.execPath,
    [
      '--permission',
      `--allow-fs-read=${join(dirname(dirname(PROGRAM)), '*')}`,
      `--allow-fs-read=${JSON_DEPTH}`,
      `--allow-fs-read=${join(folder, '*')}`,
      // It opens files without asking for the permission.
      '--no-experimental-sqlite',
      `--max-old-space-size=${Math.max(16, Math.round(memory / MIB))}`,
      // Other threads would not have its low priority.
      '--single-threaded-gc',
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=SecurityWarning',
      PROGRAM,
    ],
    { cwd: folder, env: {}, stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true },
  )
  const gone = Promise.withResolvers<string>()
  let reason: string | undefined
  const kill = (why: string): void => {
    reason ??= why
    child.kill('SIGKILL')
  }
  let last = ''
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding('utf8').on('data', (text: string) => {
      last = (last + text).slice(-LAST_OUTPUT)
    })
  }
  child.once('error', (error) => gone.resolve(error.message))
  child.once('exit', (code, signal) => {
    if (last.trim() !== '') logger.debug({ plugin: about.npmName, output: last }, 'the last output of a plugin')
    gone.resolve(reason ?? `It ended with ${signal ?? `code ${code}`}.`)
  })
  const channel = openChannel({ stream: child.stdio[3] as Duplex, answer, broken: kill })
  const unwatch = watch(child, { channel, memory: 2 * memory + NODE_BYTES, kill })
  void gone.promise.then(() => {
    unwatch()
    channel.close()
  })

  const abort = (): void => kill('It was stopped.')
  signal.addEventListener('abort', abort)
  try {
    if (child.pid === undefined) throw new Error(await gone.promise)
    setPriority(child.pid, NICENESS)
    await mkdir(dirname(pidFile), { recursive: true })
    await writeFile(pidFile, processIdentity(child.pid) ?? '')
    const declared = await channel.call('start', { ...about, library: join(folder, library) }, START_MS)
    signal.throwIfAborted()
    const stop = async (): Promise<void> => {
      abort()
      await gone.promise
    }
    return { pid: child.pid, declared, call: channel.call, ended: gone.promise, stop }
  } catch (error) {
    child.kill('SIGKILL')
    const why = await gone.promise
    throw error instanceof ChannelError && error.reason === 'closed' ? new Error(why) : error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function watch(
  child: ChildProcess,
  { channel, memory, kill }: { channel: Pick<Host, 'call'>; memory: number; kill: (why: string) => void },
): () => void {
  const timers: NodeJS.Timeout[] = []
  const repeat = (everyMs: number, act: () => Promise<void>): void => {
    let isRunning = false
    const timer = setInterval(async () => {
      if (isRunning) return
      isRunning = true
      await act()
      isRunning = false
    }, everyMs)
    timers.push(timer.unref())
  }
  repeat(WATCH_EVERY_MS, async () => {
    if ((await residentBytes(child.pid)) > memory) kill('It takes too much memory.')
  })
  let waits: { since: number; computed: number } | undefined
  repeat(PING_EVERY_MS, async () => {
    waits ??= { since: performance.now(), computed: await computedMs(child.pid) }
    const { since, computed } = waits
    try {
      await channel.call(PING, {}, PONG_WITHIN_MS)
      waits = undefined
    } catch {
      // Its priority is low: on a busy machine it may not have been its turn.
      const isIdle = (await computedMs(child.pid)) - computed < BUSY_MS
      if (!isIdle || performance.now() - since > SILENT_MS) kill('It does not answer any more.')
    }
  })
  return () => {
    for (const timer of timers) clearInterval(timer)
  }
}

/** A process whose server was killed ends with its connection, unless it is busy for ever. */
async function killOrphan(pidFile: string): Promise<void> {
  const known = await readFile(pidFile, 'utf8').catch(() => '')
  const pid = Number.parseInt(known, 10)
  if (pid > 0 && processIdentity(pid) === known) process.kill(pid, 'SIGKILL')
}

/** Of the processor; infinite where the system does not say it. */
async function computedMs(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return user === undefined || system === undefined ? Number.POSITIVE_INFINITY : (user + system) * TICK_MS
}

/** 0 where the system does not say it. Buffers are outside of the heap that Node limits. */
async function residentBytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
}
