// What a page of a collection costs: no sequential scan and no sort of everything, however many rows there are.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { makeVideo } from '../../support/builders.ts'
import { type ReadServer, startReadServer } from './read-server.ts'

const ROWS = 10_000
let server: ReadServer
let videoId: number
let actorId: number

beforeAll(async () => {
  server = await startReadServer()
  const { db } = server
  videoId = (await makeVideo(db, { channelId: server.user.channelId })).id
  actorId = server.user.channelActorId
  await db.query("insert into remote_host (host) values ('crowd.example')")
  await db.query(
    `insert into actor (type, preferred_username, host_id, url, inbox_url)
     select 'Person', 'fan' || n, h.id, 'https://crowd.example/fans/' || n, 'https://crowd.example/inbox'
     from generate_series(1, ${ROWS}) n, remote_host h where h.host = 'crowd.example'`,
  )
  const fans = "actor x where x.url like 'https://crowd.example/%'"
  await db.query(`insert into account (actor_id, name) select x.id, x.preferred_username from ${fans}`)
  await db.query(
    `insert into follow (follower_id, target_id, state, url) select x.id, $1, 'accepted', x.url || '/f' from ${fans}`,
    [actorId],
  )
  await db.query(
    `insert into follow (follower_id, target_id, state, url) select $1, x.id, 'accepted', x.url || '/g' from ${fans}`,
    [actorId],
  )
  await db.query(`insert into share (video_id, actor_id, url) select $1, x.id, x.url || '/s' from ${fans}`, [videoId])
  await db.query(
    `insert into rating (video_id, account_id, type, url) select $1, a.id, 'like', x.url || '/l'
     from account a join actor x on x.id = a.actor_id where x.host_id is not null`,
    [videoId],
  )
  await db.query(
    `insert into comment (video_id, account_id, url, text) select $1, a.id, x.url || '/c', 'A word'
     from account a join actor x on x.id = a.actor_id where x.host_id is not null`,
    [videoId],
  )
  await db.query('analyze')
}, 60_000)
afterAll(() => server?.stop())

const ITEMS: [string, string, () => number][] = [
  [
    'comments',
    'select t.url from comment t where t.video_id = $1 and not t.held_for_review order by t.id',
    () => videoId,
  ],
  ['likes', "select t.url from rating t where t.video_id = $1 and t.type = 'like' order by t.id", () => videoId],
  ['announces', 'select t.url from share t where t.video_id = $1 order by t.id', () => videoId],
  [
    'followers',
    `select x.url from follow f join actor x on x.id = f.follower_id
     where f.target_id = $1 and f.state = 'accepted' and x.deleted_at is null order by f.id`,
    () => actorId,
  ],
  [
    'following',
    `select x.url from follow f join actor x on x.id = f.target_id
     where f.follower_id = $1 and f.state = 'accepted' and x.deleted_at is null order by f.id`,
    () => actorId,
  ],
]

it.each(ITEMS)('a page of %s is read by an index in its order', async (_name, sql, value) => {
  const rows = await server.db.query<{ 'QUERY PLAN': string }>(`explain ${sql} limit 10 offset 100`, [value()])
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).not.toMatch(/Seq Scan|Sort/)
})
