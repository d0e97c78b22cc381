// Query plans of the list of all comments: indexes serve orders and words, the total comes from counters.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { migrations } from '../../../migrations/index.ts'
import { buildCommentList, type CommentListQuery, listComments } from '../../../src/actors/comment/list-comments.ts'
import { maintainCommentTotals } from '../../../src/actors/comment/totals.ts'
import { buildFeedComments, type FeedCommentsQuery } from '../../../src/actors/feed/index.ts'
import { entities } from '../../../src/entities.ts'
import { type Database, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeUser } from '../../support/builders.ts'
import { testConfig } from '../../support/config.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'
import { tableScans } from '../../support/table-scans.ts'

const COMMENTS = 60_000
/** Number of videos and authors. */
const PLACES = 5000

let database: TestDatabase
let db: Database
let ownerAccountId: number
let fold: () => Promise<void> = async () => {}

beforeAll(async () => {
  database = await freshDatabase()
  db = await makeDatabase({ url: database.url, poolMax: 2, entities, migrations, logger: silentLogger })
  maintainCommentTotals({
    db,
    config: () => testConfig(),
    registry: {
      periodic: (_name, { run }) => {
        fold = async () => void (await run())
      },
    },
  })
  const owner = await makeUser(db)
  await db.query(
    `with actors as (
       insert into actor (type, preferred_username, url, inbox_url)
       select 'Person', 'person' || n, 'http://localhost/person' || n, 'http://localhost/inbox'
       from generate_series(1, $2::int) n returning id, preferred_username as name
     ), accounts as (
       insert into account (actor_id, name) select id, case when id % 50 = 0 then 'someone' else name end from actors returning id
     ), videos as (
       insert into video (uuid, channel_id, url, name, privacy, state)
       select gen_random_uuid(), $1, 'http://localhost/v' || n, 'video ' || md5(n::text), 1, 'published'
       from generate_series(1, $2::int) n returning id
     ), places as (
       select a.id as account_id, v.id as video_id, a.n as place from (select id, row_number() over () as n from accounts) a
         join (select id, row_number() over () as n from videos) v on v.n = a.n
     ) insert into comment (video_id, account_id, url, text, held_for_review, created_at, deleted_at)
       select p.video_id, p.account_id, 'http://localhost/' || n, 'a comment ' || md5(n::text), n % 1000 = 0,
         now() - n * interval '1 second', case when n % 100 = 1 then now() end
       from generate_series(1, $3::int) n join places p on p.place = 1 + n % $2::int`,
    [owner.channelId, PLACES, COMMENTS],
  )
  await db.query(
    `insert into comment_automatic_tag (comment_id, account_id, name)
     select m.id, o.account_id, t.name from comment m cross join (values (null::int), ($1)) o (account_id)
       join (values ('usual', 2), ('rare', 500)) t (name, every) on m.id % t.every = 0`,
    [owner.accountId],
  )
  ownerAccountId = owner.accountId
  await db.query('vacuum analyze')
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const usual: CommentListQuery = { tagsOf: null, start: 0, count: 15, sort: { by: 'createdAt', descending: true } }

describe('with many comments', () => {
  it.each<[string, Partial<CommentListQuery>, number]>([
    ['the newest', {}, 60],
    ['the oldest', { sort: { by: 'createdAt', descending: false } }, 60],
    // 60 of them, which may be sorted.
    ['those that wait', { isHeld: true }, 80],
    ['those with a word', { search: 'c4ca4238a0b9' }, 200],
  ])('a page of %s reads few rows, by indexes', async (_name, change, most) => {
    const { text, values } = buildCommentList({ ...usual, ...change })
    const reads = await tableScans(db, 'comment', text, values)
    expect(reads.map(({ node }) => node)).not.toContain('Seq Scan')
    expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(most)
  })

  it.each<[string, string, number]>([
    ['an usual', 'usual', 200],
    // All of them, which are sorted.
    ['a rare', 'rare', 300],
  ])('those with %s tag are found by indexes, for the instance and for an owner', async (_name, tag, most) => {
    for (const [tagsOf, owner] of [
      [null, undefined],
      [ownerAccountId, ownerAccountId],
    ] as const) {
      const query = { ...usual, tagsOf, ownerAccountId: owner, autoTagOneOf: [tag] }
      const { text, values } = buildCommentList(query)
      const paged = text.replace(/select \(select count[\s\S]*? as total,/, 'select 0 as total,')
      const reads = await tableScans(db, 'comment', paged, values)
      expect(reads.map(({ node }) => node)).not.toContain('Seq Scan')
      expect([tag, reads.reduce((sum, { rows }) => sum + rows, 0) <= most, reads]).toEqual([tag, true, reads])
      expect((await listComments(db, query)).rows).toHaveLength(15)
    }
  })

  it.each<[string, () => Partial<FeedCommentsQuery>, number]>([
    ['everybody', () => ({}), 300],
    ['an account', () => ({ accountId: ownerAccountId }), 300],
    ['a video', () => ({ videoId: 1 }), 60],
  ])('the feed of %s reads few rows, by indexes', async (_name, change, most) => {
    const { text, values } = buildFeedComments({ nsfw: false, count: 20, ...change() })
    const reads = await tableScans(db, 'comment', text, values)
    expect(reads.map(({ node }) => node)).not.toContain('Seq Scan')
    expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(most)
  })

  it('a search for a word in all comments reads no more than the counted ones, and shows the newest', async () => {
    const query: CommentListQuery = { ...usual, search: 'a comment' }
    const { text, values } = buildCommentList(query)
    const reads = await tableScans(db, 'comment', text, values)
    expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(1100)
    const { total, rows } = await listComments(db, query)
    expect(total).toBe(1000)
    const newest = await listComments(db, usual)
    expect(rows.map(({ id }) => id)).toEqual(newest.rows.map(({ id }) => id))
  })

  it.each([
    ['of few authors', 'person12'],
    ['of many authors', 'person'],
    ['below many videos', 'video'],
    ['that hold it, and some below few videos', 'abc'],
    ['that hold it, and some below many videos', 'ab'],
    ['of none', 'nothing like it'],
  ])('a search in names finds the newest comments, and counts up to 1,000: %s', async (_where, search) => {
    const written = `from comment m join account a on a.id = m.account_id join actor x on x.id = a.actor_id join video v on v.id = m.video_id
      where m.deleted_at is null and (m.text || '|' || a.name || '|' || x.preferred_username || '|' || v.name) like '%${search}%'`
    for (const [change, filter] of [
      [{}, ''],
      [{ isHeld: true }, 'and m.held_for_review'],
    ] as const) {
      const query: CommentListQuery = { ...usual, search, start: 5, ...change }
      const newest = await db.query(`select m.id ${written} ${filter} order by m.created_at desc, m.id desc limit 15 offset 5`)
      const [all] = await db.query<{ total: number }>(`select least(count(*), 1000)::int as total ${written} ${filter}`)
      const { total, rows } = await listComments(db, query)
      expect(rows.map(({ id }) => ({ id }))).toEqual(newest)
      expect(total).toBe(all?.total)
    }
  })

  it('the total is right while comments are created, pending, approved, edited and removed', async () => {
    const isRight = async () => {
      for (const isHeld of [undefined, true, false]) {
        const [counted] = await db.query<{ total: number }>(
          `select count(*)::int as total from comment where deleted_at is null
             and ($1::boolean is null or held_for_review = $1)`,
          [isHeld ?? null],
        )
        expect((await listComments(db, { ...usual, isHeld })).total).toBe(counted?.total)
      }
    }
    await isRight()
    const changes = [
      'update comment set held_for_review = false where held_for_review and id % 3 = 0',
      "update comment set text = 'other' where id % 1000 = 5",
      'update comment set deleted_at = now() where id % 1000 = 7',
      'delete from comment where id % 1000 = 9',
      'delete from video where id = (select min(id) from video)',
    ]
    for (const change of changes) {
      await db.query(change)
      await isRight()
      await fold()
      expect(await db.query('select 1 from comment_total_delta')).toEqual([])
      await isRight()
    }
  })
})
