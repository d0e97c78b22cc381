// Key ids in the form of an actor's handle (`acct:name@host`), which the reference accepts.

import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { type FakePeer, type PeerActor, post, startFakePeer } from '../support/fake-peer.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

let node: FederatedNode
let peer: FakePeer
let alice: PeerActor
beforeAll(async () => {
  ;[node, peer] = await Promise.all([startFederatedNode(), startFakePeer()])
})
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop()])
})

let made = 0
const name = () => `alice_${made}`
beforeEach(async () => {
  made += 1
  alice = await peer.account(name())
  peer.fetched.length = 0
})

const follows = async (actor: PeerActor) =>
  (await node.query('select 1 from follow f join actor a on a.id = f.follower_id where a.url = $1', [actor.url])).length
const follow = (by: PeerActor) => peer.activity(by, 'Follow', `${node.base}/accounts/root`)
const acct = (who = name(), host = peer.host) => `acct:${who}@${host}`
const webFinger = () => peer.fetched.filter((path) => path.startsWith('/.well-known/webfinger'))

it('of an unknown actor is resolved afterwards, by WebFinger', async () => {
  await node.deliver(alice, follow(alice), { keyId: acct() })
  expect(await follows(alice)).toBe(1)
  expect(webFinger()).toHaveLength(1)
})

it('of a known actor is found without a fetch', async () => {
  await node.deliver(alice, peer.activity(alice, 'Arrive', alice.url))
  peer.fetched.length = 0
  await node.deliver(alice, follow(alice), { keyId: acct(name().toUpperCase()) })
  expect(await follows(alice)).toBe(1)
  expect(peer.fetched).toEqual([])
})

it('of another actor is refused', async () => {
  const bob = await peer.account(`bob_${made}`)
  for (const one of [alice, bob]) await node.deliver(one, peer.activity(one, 'Arrive', one.url))
  const { status } = await post(node, alice, follow(alice), { signer: bob, keyId: acct(`bob_${made}`) })
  expect(status).toBe(403)
  expect(await follows(alice)).toBe(0)
})

it.each<[string, number, () => string]>([
  ['of another server', 401, () => acct(name(), 'video.example')],
  ['that is none', 401, () => 'acct:alice'],
  ['with a path', 401, () => acct(`a/${name()}`)],
])('%s is refused with %i by the inbox', async (_what, status, keyId) => {
  expect((await post(node, alice, follow(alice), { keyId: keyId() })).status).toBe(status)
  expect(await follows(alice)).toBe(0)
  expect(peer.fetched).toEqual([])
})

it('that WebFinger resolves to another actor has no effect', async () => {
  const mallory = await peer.account(`mallory_${made}`)
  await node.deliver(alice, follow(alice), { signer: mallory, keyId: acct(`mallory_${made}`) })
  await node.deliver(alice, follow(alice), { keyId: acct('nobody') })
  expect(await follows(alice)).toBe(0)
})
