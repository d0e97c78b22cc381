import type { KvKey, KvStoreListEntry } from '@fedify/fedify'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { Redis } from 'ioredis'
import pg from 'pg'
import { type AtomicKvStore, makeTableKvStore, RedisKv, type TimeToLive } from '../../../src/federation/kv.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'
import { testRedisUrl } from '../../support/redis.ts'

const ttl = (ms: number): TimeToLive => ({ ttl: { total: () => ms } })

async function all(store: AtomicKvStore, prefix?: KvKey): Promise<KvStoreListEntry[]> {
  const found: KvStoreListEntry[] = []
  for await (const entry of store.list(prefix)) found.push(entry)
  return found.sort((one, other) => (JSON.stringify(one.key) < JSON.stringify(other.key) ? -1 : 1))
}

/** What Fedify requires of any store. */
function contract(subject: { store(): AtomicKvStore; pass(ms: number): Promise<void> }) {
  const key: KvKey = ['circuit', 'https://peer.example']

  it('returns what was set, and nothing else', async () => {
    const store = subject.store()
    expect(await store.get(key)).toBeUndefined()
    for (const value of [{ state: 'open', failures: [1, 2] }, 'text', 5, true, [], null, 'ünï 🎈']) {
      await store.set(key, value)
      expect(await store.get(key)).toEqual(value)
    }
    expect(await store.get(['circuit'])).toBeUndefined()
    expect(await store.get(['circuit', 'https://peer.example', 'more'])).toBeUndefined()
  })

  it('does not return deleted values', async () => {
    const store = subject.store()
    await store.set(key, 1)
    await store.delete(key)
    await store.delete(key)
    expect(await store.get(key)).toBeUndefined()
  })

  it('distinguishes keys by their parts', async () => {
    const store = subject.store()
    const keys: KvKey[] = [['a', 'b'], ['a/b'], ['a:b'], ['a::b'], ['a', '', 'b'], ['a_', ':b'], ['a%2Fb'], ['a*'], ['*']]
    for (const [index, one] of keys.entries()) await store.set(one, index)
    for (const [index, one] of keys.entries()) expect(await store.get(one)).toBe(index)
    expect((await all(store)).map(({ key: found }) => found)).toEqual(
      [...keys].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
    )
  })

  it('does not return expired values', async () => {
    const store = subject.store()
    await store.set(key, 1, ttl(300))
    await store.set(['stays'], 1)
    expect(await store.get(key)).toBe(1)
    await subject.pass(301)
    expect(await store.get(key)).toBeUndefined()
    expect((await all(store)).map(({ key: found }) => found)).toEqual([['stays']])
  })

  it('accepts times to live below a second and with fractions', async () => {
    const store = subject.store()
    await store.set(key, 1, ttl(0.4))
    await store.set(['other'], 1, ttl(60_000.7))
    await subject.pass(5)
    expect(await store.get(key)).toBeUndefined()
    expect(await store.get(['other'])).toBe(1)
  })

  it('keeps a value without a time to live, also after one with', async () => {
    const store = subject.store()
    await store.set(key, 1, ttl(100))
    await store.set(key, 2)
    await subject.pass(101)
    expect(await store.get(key)).toBe(2)
  })

  it('lists by prefix of parts', async () => {
    const store = subject.store()
    for (const one of [['a'], ['a', 'b'], ['a', 'bc'], ['a', 'b', 'c'], ['ab'], ['b']] as KvKey[]) await store.set(one, one)
    expect((await all(store, ['a'])).map(({ value }) => value)).toEqual([['a', 'b', 'c'], ['a', 'b'], ['a', 'bc'], ['a']])
    expect((await all(store, ['a', 'b'])).map(({ value }) => value)).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b'],
    ])
    expect(await all(store, ['*'])).toEqual([])
    expect(await all(store)).toHaveLength(6)
  })

  it('lists more than one page', async () => {
    const store = subject.store()
    await Promise.all(Array.from({ length: 1201 }, (_, index) => store.set(['many', String(index)], index)))
    expect(await all(store, ['many'])).toHaveLength(1201)
  })

  it('swaps only the expected value', async () => {
    const store = subject.store()
    expect(await store.cas(key, { state: 'open' }, 1)).toBe(false)
    expect(await store.cas(key, undefined, { state: 'closed' })).toBe(true)
    expect(await store.cas(key, undefined, { state: 'other' })).toBe(false)
    expect(await store.cas(key, { state: 'open' }, { state: 'other' })).toBe(false)
    expect(await store.cas(key, { state: 'closed' }, { state: 'open' }, ttl(100))).toBe(true)
    expect(await store.get(key)).toEqual({ state: 'open' })
    await subject.pass(101)
    expect(await store.cas(key, { state: 'open' }, 1)).toBe(false)
    expect(await store.cas(key, undefined, 1)).toBe(true)
    expect(await store.get(key)).toBe(1)
  })

  it('lets exactly one of many concurrent swaps win', async () => {
    const store = subject.store()
    await store.set(key, 0)
    const wins = await Promise.all(Array.from({ length: 20 }, (_, index) => store.cas(key, 0, index + 1)))
    expect(wins.filter(Boolean)).toHaveLength(1)
    const firsts = await Promise.all(Array.from({ length: 20 }, () => store.cas(['new'], undefined, 1)))
    expect(firsts.filter(Boolean)).toHaveLength(1)
  })
}

describe('the store in a table', () => {
  let database: TestDatabase
  let pool: pg.Pool
  let now = 0
  beforeAll(async () => {
    database = await freshDatabase({ empty: true })
    pool = new pg.Pool({ connectionString: database.url })
    // The server ends connections that are closing when the database is dropped.
    pool.on('error', () => undefined)
    await pool.query('create table kv (key text primary key, value jsonb not null, expires_at timestamptz(3))')
  })
  beforeEach(async () => {
    now = Date.parse('2026-11-20T19:02:17.158Z')
    await pool.query('truncate kv')
  })
  afterAll(async () => {
    await pool.end()
    await database.drop()
  })

  const store = () =>
    makeTableKvStore({
      clock: { now: () => new Date(now) },
      query: async <R extends object>(text: string, values: readonly unknown[] = []) =>
        (await pool.query<R & pg.QueryResultRow>(text, [...values])).rows,
    })

  contract({
    store,
    pass: async (ms) => {
      now += ms
    },
  })

  it('deletes expired values from the table', async () => {
    await store().set(['a'], 1, ttl(10))
    await store().set(['b'], 1)
    now += 11
    expect(await store().sweep()).toBe(1)
    expect((await pool.query('select key from kv')).rows).toHaveLength(1)
  })
})

const redisUrl = testRedisUrl()
if (redisUrl) describe('the store in Redis', () => inRedis(redisUrl))

function inRedis(url: string) {
  let redis: Redis
  let prefix = ''
  let runs = 0
  beforeAll(() => {
    redis = new Redis(url)
  })
  beforeEach(() => {
    prefix = `kv*test[${process.pid}]${runs++}:`
  })
  afterEach(async () => {
    const left = await keys()
    if (left.length > 0) await redis.del(left)
  })
  afterAll(() => redis.quit())

  const keys = () => redis.keys(`${prefix.replace(/[*[\]]/g, '\\$&')}*`)

  contract({
    store: () => new RedisKv(redis, { prefix }),
    // Redis has its own clock, so values about to expire are expired at once.
    pass: async (ms) => {
      for (const key of await keys()) {
        const left = await redis.pttl(key)
        if (left >= 0 && left <= ms) await redis.del(key)
      }
    },
  })

  it('passes the time to live to Redis in milliseconds', async () => {
    const store = new RedisKv(redis, { prefix })
    await store.set(['a'], 1, ttl(60_000))
    await store.cas(['a'], 1, 2, ttl(90_000))
    const left = await redis.pttl(`${prefix}a/`)
    expect(left).toBeGreaterThan(60_000)
    expect(left).toBeLessThanOrEqual(90_000)
  })
}
