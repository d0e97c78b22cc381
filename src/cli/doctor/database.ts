// The database: reachable, recent enough, UTF-8, with its extensions and migrations, enough connections, and belonging to this server.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { migrations } from '../../../migrations/index.ts'
import type { LoadedConfig } from '../../config/index.ts'
import { withTls } from '../../connections.ts'
import { startEmbeddedPostgres } from '../../platform/embedded-postgres.ts'
import { newUuid } from '../../platform/ids.ts'
import { silentLogger } from '../../platform/logger.ts'
import { loadOrCreateSecret, makeSecrets } from '../../platform/secrets.ts'
import { type Check, DATABASE_LIMIT, type DoctorDatabase, type Patient, type Say } from './check.ts'

const CONNECT_TIMEOUT_MS = 6_000
/** Of `server_version_num`. */
const OLDEST = 150_000
const EXTENSIONS = ['pg_trgm', 'unaccent']
/** In addition to the pool: those of the queue with one that listens, and one of the bus. */
const OTHER_CONNECTIONS = 8

export interface OpenedDatabase {
  /** Undefined if there is an embedded PostgreSQL that was never started. */
  database: DoctorDatabase | undefined
  close(): Promise<void>
}

/** The start of the embedded PostgreSQL takes longer than a connection. */
export async function openForDoctor({ database, dataDir, config }: LoadedConfig): Promise<OpenedDatabase> {
  if (database.kind === 'server') {
    const pool = await connect(withTls(database.url, database))
    return { database: asDatabase(pool), close: () => pool.end() }
  }
  const folder = join(dataDir, 'postgres')
  if (!existsSync(folder)) return { database: undefined, close: async () => {} }
  const { postgres_port: port, max_connections: maxConnections } = config.vireo.embedded
  const embedded = await startEmbeddedPostgres({ dataDir: folder, port, maxConnections, logger: silentLogger })
  try {
    const pool = await connect(embedded.url)
    return {
      database: asDatabase(pool),
      async close() {
        await pool.end()
        await embedded.stop()
      },
    }
  } catch (error) {
    await embedded.stop()
    throw error
  }
}

async function connect(connectionString: string): Promise<pg.Pool> {
  const pool = new pg.Pool({
    connectionString,
    max: 2,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
    application_name: 'vireo-doctor',
  })
  // A connection that was lost shows at the next statement.
  pool.on('error', () => {})
  try {
    await pool.query('select 1')
    return pool
  } catch (error) {
    await pool.end()
    throw error
  }
}

const asDatabase = (pool: pg.Pool): DoctorDatabase => ({
  query: async <R extends object>(text: string, values: readonly unknown[] = []) => (await pool.query<R>(text, [...values])).rows,
  keepsStatements: () => keepsStatements(pool),
})

/** `invalid_sql_statement_name` and `duplicate_prepared_statement`. */
const LOST_STATEMENT: readonly (string | undefined)[] = ['26000', '42P05']
/** A busy pooler may give a client the same connection several times. */
const TRIES = 20

async function keepsStatements(pool: pg.Pool): Promise<boolean> {
  const [one, other] = await Promise.all([pool.connect(), pool.connect()])
  const name = `vireo_doctor_${newUuid()}`
  const connectionOf = async () => (await one.query<{ pid: number }>({ name, text: 'select pg_backend_pid() as pid' })).rows[0]?.pid
  try {
    const first = await connectionOf()
    for (let tried = 0; tried < TRIES; tried += 1) {
      // A transaction-mode pooler gives this client the free connection, and takes another one for the next statement.
      await other.query('begin')
      await other.query('select 1')
      if ((await connectionOf()) !== first) return true
      await other.query('rollback')
    }
    return true
  } catch (error) {
    if (error instanceof pg.DatabaseError && LOST_STATEMENT.includes(error.code)) return false
    throw error
  } finally {
    one.release(true)
    other.release(true)
  }
}

export const databaseCheck: Check = {
  name: 'database',
  limit: DATABASE_LIMIT,
  async run(patient, say) {
    const { database } = patient.loaded
    const opened = await patient.database().catch((error: unknown) => {
      say.problem(
        `PostgreSQL cannot be used: ${reasonOf(error)}.`,
        database.kind === 'server'
          ? 'See whether it runs, and check the section "database" of the configuration, or DATABASE_URL.'
          : `Read ${join(patient.loaded.dataDir, 'postgres', 'postgres.log')}.`,
      )
    })
    if (!opened) return
    await lookAtServer(opened, say)
    await lookAtStatements(opened, patient, say)
    await lookAtConnections(opened, patient, say)
    if (await lookAtSchema(opened, say)) await lookAtIdentity(opened, patient, say)
  },
}

async function lookAtServer(database: DoctorDatabase, say: Say): Promise<void> {
  const [found] = await database.query<{ version: string; number: number; encoding: string }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
       current_setting('server_encoding') as encoding`,
  )
  if (!found) return
  if (found.number < OLDEST) {
    say.problem(`PostgreSQL ${found.version} is too old.`, `Bring it to version ${OLDEST / 10_000} or later.`)
  } else say.ok(`PostgreSQL ${found.version} answers.`)
  if (found.encoding !== 'UTF8') {
    const advice = 'Make a database with the encoding UTF8, and restore the data into it.'
    say.problem(`The encoding of the database is ${found.encoding}.`, advice)
  }
  const extensions = await database.query<{ name: string; installed: boolean }>(
    'select name, installed_version is not null as installed from pg_available_extensions where name = any($1)',
    [EXTENSIONS],
  )
  const missing = EXTENSIONS.filter((name) => !extensions.some((one) => one.name === name))
  if (missing.length > 0) {
    const advice = 'Install the package with the additional modules of PostgreSQL (postgresql-contrib).'
    say.problem(`PostgreSQL lacks ${missing.join(', ')}.`, advice)
  }
}

async function lookAtStatements(database: DoctorDatabase, { loaded }: Patient, say: Say): Promise<void> {
  if (loaded.config.vireo.database.prepared_statements === 0 || (await database.keepsStatements())) return
  say.problem(
    'The pooler before PostgreSQL loses prepared statements.',
    'Use PgBouncer 1.21 or later with max_prepared_statements, or set vireo.database.prepared_statements to 0.',
  )
}

async function lookAtConnections(database: DoctorDatabase, { loaded }: Patient, say: Say): Promise<void> {
  const [found] = await database.query<{ most: number; used: number }>(
    `select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as most,
       (select count(*)::integer from pg_stat_activity
         where backend_type = 'client backend' and datname is distinct from current_database()) as used`,
  )
  if (!found) return
  const one = loaded.database.poolMax + (loaded.redis ? 0 : OTHER_CONNECTIONS)
  const processes = Math.floor((found.most - found.used) / one)
  if (processes < 1) {
    const advice = 'Raise max_connections of PostgreSQL, or lower database.pool.max.'
    return say.problem(`A process uses up to ${one} connections, and ${found.most - found.used} are available.`, advice)
  }
  // A restart may run two of them at the same time.
  if (processes < 2) {
    const advice = 'Raise max_connections of PostgreSQL, or lower database.pool.max, before you run more processes.'
    return say.warning(`Its connections suffice for one process only, which uses up to ${one}.`, advice)
  }
  say.ok(`Its connections suffice for ${processes} processes, each of which uses up to ${one}.`)
}

/** Returns true if there is a schema. */
async function lookAtSchema(database: DoctorDatabase, say: Say): Promise<boolean> {
  const [there] = await database.query<{ there: boolean }>("select to_regclass('migration') is not null as there")
  if (!there?.there) {
    say.ok('The database is empty: the first start makes the tables.')
    return false
  }
  const ran = await database.query<{ name: string }>('select name from migration')
  const known = migrations.map(({ name }) => name)
  const pending = known.filter((name) => !ran.some((one) => one.name === name))
  const newer = ran.filter(({ name }) => !known.includes(name)).map(({ name }) => name)
  if (pending.length > 0) {
    say.warning(`Migrations are pending: ${pending.join(', ')}.`, 'Run `vireo migrate`, or start the server.')
  } else say.ok('The schema is up to date.')
  if (newer.length > 0) {
    say.warning(
      `A newer version of this software has changed the schema: ${newer.join(', ')}.`,
      'Run that version; going back needs the backup of before.',
    )
  }
  return true
}

/** Checks that the data belongs to this address and this secret. */
async function lookAtIdentity(database: DoctorDatabase, { loaded }: Patient, say: Say): Promise<void> {
  const [actor] = await database.query<{ url: string; sealed: string | null }>(
    `select url, private_key_sealed as sealed from actor
     where host_id is null and type = 'Application' order by id limit 1`,
  )
  if (!actor) return
  const origin = new URL(actor.url).origin
  if (origin !== loaded.publicUrl) {
    say.problem(
      `The data is that of ${origin}, and the configuration says ${loaded.publicUrl}.`,
      'Set `webserver` right; if the address has changed for good, stop the server and run `vireo update-host`.',
    )
  }
  if (actor.sealed === null) return
  try {
    makeSecrets({ secret: await secretOf(loaded) }).open(actor.sealed)
  } catch {
    say.problem(
      'The keys in the database were sealed with another secret.',
      'Restore secret.key of the data folder from the backup, or set secrets.peertube.',
    )
  }
}

/** Throws if there is none: a check creates none. */
export async function secretOf({ config, dataDir }: LoadedConfig): Promise<string> {
  const configured = config.secrets.peertube
  if (configured === '' && !existsSync(join(dataDir, 'secret.key'))) throw new Error('There is no secret yet.')
  return await loadOrCreateSecret({ configured, dataDir })
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '')
}
