// Runs once before all tests: one throw-away PostgreSQL with a template database, and one Redis where there is any.

import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { processIdentity } from '../src/platform/embedded-postgres-process.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { createDatabase, makeLoginCheap, withDatabase } from './support/postgres.ts'
import { startRedis } from './support/redis.ts'
import prepareTemplate from './support/template.ts'

const PREFIX = 'vireo-test-'
const TEMPLATE = 'vireo_template'

/** Linux keeps it in memory. A copy of the template is 800 files, which take ten times as long on a disk. */
const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 4 * 2 ** 30

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

export default async function setup(): Promise<void> {
  const place = temporaryFolder()
  await removeLeftovers(place)
  const folder = mkdtempSync(join(place, `${PREFIX}${processIdentity(process.pid)}.`))
  // PostgreSQL runs as another user when we are root.
  chmodSync(folder, 0o711)
  // What tests make is under it too, but for the media that the next run wants again.
  process.env.VIREO_TEST_KEPT = tmpdir()
  process.env.TMPDIR = folder
  // Node writes its cache when a process ends by itself: this one does, and spares workers and killed nodes the compiling.
  process.env.NODE_COMPILE_CACHE = join(folder, 'compiled')
  const compiled = promisify(execFile)(process.execPath, [MAIN, '--help']).catch(() => undefined)
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    maxConnections: 400,
    logger: silentLogger,
    fsync: false,
  })
  const redis = await startRedis(folder)
  const teardown = async () => {
    await redis?.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const admin = withDatabase(postgres.url, 'postgres')
    await makeLoginCheap(admin)
    await createDatabase(admin, TEMPLATE)
    await prepareTemplate(withDatabase(admin, TEMPLATE))
    await compiled
    process.env.VIREO_TEST_POSTGRES_URL = admin
    process.env.VIREO_TEST_TEMPLATE = TEMPLATE
    if (redis) process.env.VIREO_TEST_REDIS_URL = redis.url
    Reflect.set(globalThis, 'vireoTestTeardown', teardown)
  } catch (error) {
    await teardown()
    throw error
  }
}

/** In memory, where there is plenty of it. */
function temporaryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH_BYTES && freemem() >= ENOUGH_BYTES ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Ends what a killed test run left behind. */
async function removeLeftovers(place: string): Promise<void> {
  for (const name of readdirSync(place)) {
    if (!name.startsWith(PREFIX)) continue
    const identity = name.slice(PREFIX.length, name.lastIndexOf('.'))
    if (processIdentity(Number.parseInt(identity, 10)) === identity) continue
    const folder = join(place, name)
    await stopEmbeddedPostgres({ dataDir: join(folder, 'postgres') }).catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  }
}
