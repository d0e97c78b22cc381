// Plain SQL queries: conversion of results, and prepared statements.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { makeRunUnit } from '../../../src/actors/runtime/unit.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { type Database, isDatabaseOutage, isOutage, isRetryable, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Database
beforeAll(async () => {
  database = await freshDatabase()
  // A single connection, to observe its prepared statements.
  db = await openWith({})
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const openWith = (options: { poolMax?: number; maxPrepared?: number }) =>
  makeDatabase({ url: database.url, poolMax: 1, entities: [], migrations: [], logger: silentLogger, ...options })

const COUNTING = 'select statement from pg_prepared_statements order by prepare_time'
/** Prepared statements of the connection, in order. */
const prepared = async (of: Database = db) => (await of.query<{ statement: string }>(COUNTING)).map(({ statement }) => statement)

describe('a statement', () => {
  it('returns 64-bit integers as numbers and timestamps as dates', async () => {
    expect(await db.query("select 7::bigint as n, timestamptz '2026-01-02T03:04:05Z' as at")).toEqual([
      { n: 7, at: new Date('2026-01-02T03:04:05Z') },
    ])
  })

  it('is prepared once per connection, unless its best plan depends on the values', async () => {
    for (const n of [1, 2, 3]) expect(await db.query('select $1::int as n', [n])).toEqual([{ n }])
    expect(await db.query('select $1::int as plain', [1], { prepared: false })).toEqual([{ plain: 1 }])
    await db.query('create temporary table several (n int); insert into several values (1)')
    expect((await prepared()).slice(1)).toEqual(['select $1::int as n', COUNTING])
  })

  it('is deallocated when it is the least recently used one', async () => {
    const few = await openWith({ maxPrepared: 3 })
    for (const n of [1, 2, 3, 1, 4]) await few.query(`select ${n} as n`)
    expect(await prepared(few)).toEqual(['select 1 as n', 'select 4 as n', COUNTING])
    expect(await few.query('select 2 as n')).toEqual([{ n: 2 }])
    await few.close()
  })

  it('has a name derived from its text, so that a transaction pooler never runs another one', async () => {
    const named = async (of: Database, text: string) => {
      await of.query(text)
      const rows = await of.query<{ name: string }>('select name from pg_prepared_statements where statement = $1', [text])
      return rows.map(({ name }) => name)
    }
    const other = await openWith({})
    await other.query('select 0 as n')
    const [name] = await named(db, 'select 11 as n')
    expect(name).toMatch(/^vireo_[\da-f]{32}$/)
    expect(await named(other, 'select 11 as n')).toEqual([name])
    expect(await named(other, 'select 12 as n')).not.toEqual([name])
    await other.close()
  })

  it('is prepared again by a connection that lost its statements, also in a transaction', async () => {
    const text = 'select $1::int as again'
    const own = await openWith({})
    const inTransaction = () => own.transaction(({ query }) => query(text, [1]))
    for (const ask of [() => own.query(text, [1]), inTransaction]) {
      await ask()
      await own.query('discard all')
      await expect(ask().catch(ask)).resolves.toEqual([{ again: 1 }])
      await own.query(text, [1])
      expect(await prepared(own)).toContain(text)
    }
    await own.close()
  })

  it('is not prepared where a pooler cannot track it', async () => {
    const none = await openWith({ maxPrepared: 0 })
    expect(await none.query('select $1::int as n', [7])).toEqual([{ n: 7 }])
    expect(await prepared(none)).toEqual([])
    await none.close()
  })

  it('that failed can be sent again', async () => {
    const text = 'select 1 / $1::int as n'
    await expect(db.query(text, [0])).rejects.toThrow('division by zero')
    await expect(db.query('select nothing from nowhere')).rejects.toThrow('nowhere')
    await expect(db.query('select nothing from nowhere')).rejects.toThrow('nowhere')
    expect(await db.query(text, [1])).toEqual([{ n: 1 }])
  })

  it('is prepared again when its columns have changed, on every connection and in transactions', async () => {
    const several = await openWith({ poolMax: 3 })
    await several.query('create table changing (n int)')
    await several.query('insert into changing values (1)')
    const all = 'select * from changing'
    const onEach = () => Promise.all([1, 2, 3].map(() => several.query(all)))
    await onEach()
    await several.query('alter table changing add column later int')
    for (const rows of await onEach()) expect(rows).toEqual([{ n: 1, later: null }])

    const run = makeRunUnit({
      db: several,
      clock: systemClock,
      lockTimeoutMs: () => 1000,
      afterCommit: () => undefined,
      jobSettings: () => ({ queue: 'io', attempts: 1, priority: 0 }),
    })
    await several.query(all)
    await several.query('alter table changing add column last int')
    expect(await run(({ query }) => query(all))).toEqual([{ n: 1, later: null, last: null }])
    await several.close()
  })
})

describe('an error for changed columns', () => {
  it.each([
    ['in any language of the server', { code: '0A000', routine: 'RevalidateCachedQuery' }, true],
    ['by its function alone', { code: '0A000', routine: 'transformLockingClause' }, false],
  ])('is recognised %s', (_name, members, expected) => {
    const error = Object.assign(new Error('gecachter Plan darf den Ergebnistyp nicht ändern'), members)
    expect(isRetryable(new Error('failed', { cause: error }))).toBe(expected)
  })
})

describe('migrations', () => {
  const LOCK = 0x766972656f

  it('take no lock when none are pending', async () => {
    const other = new pg.Client({ connectionString: database.url })
    await other.connect()
    await other.query('select pg_advisory_lock($1)', [LOCK])
    expect(await db.migrate()).toEqual([])
    await other.end()
  })
})

describe('a transaction', () => {
  const limit = async (query: Database['query']) => (await query<{ lock_timeout: string }>('show lock_timeout'))[0]?.lock_timeout

  it('waits for locks for the given timeout, which does not outlast it', async () => {
    expect(await db.transaction(({ query }) => limit(query), { lockTimeoutMs: 1234 })).toBe('1234ms')
    expect(await db.transaction(({ query }) => limit(query))).toBe('0')
    expect(await limit(db.query)).toBe('0')
  })

  it('prepares its statements too', async () => {
    const text = 'select $1::int as inside'
    const fresh = await openWith({})
    await fresh.transaction(({ query }) => query(text, [1]))
    expect(await prepared(fresh)).toEqual([text, COUNTING])
    await fresh.close()
  })

  it('that fails leaves nothing, and releases its connection', async () => {
    await db.query('create table kept (n int)')
    const failing = db.transaction(async ({ query }) => {
      await query('insert into kept values (1)')
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await db.query('select * from kept')).toEqual([])
  })

  it('fails when its callback ignores a failed statement', async () => {
    const silent = db.transaction(async ({ query }) => {
      await query('insert into kept values (2)')
      await query('select 1 / 0').catch(() => undefined)
    })
    await expect(silent).rejects.toThrow('nothing of it was stored')
    expect(await db.query('select * from kept')).toEqual([])
  })

  it('whose connection breaks fails, and the next one uses another', async () => {
    const broken = db.transaction(({ query }) => query('select pg_terminate_backend(pg_backend_pid())'))
    const error = await broken.catch((cause: unknown) => cause)
    expect([isOutage(error), isDatabaseOutage(error)]).toEqual([true, true])
    expect(await db.transaction(({ query }) => query('select 1 as n'))).toEqual([{ n: 1 }])
  })

  it.each(['before its next statement', 'at its commit'])('reports that its connection ended %s', async (when) => {
    const other = new pg.Client({ connectionString: database.url })
    await other.connect()
    const end = async (pid: unknown) => {
      await other.query('select pg_terminate_backend($1)', [pid])
      await until(async () => (await other.query('select 1 from pg_stat_activity where pid = $1', [pid])).rowCount === 0)
    }
    const lost = await db
      .transaction(async ({ query }) => {
        const [session] = await query<{ pid: number }>('select pg_backend_pid() as pid')
        await end(session?.pid)
        if (when === 'before its next statement') await query('select 1')
      })
      .catch((error: unknown) => error)
    await other.end()
    expect([lost instanceof Error, isOutage(lost), isDatabaseOutage(lost)]).toEqual([true, true, true])
    // An unrelated connection error is not one of the database.
    const elsewhere = new Error('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) })
    expect([isOutage(elsewhere), isDatabaseOutage(elsewhere)]).toEqual([true, false])
    expect(isOutage(new Error('A statement of this transaction failed.'))).toBe(false)
    expect(await db.transaction(({ query }) => query('select 1 as n'))).toEqual([{ n: 1 }])
  })
})
