// Two real nodes: one follows the other, which already has 500 videos, and restarts during the walk.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { seedVideos } from '../../bench/seed.ts'
import { historiesOf } from '../../src/actors/follow/index.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

const COUNT = 250

let a: FederatedNode
let b: FederatedNode
beforeAll(async () => {
  ;[a, b] = await Promise.all([startFederatedNode(), startFederatedNode()])
  await seedVideos({ databaseUrl: b.node.databaseUrl, origin: b.base, count: COUNT })
  await b.query(
    `insert into share (video_id, actor_id, url) select v.id, x.id, v.url || '/announces/' || x.id
     from video v, actor x where x.host_id is null and x.type <> 'Person'`,
  )
})
afterAll(async () => {
  await Promise.all([a?.stop(), b?.stop()])
})

const stored = async () => (await a.query<{ count: number }>('select count(*)::integer as count from video where remote'))[0]?.count ?? 0
const progress = async () => {
  const hosts = await a.query<{ id: number }>('select id from remote_host where host = $1', [b.host])
  const query = async <Row extends object>(text: string, values: readonly unknown[] = []) => await a.query<Row>(text, [...values])
  const [history] = await historiesOf(
    query,
    hosts.map(({ id }) => id),
  )
  return history
}

it('imports all of them, and shows the progress', async () => {
  await a.client.send('POST', '/api/v1/server/following', { hosts: [b.host] })
  await until(async () => (await stored()) >= 100, { what: 'the first hundred' })
  await a.node.server.stop()
  const atTheStop = await progress()
  expect(atTheStop).toMatchObject({ actor_url: b.instance, state: 'walking', total: COUNT })
  expect(atTheStop?.seen).toBeGreaterThanOrEqual(90)
  expect(atTheStop?.seen).toBeLessThan(COUNT)
  const before = await a.query<{ refreshed_at: Date; id: number }>('select id, refreshed_at from video where remote order by id limit 90')

  await a.node.restart()
  await until(async () => (await progress())?.state === 'done', { what: 'the end of the walk', withinMs: 300_000 })
  expect(await stored()).toBe(COUNT)
  expect(await progress()).toMatchObject({ seen: COUNT, total: COUNT, put_aside: 0, given_up: 0, error: null })
  // Known videos were not fetched again.
  expect(await a.query('select id, refreshed_at from video where id = any($1) order by id', [before.map(({ id }) => id)])).toEqual(before)
  const [job] = await a.query("select progress, state from job where type = 'activitypub-http-fetcher'")
  expect(job).toEqual({ progress: 100, state: 'completed' })
})
