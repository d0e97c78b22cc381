// Query plans of the list of reports: indexes serve its orders, filters and searches, and details are only read for the page.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { migrations } from '../../../migrations/index.ts'
import { type AbuseListQuery, buildAbuseList, listAbuses } from '../../../src/actors/abuse/abuse.queries.ts'
import { entities } from '../../../src/entities.ts'
import { type Database, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeUser } from '../../support/builders.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'

const REPORTS = 20_000
/** Number of videos and accounts. */
const PLACES = 1000

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await freshDatabase()
  db = await makeDatabase({ url: database.url, poolMax: 2, entities, migrations, logger: silentLogger })
  const owner = await makeUser(db)
  await db.query(
    `with actors as (
       insert into actor (type, preferred_username, url, inbox_url)
       select 'Person', md5(n::text), 'http://localhost/person' || n, 'http://localhost/inbox'
       from generate_series(1, $2::int) n returning id, preferred_username as name
     ), accounts as (
       insert into account (actor_id, name) select id, 'account ' || name from actors returning id, name
     ), groups as (
       insert into actor (type, preferred_username, url, inbox_url)
       select 'Group', 'group' || n, 'http://localhost/group' || n, 'http://localhost/inbox'
       from generate_series(1, $2::int / 5) n returning id, preferred_username as name
     ), channels as (
       insert into channel (actor_id, account_id, name) select id, $1, 'channel ' || md5(name) from groups returning id
     ), videos as (
       insert into video (uuid, channel_id, url, name, privacy, state)
       select gen_random_uuid(), c.id, 'http://localhost/v' || v.n, 'video ' || md5(v.n::text), 1, 'published'
       from generate_series(1, $2::int) v (n) join (select id, row_number() over () as n from channels) c on c.n = 1 + v.n % ($2::int / 5)
       returning id, name, uuid
     ), places as (
       select a.id as account_id, a.name as account, v.id as video_id, v.name as video, v.uuid, a.n as place
       from (select *, row_number() over () as n from accounts) a join (select *, row_number() over () as n from videos) v on v.n = a.n
     ) insert into abuse (url, object_url, kind, state, reason, predefined_reasons, reporter_id, reporter_name, reporter_url,
         reportee_id, reportee_name, reportee_url, video_id, reported_id, video_name, video_uuid, created_at)
       select 'http://localhost/r' || n, 'http://localhost/o' || n, case n % 500 when 0 then 'account' else 'video' end,
         case n % 1000 when 1 then 'pending' else 'accepted' end, 'a reason', case n % 2000 when 3 then array[7]::smallint[] else '{3}' end,
         p.account_id, p.account, 'http://localhost', p.account_id, p.account, 'http://localhost',
         case n % 500 when 0 then null else p.video_id end, p.video_id, p.video, p.uuid, now() - n * interval '1 second'
       from generate_series(1, $3::int) n join places p on p.place = 1 + n % $2::int`,
    [owner.accountId, PLACES, REPORTS],
  )
  await db.query('vacuum analyze')
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const usual: AbuseListQuery = { start: 0, count: 15, sort: { by: 'createdAt', descending: true } }
/** The fifteen reports of the page, with all reports of and by those accounts and videos: twenty each. */
const OF_A_PAGE = 15 + 15 * 20 * 4

describe('with many reports', () => {
  it.each<[string, Partial<AbuseListQuery>]>([
    ['the newest', {}],
    ['the oldest', { sort: { by: 'createdAt', descending: false } }],
    ['the last by number', { sort: { by: 'id', descending: true } }],
    ['those that wait before the others', { sort: { by: 'state', descending: false } }],
    ['those that wait', { state: 'pending' }],
    ['those of accounts', { kind: 'account' }],
    ['those for a rare reason', { predefinedReasons: [7] }],
    ['those by one user', { reporterId: 7 }],
    ['one', { id: 7 }],
    ['those with a rare word', { search: 'c4ca4238a0b9' }],
    ['those by whoever has a rare name', { searchReporter: 'c4ca4238a0b9' }],
    ['those of whoever has one', { searchReportee: 'c4ca4238a0b9' }],
    ['those of a video with one', { searchVideo: 'c4ca4238a0b9' }],
  ])('a page of %s reads few rows, by indexes', async (_name, change) => {
    const { text, values } = buildAbuseList({ ...usual, ...change })
    const reads = await tableScans(text, values)
    expect(reads.map(({ node }) => node)).not.toContain('Seq Scan')
    expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(OF_A_PAGE + 300)
  })

  it('all are counted, and searched ones up to the limit', async () => {
    expect((await listAbuses(db, usual)).total).toBe(REPORTS)
    expect((await listAbuses(db, { ...usual, search: 'account' })).total).toBe(1000)
    const { text, values } = buildAbuseList({ ...usual, search: 'account' })
    const reads = await tableScans(text, values)
    expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(OF_A_PAGE + 6000)
    expect((await listAbuses(db, { ...usual, kind: 'video' })).total).toBe(10_000)
    expect((await listAbuses(db, { ...usual, state: 'pending' })).total).toBe(REPORTS / 1000)
  })
})

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** The rows of reports that a statement reads, including filtered ones. */
async function tableScans(text: string, values: readonly unknown[]): Promise<{ node: string; rows: number }[]> {
  const [explained] = await db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, format json) ${text}`, values)
  const visit = (plan: Plan): { node: string; rows: number }[] => {
    const rows = (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    const own = plan['Relation Name'] === 'abuse' ? [{ node: plan['Node Type'], rows }] : []
    return [...own, ...(plan.Plans ?? []).flatMap(visit)]
  }
  return (explained?.['QUERY PLAN'] ?? []).flatMap(({ Plan: plan }) => visit(plan))
}
