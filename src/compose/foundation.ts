// The foundation of all nouns: the configuration, the database, the queue and the bus, the runtime.

import { migrations } from '../../migrations/index.ts'
import { makeAudit } from '../actors/audit/index.ts'
import { findBegun } from '../actors/host-change/index.ts'
import { type ActorDeps, makeRuntime } from '../actors/runtime/index.ts'
import { makeStoredOverrides } from '../actors/runtime-config/index.ts'
import { type LoadedConfig, makeConfigSource } from '../config/index.ts'
import { objectAddresses, openDatabaseServer, redisAddress, withTls } from '../connections.ts'
import { entities } from '../entities.ts'
import { makeUrls } from '../federation/urls.ts'
import { makeBus } from '../platform/bus/index.ts'
import type { Clock } from '../platform/clock.ts'
import { makeDataFolder } from '../platform/data-folder.ts'
import { makeDatabase } from '../platform/database/index.ts'
import type { Health } from '../platform/health.ts'
import { type Logger, tagged } from '../platform/logger.ts'
import { makeLoopWatch } from '../platform/loop-watch.ts'
import { makeQueue } from '../platform/queue/index.ts'
import { connectRedis } from '../platform/redis.ts'
import { loadOrCreateSecret, makeSecrets } from '../platform/secrets.ts'
import { type Role, runtimeSettings } from '../runtime-settings.ts'
import { openMonitoring, UNWATCHED, watchParts } from './monitoring.ts'

type Foundation = Awaited<ReturnType<typeof openFoundation>>

/** What each floor stands on. `closers` close what was opened, the last one first. */
export type Ground = Foundation & { closers: (() => Promise<void>)[]; userAgent: string }

/** Throws an Error with a one-line message if a required service is unavailable. */
export async function openFoundation(
  options: { loaded: LoadedConfig; logger: Logger; roles: readonly Role[]; clock: Clock },
  closers: (() => Promise<void>)[],
  health: Health,
) {
  const { loaded, logger, roles, clock } = options
  makeDataFolder(loaded.dataDir)
  const source = makeConfigSource(loaded)
  const config = source.current
  // A command of the operator has no roles, and runs next to a process that uses these addresses.
  const watched = roles.length > 0 ? await openMonitoring({ config: config(), health, logger }, closers) : UNWATCHED

  const loopWatch = makeLoopWatch({ logger, telemetry: watched.telemetry })
  closers.push(async () => loopWatch.stop())
  const { url: databaseUrl, ...connection } = await openDatabaseServer(options, closers)
  const db = await makeDatabase({
    url: databaseUrl,
    ...connection,
    maxPrepared: config().vireo.database.prepared_statements,
    entities,
    migrations,
    logger: tagged(logger, 'sql'),
    prettySql: config().log.prettify_sql,
    onAnswer: loopWatch.resumed,
  })
  closers.push(() => db.close())
  // A command must not migrate the schema under a running server of another version.
  const migrated = roles.length > 0 ? await db.migrate() : await db.assertMigrated().then(() => [])
  health.migrated()
  if (migrated.length > 0) logger.info({ migrations: migrated }, 'the schema was brought up to date')
  const changing = roles.length > 0 ? await findBegun(db.query) : undefined
  if (changing) throw new Error(`The change of address to ${changing.to} was not ended: run vireo update-host --apply again.`)

  const secrets = makeSecrets({ secret: await loadOrCreateSecret({ configured: config().secrets.peertube, dataDir: loaded.dataDir }) })
  // Before anything else reads the configuration.
  const stored = makeStoredOverrides({ db, source, logger, secrets })
  await stored.load()

  const redis = loaded.redis ? redisAddress(loaded.redis) : undefined
  /** Separates several servers on one Redis or PostgreSQL. */
  const prefix = `vireo-${config().webserver.hostname}-${config().webserver.port}`
  const postgresBackend = { kind: 'postgres', connectionString: withTls(databaseUrl, connection) } as const
  const [queue, bus, limits] = await Promise.all([
    makeQueue({
      backend: redis ? { kind: 'redis', redis } : { ...postgresBackend, schema: 'bullmq', poolMax: config().vireo.queue.pool_max },
      prefix,
      logger,
    }),
    makeBus({ backend: redis ? { kind: 'redis', redis } : postgresBackend, prefix, logger }),
    // For limits, and for the data of federation.
    redis ? connectRedis({ address: redis, logger }) : undefined,
  ])
  closers.push(
    () => queue.close(),
    () => bus.close(),
  )
  if (limits) closers.push(async () => void limits.disconnect())
  watchParts(health, { db, redis: limits })

  const audit = makeAudit({ clock })
  const runtime = makeRuntime({
    db,
    queue,
    bus,
    clock,
    logger,
    settings: () => runtimeSettings(config(), roles),
    observers: audit,
    loopWatch,
  })
  const deps: ActorDeps = {
    db,
    tell: runtime.tell,
    registry: runtime.registry,
    clock,
    logger,
    config,
    secrets,
    urls: makeUrls(loaded.publicUrl, objectAddresses(config())),
  }
  /** For other processes. */
  const database = { url: databaseUrl, ssl: connection.ssl, verifyCertificate: connection.verifyCertificate }
  return { source, stored, watched, loopWatch, db, database, bus, limits, prefix, audit, runtime, deps }
}
