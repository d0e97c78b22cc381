// Query plans of the list of users: statistics are computed for one page only.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { migrations } from '../../../migrations/index.ts'
import { buildUserList, type UserListQuery } from '../../../src/actors/user/list-users.ts'
import { entities } from '../../../src/entities.ts'
import { type Database, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'

const MANY = 5_000

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await freshDatabase()
  db = await makeDatabase({ url: database.url, poolMax: 2, entities, migrations, logger: silentLogger })
  await db.query(
    `with person as (
       insert into users (username, email, password_hash, role, created_at)
       select 'person' || n, md5(n::text) || '@example.org', '-', n % 3, now() - n * interval '1 minute'
       from generate_series(1, $1::int) n returning id, username
     ), actors as (
       insert into actor (type, preferred_username, url, inbox_url)
       select kind.type, kind.prefix || username, 'http://localhost/' || kind.prefix || username, 'http://localhost/inbox'
       from person, (values ('Person', ''), ('Group', 'channel_of_')) as kind (type, prefix) returning id, type, preferred_username as name
     ), accounts as (
       insert into account (actor_id, user_id, name)
       select x.id, p.id, p.username from person p join actors x on x.name = p.username returning id, name
     ), channels as (
       insert into channel (actor_id, account_id, name)
       select x.id, a.id, x.name from accounts a join actors x on x.name = 'channel_of_' || a.name returning id
     ), videos as (
       insert into video (uuid, channel_id, url, name, privacy, state)
       select gen_random_uuid(), c.id, 'http://localhost/v' || c.id, 'a video', 1, 'published' from channels c returning id
     ) insert into video_file (video_id, resolution, size, extname) select v.id, 240, 1000, '.mp4' from videos v`,
    [MANY],
  )
  await db.query('analyze')
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const usual: UserListQuery = { start: 0, count: 15, sort: { by: 'createdAt', descending: true } }

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  Plans?: Plan[]
}

/** Rows that are read of each table. */
async function tableScans(query: UserListQuery): Promise<Map<string, number>> {
  const { text, values } = buildUserList(query)
  const [explained] = await db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, format json) ${text}`, values)
  const reads = new Map<string, number>()
  const visit = (plan: Plan): void => {
    const table = plan['Relation Name']
    if (table) reads.set(table, (reads.get(table) ?? 0) + plan['Actual Rows'] * plan['Actual Loops'])
    plan.Plans?.forEach(visit)
  }
  for (const { Plan: plan } of explained?.['QUERY PLAN'] ?? []) visit(plan)
  return reads
}

describe('with five thousand users', () => {
  const lists: [string, UserListQuery, number][] = [
    ['the default list', usual, MANY + 100],
    ['the first names', { ...usual, sort: { by: 'username', descending: false } }, MANY + 100],
    ['those who never came', { ...usual, sort: { by: 'lastLoginDate', descending: false } }, MANY + 100],
    ['a search', { ...usual, search: 'person1234' }, 200],
  ]
  it.each(lists)('%s reads the rows of one page, and counts the users', async (_name, query, mostUsers) => {
    const reads = await tableScans(query)
    expect(reads.get('users')).toBeLessThanOrEqual(mostUsers)
    for (const table of ['account', 'actor', 'channel', 'video', 'video_file']) {
      expect([table, (reads.get(table) ?? 0) <= 200]).toEqual([table, true])
    }
  })
})
