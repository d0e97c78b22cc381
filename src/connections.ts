// What the server stands on, as the configuration names it: PostgreSQL (the embedded one where none is named), Redis, and the
// folders of the store.

import { join } from 'node:path'
import type { Config, LoadedConfig, RedisChoice } from './config/index.ts'
import { type FileKind, fileKinds, type makeFileStore } from './media/index.ts'
import { startEmbeddedPostgres } from './platform/embedded-postgres.ts'
import type { Logger } from './platform/logger.ts'
import type { RedisAddress } from './platform/redis.ts'

export async function openDatabaseServer(
  { loaded, logger }: { loaded: LoadedConfig; logger: Logger },
  closers: (() => Promise<void>)[],
): Promise<{ url: string; poolMax: number; ssl: boolean; verifyCertificate: boolean }> {
  if (loaded.database.kind === 'server') return loaded.database
  const embedded = await startEmbeddedPostgres({
    dataDir: join(loaded.dataDir, 'postgres'),
    port: loaded.config.vireo.embedded.postgres_port,
    maxConnections: loaded.config.vireo.embedded.max_connections,
    logger,
  })
  closers.push(() => embedded.stop())
  return { url: embedded.url, poolMax: loaded.database.poolMax, ssl: false, verifyCertificate: false }
}

/** The address with what `pg` has to know of TLS, for the parts that get nothing but an address. */
export function withTls(url: string, connection: { ssl: boolean; verifyCertificate: boolean }): string {
  if (!connection.ssl) return url
  const address = new URL(url)
  address.searchParams.set('sslmode', connection.verifyCertificate ? 'verify-full' : 'no-verify')
  return address.href
}

/** The folders of the configuration, by the kinds of the store. */
export function storePlaces({ storage }: Config): Parameters<typeof makeFileStore>[0] {
  const { tmp_persistent: uploads, ...folders } = storage
  return { directories: { ...folders, uploads }, tmp: storage.tmp }
}

/** The folders of what was fetched from other servers, by the same kinds. */
export function cachePlaces({ storage }: Config): Parameters<typeof makeFileStore>[0] {
  const folders = fileKinds.map((kind) => [kind, join(storage.cache, kind)])
  return { directories: Object.fromEntries(folders) as Record<FileKind, string>, tmp: storage.tmp }
}

export function redisAddress(choice: RedisChoice): RedisAddress {
  if (choice.kind === 'url') return { url: choice.url }
  const { masterName, sentinels, tls, password, db } = choice
  return { sentinel: { masterName, sentinels, tls }, db, ...(password === null ? {} : { password }) }
}
