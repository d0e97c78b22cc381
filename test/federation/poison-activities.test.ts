// An activity that always fails is retried, then parked for administrators, and blocks nothing.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let peer: FakePeer
let alice: { account: PeerActor; channel: PeerActor }
let video: JsonObject & { id: string }

beforeAll(async () => {
  const quick = { initial_backoff: '50 ms', max_backoff: '100 ms', attempts: 4 }
  ;[node, peer] = await Promise.all([startFederatedNode({ vireo: { federation: { inbox: quick } } }), startFakePeer()])
  alice = await introduce(node, peer, 'alice')
  video = peer.video(alice)
  await node.deliver(alice.account, peer.activity(alice.account, 'Create', video))
})
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop()])
})

it('is tried four times and parked with its reason; later activities of its actor and of others continue', async () => {
  const lost = `${peer.base}/videos/watch/00000000-0000-4000-8000-000000000000`
  peer.serve(lost, () => ({ status: 503 }))
  const poison = peer.activity(alice.channel, 'Announce', lost)
  await node.deliver(alice.channel, poison)
  const share = peer.activity(alice.channel, 'Announce', video.id)
  const follow = peer.activity(alice.account, 'Follow', node.instance)
  await node.deliver(alice.channel, share)
  await node.deliver(alice.account, follow)
  expect(await node.query('select 1 from share where url = $1', [share.id])).toHaveLength(1)
  expect(await node.query('select 1 from follow where url = $1', [follow.id])).toHaveLength(1)

  const parked = () => node.client.get<{ data: { activityId: string; error: string }[] }>('/api/v1/vireo/parked-activities')
  await until(async () => (await parked()).data.length === 1, { what: 'the parked activity' })
  expect((await parked()).data).toMatchObject([{ activityId: poison.id, error: expect.stringContaining('503') }])
  expect(peer.fetched.filter((path) => path === new URL(lost).pathname)).toHaveLength(4)
})
