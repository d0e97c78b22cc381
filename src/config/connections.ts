// Chooses PostgreSQL and Redis: those in the configuration or a URL, otherwise the embedded PostgreSQL and no Redis.

import type { Config } from './complete.ts'
import type { Environment } from './environment.ts'
import { ConfigError } from './errors.ts'
import { type Values, valueAt } from './layers.ts'

export type DatabaseChoice =
  | { kind: 'embedded'; poolMax: number }
  | {
      kind: 'server'
      url: string
      /** Maximum connections of one process. */
      poolMax: number
      ssl: boolean
      /** True if the certificate must be valid: `sslmode=verify-ca` or `verify-full` in DATABASE_URL. */
      verifyCertificate: boolean
    }

export type RedisChoice =
  | { kind: 'url'; url: string }
  | {
      kind: 'sentinel'
      masterName: string
      sentinels: { host: string; port: number }[]
      password: string | null
      db: number
      tls: boolean
    }

/** Keys whose presence means that a server is configured; `pool` alone does not. */
const DATABASE_KEYS = ['hostname', 'port', 'socket', 'name', 'suffix', 'username', 'password', 'ssl']
const REDIS_KEYS = ['hostname', 'port', 'socket', 'auth', 'db', 'sentinel']

/** Throws ConfigError for an invalid DATABASE_URL. */
export function chooseDatabase(config: Config, input: Values, env: Environment): DatabaseChoice {
  const poolMax = config.database.pool.max
  if (env.DATABASE_URL) return databaseFromUrl(env.DATABASE_URL, { poolMax, ssl: config.database.ssl })
  if (names(input, 'database', DATABASE_KEYS)) {
    return {
      kind: 'server',
      url: databaseUrl(config.database),
      poolMax,
      ssl: config.database.ssl,
      verifyCertificate: false,
    }
  }
  const isPoolSet = valueAt(input, ['database', 'pool', 'max']) !== undefined
  return { kind: 'embedded', poolMax: isPoolSet ? poolMax : config.vireo.embedded.pool_max }
}

/** Throws ConfigError for an invalid REDIS_URL, and if sentinels are enabled but not listed. */
export function chooseRedis(config: Config, input: Values, env: Environment): RedisChoice | null {
  if (env.REDIS_URL) return redisFromUrl(env.REDIS_URL)
  return names(input, 'redis', REDIS_KEYS) ? redisFromKeys(config.redis) : null
}

function names(input: Values, section: string, keys: readonly string[]): boolean {
  return keys.some((key) => (valueAt(input, [section, key]) ?? null) !== null)
}

function databaseUrl(database: Config['database']): string {
  const { username, password } = database
  const name = encodeURIComponent(database.name ?? `peertube${database.suffix}`)
  const place = database.socket ? encodeURIComponent(database.socket) : `${urlHost(database.hostname)}:${database.port}`
  return `postgres://${encodeURIComponent(username)}:${encodeURIComponent(password)}@${place}/${name}`
}

function databaseFromUrl(value: string, options: { poolMax: number; ssl: boolean }): DatabaseChoice {
  const url = URL.parse(value)
  if (!url || !['postgres:', 'postgresql:'].includes(url.protocol) || url.pathname.length < 2) {
    throw new ConfigError([`DATABASE_URL is "${withoutPassword(value)}", expected postgres://user:password@host:5432/database`])
  }
  const mode = url.searchParams.get('sslmode')
  return {
    kind: 'server',
    url: value,
    poolMax: options.poolMax,
    ssl: mode === null ? options.ssl : !['disable', 'allow', 'prefer'].includes(mode),
    verifyCertificate: mode === 'verify-ca' || mode === 'verify-full',
  }
}

function redisFromUrl(value: string): RedisChoice {
  const isUrl = /^rediss?:\/\/[^/]/i.test(value) && URL.canParse(value)
  if (isUrl || /^\/[^/]/.test(value)) return { kind: 'url', url: value }
  throw new ConfigError([`REDIS_URL is "${withoutPassword(value)}", expected redis://:password@host:6379/0`])
}

function redisFromKeys(redis: Config['redis']): RedisChoice {
  const { auth, db, socket, sentinel } = redis
  if (sentinel.enabled) {
    const sentinels = sentinel.sentinels.filter((each) => each.hostname !== '')
    if (sentinels.length === 0 || sentinel.master_name === '') {
      throw new ConfigError(['redis.sentinel.enabled is true, expected redis.sentinel.master_name and sentinels too'])
    }
    return {
      kind: 'sentinel',
      masterName: sentinel.master_name,
      sentinels: sentinels.map(({ hostname, port }) => ({ host: hostname, port })),
      password: auth,
      db,
      tls: sentinel.enable_tls,
    }
  }
  const password = auth === null ? '' : encodeURIComponent(auth)
  if (socket) return { kind: 'url', url: `${socket}?db=${db}${password && `&password=${password}`}` }
  return { kind: 'url', url: `redis://${password && `:${password}@`}${urlHost(redis.hostname)}:${redis.port}/${db}` }
}

function urlHost(hostname: string): string {
  return hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname
}

function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]*@/, ':(hidden)@')
}
