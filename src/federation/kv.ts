// Fedify's key-value store on PostgreSQL (the default) or on Redis.

import type { KvKey, KvStore, KvStoreListEntry } from '@fedify/fedify'
import { RedisKvStore } from '@fedify/redis/kv'
import type { Redis } from 'ioredis'
import type { Clock } from '../platform/clock.ts'
import type { Sql } from '../platform/database/index.ts'

/** The part of Fedify's options that is used: a Temporal.Duration, native or not. */
export interface TimeToLive {
  ttl?: { total(unit: 'millisecond'): number }
}

/** A store that can also compare and swap, which the circuit breaker needs. */
export interface AtomicKvStore extends KvStore {
  set(key: KvKey, value: unknown, options?: TimeToLive): Promise<void>
  cas(key: KvKey, expected: unknown, value: unknown, options?: TimeToLive): Promise<boolean>
}

export interface TableKvStore extends AtomicKvStore {
  /** Deletes expired rows; returns their number. For a periodic task: expired rows are invisible anyhow. */
  sweep(): Promise<number>
}

const LIST_PAGE = 500

/** The store in the table `kv(key text primary key, value jsonb, expires_at timestamptz)`. Values must be JSON. Expiry is by `clock`. */
export function makeTableKvStore(options: { query: Sql; clock: Clock }): TableKvStore {
  const { query, clock } = options
  const put = `insert into kv as old (key, value, expires_at) values ($1, $2::jsonb, $3)
    on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at`
  const expiry = (settings?: TimeToLive): Date | null => {
    const ms = milliseconds(settings)
    return ms === null ? null : new Date(clock.now().getTime() + ms)
  }

  return {
    async get<T = unknown>(key: KvKey): Promise<T | undefined> {
      const [row] = await query<{ value: T }>('select value from kv where key = $1 and (expires_at is null or expires_at > $2)', [
        encodeKey(key),
        clock.now(),
      ])
      return row?.value
    },
    async set(key, value, settings) {
      await query(put, [encodeKey(key), JSON.stringify(value ?? null), expiry(settings)])
    },
    async delete(key) {
      await query('delete from kv where key = $1', [encodeKey(key)])
    },
    async cas(key, expected, value, settings) {
      const now = clock.now()
      const [place, next, until] = [encodeKey(key), JSON.stringify(value ?? null), expiry(settings)]
      // Expecting nothing: writes only if there is no value, or an expired one.
      const rows =
        expected === undefined
          ? await query(`${put} where old.expires_at <= $4 returning key`, [place, next, until, now])
          : await query(
              `update kv set value = $2::jsonb, expires_at = $3
                where key = $1 and value = $5::jsonb and (expires_at is null or expires_at > $4) returning key`,
              [place, next, until, now, JSON.stringify(expected)],
            )
      return rows.length === 1
    },
    async *list(prefix): AsyncIterable<KvStoreListEntry> {
      const start = prefix ? encodeKey(prefix) : ''
      let after = ''
      for (;;) {
        const rows = await query<{ key: string; value: unknown }>(
          `select key, value from kv
            where starts_with(key, $1) and key > $2 and (expires_at is null or expires_at > $3)
            order by key limit ${LIST_PAGE}`,
          [start, after, clock.now()],
        )
        for (const { key, value } of rows) yield { key: decodeKey(key), value }
        const last = rows.at(-1)
        if (!last || rows.length < LIST_PAGE) return
        after = last.key
      }
    },
    async sweep() {
      const rows = await query('delete from kv where expires_at <= $1 returning key', [clock.now()])
      return rows.length
    },
  }
}

const SCAN_COUNT = 500
const COMPARE_AND_SWAP = `
local current = redis.call('GET', KEYS[1])
if ARGV[1] == 'absent' then
  if current then return 0 end
elseif current ~= ARGV[2] then
  return 0
end
if ARGV[4] == '' then redis.call('SET', KEYS[1], ARGV[3]) else redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4]) end
return 1`

/**
 * The store in Redis: that of `@fedify/redis`, with what Fedify 2 needs in addition (`list`, `cas`), and with times to live below a second,
 * which SETEX refuses.
 */
export class RedisKv extends RedisKvStore implements AtomicKvStore {
  readonly #redis: Redis
  readonly #prefix: string

  constructor(redis: Redis, options: { prefix?: string } = {}) {
    const keyPrefix = options.prefix ?? 'vireo:kv:'
    super(redis, { keyPrefix })
    this.#redis = redis
    this.#prefix = keyPrefix
  }

  override get<T = unknown>(key: KvKey): Promise<T | undefined> {
    return super.get<T>([encodeKey(key)])
  }

  override async set(key: KvKey, value: unknown, options?: TimeToLive): Promise<void> {
    const ms = milliseconds(options)
    const place = this.#prefix + encodeKey(key)
    if (ms === null) await this.#redis.set(place, JSON.stringify(value ?? null))
    else await this.#redis.set(place, JSON.stringify(value ?? null), 'PX', ms)
  }

  override delete(key: KvKey): Promise<void> {
    return super.delete([encodeKey(key)])
  }

  async cas(key: KvKey, expected: unknown, value: unknown, options?: TimeToLive): Promise<boolean> {
    const done = await this.#redis.eval(
      COMPARE_AND_SWAP,
      1,
      this.#prefix + encodeKey(key),
      expected === undefined ? 'absent' : 'equal',
      expected === undefined ? '' : JSON.stringify(expected),
      JSON.stringify(value ?? null),
      String(milliseconds(options) ?? ''),
    )
    return done === 1
  }

  async *list(prefix?: KvKey): AsyncIterable<KvStoreListEntry> {
    const start = this.#prefix + (prefix ? encodeKey(prefix) : '')
    const match = `${start.replace(/[*?[\]\\]/g, '\\$&')}*`
    // SCAN may name a key twice.
    const seen = new Set<string>()
    for await (const found of this.#redis.scanStream({ match, count: SCAN_COUNT })) {
      const keys = (found as string[]).filter((key) => !seen.has(key))
      if (keys.length === 0) continue
      const values = await this.#redis.mget(keys)
      for (const [index, key] of keys.entries()) {
        seen.add(key)
        const value = values[index]
        if (typeof value === 'string') yield { key: decodeKey(key.slice(this.#prefix.length)), value: JSON.parse(value) as unknown }
      }
    }
  }
}

/**
 * A key as one text in which a prefix of parts is a prefix of characters: each part encoded and ended by a slash. It has no colon, so that
 * @fedify/redis leaves it unchanged.
 */
const encodeKey = (key: KvKey): string => key.map((part) => `${encodeURIComponent(part.toWellFormed())}/`).join('')

function decodeKey(text: string): KvKey {
  const [first = '', ...rest] = text.slice(0, -1).split('/').map(decodeURIComponent)
  return [first, ...rest]
}

/** The time to live, at least a millisecond; null for no expiry. */
function milliseconds(options: TimeToLive | undefined): number | null {
  return options?.ttl ? Math.max(1, Math.ceil(options.ttl.total('millisecond'))) : null
}
