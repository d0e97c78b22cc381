// A node in its own process group, which a test can kill in different ways.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { stopEmbeddedPostgres } from '../../../src/platform/embedded-postgres.ts'
import { readPostmaster } from '../../../src/platform/embedded-postgres-process.ts'
import type { Role } from '../../../src/runtime-settings.ts'
import { serverFfmpeg } from '../../support/media.ts'
import { eventually } from '../../support/until.ts'

const { ffmpegPath, ffprobePath } = await serverFfmpeg()
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
export const USERNAME = 'root'
export const PASSWORD = 'chaos-password'

/** The data of a node: its folder, and the URL of its database unless that is the embedded one. */
export type Place = string | { dataDir: string; databaseUrl: string }

export interface Child {
  base: string
  pid: number
  /** Output on both streams. */
  said: string[]
  /** SIGKILL to the group, and to its database if `database` is set. Resolves when all processes are gone. */
  kill9(options: { database: boolean }): Promise<void>
  /** The same without waiting: processes of other groups, which keep its output open, survive. */
  strike(options: { database: boolean }): void
  /** Sends a signal to the process alone, or like a terminal to its group. */
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL', to: 'process' | 'group'): void
  /** The exit code, null after a signal. */
  ended: Promise<number | null>
}

/**
 * A data folder for a test, accessible to the account of PostgreSQL. `prepared`: with an initialised embedded database, for tests that are
 * not about the first start.
 */
export function dataFolder({ prepared = false } = {}): { path: string; remove(): Promise<void> } {
  const path = mkdtempSync(join(tmpdir(), 'vireo-chaos-'))
  chmodSync(path, 0o711)
  const cluster = process.env.VIREO_TEST_CLUSTER
  if (prepared && cluster) execFileSync('cp', ['-a', cluster, join(path, 'postgres')])
  return {
    path,
    /** Kills whatever still runs there. */
    async remove() {
      for (const { pid } of processesIn(path)) killed(pid)
      await stopEmbeddedPostgres({ dataDir: join(path, 'postgres') })
      rmSync(path, { recursive: true, force: true })
    },
  }
}

export interface LaunchOptions {
  dataDir: string
  port: number
  env?: Record<string, string>
  /** Default: all roles. */
  roles?: readonly Role[]
}

/** Runs `vireo serve` without waiting for it. */
export function launch(options: LaunchOptions): Child {
  const { dataDir, port, env = {}, roles } = options
  const command = ['serve', ...(roles ? ['--roles', roles.join(',')] : [])]
  const child: ChildProcess = spawn(process.execPath, [join(ROOT, 'src/main.js'), ...command], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      VIREO_DATA_DIR: dataDir,
      VIREO_ROOT_PASSWORD: PASSWORD,
      VIREO__LISTEN__PORT: String(port),
      VIREO__WEBSERVER__HOSTNAME: '127.0.0.1',
      VIREO__LOG__LEVEL: 'info',
      VIREO__VIREO__FEDERATION__ALLOW_HTTP: 'true',
      VIREO__VIREO__FEDERATION__ALLOW_PRIVATE_ADDRESSES: 'true',
      VIREO__RATES_LIMIT__API__MAX: '100000',
      VIREO__RATES_LIMIT__LOGIN__MAX: '1000',
      VIREO__VIREO__MEDIA__FFMPEG_PATH: ffmpegPath,
      VIREO__VIREO__MEDIA__FFPROBE_PATH: ffprobePath,
      ...env,
    },
  })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => said.push(line))
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const pid = child.pid
  if (pid === undefined) throw new Error('The node could not be run.')
  const strike = ({ database }: { database: boolean }): void => {
    const postmaster = database ? postmasterOf(dataDir) : undefined
    killed(-pid)
    if (postmaster !== undefined) killed(postmaster)
  }
  return {
    base: `http://127.0.0.1:${port}`,
    pid,
    said,
    ended,
    strike,
    async kill9({ database }) {
      strike({ database })
      await ended
      await eventually(() => {
        const left = processesIn(dataDir).filter(({ command }) => database || !command.includes('postgres'))
        if (left.length > 0) throw new Error(`still there: ${left.map(({ command }) => command).join('; ')}`)
      })
    },
    signal: (name, to) => void process.kill(to === 'group' ? -pid : pid, name),
  }
}

/** Runs `vireo serve` until it listens, or works if it does not listen. Throws with its last output if it exits before. */
export async function start(options: LaunchOptions): Promise<Child> {
  const child = launch(options)
  let over = false
  void child.ended.then(() => {
    over = true
  })
  await eventually(() => {
    if (child.said.some((line) => /^(?:HTTP server listening on|Running) /.test(line))) return
    const words = child.said.slice(-10).join('\n')
    throw new Error(over ? `The node ended: ${words}` : `The node does not listen: ${words}`)
  })
  return child
}

/** Running processes that use a data folder, by their working directory, arguments or environment. */
export function processesIn(dataDir: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const command = read(`/proc/${name}/cmdline`).replaceAll('\0', ' ')
      // A zombie has no arguments.
      const isThere = command !== '' && [command, cwdOf(name), read(`/proc/${name}/environ`)].some(mentions(dataDir))
      return isThere ? [{ pid: Number(name), command }] : []
    })
}

/** Cached database connections, by URL: opening one costs as much as many queries. */
const pools = new Map<string, pg.Pool>()
/** Idle connections are closed. */
const IDLE_MS = 1_000

/** Queries the node's database; the embedded one keeps running after its node was killed. */
export async function ask<Row extends object>(place: Place, text: string, values: unknown[] = []): Promise<Row[]> {
  const url = typeof place === 'string' ? embedded(place) : place.databaseUrl
  const pool = pools.get(url) ?? new pg.Pool({ connectionString: url, idleTimeoutMillis: IDLE_MS, allowExitOnIdle: true })
  if (!pools.has(url)) {
    // Reconnect after the database was killed.
    pool.on('error', () => {})
    pools.set(url, pool)
  }
  return (await pool.query<Row>(text, values)).rows
}

function embedded(dataDir: string): string {
  const home = join(dataDir, 'postgres')
  const [password, port] = [read(join(home, 'password')).trim(), read(join(home, 'port')).trim()]
  return `postgres://postgres:${password}@127.0.0.1:${port}/vireo`
}

function postmasterOf(dataDir: string): number | undefined {
  const home = join(dataDir, 'postgres')
  const pointed = read(join(home, 'location')).trim()
  return readPostmaster(join(pointed === '' ? home : pointed, 'cluster'))?.pid
}

const mentions = (dataDir: string) => (text: string) => text.includes(`${dataDir}/`) || text.includes(`${dataDir}\0`)

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has exited.
  }
}

function cwdOf(pid: string): string {
  try {
    return `${readlinkSync(`/proc/${pid}/cwd`)}/`
  } catch {
    return ''
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
