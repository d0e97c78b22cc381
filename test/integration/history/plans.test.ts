// Query plans of the history: pages are read in their order from an index.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { migrations } from '../../../migrations/index.ts'
import type { VideoListQuery } from '../../../src/actors/video/lists/list-query.ts'
import { buildVideoList } from '../../../src/actors/video/lists/list-videos.ts'
import { entities } from '../../../src/entities.ts'
import { type Database, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { type MadeUser, makeUser } from '../../support/builders.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'
import { tableScans } from '../../support/table-scans.ts'

const VIDEOS = 8_000

let database: TestDatabase
let db: Database
let viewer: MadeUser

beforeAll(async () => {
  database = await freshDatabase()
  db = await makeDatabase({ url: database.url, poolMax: 2, entities, migrations, logger: silentLogger })
  viewer = await makeUser(db)
  const other = await makeUser(db)
  await db.query(
    `with made as (
       insert into video (uuid, channel_id, url, name, privacy, state, published_at)
       select gen_random_uuid(), $1, 'http://localhost/' || n, 'video ' || md5(n::text), 1, 'published',
         now() - n * interval '1 minute'
       from generate_series(1, $4::int) n returning id
     ) insert into history (account_id, video_id, seconds, watched_at)
     select account, id, 1, now() - id * interval '1 second' from made, unnest(array[$2::int, $3::int]) account
     where account = $3 or id % 2 = 0`,
    [viewer.channelId, viewer.accountId, other.accountId, VIDEOS],
  )
  await db.query('analyze')
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const usual: VideoListQuery = {
  scope: { of: 'everybody' },
  internal: true,
  start: 0,
  count: 15,
  skipCount: true,
  sort: { by: 'publishedAt', descending: true },
}

it.each([
  ['a page of the history', (id: number): Partial<VideoListQuery> => ({ scope: { of: 'watched', accountId: id } })],
  ['a list with positions', (id: number) => ({ watcher: id })],
  ['a list without what was watched', (id: number) => ({ notWatchedBy: id, watcher: id })],
])('%s reads few rows, by indexes', async (_name, change) => {
  const { text, values } = buildVideoList({ ...usual, ...change(viewer.accountId) })
  for (const table of ['video', 'history']) {
    const reads = await tableScans(db, table, text, values)
    expect(reads.map(({ node }) => node)).not.toContain('Seq Scan')
    expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(200)
  }
})
