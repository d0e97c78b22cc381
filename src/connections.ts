// The external services in the configuration: PostgreSQL (embedded by default), Redis, and the store with its folders and buckets.

import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config, LoadedConfig, RedisChoice } from './config/index.ts'
import {
  bucketOrigins,
  type FileKind,
  type FileRef,
  type FileStore,
  fileKinds,
  makeFileStore,
  makePlacedStore,
  makeS3Store,
  mixedBuckets,
  needsPathStyle,
  type ObjectSettings,
  type ObjectStore,
  objectAddress,
} from './media/index.ts'
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

/** The address with `pg`'s TLS parameters, for parts that get only an address. */
export function withTls(url: string, connection: { ssl: boolean; verifyCertificate: boolean }): string {
  if (!connection.ssl) return url
  const address = new URL(url)
  address.searchParams.set('sslmode', connection.verifyCertificate ? 'verify-full' : 'no-verify')
  return address.href
}

/** The configured folders, by the kinds of the store. */
function storePlaces({ storage }: Config): Parameters<typeof makeFileStore>[0] {
  const { tmp_persistent: uploads, ...folders } = storage
  return { directories: { ...folders, uploads }, tmp: storage.tmp }
}

/**
 * A warning about a folder of stored files that contains another one; undefined if all are separate. The server works with that, but cannot
 * tell which files in it are in use.
 */
export function mixedFolders({ config: { storage }, dataDir }: LoadedConfig): string | undefined {
  const kinds = [...fileKinds.filter((kind) => kind !== 'tmp' && kind !== 'uploads'), 'tmp_persistent']
  const folders = Object.entries(storage).map(([key, path]) => ({ key, name: `storage.${key}`, path: realPath(path) }))
  const all = [...folders, { key: '', name: 'the data folder', path: realPath(dataDir) }]
  for (const outer of folders.filter(({ key }) => kinds.includes(key))) {
    const inner = all.find(({ key, path }) => key !== outer.key && `${path}/`.startsWith(`${outer.path}/`))
    if (inner) return `${outer.name} holds ${inner.name}`
  }
  return undefined
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

/** The folders for cached remote files, by the same kinds. */
export function cachePlaces({ storage }: Config): Parameters<typeof makeFileStore>[0] {
  const folders = fileKinds.map((kind) => [kind, join(storage.cache, kind)])
  return { directories: Object.fromEntries(folders) as Record<FileKind, string>, tmp: storage.tmp }
}

/** The configured store, and a separate object storage client for the check at the start, if there is any. */
export function openStore(config: Config, owner: string): { store: FileStore; objects: ObjectStore | undefined } {
  const files = makeFileStore({ ...storePlaces(config), owner })
  const settings = objectSettings(config)
  if (!settings) return { store: files, objects: undefined }
  const objects = makeS3Store({ settings, tmp: config.storage.tmp, owner })
  const preferred = config.object_storage.enabled ? 'object-storage' : 'file-system'
  return { store: makePlacedStore({ files, objects, preferred }), objects }
}

/** Public addresses of files in object storage. */
export function objectAddresses(config: Config) {
  const settings = objectSettings(config)
  return {
    addressOf: (ref: FileRef) => settings && objectAddress(settings, ref),
    origins: settings ? bucketOrigins(settings) : [],
  }
}

/** Undefined without an endpoint. Throws an Error with a one-line message if the keys of two kinds would mix in a bucket. */
export function objectSettings({ object_storage, vireo }: Config): ObjectSettings | undefined {
  if (object_storage.endpoint === '') return undefined
  const { web_videos, streaming_playlists, original_video_files, captions, user_exports } = object_storage
  const { credentials, upload_acl } = object_storage
  const { open_buckets, signed_lifetime, ...others } = vireo.object_storage
  const buckets: ObjectSettings['buckets'] = {}
  const kinds: Partial<Record<FileKind, { bucket_name: string; prefix: string; base_url?: string }>> = {
    web_videos,
    streaming_playlists,
    original_video_files,
    captions,
    user_exports,
    ...others,
  }
  for (const kind of fileKinds) {
    const section = kinds[kind]
    if (!section || section.bucket_name === '') continue
    const baseUrl = section.base_url?.replace(/\/+$/, '') ?? ''
    buckets[kind] = { name: section.bucket_name, prefix: section.prefix, baseUrl }
  }
  const mixed = mixedBuckets(buckets)
  if (mixed) throw new Error(`Object storage: ${mixed}.`)
  const { endpoint: given } = object_storage
  const endpoint = (given.includes('://') ? given : `https://${given}`).replace(/\/+$/, '')
  return {
    endpoint,
    buckets,
    acl: upload_acl,
    region: object_storage.region,
    credentials: { accessKeyId: credentials.access_key_id, secretAccessKey: credentials.secret_access_key },
    pathStyle: object_storage.force_path_style || needsPathStyle(endpoint),
    maxPart: object_storage.max_upload_part,
    attempts: object_storage.max_request_attempts,
    openBuckets: open_buckets,
    signedLifetime: signed_lifetime,
  }
}

export function redisAddress(choice: RedisChoice): RedisAddress {
  if (choice.kind === 'url') return { url: choice.url }
  const { masterName, sentinels, tls, password, db } = choice
  return { sentinel: { masterName, sentinels, tls }, db, ...(password === null ? {} : { password }) }
}
