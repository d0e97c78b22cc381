// Query plans of video lists: an index serves each order, and the table is never scanned.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { migrations } from '../../../migrations/index.ts'
import type { VideoListQuery } from '../../../src/actors/video/lists/list-query.ts'
import { buildVideoList, listVideoIds } from '../../../src/actors/video/lists/list-videos.ts'
import { entities } from '../../../src/entities.ts'
import { type Database, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { type MadeUser, makeUser } from '../../support/builders.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'

const MANY = 50_000

let database: TestDatabase
let db: Database
let owner: MadeUser

beforeAll(async () => {
  database = await freshDatabase()
  db = await makeDatabase({ url: database.url, poolMax: 2, entities, migrations, logger: silentLogger })
  owner = await makeUser(db)
  const many = await makeUser(db)
  await db.query(
    `insert into video (uuid, channel_id, url, name, privacy, state, duration, views, likes, nsfw, tags, published_at)
     select gen_random_uuid(), case when n % 1000 = 0 then $2::int else $1::int end, 'http://localhost/' || n,
       'video ' || md5(n::text), case when n % 50 = 0 then 4 when n % 20 = 0 then 3 else 1 end, 'published', n % 900,
       n % 7919, n % 97, n % 40 = 1, array['tag' || n % 500], now() - n * interval '1 minute'
     from generate_series(1, $3::int) n`,
    [many.channelId, owner.channelId, MANY],
  )
  await db.query('vacuum analyze')
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const usual: VideoListQuery = {
  scope: { of: 'everybody' },
  internal: false,
  start: 0,
  count: 15,
  skipCount: false,
  sort: { by: 'publishedAt', descending: true },
}

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  Plans?: Plan[]
}

/** Plan nodes that read the video table. */
async function readsOfVideos(query: VideoListQuery): Promise<{ node: string; rows: number }[]> {
  const { text, values } = buildVideoList(query)
  const [explained] = await db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, format json) ${text}`, values)
  const found: { node: string; rows: number }[] = []
  const visit = (plan: Plan): void => {
    if (plan['Relation Name'] === 'video') {
      found.push({ node: plan['Node Type'], rows: plan['Actual Rows'] * plan['Actual Loops'] })
    }
    plan.Plans?.forEach(visit)
  }
  for (const { Plan: plan } of explained?.['QUERY PLAN'] ?? []) visit(plan)
  return found
}

describe('with fifty thousand videos', () => {
  const lists: [string, () => VideoListQuery, number][] = [
    ['the default list', () => usual, 40],
    ['the default list without sensitive videos', () => ({ ...usual, nsfw: false }), 60],
    ['the most viewed', () => ({ ...usual, sort: { by: 'views', descending: true } }), 40],
    ['the least liked', () => ({ ...usual, sort: { by: 'likes', descending: false } }), 40],
    ['all names', () => ({ ...usual, sort: { by: 'name', descending: false } }), 40],
    ['a tag', () => ({ ...usual, tagsOneOf: ['tag7'] }), 0],
    ['a small channel', () => ({ ...usual, scope: { of: 'channel', channelId: owner.channelId } }), 200],
  ]
  it.each(lists)('%s reads few rows by an index', async (_name, query, most) => {
    const reads = await readsOfVideos(query())
    expect(reads.map(({ node }) => node)).not.toContain('Seq Scan')
    expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(most)
  })

  it.each([
    ['users of this server', { internal: true }],
    ['two tags', { tagsOneOf: ['tag7', 'tag8'] }],
    ['a name', { search: 'c4ca4238a0b9' }],
  ] satisfies [string, Partial<VideoListQuery>][])('the list for %s scans no whole table', async (_name, change) => {
    const reads = await readsOfVideos({ ...usual, ...change })
    expect(reads.map(({ node }) => node)).not.toContain('Seq Scan')
  })

  it('a large total of a filter is counted once, and mutes are subtracted', async () => {
    const statements: string[] = []
    const counting: Pick<Database, 'query'> = {
      query(text, ...more) {
        statements.push(text)
        return db.query(text, ...more)
      },
    }
    const filtered = { ...usual, duration: { from: 450 } }
    const [all] = await db.query<{ total: number }>(
      "select count(*)::int as total from video where duration >= 450 and privacy = 1 and state = 'published'",
    )
    const first = await listVideoIds(counting, filtered)
    expect(first).toMatchObject({ total: all?.total, rows: { length: 15 } })
    statements.length = 0
    expect(await listVideoIds(counting, { ...filtered, sort: { by: 'views', descending: true } })).toMatchObject({ total: all?.total })
    expect(statements).toHaveLength(1)
    const muter = await makeUser(db)
    await db.query('insert into account_block (owner_id, target_id) values ($1, $2)', [muter.accountId, owner.accountId])
    const [unmuted] = await db.query<{ total: number }>(
      "select count(*)::int as total from video where duration >= 450 and privacy = 1 and state = 'published' and channel_id <> $1",
      [owner.channelId],
    )
    expect(await listVideoIds(counting, { ...filtered, mutedFor: muter.accountId })).toMatchObject({ total: unmuted?.total })
    expect(statements).toHaveLength(2)
    const page = await listVideoIds(counting, { ...filtered, start: 15 })
    expect(page.rows.map(({ id }) => id)).not.toEqual(expect.arrayContaining(first.rows.map(({ id }) => id)))
  })

  it('the total comes from counters and is exact', async () => {
    const { text, values } = buildVideoList(usual)
    const [row] = await db.query<{ total: number }>(text, values)
    const [counted] = await db.query<{ total: number }>(
      "select count(*)::int as total from video where privacy = 1 and state = 'published'",
    )
    expect(row?.total).toBe(counted?.total)
  })
})

it('every GIN index has a short pending list', async () => {
  const indexes = await db.query<{ name: string; isShort: boolean }>(
    `select i.relname as name, coalesce('gin_pending_list_limit=512' = any(i.reloptions), false) as "isShort"
     from pg_class i join pg_am m on m.oid = i.relam where m.amname = 'gin' and i.relnamespace = 'public'::regnamespace`,
  )
  expect(indexes.map(({ name }) => name)).toContain('video_tags')
  expect(indexes.filter(({ isShort }) => !isShort)).toEqual([])
})
