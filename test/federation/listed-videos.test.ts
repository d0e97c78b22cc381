// Public lists show videos of followed servers, accounts and channels, and not those of strangers.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type FakePeer, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let home: FakePeer
let other: FakePeer
let alice: { account: PeerActor; channel: PeerActor }
let video: { id: string; name: string }

beforeAll(async () => {
  ;[node, home, other] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  alice = await introduce(node, home, 'alice')
  await node.deliver(other.instance, other.activity(other.instance, 'Arrive', other.instance.url))
  const document = home.video({ ...alice, more: { name: 'Of a stranger' } })
  video = { id: document.id, name: 'Of a stranger' }
  await node.deliver(alice.account, home.activity(alice.account, 'Create', document))
})
afterAll(async () => {
  await Promise.all([home?.close(), other?.close(), node?.stop()])
})

interface Page {
  total: number
  data: { name: string }[]
}
const list = async (path: string) => {
  const { total, data } = (await (await fetch(`${node.base}/api/v1/${path}`)).json()) as Page
  return { total, names: data.map(({ name }) => name) }
}
const LISTED = { total: 1, names: ['Of a stranger'] }
const NOBODYS: typeof LISTED = { total: 0, names: [] }
const lists = () => Promise.all([list('videos?isLocal=false'), list('videos?isLocal=false&languageOneOf=_unknown')])
const becomes = (expected: typeof NOBODYS) =>
  until(async () => JSON.stringify(await lists()) === JSON.stringify([expected, expected]), {
    what: `the lists with ${expected.total}`,
  })
const follow = async (peer: FakePeer, actor: PeerActor, handle: string) => {
  await node.client.send('POST', '/api/v1/server/following', { handles: [handle] })
  const { activity } = await peer.awaited('the Follow', (one) => {
    return one.activity.type === 'Follow' && one.activity.object === actor.url
  })
  await node.deliver(actor, peer.activity(actor, 'Accept', activity))
  peer.received.length = 0
}

it('a video sent by a stranger is in no public list, and can be opened by its URL', async () => {
  expect(await lists()).toEqual([NOBODYS, NOBODYS])
  expect(await list('search/videos?search=stranger')).toEqual(NOBODYS)
  const handle = `${alice.channel.document.preferredUsername}@${home.host}`
  const ofChannel = `/api/v1/video-channels/${handle}/videos`
  expect((await fetch(`${node.base}${ofChannel}`)).status).toBe(403)
  expect((await node.client.get<Page>(ofChannel)).total).toBe(1)
  expect((await node.client.get<Page>('/api/v1/search/videos?search=stranger')).total).toBe(1)
  expect((await node.client.get<Page>(`/api/v1/search/videos?search=${encodeURIComponent(video.id)}`)).total).toBe(1)
})

it('is listed while its channel is followed', async () => {
  const handle = `${alice.channel.document.preferredUsername}@${home.host}`
  await follow(home, alice.channel, handle)
  await becomes(LISTED)
  await node.client.send('DELETE', `/api/v1/server/following/${handle}`)
  await becomes(NOBODYS)
})

it('is listed while a followed actor shares it', async () => {
  const share = other.activity(other.instance, 'Announce', video.id)
  await node.deliver(other.instance, share)
  expect(await lists()).toEqual([NOBODYS, NOBODYS])
  await follow(other, other.instance, `${other.instance.document.preferredUsername}@${other.host}`)
  await becomes(LISTED)
  await node.deliver(other.instance, other.activity(other.instance, 'Undo', share))
  await becomes(NOBODYS)
  await node.deliver(other.instance, other.activity(other.instance, 'Announce', video.id))
  await becomes(LISTED)
})
