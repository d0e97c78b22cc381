// Runs once before all tests: starts a temporary PostgreSQL with a template database, and Redis if available.

import { execFile, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { processIdentity } from '../src/platform/embedded-postgres-process.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { prepareKeys } from './support/fast-crypto.ts'
import { freePort } from './support/ports.ts'
import { createDatabase, makeLoginCheap, run, withDatabase } from './support/postgres.ts'
import { startRedis } from './support/redis.ts'
import prepareTemplate from './support/template.ts'

const PREFIX = 'vireo-test-'
const TEMPLATE = 'vireo_template'

/** In memory on Linux: a copy of the template is 800 files, which take ten times as long on disk. */
const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 4 * 2 ** 30

/** Timeout of the server's start. */
const COMPILES_WITHIN_MS = 60_000

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url))

export default async function setup(): Promise<void> {
  const place = temporaryFolder()
  await removeLeftovers(place)
  const folder = mkdtempSync(join(place, `${PREFIX}${processIdentity(process.pid)}.`))
  // PostgreSQL runs as another user if the tests run as root.
  chmodSync(folder, 0o711)
  // Files of tests are below it too, except for media, which later runs reuse.
  process.env.VIREO_TEST_KEPT = tmpdir()
  await prepareKeys(tmpdir())
  process.env.TMPDIR = folder
  // For the workers. Node replaces the cache of a changed file.
  process.env.NODE_COMPILE_CACHE = join(process.env.VIREO_TEST_KEPT, 'vireo-compiled')
  const home = join(folder, 'postgres')
  const startPostgres = () =>
    startEmbeddedPostgres({ dataDir: home, maxConnections: 400, logger: silentLogger, fsync: false, autovacuum: false })
  let postgres = await startPostgres()
  const redis = await startRedis(folder)
  const teardown = async () => {
    await redis?.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await makeLoginCheap(postgres.url)
    await prepareTemplate(postgres.url)
    await postgres.stop()
    process.env.VIREO_TEST_CLUSTER = await copyOfCluster(home, join(folder, 'cluster'))
    postgres = await startPostgres()
    const admin = withDatabase(postgres.url, 'postgres')
    await createDatabase(admin, TEMPLATE, new URL(postgres.url).pathname.slice(1))
    await compileServer(folder, admin)
    process.env.VIREO_TEST_POSTGRES_URL = admin
    process.env.VIREO_TEST_TEMPLATE = TEMPLATE
    if (redis) process.env.VIREO_TEST_REDIS_URL = redis.url
    Reflect.set(globalThis, 'vireoTestTeardown', teardown)
  } catch (error) {
    await teardown()
    throw error
  }
}

/** An initialised cluster for servers without an external database; empty where the cluster is elsewhere. */
async function copyOfCluster(home: string, copy: string): Promise<string> {
  if (!existsSync(join(home, 'cluster'))) return ''
  mkdirSync(copy)
  // With its owner.
  await promisify(execFile)('cp', ['-a', join(home, 'cluster'), join(home, 'password'), copy])
  return copy
}

/**
 * Node writes its compile cache when a process exits normally: this one does, so that killed nodes need not compile the functions that a
 * start calls. Nodes have the default cache, since the workers' was compiled with other flags.
 */
async function compileServer(folder: string, admin: string): Promise<void> {
  const name = 'vireo_compiled'
  await createDatabase(admin, name, TEMPLATE)
  const server = spawn(process.execPath, [MAIN, 'serve'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: undefined,
      TMPDIR: undefined,
      DATABASE_URL: withDatabase(admin, name),
      VIREO_DATA_DIR: join(folder, name),
      VIREO__LISTEN__PORT: String(await freePort()),
      VIREO__LOG__LEVEL: 'fatal',
    },
  })
  server.stdout.on('data', (said: Buffer) => {
    if (said.includes('server listening on')) server.kill('SIGTERM')
  })
  // Without it starts are slow, and the tests report the reason.
  const patience = setTimeout(() => server.kill('SIGKILL'), COMPILES_WITHIN_MS)
  await new Promise<void>((resolve) => {
    server.once('error', () => resolve())
    server.once('close', () => resolve())
  })
  clearTimeout(patience)
  await run(admin, `drop database ${name} with (force)`)
}

/** In memory, if there is enough of it. */
function temporaryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH_BYTES && freemem() >= ENOUGH_BYTES ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Ends processes of a killed test run. */
async function removeLeftovers(place: string): Promise<void> {
  for (const name of readdirSync(place)) {
    if (!name.startsWith(PREFIX)) continue
    const identity = name.slice(PREFIX.length, name.lastIndexOf('.'))
    if (processIdentity(Number.parseInt(identity, 10)) === identity) continue
    const folder = join(place, name)
    await stopEmbeddedPostgres({ dataDir: join(folder, 'postgres') }).catch(() => undefined)
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // A process of that run is still writing: the next run removes it.
    }
  }
}
