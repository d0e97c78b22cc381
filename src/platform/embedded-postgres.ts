// The embedded PostgreSQL: started if no database is configured, survives crashes of Vireo, stopped by its last user.

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { prepareBinaries } from './embedded-postgres-binaries.ts'
import { choosePlace, type Place } from './embedded-postgres-place.ts'
import { isAlive, type Postmaster, processIdentity, readPostmaster } from './embedded-postgres-process.ts'
import { makeCluster, openDatabase, type ServerSettings, settledServer, shutDown, startServer, urlOf } from './embedded-postgres-server.ts'
import type { Logger } from './logger.ts'
import { withProcessLock } from './mutex.ts'

export interface EmbeddedPostgresOptions extends ServerSettings {
  /** A folder of its own (for example `data/postgres`); the cluster is in `cluster/` below it. */
  dataDir: string
}

export type EmbeddedPostgres = Awaited<ReturnType<typeof startEmbeddedPostgres>>

/** Longer than the longest start, which may include the recovery after a power cut. */
const LOCK_TIMEOUT_MS = 320_000
const WATCH_MS = 1_000
/** Longer than the kernel takes to free the memory of a killed server. */
const ENDING_TIMEOUT_MS = 5_000

/**
 * Starts PostgreSQL on `dataDir`, or takes over the server that still runs there after a crash. The server has a process group of its own,
 * so that Ctrl-C lets the application drain first. It outlives a kill -9 of this process: the next start takes it over, and
 * `stopEmbeddedPostgres` ends it. If it dies while in use, it is restarted on the same port. Throws an error with a one-line message and a
 * remedy.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions) {
  const place = choosePlace(options.dataDir)
  const locked = <T>(work: () => Promise<T>) => withProcessLock(place.home, LOCK_TIMEOUT_MS, work)
  const up = () => bringUp(place, options)
  const client = join(place.home, 'clients', `${processIdentity(process.pid)}.${randomBytes(4).toString('hex')}`)

  const { port, reused } = await locked(async () => {
    const server = await up()
    mkdirSync(join(place.home, 'clients'), { recursive: true })
    writeFileSync(client, '')
    return server
  })
  const watch = keepUp(place, options.logger, port, () => locked(up))

  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    await watch.close()
    await locked(async () => {
      rmSync(client, { force: true })
      if (liveClients(place) === 0) await shutDown(place)
    })
  }
  return {
    /** `postgres://…` of the database `vireo`, with the password. */
    url: urlOf(place, port),
    port,
    /** True if a running server was taken over. */
    reused,
    /** Shuts the server down (fast: open transactions are rolled back), unless another live process still uses it. */
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

/**
 * Ends the server of `dataDir` that a killed process left behind. Returns its pid, or undefined if none ran. Throws if a live process still
 * uses it.
 */
export async function stopEmbeddedPostgres(options: { dataDir: string }): Promise<number | undefined> {
  if (!existsSync(options.dataDir)) return undefined
  const place = choosePlace(options.dataDir)
  return withProcessLock(place.home, LOCK_TIMEOUT_MS, async () => {
    if (liveClients(place) > 0) throw new Error(`The database in ${place.home} is in use: stop the server that uses it first`)
    return shutDown(place)
  })
}

/** Creates the cluster if necessary, and finds or starts its server. Called under the lock of the place. */
async function bringUp(place: Place, options: EmbeddedPostgresOptions): Promise<{ port: number; reused: boolean }> {
  const running = await settledServer(place, options.logger)
  if (running && (await takeOver(place, running))) return { port: running.port, reused: true }
  const binaries = prepareBinaries(place)
  await makeCluster(place, binaries, options)
  const port = await startServer(place, binaries, options)
  await openDatabase(place, port)
  writeFileSync(join(place.home, 'port'), `${port}\n`)
  return { port, reused: false }
}

/** True if the server can be used. Waits for one that was killed and is still ending. */
async function takeOver(place: Place, { pid, port }: Postmaster): Promise<boolean> {
  try {
    await openDatabase(place, port)
    return true
  } catch (error) {
    const giveUpAt = performance.now() + ENDING_TIMEOUT_MS
    while (isAlive(pid)) {
      if (performance.now() > giveUpAt) throw error
      await wait(10)
    }
    return false
  }
}

/** Restarts the server if it dies while in use (out of memory, killed by hand). */
function keepUp(place: Place, logger: Logger, port: number, restart: () => Promise<{ port: number }>): { close(): Promise<void> } {
  let pid = readPostmaster(place.cluster)?.pid
  let busy: Promise<void> | undefined
  const check = async () => {
    logger.error({ pid }, 'the embedded PostgreSQL ended unexpectedly, starting it again')
    const again = await restart()
    pid = readPostmaster(place.cluster)?.pid
    if (again.port !== port) logger.fatal({ port, now: again.port }, 'the embedded PostgreSQL had to change its port: restart the server')
  }
  const timer = setInterval(() => {
    if (busy || (pid !== undefined && isAlive(pid))) return
    busy = check()
      .catch((error: unknown) => logger.error({ error: String(error) }, 'the embedded PostgreSQL cannot be started again'))
      .finally(() => {
        busy = undefined
      })
  }, WATCH_MS).unref()
  return {
    async close() {
      clearInterval(timer)
      await busy
    },
  }
}

/** Number of the server's live users; marks of dead processes are removed. */
function liveClients(place: Place): number {
  const folder = join(place.home, 'clients')
  if (!existsSync(folder)) return 0
  return readdirSync(folder).filter((name) => {
    const identity = name.slice(0, name.indexOf('.'))
    const live = processIdentity(Number.parseInt(identity, 10)) === identity
    if (!live) rmSync(join(folder, name), { force: true })
    return live
  }).length
}
