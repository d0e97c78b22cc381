// Plain SQL for reads: what it gives, and which statements are planned once for each connection.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Database, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { freshDatabase } from '../../support/postgres.ts'

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
