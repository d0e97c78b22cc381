// What administrators see of other servers, and that trying again does so.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type FakePeer, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let ours: FederatedNode
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
  lastError: string | null
  waitingDeliveries: number
  parkedDeliveries: number
  parkedActivities: number
}

beforeAll(async () => {
  ;[ours, peer] = await Promise.all([startFederatedNode(), startFakePeer()])
  alice = (await introduce(ours, peer, 'alice')).account
}, 60_000)
afterAll(async () => {
  await Promise.all([peer?.close(), ours?.stop()])
})

const theirs = async (): Promise<Peer | undefined> =>
  (await ours.client.get<List<Peer>>('/api/v1/vireo/peers?sort=-lag')).data.find(({ host }) => host === peer.host)

it('a server that answers is shown with its last success', async () => {
  await ours.tell(alice, peer.activity(alice, 'Follow', ours.instance))
  await until(async () => (await theirs())?.lastSuccessAt != null, { what: 'the first success' })
  expect(await theirs()).toMatchObject({ state: 'healthy', lag: null, waitingDeliveries: 0, lastError: null })
})

it('a server that fails is shown with what waits, and gets it when an administrator says so', async () => {
  peer.answerPosts(() => 503)
  await ours.tell(alice, peer.activity(alice, 'Undo', peer.activity(alice, 'Follow', ours.instance)))
  await ours.tell(alice, peer.activity(alice, 'Follow', ours.instance))
  await until(async () => (await theirs())?.state === 'failing', { what: 'the failure' })
  const failing = await theirs()
  expect(failing).toMatchObject({ lastError: 'The inbox answered 503.' })
  expect(failing?.waitingDeliveries).toBeGreaterThan(0)
  expect(failing?.lag).not.toBeNull()
  peer.answerPosts(undefined)
  await ours.client.send('POST', `/api/v1/vireo/peers/${encodeURIComponent(peer.host)}/retry`)
  await until(async () => (await theirs())?.state === 'healthy', { what: 'the success' })
  await until(async () => (await theirs())?.waitingDeliveries === 0, { what: 'the end of the backlog' })
})

it('an activity that is parked is listed, can be tried anew and given up', async () => {
  const park = async () => {
    const activity = peer.activity(alice, 'Arrive', alice.url)
    await ours.tell(alice, activity)
    const [row] = await ours.query<{ id: string }>(
      "update incoming_activity set state = 'parked', error = 'A bug.', body = $2 where activity_id = $1 returning id",
      [activity.id, JSON.stringify(activity)],
    )
    return { id: Number(row?.id), activityId: activity.id }
  }
  const first = await park()
  const second = await park()
  const listed = () => ours.client.get<List<unknown>>(`/api/v1/vireo/parked-activities?host=${peer.host}`)
  expect(await listed()).toMatchObject({
    total: 2,
    data: [
      { ...second, type: 'Arrive', actor: alice.url, host: peer.host, error: 'A bug.' },
      { ...first, type: 'Arrive', actor: alice.url, host: peer.host, error: 'A bug.' },
    ],
  })
  expect((await theirs())?.parkedActivities).toBe(2)
  await ours.client.send('POST', `/api/v1/vireo/parked-activities/${first.id}/retry`)
  await ours.settled()
  await ours.client.send('DELETE', `/api/v1/vireo/parked-activities/${second.id}`)
  const states = await ours.query('select distinct state, body from incoming_activity where id in ($1, $2)', [
    first.id,
    second.id,
  ])
  expect(states).toEqual([{ state: 'done', body: null }])
  const again = await ours.client.raw(`/api/v1/vireo/parked-activities/${second.id}`, { method: 'DELETE' })
  expect(again.status).toBe(404)
})

it('the page for debugging counts what waits', async () => {
  expect(await ours.client.get('/api/v1/server/debug')).toEqual({ ip: '127.0.0.1', activityPubMessagesWaiting: 0 })
})
