// Query plans of the lists of accounts, channels, followers and ratings: an index serves each order, no table is scanned, and totals are
// right.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { migrations } from '../../../migrations/index.ts'
import { type AccountListQuery, buildAccountList, listAccounts } from '../../../src/actors/account/index.ts'
import { foldActorTotals } from '../../../src/actors/actor/index.ts'
import { buildChannelList, type ChannelListQuery, listChannels } from '../../../src/actors/channel/index.ts'
import { buildFollowerList } from '../../../src/actors/follow/index.ts'
import { buildRatingList } from '../../../src/actors/rating/index.ts'
import { entities } from '../../../src/entities.ts'
import { type Database, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { type MadeUser, makeRemoteChannel, makeUser } from '../../support/builders.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'

const MANY = 10_000
const HOSTS = 1000

let database: TestDatabase
let db: Database
let star: MadeUser

beforeAll(async () => {
  database = await freshDatabase()
  db = await makeDatabase({ url: database.url, poolMax: 2, entities, migrations, logger: silentLogger })
  star = await makeUser(db, { username: 'star' })
  await db.query("insert into remote_host (host) select 'far' || n || '.example' from generate_series(1, $1::int) n", [HOSTS])
  await db.query(
    `with actors as (
       insert into actor (type, preferred_username, host_id, url, inbox_url)
       select kind.type, kind.prefix || md5(n::text), h.id, 'https://far.example/' || kind.prefix || n, 'https://far.example/inbox'
       from generate_series(1, $1::int) n join remote_host h on h.host = 'far' || 1 + n % $2::int || '.example',
         (values ('Person', 'p'), ('Group', 'c')) as kind (type, prefix)
       returning id, type, preferred_username as name
     ), accounts as (
       insert into account (actor_id, name, created_at)
       select id, name, now() - id * interval '1 minute' from actors where type = 'Person' returning id, name
     ) insert into channel (actor_id, account_id, name, created_at, updated_at)
       select x.id, a.id, 'Channel ' || a.name, now() - x.id * interval '1 minute', now() - (x.id % 977) * interval '1 minute'
       from accounts a join actors x on x.name = 'c' || substr(a.name, 2)`,
    [MANY, HOSTS],
  )
  await db.query(
    `insert into follow (follower_id, target_id, state, created_at)
     select x.id, case when x.id % 20 = 0 then $1::int else $2::int end, case when x.id % 7 = 0 then 'pending' else 'accepted' end,
       now() - x.id * interval '1 second'
     from actor x where x.type = 'Person' and x.host_id is not null`,
    [star.channelActorId, star.actorId],
  )
  await db.query(
    `with videos as (
       insert into video (uuid, channel_id, url, name, privacy, state)
       select gen_random_uuid(), $1, 'http://localhost/' || n, 'video ' || n, 1, 'published' from generate_series(1, $3::int) n
       returning id
     ) insert into rating (video_id, account_id, type, url, created_at)
       select id, $2, case when id % 100 = 0 then 'dislike' else 'like' end, 'http://localhost/r' || id, now() - id * interval '1 second'
       from videos`,
    [star.channelId, star.accountId, MANY],
  )
  await db.query(
    `with muted as (
       insert into account_block (owner_id, target_id) select case when id % 2 = 0 then $1::int end, id from account
       where id <> $1 order by id desc limit 10
     ) insert into server_block (owner_id, host) values ($1, 'quiet.example'), (null, 'rude.example')`,
    [star.accountId],
  )
  // The vacuum also flushes the pending list of GIN indexes.
  await db.query('vacuum analyze')
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Subplan Name'?: string
  Plans?: Plan[]
}

const LARGE = ['actor', 'account', 'channel', 'channel_search', 'follow', 'rating', 'video']

/** Sequential scans and the rows that the page itself reads, without those of the total. */
async function tableScans({ text, values }: { text: string; values: unknown[] }): Promise<{ whole: string[]; rows: number }> {
  const [explained] = await db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, format json) ${text}`, values)
  const found = { whole: [] as string[], rows: 0 }
  const visit = (plan: Plan): void => {
    const table = plan['Relation Name']
    if (table && LARGE.includes(table)) {
      if (plan['Node Type'] === 'Seq Scan') found.whole.push(table)
      found.rows += plan['Actual Rows'] * plan['Actual Loops']
    }
    plan.Plans?.forEach(visit)
  }
  for (const { Plan: plan } of explained?.['QUERY PLAN'] ?? []) visit(plan)
  return found
}

const page = { start: 0, count: 15 }
const newest = { by: 'createdAt', descending: true } as const
const PAGE_ROWS = 200

describe('with ten thousand accounts and channels', () => {
  const channels: [string, () => Partial<ChannelListQuery>][] = [
    ['the newest', () => ({})],
    ['the oldest', () => ({ sort: { by: 'createdAt', descending: false } })],
    ['the last changed', () => ({ sort: { by: 'updatedAt', descending: true } })],
    ['by name', () => ({ sort: { by: 'name', descending: false } })],
    ['by id', () => ({ sort: { by: 'id', descending: true } })],
    ['those of an account', () => ({ accountId: star.accountId })],
    ['with a word', () => ({ search: 'c4ca4238a0b9' })],
    ['with a similar word', () => ({ search: 'c4ca4238a0b9', alike: true })],
    ['the best match', () => ({ search: 'c4ca4238a0b9', sort: { by: 'match', descending: true } })],
    ['the newest without the muted', () => ({ mutedFor: star.accountId })],
    ['those with a word without the muted', () => ({ search: 'c4ca4238a0b9', mutedFor: star.accountId })],
    ['a handle', () => ({ handles: [{ name: 'star_channel', host: null }] })],
  ]
  it.each(channels)('the list of channels, %s, reads few rows by an index', async (_name, query) => {
    const { whole, rows } = await tableScans(buildChannelList({ ...page, sort: newest, ...query() }))
    expect({ whole, few: rows <= PAGE_ROWS, rows }).toEqual({ whole: [], few: true, rows })
  })

  it.each([
    'c4ca4238a0b9',
    'cc4ca',
    'pc4ca',
    'c4',
    'channel p',
    'a0',
    'channel pc4ca4238a0b923820dcc509a6f75849c',
    '81dc9bdb',
    'nothing like it',
  ])('the total and the order of the channels called %s are right, without muted and removed ones', async (search) => {
    await db.query("update actor set deleted_at = now() where preferred_username = 'c' || md5('1234')")
    const key = `greatest(similarity(c.name, $1), similarity(x.preferred_username, $1))`
    const matches = (condition: string) =>
      db.query<{ id: number }>(
        `select c.id from channel c join actor x on x.id = c.actor_id
         where x.deleted_at is null and (${condition})
           and c.account_id not in (select target_id from account_block where owner_id is null or owner_id = $2)
         order by ${key} desc, c.id desc`,
        [search, star.accountId],
      )
    const contains = "c.name ilike '%' || $1 || '%' or x.preferred_username ilike '%' || $1 || '%'"
    const exact = await matches(contains)
    // Similar names are included if few contain the text.
    const all = exact.length < 15 ? await matches(`${contains} or c.name % $1`) : exact
    const query = { ...page, sort: { by: 'match', descending: true } as const, search, mutedFor: star.accountId }
    for (const start of [0, 40, Math.max(0, all.length - 5)]) {
      const { total, rows } = await listChannels(db, { ...query, start })
      expect(total).toBe(all.length)
      expect(rows.map(({ channel }) => channel.id)).toEqual(all.slice(start, start + 15).map(({ id }) => id))
    }
  })

  it('the search table follows changes of channels and their actors', async () => {
    const { channelId, channelActorId, accountId } = await makeUser(db)
    const searched = async () => {
      const columns = 'account_id as "accountId", host_id as "hostId", name, preferred_username as username'
      return (await db.query(`select ${columns} from channel_search where id = $1`, [channelId]))[0]
    }
    await db.query('update channel set name = $2, account_id = $3 where id = $1', [channelId, 'Other name', star.accountId])
    expect(await searched()).toMatchObject({ accountId: star.accountId, hostId: null, name: 'Other name' })
    const [host] = await db.query<{ id: number }>("select id from remote_host where host = 'far7.example'")
    await db.query('update actor set preferred_username = $2, host_id = $3 where id = $1', [channelActorId, 'other', host?.id])
    expect(await searched()).toEqual({ accountId: star.accountId, hostId: host?.id, name: 'Other name', username: 'other' })
    await db.query('update actor set deleted_at = now() where id = $1', [channelActorId])
    expect(await searched()).toBeUndefined()
    await db.query('update channel set name = $2, account_id = $3 where id = $1', [channelId, 'Own name', accountId])
    expect(await searched()).toBeUndefined()
    await db.query('update actor set deleted_at = null where id = $1', [channelActorId])
    expect(await searched()).toMatchObject({ accountId, name: 'Own name' })
    await db.query('delete from channel where id = $1', [channelId])
    expect(await searched()).toBeUndefined()
  })

  it('the list of accounts reads few rows by an index, in both directions', async () => {
    for (const descending of [true, false]) {
      const query: AccountListQuery = { ...page, sort: { by: 'createdAt', descending }, mutedFor: star.accountId }
      const { whole, rows } = await tableScans(buildAccountList(query))
      expect({ whole, few: rows <= PAGE_ROWS }).toEqual({ whole: [], few: true })
    }
  })

  it('the lists of followers and ratings scan no whole table', async () => {
    const sort = { descending: true }
    const lists = [buildFollowerList({ ...page, sort, of: { actorId: star.channelActorId } })]
    for (const list of lists) expect((await tableScans(list)).whole).toEqual([])
    const { text, values } = buildRatingList({ ...page, sort, accountId: star.accountId })
    const reads = await tableScans({
      text: text.replace(/\(select count\(\*\)::int.*?\) as total/s, '0 as total'),
      values,
    })
    expect({ whole: reads.whole, few: reads.rows <= PAGE_ROWS }).toEqual({ whole: [], few: true })
  })

  it('totals come from counters, follow changes, and are right before and after folding', async () => {
    const totals = async () => [
      (await listChannels(db, { ...page, sort: newest })).total,
      (await listAccounts(db, { ...page, sort: newest, mutedFor: null })).total,
    ]
    const counted = async () => {
      const [row] = await db.query<{ channels: number; accounts: number }>(
        `select count(*) filter (where type = 'Group')::int as channels, (count(*) filter (where type = 'Person')
           - (select count(*) from account_block where owner_id is null))::int as accounts
         from actor where deleted_at is null`,
      )
      return [row?.channels, row?.accounts]
    }
    expect(await totals()).toEqual(await counted())
    await foldActorTotals(db)
    expect(await db.query('select 1 from actor_total_delta')).toEqual([])
    expect(await totals()).toEqual(await counted())
    const gone = await makeUser(db)
    await makeRemoteChannel(db)
    await db.query('update actor set deleted_at = now() where id = $1', [gone.channelActorId])
    await db.query("delete from actor where preferred_username = 'p' || md5('7')")
    await db.query("update actor set deleted_at = deleted_at, updated_at = now() where preferred_username = 'star'")
    expect(await totals()).toEqual(await counted())
    await foldActorTotals(db)
    expect(await totals()).toEqual(await counted())
  })
})
