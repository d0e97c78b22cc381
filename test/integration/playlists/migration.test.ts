// Playlists from before they federated: they get an address, and every user one to watch later.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import pg from 'pg'
import { migrations } from '../../../migrations/index.ts'
import { makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase({ empty: true })
})
afterAll(async () => {
  await database?.drop()
})

async function migrateTo(last: string): Promise<void> {
  const until = migrations.filter(({ name }) => name <= last)
  const db = await makeDatabase({
    url: database.url,
    poolMax: 4,
    entities: [],
    migrations: until,
    logger: silentLogger,
  })
  await db.migrate()
  await db.close()
}

it('have addresses on this server afterwards, and no user is without one to watch later', async () => {
  await migrateTo('0006-two-factor')
  const db = new pg.Client({ connectionString: database.url })
  await db.connect()
  for (const name of ['with', 'without']) {
    await db.query(
      `with made as (
         insert into users (username, role, password_hash, email) values ($1, 2, 'x', $1 || '@example.com') returning id
       ), actor as (
         insert into actor (type, preferred_username, url, inbox_url)
         values ('Person', $1, $2, $2 || '/inbox') returning id
       ) insert into account (actor_id, user_id, name) select actor.id, made.id, $1 from actor, made`,
      [name, `https://video.example:8443/accounts/${name}`],
    )
  }
  await db.query(
    "insert into playlist (account_id, name, type, privacy) select id, 'Watch later', 2, 3 from account where name = 'with'",
  )
  await migrateTo('0007-playlists')
  const { rows } = await db.query(
    `select a.name as owner, p.type, p.privacy, p.remote, p.url = 'https://video.example:8443/video-playlists/' || p.uuid as fits
     from playlist p join account a on a.id = p.account_id order by a.name`,
  )
  await db.end()
  const later = { type: 2, privacy: 3, remote: false, fits: true }
  expect(rows).toEqual([
    { owner: 'with', ...later },
    { owner: 'without', ...later },
  ])
})

it('are counted once, also when the migration is done twice', async () => {
  await migrateTo('0024-search')
  const db = new pg.Client({ connectionString: database.url })
  await db.connect()
  const add = async (privacy: number) => {
    await db.query(
      `insert into playlist (uuid, account_id, url, name, type, privacy)
       select u.uuid, (select min(id) from account), 'https://video.example/' || u.uuid, 'Old', 1, $1
       from (select gen_random_uuid() as uuid from generate_series(1, 3)) u`,
      [privacy],
    )
  }
  const total = async () => {
    const { rows } = await db.query<{ total: number }>(
      `select ((select sum(total) from playlist_total)
         + (select coalesce(sum(delta), 0) from playlist_total_delta))::int as total`,
    )
    return rows[0]?.total
  }
  await add(1)
  await add(2)
  await migrateTo('0029-ends')
  expect(await total()).toBe(3)
  await add(1)
  await db.query("delete from migration where name = '0029-ends'")
  await migrateTo('0029-ends')
  expect(await total()).toBe(6)
  await db.query('update playlist set privacy = 3 where privacy = 1')
  await db.query('delete from playlist where privacy = 2')
  expect(await total()).toBe(0)
  await db.end()
})
