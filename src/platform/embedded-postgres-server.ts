// One PostgreSQL server on one cluster: initdb, start, readiness, shutdown.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { type Binaries, cannotRun } from './embedded-postgres-binaries.ts'
import type { Place } from './embedded-postgres-place.ts'
import { clearForeignPidFile, freePort, isAlive, type Postmaster, readPostmaster, readText, tryPort } from './embedded-postgres-process.ts'
import type { Logger } from './logger.ts'

export interface ServerSettings {
  /** TCP port on 127.0.0.1; 0 takes the last port if it is free, otherwise any. */
  port?: number
  maxConnections?: number
  logger: Logger
  /** False only for throw-away data: commits are not flushed to disk. */
  fsync?: boolean
  /** False only for short-lived data, as in tests, to save processor time. */
  autovacuum?: boolean
}

/** Long, since a start after a power cut replays the log. */
const READY_TIMEOUT_MS = 300_000
const GONE_TIMEOUT_MS = 60_000
const POLL_MS = 10
const START_ATTEMPTS = 5
const MAX_LOG_BYTES = 5 * 1024 * 1024
const DATABASE = 'vireo'
const MISSING_DATABASE = '3D000'

/** Runs initdb in a temporary folder and renames it, so that an interrupted one is never used as a cluster. */
export async function makeCluster(place: Place, binaries: Binaries, options: ServerSettings): Promise<void> {
  const { account, cluster } = place
  const parent = dirname(cluster)
  for (const entry of readdirSync(parent)) {
    if (!/^(cluster|pwfile)\.tmp/.test(entry)) continue
    // An initdb whose parent was killed may still be writing there.
    rmSync(join(parent, entry), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  if (existsSync(join(cluster, 'PG_VERSION'))) return
  const own = (path: string) => account && chownSync(path, account.uid, account.gid)
  const suffix = `.tmp-${randomBytes(4).toString('hex')}`
  const fresh = `${cluster}${suffix}`
  const passwordFile = join(parent, `pwfile${suffix}`)
  const password = randomBytes(24).toString('hex')
  mkdirSync(fresh, { mode: 0o700 })
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
  for (const path of [fresh, passwordFile]) own(path)
  const settings = ['-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8', '--locale=C']
  const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const memory = ['--set', `shared_buffers=${sharedBuffers(memoryHere())}MB`]
  const sync = options.fsync === false ? ['--no-sync'] : []
  try {
    await promisify(execFile)(binaries.initdb, ['-D', fresh, ...settings, ...locale, ...memory, ...sync], spawnSettings(place))
  } catch (error) {
    throw cannotRun(binaries.initdb, lastLine(textOf(error, 'stderr') || textOf(error, 'message')))
  } finally {
    rmSync(passwordFile, { force: true })
  }
  writeFileSync(join(place.home, 'password'), `${password}\n`, { mode: 0o600, flush: true })
  renameSync(fresh, cluster)
}

/**
 * A quarter of the memory, as PostgreSQL's manual advises, up to the size of the most read rows of a million videos. Takes bytes, returns
 * MiB. Each read of a page outside of these buffers copies it from the cache of the system. Memory is only taken as pages are read.
 */
export const sharedBuffers = (memory: number): number => Math.round(Math.min(Math.max(memory / 4 / 2 ** 20, 128), 1024))

/** Bytes of the machine, or of its container. */
const memoryHere = (): number => Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())

/** Starts the server; retries if the port was taken meanwhile or processes of a killed server linger. */
export async function startServer(place: Place, binaries: Binaries, options: ServerSettings): Promise<number> {
  clearForeignPidFile(place.cluster)
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(place, options.port ?? 0)
    const child = spawnServer(place, binaries, port, options)
    const failure = await untilReady(place, child)
    if (failure === undefined) return port
    if (attempt === START_ATTEMPTS) throw new Error(`The embedded PostgreSQL did not start in ${place.cluster}: ${failure}`)
    options.logger.warn({ attempt, failure }, 'the embedded PostgreSQL did not start, trying again')
    await wait(200 * attempt)
  }
}

async function choosePort(place: Place, wanted: number): Promise<number> {
  if (wanted === 0) return freePort(Number(readText(join(place.home, 'port'))) || 0)
  if ((await tryPort(wanted)) === undefined) throw new Error(`Port ${wanted} on 127.0.0.1 is in use: choose another one for PostgreSQL`)
  return wanted
}

function spawnServer(place: Place, binaries: Binaries, port: number, options: ServerSettings): ChildProcess {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: isShortEnough(place) ? quoted(place.cluster) : '',
    max_connections: options.maxConnections ?? 200,
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The application logs its own failed statements.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    ...(options.fsync === false ? { fsync: 'off', full_page_writes: 'off' } : {}),
    ...(options.autovacuum === false ? { autovacuum: 'off' } : {}),
  }
  const args = ['-D', place.cluster, '-p', String(port), ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])]
  const log = openLog(place)
  try {
    const child = spawn(binaries.postgres, args, {
      ...spawnSettings(place),
      detached: true,
      stdio: ['ignore', log, log],
    })
    child.once('error', () => {})
    child.unref()
    return child
  } finally {
    closeSync(log)
  }
}

/** Undefined once the server accepts connections; otherwise why it ended. */
async function untilReady(place: Place, child: ChildProcess): Promise<string | undefined> {
  const giveUpAt = performance.now() + READY_TIMEOUT_MS
  while (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const found = readPostmaster(place.cluster)
    if (found?.pid === child.pid && found.status === 'ready') return undefined
    if (performance.now() > giveUpAt) return `not ready after ${READY_TIMEOUT_MS} ms`
    await wait(POLL_MS)
  }
  return logTail(place)
}

/** Checks that the password opens the database, which is created if it is missing. */
export async function openDatabase(place: Place, port: number): Promise<void> {
  const missing = await canConnect(urlOf(place, port)).then(
    () => false,
    (error: unknown) => {
      if (textOf(error, 'code') === MISSING_DATABASE) return true
      throw new Error(
        `PostgreSQL on 127.0.0.1:${port} does not let us in (${textOf(error, 'message')}): is ${join(place.home, 'password')} still the one of ${place.cluster}?`,
      )
    },
  )
  if (missing) await canConnect(urlOf(place, port, 'postgres'), `create database ${DATABASE}`)
}

async function canConnect(url: string, statement = 'select 1'): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The running server once it is ready; undefined if there is none, or if it is shutting down. */
export async function settledServer(place: Place, logger: Logger): Promise<Postmaster | undefined> {
  const startedAt = performance.now()
  let isLogged = false
  for (;;) {
    const found = readPostmaster(place.cluster)
    if (!found || found.status === 'ready') return found
    const waited = performance.now() - startedAt
    if (waited > READY_TIMEOUT_MS) throw new Error(`PostgreSQL (pid ${found.pid}) hangs in "${found.status}": ${logTail(place)}`)
    if (!isLogged && waited > 5_000) logger.warn({ pid: found.pid, status: found.status }, 'waiting for the embedded PostgreSQL')
    isLogged ||= waited > 5_000
    await wait(POLL_MS)
  }
}

/** SIGINT is PostgreSQL's "fast" shutdown. Returns the pid of the stopped server. */
export async function shutDown(place: Place): Promise<number | undefined> {
  const server = readPostmaster(place.cluster)
  if (!server) return undefined
  const giveUpAt = performance.now() + GONE_TIMEOUT_MS
  try {
    process.kill(server.pid, 'SIGINT')
  } catch (error) {
    if (textOf(error, 'code') !== 'ESRCH') throw error
  }
  while (isAlive(server.pid)) {
    if (performance.now() > giveUpAt) throw new Error(`PostgreSQL (pid ${server.pid}) does not stop: ${logTail(place)}`)
    await wait(POLL_MS)
  }
  return server.pid
}

/** Through the socket in the cluster's folder if possible: a small statement takes half the time of TCP. */
export function urlOf(place: Place, port: number, database: string = DATABASE): string {
  const password = readText(join(place.home, 'password'))?.trim()
  if (!password) throw new Error(`The password of the database is missing: restore ${join(place.home, 'password')}`)
  const host = existsSync(socketOf(place, port)) ? encodeURIComponent(place.cluster) : '127.0.0.1'
  return `postgres://postgres:${password}@${host}:${port}/${database}`
}

/** PostgreSQL's name for it. */
const socketOf = ({ cluster }: Place, port: number): string => join(cluster, `.s.PGSQL.${port}`)

/** Quoted for a list of folders. */
const quoted = (path: string): string => `"${path.replaceAll('"', '""')}"`

/** Systems limit socket paths to 103 bytes, or a few more. */
const isShortEnough = (place: Place): boolean => process.platform !== 'win32' && Buffer.byteLength(socketOf(place, 65_535)) <= 103

/** The programs must not inherit PG* variables; as root they get an account of their own. */
function spawnSettings(place: Place): { env: NodeJS.ProcessEnv; cwd: string; uid?: number; gid?: number } {
  const { account } = place
  const env = { LC_ALL: 'C', PATH: process.env.PATH ?? '/usr/bin:/bin' }
  return { env, cwd: '/', ...(account ? { uid: account.uid, gid: account.gid } : {}) }
}

/** A file, not a pipe, since the server may outlive this process. */
function openLog(place: Place): number {
  const file = logFile(place)
  const keep = existsSync(file) && statSync(file).size < MAX_LOG_BYTES
  const log = openSync(file, keep ? 'a' : 'w', 0o600)
  chmodSync(file, 0o600)
  return log
}

const logFile = (place: Place): string => join(place.home, 'postgres.log')

const logTail = (place: Place): string => lastLine(readText(logFile(place)) ?? '')

/** The last line with a reason: hints and routine lines of a shutdown follow it. */
function lastLine(text: string): string {
  const lines = text.trim().split('\n').slice(-15)
  return lines.findLast((line) => /FATAL|PANIC|ERROR|error:/.test(line)) ?? lines.at(-1) ?? ''
}

function textOf(error: unknown, key: 'message' | 'code' | 'stderr'): string {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, key) : undefined
  return typeof value === 'string' ? value : ''
}
