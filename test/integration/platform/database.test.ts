// Plain SQL for reads: what it gives, and which statements are planned once for each connection.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Database, isDatabaseOutage, isOutage, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Database
beforeAll(async () => {
  database = await freshDatabase()
  // One connection, so that what was prepared can be seen.
  db = await makeDatabase({ url: database.url, poolMax: 1, entities: [], migrations: [], logger: silentLogger })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const prepared = async () =>
  (await db.query<{ statement: string }>("select statement from pg_prepared_statements where name like 'vireo%'")).map(
    ({ statement }) => statement,
  )

describe('a statement', () => {
  it('gives 64-bit integers as numbers and times as dates', async () => {
    expect(await db.query("select 7::bigint as n, timestamptz '2026-01-02T03:04:05Z' as at")).toEqual([
      { n: 7, at: new Date('2026-01-02T03:04:05Z') },
    ])
  })

  it('is prepared only when that is asked for, once for each text', async () => {
    await db.query('select $1::int as plain', [1])
    expect(await prepared()).toEqual([])
    for (const n of [1, 2, 3]) {
      expect(await db.query('select $1::int as n', [n], { prepared: true })).toEqual([{ n }])
    }
    expect(await prepared()).toEqual(['select $1::int as n'])
  })

  it('is not prepared any more when there are many', async () => {
    for (let n = 0; n < 150; n += 1) {
      expect(await db.query(`select $1::int + ${n} as n`, [1], { prepared: true })).toEqual([{ n: n + 1 }])
    }
    expect(await prepared()).toHaveLength(100)
  })
})

describe('a transaction', () => {
  const limit = async (query: Database['query']) =>
    (await query<{ lock_timeout: string }>('show lock_timeout'))[0]?.lock_timeout

  it('waits for locks as long as it is told, and nobody after it', async () => {
    expect(await db.transaction(({ query }) => limit(query), { lockTimeoutMs: 1234 })).toBe('1234ms')
    expect(await db.transaction(({ query }) => limit(query))).toBe('0')
    expect(await limit(db.query)).toBe('0')
  })

  it('prepares its statements like those outside', async () => {
    const text = 'select $1::int as inside'
    // The names that there are were taken above.
    const fresh = await makeDatabase({
      ...{ url: database.url, poolMax: 1, entities: [], migrations: [], logger: silentLogger },
    })
    await fresh.transaction(({ query }) => query(text, [1], { prepared: true }))
    expect(await fresh.query('select statement from pg_prepared_statements')).toEqual([{ statement: text }])
    await fresh.close()
  })

  it('that fails leaves nothing, and gives its connection back', async () => {
    await db.query('create table kept (n int)')
    const failing = db.transaction(async ({ query }) => {
      await query('insert into kept values (1)')
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await db.query('select * from kept')).toEqual([])
  })

  it('is not called a success when its work passes over a statement that failed', async () => {
    const silent = db.transaction(async ({ query }) => {
      await query('insert into kept values (2)')
      await query('select 1 / 0').catch(() => undefined)
    })
    await expect(silent).rejects.toThrow('nothing of it was stored')
    expect(await db.query('select * from kept')).toEqual([])
  })

  it('whose connection breaks fails, and the next one has another', async () => {
    const broken = db.transaction(({ query }) => query('select pg_terminate_backend(pg_backend_pid())'))
    const error = await broken.catch((cause: unknown) => cause)
    expect([isOutage(error), isDatabaseOutage(error)]).toEqual([true, true])
    expect(await db.transaction(({ query }) => query('select 1 as n'))).toEqual([{ n: 1 }])
  })

  it.each(['before its next statement', 'at its commit'])('whose connection is ended %s says so', async (when) => {
    const other = new pg.Client({ connectionString: database.url })
    await other.connect()
    const end = async (pid: unknown) => {
      await other.query('select pg_terminate_backend($1)', [pid])
      await until(
        async () => (await other.query('select 1 from pg_stat_activity where pid = $1', [pid])).rowCount === 0,
      )
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
    // That of another server is none of the database.
    const elsewhere = new Error('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) })
    expect([isOutage(elsewhere), isDatabaseOutage(elsewhere)]).toEqual([true, false])
    expect(isOutage(new Error('A statement of this transaction failed.'))).toBe(false)
    expect(await db.transaction(({ query }) => query('select 1 as n'))).toEqual([{ n: 1 }])
  })
})
