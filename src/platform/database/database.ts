// PostgreSQL through MikroORM: entities for the writes of a command, plain SQL for reads, one pool for both.

import { setTimeout as pause } from 'node:timers/promises'
import { Migrator } from '@mikro-orm/migrations'
import { type AnyEntity, type EntityClass, type EntityManager, type EntitySchema, MikroORM, type Options } from '@mikro-orm/postgresql'
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import { Pool, type PoolClient, type QueryResult, types as standardTypes, TypeOverrides } from 'pg'
import type { Logger } from '../logger.ts'
import { isRetryable, reportOutage } from './errors.ts'
import { makeStatements, type RunStatement, type StatementOptions } from './statements.ts'

export type Row = Record<string, unknown>

/** Runs one SQL statement with `$1` parameters and returns its rows. 64-bit integers are numbers. */
export type Sql = <R extends object = Row>(text: string, values?: readonly unknown[], options?: StatementOptions) => Promise<R[]>

export interface Transaction {
  /** The entities of this transaction; flushed before the commit. */
  readonly em: EntityManager
  /** Plain SQL inside this transaction. */
  query: Sql
  /** Writes the changed entities; does nothing without any. */
  flush(): Promise<void>
}

export interface TransactionOptions {
  /** How long to wait for a locked row; by default forever. */
  lockTimeoutMs?: number
}

export interface Database {
  /** Plain SQL outside any transaction: the reads. */
  query: Sql
  /** Runs `work` in one transaction with an EntityManager of its own. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Updates the schema, one process at a time. Returns the names of the migrations that ran. */
  migrate(): Promise<string[]>
  /** For commands that must not migrate under a server of another version. Throws an Error with a one-line message. */
  assertMigrated(): Promise<void>
  /** The names of the migrations that `migrate` would run now. Writes nothing. */
  pendingMigrations(): Promise<string[]>
  /** Statements sent since the start; the benchmarks count with it. */
  statements(): number
  /** Time of the last response, on the clock of `performance.now()`. */
  answeredAt(): number
  /** Connections of this process, and callers that wait for one. */
  connections(): { open: number; idle: number; waiting: number; most: number }
  close(): Promise<void>
}

export interface DatabaseOptions {
  url: string
  /** Maximum connections. */
  poolMax: number
  /** Prepared statements per connection; 0 for none. */
  maxPrepared?: number
  /** Encrypted; with `verifyCertificate`, only to a server with a valid certificate. */
  ssl?: boolean
  verifyCertificate?: boolean
  entities: (EntityClass<AnyEntity> | EntitySchema)[]
  migrations: { name: string; class: new (...args: never[]) => object }[]
  /** Statements are logged at level debug, without their values. */
  logger: Logger
  /** Formatted, not on one line. */
  prettySql?: boolean
  /** Called in the caller's context, for each statement. */
  onAnswer?: () => void
}

// Any number that no other program uses for its advisory lock: "vireo" in ASCII.
const MIGRATION_LOCK = 0x766972656f
const LOCK_EVERY_MS = 200
/** As many as PgBouncer tracks by default. Each takes some 100 kB of memory in a PostgreSQL connection. */
const MAX_PREPARED = 200

// One set of parsers for entities and plain SQL: 64-bit integers are numbers (ids and bytes stay below 2^53), times are Dates.
const { INT8, TIMESTAMPTZ } = standardTypes.builtins
const types = new TypeOverrides()
types.setTypeParser(INT8, Number)
types.setTypeParser(TIMESTAMPTZ, standardTypes.getTypeParser(TIMESTAMPTZ))

/** Connects; throws an Error with a one-line message if the server is unreachable or refuses. */
export async function makeDatabase(options: DatabaseOptions): Promise<Database> {
  const described = await describe(options)
  // For its connections and migrations: it needs no entities.
  const orm = await MikroORM.init({ ...ormOptions(options), entities: [] })
  const pool = await connect(orm, options.url)
  const { logger, prettySql = false, onAnswer } = options
  const shown = (text: string): string => (prettySql ? text : text.replace(/\s+/g, ' ').trim())
  let count = 0
  let answeredAt = Number.NEGATIVE_INFINITY

  const run = makeStatements(options.maxPrepared ?? MAX_PREPARED)
  const querying = (send: RunOn): Sql => {
    return async <R extends object>(text: string, values: readonly unknown[] = [], choice?: StatementOptions) => {
      count += 1
      if (logger.isLevelEnabled('debug')) logger.debug({ sql: shown(text) }, 'statement')
      const { rows } = await send<R>({ text, values }, choice).catch(reportOutage)
      answeredAt = performance.now()
      onAnswer?.()
      return rows
    }
  }
  const onPool = onPoolBy(pool, run)

  async function migrationsDone(): Promise<Set<string>> {
    const { rows: tables } = await pool.query("select to_regclass('migration') as found where to_regclass('migration') is not null")
    const { rows } = tables.length === 0 ? { rows: [] } : await pool.query<{ name: string }>('select name from migration')
    return new Set(rows.map(({ name }) => name))
  }

  async function pendingMigrations(): Promise<string[]> {
    const done = await migrationsDone()
    return options.migrations.map(({ name }) => name).filter((name) => !done.has(name))
  }

  return {
    query: querying(onPool),
    async transaction(work, options = {}) {
      return await inTransaction(pool, options, async (connection) => {
        let em: EntityManager | undefined
        const flush = async () => await em?.flush()
        const answer = await work({
          query: querying((statement, choice) => run(connection, statement, choice)),
          get em() {
            em ??= managerOn((statement) => run(connection, statement), described)
            return em
          },
          flush,
        })
        await flush()
        return answer
      })
    },
    async migrate() {
      if ((await pendingMigrations()).length === 0) return []
      const lock = await pool.connect()
      try {
        await takeLock(lock)
        const ran = await orm.migrator.up()
        return ran.map((migration) => migration.name)
      } finally {
        await lock.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined)
        lock.release()
      }
    },
    async assertMigrated() {
      const pending = await pendingMigrations()
      if (pending.length === 0) return
      if ((await migrationsDone()).size === 0)
        throw new Error('The database is empty: see whether it is the right one, and start the server once.')
      throw new Error(
        `Migrations are pending (${pending.join(', ')}): start the server of this version, or run vireo migrate while none of another version runs.`,
      )
    },
    pendingMigrations,
    statements: () => count,
    answeredAt: () => answeredAt,
    connections: () => ({
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      most: options.poolMax,
    }),
    async close() {
      await orm.close(true)
      // MikroORM ends the pool only if its own queries used it.
      if (!pool.ending) await pool.end()
    },
  }
}

type RunOn = <R extends object>(statement: Parameters<RunStatement>[1], options?: StatementOptions) => Promise<QueryResult<R>>

/** On any connection; repeated without a prepared plan after a deadlock, or if the plan was for an older schema. */
const onPoolBy = (pool: Pool, run: RunStatement): RunOn => {
  const once: RunOn = async (statement, options) => {
    const connection = await pool.connect()
    try {
      return await run(connection, statement, options)
    } finally {
      connection.release()
    }
  }
  return async <R extends object>(statement: Parameters<RunOn>[0], options?: StatementOptions) => {
    try {
      return await once<R>(statement, options)
    } catch (error) {
      if (!isRetryable(error)) throw error
      return await once<R>(statement, { ...options, prepared: false })
    }
  }
}

/** The pool decides whether a connection is usable after a failed transaction: it closes a broken one. */
async function inTransaction<T>(
  pool: Pool,
  { lockTimeoutMs }: TransactionOptions,
  work: (connection: PoolClient) => Promise<T>,
): Promise<T> {
  const connection = await pool.connect().catch(reportOutage)
  let broken: Error | undefined
  try {
    try {
      // One text, so that it takes one round trip.
      const timeout = lockTimeoutMs === undefined ? '' : `; set local lock_timeout = ${Math.round(lockTimeoutMs)}`
      await connection.query(`begin${timeout}`).catch(reportOutage)
      const answer = await work(connection)
      await commit(connection)
      return answer
    } catch (error) {
      // The original error is thrown, whatever happens to the rollback.
      await connection.query('rollback').catch((cause: Error) => {
        broken = cause
      })
      throw error
    }
  } finally {
    connection.release(broken)
  }
}

/** A transaction with a failed statement is rolled back, even if its work does not throw. */
async function commit(connection: PoolClient): Promise<void> {
  const { command } = await connection.query('commit').catch(reportOutage)
  if (command !== 'COMMIT') throw new Error('A statement of this transaction failed: nothing of it was stored.')
}

const descriptions = new WeakMap<DatabaseOptions['entities'], Promise<MikroORM>>()

/** MikroORM processes a list of entities once per process, which takes longer than opening a database. It never connects. */
function describe(options: DatabaseOptions): Promise<MikroORM> {
  const known = descriptions.get(options.entities)
  if (known) return known
  const described = MikroORM.init(ormOptions(options))
  descriptions.set(options.entities, described)
  return described
}

/** Entities that are read and written on this connection, inside its transaction. */
function managerOn(run: RunOn, orm: MikroORM): EntityManager {
  // Its type allows cursors, which MikroORM does not use here.
  const query: PostgresPoolClient['query'] = (text: unknown, values: readonly unknown[] = []) =>
    run({ text: String(text), values }) as never
  const pool: PostgresPool = {
    connect: async () => ({ query, release() {} }),
    end: async () => {},
    options: {},
  }
  const em = orm.em.fork({ clear: true, useContext: false }) as EntityManager
  em.setTransactionContext(new Kysely({ dialect: new PostgresDialect({ pool }) }))
  return em
}

/**
 * Polls until it is free. A session that waits for a lock inside a statement holds a snapshot, which would block another process that
 * creates an index `concurrently`, as would an open transaction: so the lock belongs to the session.
 */
async function takeLock(connection: Pick<Pool, 'query'>): Promise<void> {
  for (;;) {
    const { rows } = await connection.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [MIGRATION_LOCK])
    if (rows[0]?.taken) return
    await pause(LOCK_EVERY_MS)
  }
}

/** The settings of MikroORM, shared with its command line (mikro-orm.config.ts). */
export function ormOptions(options: DatabaseOptions): Options {
  return {
    clientUrl: options.url,
    entities: options.entities,
    extensions: [Migrator],
    migrations: {
      migrationsList: options.migrations as never,
      tableName: 'migration',
      snapshot: false,
      transactional: true,
      // A transaction per migration, so that tables are not locked for the duration of all.
      allOrNothing: false,
      silent: true,
    },
    discovery: { warnWhenNoEntities: false },
    pool: { min: 0, max: options.poolMax },
    driverOptions: {
      types,
      ...(options.ssl ? { ssl: { rejectUnauthorized: options.verifyCertificate ?? false } } : {}),
    },
    forceUtcTimezone: true,
    allowGlobalContext: false,
    ensureDatabase: false,
    logger: (message) => options.logger.debug(message),
  }
}

async function connect(orm: MikroORM, url: string): Promise<Pool> {
  const where = new URL(url)
  const name = `${decodeURIComponent(where.hostname)}:${where.port || '5432'}${where.pathname}`
  try {
    await orm.connect()
    const connection: { getNativeClient?(): Promise<unknown> } = orm.em.getConnection()
    const pool = await connection.getNativeClient?.()
    if (!(pool instanceof Pool)) throw new Error('the driver gave no pool')
    await pool.query('select 1')
    return pool
  } catch (error) {
    await orm.close(true).catch(() => undefined)
    const reason = error instanceof Error ? error.message || String(error.cause ?? error.name) : String(error)
    throw new Error(`PostgreSQL at ${name} cannot be used: ${reason}. Check the section "database" of the configuration, or DATABASE_URL.`)
  }
}
