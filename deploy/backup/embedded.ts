// The embedded PostgreSQL, whose package has no pg_dump: `copy HOME TARGET` copies its cluster while it runs (the low-level backup of
// PostgreSQL, which recovers by its write-ahead log) or is stopped; `settle HOME` starts a restored one once, verifies it and moves its
// ids forward.

import { existsSync, readFileSync } from 'node:fs'
import { chown, cp, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts'
import { choosePlace } from '../../src/platform/embedded-postgres-place.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { AHEAD_SQL } from './ahead.ts'

/** Files that only a running server needs, or that it recreates. */
const NOT_COPIED = ['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans']

const [command, home = '', target = ''] = process.argv.slice(2)
if (command === 'copy') await copy()
else if (command === 'settle') await settle()
else throw new Error('Usage: embedded.ts copy HOME TARGET | embedded.ts settle HOME')

async function copy(): Promise<void> {
  const cluster = clusterOf(home)
  const isRunning = existsSync(join(cluster, 'postmaster.pid'))
  await mkdir(target, { recursive: true, mode: 0o700 })
  await writeFile(join(target, 'password'), readFileSync(join(home, 'password')), { mode: 0o600 })
  if (isRunning) return await copyRunning(cluster, join(target, 'cluster'))
  await cp(cluster, join(target, 'cluster'), { recursive: true, preserveTimestamps: true })
  if (existsSync(join(cluster, 'postmaster.pid'))) throw new Error('The server was started while its database was copied.')
}

async function copyRunning(cluster: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(home) })
  await client.connect()
  try {
    // Retains the write-ahead log during the copy; ends with this connection.
    await client.query("select pg_create_physical_replication_slot('vireo_backup_' || pg_backend_pid(), true, true)")
    await client.query("select pg_backup_start('vireo', true)")
    await copyFolder(cluster, to, isCopied)
    const { rows } = await client.query<{ labelfile: string; spcmapfile: string }>(
      'select labelfile, spcmapfile from pg_backup_stop(false)',
    )
    const [row] = rows
    if (!row) throw new Error('PostgreSQL did not tell how the backup is to be read.')
    await writeFile(join(to, 'backup_label'), row.labelfile, { mode: 0o600 })
    if (row.spcmapfile !== '') throw new Error('Tablespaces are not part of this backup.')
    for (const name of NOT_COPIED) await mkdir(join(to, name), { recursive: true, mode: 0o700 })
    await copyFolder(join(cluster, 'pg_wal'), join(to, 'pg_wal'), (path) => !path.includes('archive_status'))
    await mkdir(join(to, 'pg_wal', 'archive_status'), { recursive: true, mode: 0o700 })
  } finally {
    await client.end()
  }
}

function isCopied(path: string): boolean {
  const [first = ''] = path.split(sep)
  const name = basename(path)
  return !NOT_COPIED.includes(first) && !name.startsWith('postmaster.') && !name.startsWith('pgsql_tmp')
}

/** Files may appear and vanish meanwhile: the log covers that. */
async function copyFolder(from: string, to: string, wanted: (path: string) => boolean): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath, entry.name)
    const path = relative(from, source)
    if (!wanted(path)) continue
    if (entry.isDirectory()) await mkdir(join(to, path), { recursive: true, mode: 0o700 })
    else if (entry.isFile()) await cp(source, join(to, path)).catch((error: unknown) => ignoreNotFound(source, error))
  }
}

async function ignoreNotFound(source: string, error: unknown): Promise<void> {
  const isThere = await stat(source).then(
    () => true,
    () => false,
  )
  if (isThere) throw error
}

async function settle(): Promise<void> {
  await giveToItsAccount()
  const server = await startEmbeddedPostgres({ dataDir: home, logger: silentLogger })
  try {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(AHEAD_SQL)
    await client.end()
  } finally {
    await server.stop()
  }
}

/** PostgreSQL does not run as root, which uses another account instead. */
async function giveToItsAccount(): Promise<void> {
  const { account, cluster } = choosePlace(home)
  if (!account) return
  const within = await readdir(cluster, { recursive: true })
  for (const path of [cluster, ...within.map((name) => join(cluster, name))]) await chown(path, account.uid, account.gid)
}

/** The cluster of a server that root started may be elsewhere. */
function clusterOf(place: string): string {
  const pointer = join(place, 'location')
  return join(existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : place, 'cluster')
}

function urlOf(place: string): string {
  const [password, port] = ['password', 'port'].map((name) => readFileSync(join(place, name), 'utf8').trim())
  return `postgres://postgres:${password}@127.0.0.1:${port}/vireo`
}
