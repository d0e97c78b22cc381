// What administrators see of other servers, and manual retries.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type FakePeer, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let peer: FakePeer
let alice: PeerActor

interface List<T> {
  total: number
  data: T[]
}
interface Peer {
  host: string
  state: string
  lag: number | null
  lastSuccessAt: string | null
  lastErrorAt: string | null
  lastError: string | null
  waitingDeliveries: number
  parkedDeliveries: number
  parkedActivities: number
  history: { actors: number; seen: number; total: number; walks: unknown[] } | null
}

beforeAll(async () => {
  ;[node, peer] = await Promise.all([startFederatedNode(), startFakePeer()])
  alice = (await introduce(node, peer, 'alice')).account
})
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop()])
})

const remote = async (): Promise<Peer | undefined> =>
  (await node.client.get<List<Peer>>('/api/v1/vireo/peers?sort=-lag')).data.find(({ host }) => host === peer.host)

it('a server that answers is shown with its last success', async () => {
  await node.deliver(alice, peer.activity(alice, 'Follow', node.instance))
  await until(async () => (await remote())?.lastSuccessAt != null, { what: 'the first success' })
  expect(await remote()).toMatchObject({
    state: 'healthy',
    lag: null,
    waitingDeliveries: 0,
    lastError: null,
    history: null,
  })
})

it('a failing server is shown with its pending deliveries, and gets them when an administrator retries', async () => {
  peer.answerPosts(() => 503)
  await node.deliver(alice, peer.activity(alice, 'Undo', peer.activity(alice, 'Follow', node.instance)))
  await node.deliver(alice, peer.activity(alice, 'Follow', node.instance))
  await until(async () => (await remote())?.state === 'failing', { what: 'the failure' })
  const failing = await remote()
  expect(failing).toMatchObject({ lastError: 'The inbox answered 503.' })
  expect(failing?.waitingDeliveries).toBeGreaterThan(0)
  expect(failing?.lag).not.toBeNull()
  peer.answerPosts(undefined)
  await node.client.send('POST', `/api/v1/vireo/peers/${encodeURIComponent(peer.host)}/retry`)
  await until(async () => (await remote())?.state === 'healthy', { what: 'the success' })
  await until(async () => (await remote())?.waitingDeliveries === 0, { what: 'the end of the backlog' })
  // The end of the failure is visible at once.
  const well = await remote()
  expect(Date.parse(well?.lastSuccessAt ?? '')).toBeGreaterThanOrEqual(Date.parse(well?.lastErrorAt ?? ''))
})

it('a failing server gets its pending deliveries as soon as it sends something', async () => {
  peer.answerPosts(() => 503)
  await node.deliver(alice, peer.activity(alice, 'Undo', peer.activity(alice, 'Follow', node.instance)))
  const follow = peer.activity(alice, 'Follow', node.instance)
  await node.deliver(alice, follow)
  await until(async () => (await remote())?.state === 'failing', { what: 'the failure' })
  // The back-off alone would take days.
  await node.query(`update remote_host set context = context || '{"failures": 12}', due_at = now() + interval '12 hours' where host = $1`, [
    peer.host,
  ])
  await node.query("update lane set due_at = now() + interval '12 hours' where kind = 'delivery'")
  peer.answerPosts(undefined)
  peer.received.length = 0
  await node.deliver(alice, peer.activity(alice, 'Arrive', alice.url))
  await peer.awaited('the Accept', ({ activity }) => activity.type === 'Accept', 10_000)
  await until(async () => (await remote())?.state === 'healthy', { what: 'the success' })
  await until(async () => (await remote())?.waitingDeliveries === 0, { what: 'the end of the backlog' })
})

it('the progress of its history is shown in numbers', async () => {
  const maker = await introduce(node, peer, 'maker')
  const outbox = `${maker.account.url}/outbox`
  const videos = Array.from({ length: 3 }, () => peer.video({ ...maker }))
  peer.serve(outbox, {
    '@context': 'https://www.w3.org/ns/activitystreams',
    type: 'OrderedCollection',
    id: outbox,
    totalItems: 5,
    orderedItems: videos.map((video) => peer.activity(maker.account, 'Create', video)),
  })
  await node.client.send('POST', '/api/v1/server/following', { handles: [`maker@${peer.host}`] })
  const { activity } = await peer.awaited('the Follow', (one) => one.activity.object === maker.account.url)
  await node.deliver(maker.account, peer.activity(maker.account, 'Accept', activity))
  await until(async () => (await remote())?.history?.walks.some((walk) => (walk as { state: string }).state === 'done'))
  expect((await remote())?.history).toEqual({
    actors: 1,
    seen: 3,
    total: 5,
    walks: [
      {
        actor: maker.account.url,
        state: 'done',
        seen: 3,
        total: 5,
        putAside: 0,
        givenUp: 0,
        error: null,
        nextTryAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ],
  })
})

it('more than a thousand pending deliveries are shown as a thousand', async () => {
  await node.query(
    `with one as (insert into document (activity_id, type, body) values ('http://x.example/1', 'Create', '{}') returning id),
       away as (insert into remote_host (host, state) values ('away.example', 'dormant') returning id)
     insert into delivery (document_id, host_id, actor_id, inbox_url, created_at)
     select one.id, away.id, (select min(id) from actor where host_id is null), 'https://away.example/' || n,
       now() - interval '1 hour'
     from one, away, generate_series(1, 1500) n`,
  )
  const { data } = await node.client.get<List<Peer>>('/api/v1/vireo/peers?sort=-waitingDeliveries&count=1')
  expect(data).toMatchObject([{ host: 'away.example', waitingDeliveries: 1000 }])
  const [first] = (await node.client.get<List<Peer>>('/api/v1/vireo/peers?sort=-lag&count=1')).data
  expect(first).toMatchObject({ host: 'away.example' })
  expect(first?.lag).toBeGreaterThanOrEqual(3600)
})

it('a parked activity is listed, can be retried and discarded', async () => {
  const park = async () => {
    const activity = peer.activity(alice, 'Arrive', alice.url)
    await node.deliver(alice, activity)
    const [row] = await node.query<{ id: string }>(
      "update incoming_activity set state = 'parked', error = 'A bug.', body = $2 where activity_id = $1 returning id",
      [activity.id, JSON.stringify(activity)],
    )
    return { id: Number(row?.id), activityId: activity.id }
  }
  const first = await park()
  const second = await park()
  const listed = () => node.client.get<List<unknown>>(`/api/v1/vireo/parked-activities?host=${peer.host}`)
  expect(await listed()).toMatchObject({
    total: 2,
    data: [
      { ...second, type: 'Arrive', actor: alice.url, host: peer.host, error: 'A bug.' },
      { ...first, type: 'Arrive', actor: alice.url, host: peer.host, error: 'A bug.' },
    ],
  })
  expect((await remote())?.parkedActivities).toBe(2)
  await node.client.send('POST', `/api/v1/vireo/parked-activities/${first.id}/retry`)
  await node.settled()
  await node.client.send('DELETE', `/api/v1/vireo/parked-activities/${second.id}`)
  const states = await node.query('select distinct state, body from incoming_activity where id in ($1, $2)', [first.id, second.id])
  expect(states).toEqual([{ state: 'done', body: null }])
  const again = await node.client.raw(`/api/v1/vireo/parked-activities/${second.id}`, { method: 'DELETE' })
  expect(again.status).toBe(404)
})

it('the debug page counts pending work', async () => {
  expect(await node.client.get('/api/v1/server/debug')).toEqual({ ip: '127.0.0.1', activityPubMessagesWaiting: 0 })
})

it.each([
  'remove-dandling-resumable-uploads',
  'process-video-views-buffer',
  'process-video-viewers',
  'process-video-channel-sync-latest',
  'process-update-videos-scheduler',
  'remove-expired-user-exports',
])('the command %s finds its work', async (command) => {
  const { status } = await node.client.raw('/api/v1/server/debug/run-command', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ command }),
  })
  expect(status).toBe(204)
})
