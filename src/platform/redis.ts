// Connections to Redis with ioredis, with helpful errors at the start.

import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from './logger.ts'

export type { Redis }

/** Address of Redis: a URL (`redis://`, `rediss://`) or a group of sentinels. */
export type RedisAddress =
  | { url: string }
  | {
      sentinel: { masterName: string; sentinels: { host: string; port: number }[]; tls: boolean }
      password?: string
      db?: number
    }

export interface ConnectRedisOptions {
  address: RedisAddress
  logger: Logger
  /**
   * `fast` (the default): a command fails at once during an outage, and after two seconds without a response. `patient`: a command waits
   * until Redis is back; for workers that have nothing else to do.
   */
  mode?: 'fast' | 'patient'
}

const CONNECT_TIMEOUT_MS = 5_000
const COMMAND_TIMEOUT_MS = 2_000
const MAX_RETRY_MS = 2_000

/**
 * Connects and verifies it with a PING. Later losses are logged once per outage, with unlimited reconnects. Throws an error with a one-line
 * message if Redis is unavailable.
 */
export async function connectRedis({ address, logger, mode = 'fast' }: ConnectRedisOptions): Promise<Redis> {
  const place = describeAddress(address)
  let started = false
  const client = makeClient(address, mode === 'fast' ? FAST : PATIENT, () => started)
  let lastError: Error | undefined
  const remember = (error: Error) => {
    lastError = error
  }
  client.on('error', remember)
  try {
    await client.connect()
    await client.ping()
  } catch (error) {
    client.disconnect()
    throw new Error(explain(place, lastError ?? error), { cause: lastError ?? error })
  }
  started = true
  client.off('error', remember)
  logOutages(client, place, logger)
  return client
}

const COMMON: RedisOptions = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  keepAlive: 10_000,
  retryStrategy: (attempt) => Math.min(attempt * 100, MAX_RETRY_MS),
  // A demoted master refuses writes: ask the sentinels again.
  reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
}
const FAST: RedisOptions = {
  ...COMMON,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: COMMAND_TIMEOUT_MS,
}
const PATIENT: RedisOptions = { ...COMMON, maxRetriesPerRequest: null }

function makeClient(address: RedisAddress, options: RedisOptions, started: () => boolean): Redis {
  if ('url' in address) return new Redis(address.url, options)
  const { sentinel, password, db = 0 } = address
  return new Redis({
    ...options,
    name: sentinel.masterName,
    sentinels: sentinel.sentinels,
    enableTLSForSentinelMode: sentinel.tls,
    db,
    ...(password === undefined ? {} : { password, sentinelPassword: password }),
    ...(sentinel.tls ? { tls: {} } : {}),
    // At the start an error is better than waiting; ioredis ends the client for good when this gives up.
    sentinelRetryStrategy: (attempt) => (started() || attempt <= 2 ? Math.min(attempt * 100, MAX_RETRY_MS) : null),
  })
}

function describeAddress(address: RedisAddress): string {
  if ('sentinel' in address) return `sentinels ${address.sentinel.sentinels.map(({ host, port }) => `${host}:${port}`).join(', ')}`
  try {
    const { hostname, port, pathname } = new URL(address.url)
    return hostname ? `${hostname}:${port || 6379}` : pathname
  } catch {
    throw new Error('The URL of Redis is malformed: expected redis://[:password@]host[:port][/db]')
  }
}

function explain(place: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const advice = 'check the `redis:` section of the configuration or REDIS_URL'
  if (message.includes('ECONNREFUSED')) return `Redis refused at ${place}: is it running? Otherwise ${advice}`
  if (/ENOTFOUND|EAI_AGAIN/.test(message)) return `Redis host unknown at ${place}: ${advice}`
  if (/WRONGPASS|NOAUTH|invalid password/.test(message)) return `Redis at ${place} does not accept the password: ${advice}`
  if (/ETIMEDOUT|timed out/i.test(message)) return `Redis at ${place} does not answer: ${advice}`
  return `Redis at ${place} cannot be used (${message}): ${advice}`
}

function logOutages(client: Redis, place: string, logger: Logger): void {
  let away = false
  client.on('error', (error: Error) => {
    if (!away) logger.error({ place, error: error.message }, 'Redis is out of reach, reconnecting')
    away = true
  })
  client.on('ready', () => {
    if (away) logger.info({ place }, 'Redis is back')
    away = false
  })
}
