// Follower synchronisation (FEP-8fcf), sending side: the digest that servers get of their actors that follow local ones, and access to the
// partial collection.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { importPrivateKey, signOutgoing, verifyInbound } from '../../src/federation/security/index.ts'
import { type FakePeer, type JsonObject, type PeerActor, type Received, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let silent: FederatedNode
/** Two of its actors follow the local account, one the channel. */
let near: FakePeer
/** Follows the instance only. */
let far: FakePeer
let followers: PeerActor[]
let other: PeerActor
let bytes: Buffer

const root = () => `${node.base}/accounts/root`

beforeAll(async () => {
  ;[node, silent, near, far] = await Promise.all([
    startFederatedNode(),
    startFederatedNode({ vireo: { federation: { delivery: { synchronize_followers: false } } } }),
    startFakePeer(),
    startFakePeer(),
  ])
  bytes = await readFile(await media('small.mp4'))
  followers = [(await introduce(node, near, 'ann')).account, (await introduce(node, near, 'ben')).account]
  for (const by of followers) await node.deliver(by, near.activity(by, 'Follow', root()))
  other = (await introduce(node, near, 'eve')).account
  await node.deliver(other, near.activity(other, 'Follow', `${node.base}/video-channels/root_channel`))
  await node.deliver(far.instance, far.activity(far.instance, 'Follow', node.instance))
  await node.deliver(far.instance, far.activity(far.instance, 'Follow', root()))
})
afterAll(async () => {
  await Promise.all([near?.close(), far?.close(), silent?.stop(), node?.stop()])
})

const digestOf = (urls: string[]): string =>
  urls
    .map((url) => createHash('sha256').update(url).digest())
    .reduce((all, one) => Buffer.from(all.map((byte, at) => byte ^ (one[at] ?? 0))), Buffer.alloc(32))
    .toString('hex')

const headerFor = (actor: string, urls: string[]): string =>
  `collectionId="${actor}/followers", url="${actor}/followers_synchronization", digest="${digestOf(urls)}"`

const sent = (peer: FakePeer, type: string, actor: string): Promise<Received> =>
  peer.awaited(`${type} by ${actor}`, ({ activity }) => activity.type === type && activity.actor === actor)

const headerOf = ({ headers }: Received) => headers['collection-synchronization']

async function read(actor: string, by: PeerActor | null, of = node): Promise<{ status: number; body: JsonObject }> {
  const url = `${of.base}${actor}/followers_synchronization`
  const accept = { accept: 'application/activity+json' }
  const key = by && { keyId: by.keyId, privateKey: await importPrivateKey(by.keys.rsa.privatePem) }
  const signed = key && { method: 'GET', url, headers: accept, key, profile: 'cavage' as const, now: new Date() }
  const answer = await fetch(url, { headers: signed ? await signOutgoing(signed) : accept })
  if (answer.status === 200) expect(answer.headers.get('cache-control')).toBe('private, no-store')
  return { status: answer.status, body: (await answer.json()) as JsonObject }
}

it("the digest equals that of the FEP's example", () => {
  expect(digestOf(['https://testing.example.org/users/1', 'https://testing.example.org/users/2'])).toBe(
    'c33f48cd341ef046a206b8a72ec97af65079f9a3a9b90eef79c5920dce45c61f',
  )
})

it('a delivery to followers has the digest of the receiving server, covered by the signature', async () => {
  await node.upload(bytes, { name: 'For followers' })
  const mine = followers.map(({ url }) => url)
  expect(headerOf(await sent(near, 'Create', root()))).toBe(headerFor(root(), mine))
  expect(headerOf(await sent(far, 'Create', root()))).toBe(headerFor(root(), [far.instance.url]))
  const channel = `${node.base}/video-channels/root_channel`
  // Announces are addressed to the followers of the account, which differ from those of the announcing channel.
  expect(headerOf(await sent(near, 'Announce', channel))).toBeUndefined()

  const create = await sent(near, 'Create', root())
  const [actor] = await node.query<{ pem: string }>('select public_key_pem as pem from actor where url = $1', [root()])
  const verify = (headers: Received['headers']) =>
    verifyInbound({
      method: 'POST',
      url: `${near.base}${create.path}`,
      headers,
      now: new Date(),
      rawBody: Buffer.from(create.raw),
      findKey: async () => ({ pem: actor?.pem ?? '', owner: root(), fetchedAt: new Date() }),
    })
  expect(await verify(create.headers)).toMatchObject({ ok: true })
  const forged = { ...create.headers, 'collection-synchronization': headerFor(root(), []) }
  expect(await verify(forged)).toMatchObject({ ok: false, reason: 'bad-signature' })
})

it('a delivery to one actor has no digest', async () => {
  expect(near.of('Accept').length).toBeGreaterThan(0)
  expect(near.of('Accept').map(headerOf)).toEqual(near.of('Accept').map(() => undefined))
})

it('a server reads its own followers, with the signature of any of its actors', async () => {
  const id = `${root()}/followers_synchronization`
  const mine = followers.map(({ url }) => url)
  for (const by of [followers[0] ?? null, other, near.instance]) {
    expect(await read('/accounts/root', by)).toMatchObject({
      status: 200,
      body: { id, type: 'OrderedCollection', totalItems: 2, orderedItems: mine },
    })
  }
  expect((await read('/accounts/root', far.instance)).body).toMatchObject({ orderedItems: [far.instance.url] })
  expect((await read('/accounts/peertube', near.instance)).body).toMatchObject({ totalItems: 0, orderedItems: [] })
  expect((await read('/video-channels/root_channel', near.instance)).body).toMatchObject({ orderedItems: [other.url] })
  const [first] = followers
  if (first) await node.deliver(first, near.activity(first, 'Undo', near.activity(first, 'Follow', root())))
  expect((await read('/accounts/root', other)).body).toMatchObject({ orderedItems: mine.slice(1) })
})

it('unsigned requests, strangers, blocked servers, and requests for unknown actors are refused', async () => {
  expect((await read('/accounts/root', null)).status).toBe(401)
  const stranger = await startFakePeer()
  expect((await read('/accounts/root', stranger.instance)).status).toBe(401)
  expect(stranger.fetched).toEqual([])
  await stranger.close()
  expect((await read('/accounts/nobody', near.instance)).status).toBe(404)
  await node.client.send('POST', '/api/v1/server/blocklist/servers', { host: far.host })
  expect((await read('/accounts/root', far.instance)).status).toBe(403)
  await node.client.send('DELETE', `/api/v1/server/blocklist/servers/${far.host}`)
})

it('a server with synchronisation disabled sends no digest and serves no collection', async () => {
  const zoe = (await introduce(silent, near, 'zoe')).account
  await silent.deliver(zoe, near.activity(zoe, 'Follow', `${silent.base}/accounts/root`))
  await silent.upload(bytes)
  expect(headerOf(await sent(near, 'Create', `${silent.base}/accounts/root`))).toBeUndefined()
  expect((await read('/accounts/root', zoe, silent)).status).toBe(404)
})

it('a real node accepts such a signature, with a known or an unknown key', async () => {
  await silent.client.send('POST', '/api/v1/server/following', { handles: [`root@${node.host}`] })
  await until(async () => (await silent.query("select 1 from follow where state = 'accepted'"))[0])
  await node.upload(bytes, { name: 'For a node' })
  await until(async () => (await silent.query("select 1 from video where name = 'For a node'"))[0])
})
