// Activities about videos invalidate cached responses, which expire after an hour here.

import { afterAll, beforeAll, it } from '@jest/globals'
import { type FakePeer, startFakePeer } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let peer: FakePeer
let alice: Awaited<ReturnType<typeof introduce>>
beforeAll(async () => {
  const config = { vireo: { caching: { routes: { videos: '1 hour' } } } }
  ;[node, peer] = await Promise.all([startFederatedNode(config), startFakePeer()])
  alice = await introduce(node, peer, 'alice')
  peer.serve(`${alice.channel.url}/outbox`, { type: 'OrderedCollection', totalItems: 0, orderedItems: [] })
  await node.client.send('POST', '/api/v1/server/following', { handles: [`alice_channel@${peer.host}`] })
  const follow = await peer.awaited('the follow', ({ activity }) => activity.type === 'Follow')
  await node.deliver(alice.channel, peer.activity(alice.channel, 'Accept', follow.activity))
})
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop()])
})

async function asVisitor<T>(path: string): Promise<T> {
  return (await (await fetch(`${node.base}${path}`)).json()) as T
}

it('a new video, a new name and a removal are visible at once', async () => {
  const document = peer.video(alice)
  const { uuid } = document as { uuid?: string }
  const shown = async () => {
    const { data } = await asVisitor<{ data: { uuid: string; name: string }[] }>('/api/v1/videos')
    const one = await asVisitor<{ name?: string; status?: number }>(`/api/v1/videos/${uuid}`)
    return [data.find((video) => video.uuid === uuid)?.name, one.name ?? one.status]
  }
  const becomes = (expected: unknown[]) =>
    until(async () => JSON.stringify(await shown()) === JSON.stringify(expected), { what: JSON.stringify(expected) })
  const say = (type: string, object: unknown) => node.deliver(alice.account, peer.activity(alice.account, type, object))
  await becomes([undefined, 404])
  await say('Create', { ...document, name: 'As it was' })
  await becomes(['As it was', 'As it was'])
  await say('Update', { ...document, name: 'Renamed', updated: new Date().toISOString() })
  await becomes(['Renamed', 'Renamed'])
  await say('Delete', document.id)
  await becomes([undefined, 404])
})
