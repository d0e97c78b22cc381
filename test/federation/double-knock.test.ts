// Fetches from servers that accept one kind of signature only: the other kind is tried once, and the working one is remembered for the
// server, for deliveries and fetches alike.

import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { type FakePeer, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

let node: FederatedNode
let peer: FakePeer
beforeAll(async () => {
  node = await startFederatedNode()
})
afterAll(async () => {
  await node?.stop()
})
beforeEach(async () => {
  peer = await startFakePeer()
})
afterEach(async () => {
  await peer.close()
})

type Profile = 'cavage' | 'rfc9421' | 'unsigned'
const profileOf = (headers: IncomingHttpHeaders): Profile =>
  headers['signature-input'] !== undefined ? 'rfc9421' : headers.signature === undefined ? 'unsigned' : 'cavage'

/** An actor that is served only to these kinds of signatures, with the kinds of the received requests. */
async function picky(name: string, takes: Profile[], status: 401 | 403) {
  const actor = await peer.account(name)
  const requested: Profile[] = []
  peer.serve(actor.url, (_query, headers) => {
    requested.push(profileOf(headers))
    return takes.includes(profileOf(headers)) ? { body: actor.document } : { status }
  })
  return { actor, requested }
}
const hear = (actor: PeerActor) => node.deliver(actor, peer.activity(actor, 'Arrive', actor.url))
const isKnown = async ({ url }: PeerActor) => (await node.query('select 1 from actor where url = $1', [url])).length === 1
const remembered = async () => (await node.query('select signature_profile as profile from remote_host where host = $1', [peer.host]))[0]

it.each([401, 403] as const)('a server that accepts only RFC 9421 and answers %i gets RFC 9421 first from then on', async (status) => {
  const first = await picky('first', ['rfc9421'], status)
  await hear(first.actor)
  expect(await isKnown(first.actor)).toBe(true)
  expect(first.requested).toEqual(['cavage', 'rfc9421'])
  const second = await picky('second', ['rfc9421'], status)
  await hear(second.actor)
  expect(await isKnown(second.actor)).toBe(true)
  expect(second.requested).toEqual(['rfc9421'])
  expect(await remembered()).toEqual({ profile: 'rfc9421' })
})

it('a server that changes its kind gets the other one again', async () => {
  await hear((await picky('before', ['rfc9421'], 401)).actor)
  const { actor, requested } = await picky('after', ['cavage'], 401)
  await hear(actor)
  expect(await isKnown(actor)).toBe(true)
  expect(requested).toEqual(['rfc9421', 'cavage'])
  expect(await remembered()).toEqual({ profile: 'cavage' })
})

it('a server that accepts neither is tried twice, and nothing is remembered', async () => {
  await hear((await picky('friendly', ['cavage'], 401)).actor)
  const { actor, requested } = await picky('hidden', [], 403)
  await hear(actor)
  expect(await isKnown(actor)).toBe(false)
  expect(requested).toEqual(['cavage', 'rfc9421'])
  expect(await remembered()).toEqual({ profile: 'cavage' })
})

it('deliveries start with the kind that fetches found', async () => {
  const { actor } = await picky('reader', ['rfc9421'], 401)
  await hear(actor)
  await node.deliver(actor, peer.activity(actor, 'Follow', node.instance))
  const accept = await peer.awaited('the Accept', ({ activity }) => activity.type === 'Accept')
  expect(profileOf(accept.headers)).toBe('rfc9421')
})
