// Query plans of collection pages: no sequential scan and no full sort, for any number of rows.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { actorPages } from '../../../src/federation/dispatchers/actor-collections.ts'
import { replyPages, videoPages } from '../../../src/federation/dispatchers/video-parts.ts'
import { makeVideo } from '../../support/builders.ts'
import { type ReadServer, startReadServer } from './read-server.ts'

const ROWS = 10_000
let server: ReadServer
let videoId: number
let parentId: number
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
  await db.query(`insert into follow (follower_id, target_id, state, url) select x.id, $1, 'accepted', x.url || '/f' from ${fans}`, [
    actorId,
  ])
  await db.query(`insert into follow (follower_id, target_id, state, url) select $1, x.id, 'accepted', x.url || '/g' from ${fans}`, [
    actorId,
  ])
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
  const [parent] = await db.query<{ id: number }>('select min(id) as id from comment')
  parentId = parent?.id ?? 0
  await db.query(
    `insert into comment (video_id, account_id, url, text, thread_id, parent_id)
     select $1, c.account_id, c.url || '/r', 'An answer', $2, $2 from comment c where c.id <> $2`,
    [videoId, parentId],
  )
  await db.query(
    `insert into rating (video_id, account_id, type, url) select $1, a.id, 'dislike', x.url || '/d'
     from account a join actor x on x.id = a.actor_id where x.host_id is not null`,
    [(await makeVideo(db, { channelId: server.user.channelId })).id],
  )
  await db.query(
    `insert into video (uuid, channel_id, url, name, privacy, state, published_at)
     select gen_random_uuid(), $1, $2 || '/videos/watch/' || n, 'Video ' || n, 1, 'published', now() - make_interval(mins => n)
     from generate_series(1, ${ROWS}) n`,
    [server.user.channelId, server.urls.origin],
  )
  await db.query(
    `insert into share (video_id, actor_id, url) select v.id, $1, v.url || '/announces/1' from video v where v.id <> $2
     on conflict do nothing`,
    [actorId, videoId],
  )
  await db.query('vacuum analyze')
})
afterAll(() => server?.stop())

type Case = [string, { ids: string }, () => number]
const CASES: Case[] = [
  ...Object.entries(videoPages).map(([name, parts]): Case => [name, parts, () => videoId]),
  ['replies', replyPages, () => parentId],
  ['followers', actorPages.followers, () => actorId],
  ['following', actorPages.following, () => actorId],
]

/** The plan nodes that run: nothing is muted here. */
const planOf = async (sql: string, values: unknown[]): Promise<string> =>
  (await server.db.query<{ 'QUERY PLAN': string }>(`explain (analyze, timing off) ${sql}`, values))
    .map((row) => row['QUERY PLAN'])
    .filter((line) => !line.includes('never executed'))
    .join('\n')

/** Tables of the instance's mutes are short; the others must not be scanned or sorted. */
const COSTLY = /Seq Scan on (?!account_block|server_block)|Sort/

describe.each(CASES)('%s', (_name, { ids }, value) => {
  it('a page is read from an index in its order, however far behind', async () => {
    for (const offset of [100, ROWS - 10]) {
      const plan = await planOf(`${ids} limit 10 offset ${offset}`, [value()])
      expect(plan).toContain('Index Only Scan')
      expect(plan).not.toMatch(COSTLY)
    }
  })

  it('is counted by an index alone', async () => {
    const plan = await planOf(`select count(*) from (${ids}) k`, [value()])
    expect(plan).toContain('Index Only Scan')
    expect(plan).not.toMatch(COSTLY)
  })
})

it('the outbox of a channel is read from an index in its order, and counted without its videos', async () => {
  const { ids, total = '' } = actorPages.shared
  for (const offset of [0, ROWS - 10]) {
    const plan = await planOf(`${ids} limit 10 offset ${offset}`, [actorId])
    expect(plan).toContain('video_not_listed')
    expect(plan).not.toMatch(/Seq Scan|Sort/)
  }
  expect(await planOf(`select ${total}`, [actorId])).not.toMatch(/Seq Scan|Sort/)
})

it('the outbox of an account reads no more videos than it shows', async () => {
  const { ids } = actorPages.creations
  const rows = await server.db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
    `explain (analyze, format json) ${ids.replace('$2', '10').replace('$3', '0')} limit 10`,
    [server.user.actorId],
  )
  const read = scans(rows[0]?.['QUERY PLAN'][0]?.Plan).filter((plan) => plan['Relation Name'] === 'video')
  expect(read).not.toEqual([])
  for (const plan of read) expect(plan['Actual Rows'] * plan['Actual Loops']).toBeLessThanOrEqual(20)
})

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  Plans?: Plan[]
}

function scans(plan: Plan | undefined): Plan[] {
  return plan ? [plan, ...(plan.Plans ?? []).flatMap(scans)] : []
}
