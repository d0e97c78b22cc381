// Comments from before their total was kept: they are counted once, also when the migration is done twice.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { migrations } from '../../../migrations/index.ts'
import { totalComments } from '../../../src/actors/comment/totals.ts'
import { type Database, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeUser, makeVideo } from '../../support/builders.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase({ empty: true })
})
afterAll(async () => {
  await database?.drop()
})

async function migrated<T>(last: string, use: (db: Database) => Promise<T>): Promise<T> {
  const until = migrations.filter(({ name }) => name <= last)
  const db = await makeDatabase({
    ...{ url: database.url, poolMax: 4, entities: [], migrations: until, logger: silentLogger },
  })
  await db.migrate()
  return await use(db).finally(() => db.close())
}
const total = async (db: Database) =>
  (await db.query<{ total: number }>(`select ${totalComments()}::int as total`))[0]?.total

it('the total of all comments is right afterwards', async () => {
  const add = async (db: Database, { id, by }: { id: number; by: number }, text: string) => {
    await db.query(
      `insert into comment (video_id, account_id, url, text, held_for_review, deleted_at)
       select $1, $2, 'http://localhost/' || $3::text || n, $3, n = 1, case when n = 2 then now() end
       from generate_series(1, 5) n`,
      [id, by, text],
    )
  }
  const place = await migrated('0016-indexes', async (db) => {
    const user = await makeUser(db)
    const { id } = await makeVideo(db, { channelId: user.channelId })
    await add(db, { id, by: user.accountId }, 'before')
    return { id, by: user.accountId }
  })
  await migrated('0019-history', async (db) => {
    expect(await total(db)).toBe(4)
    await add(db, place, 'after')
    expect(await total(db)).toBe(8)
    await db.query("delete from migration where name = '0019-history'")
  })
  await migrated('0019-history', async (db) => {
    expect(await total(db)).toBe(8)
    await db.query('delete from video where id = $1', [place.id])
    expect(await total(db)).toBe(0)
  })
})
