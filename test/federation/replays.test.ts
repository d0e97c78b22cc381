// Forwarded activities: replayed old ones, forged ones, and documents that are expensive to check.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { importPrivateKey, signDocument } from '../../src/federation/security/index.ts'
import { startCpuTime } from '../support/cpu-time.ts'
import { type FakePeer, type JsonObject, type PeerActor, post, signedInside, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let home: FakePeer
let away: FakePeer
let alice: PeerActor
let mallory: { account: PeerActor; channel: PeerActor }
let video: { id: number; uuid: string; url: string }

beforeAll(async () => {
  ;[node, home, away] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  alice = (await introduce(node, home, 'alice')).account
  mallory = await introduce(node, away, 'mallory')
})
beforeEach(async () => {
  video = await node.upload(await readFile(await media('small.mp4')))
})
afterAll(async () => {
  await Promise.all([home?.close(), away?.close(), node?.stop()])
})

const ratings = async () =>
  (await node.query<{ type: string }>('select type from rating where video_id = $1', [video.id])).map(({ type }) => type)

/** With an embedded RSA signature of the actor, as of now. */
const signed = (document: JsonObject) => signedInside(document, alice)

describe('an undone activity', () => {
  it('has no effect when a stranger forwards it again', async () => {
    const like = await signed(home.activity(alice, 'Like', video.url))
    await node.deliver(mallory.account, like)
    expect(await ratings()).toEqual(['like'])
    await node.deliver(alice, home.activity(alice, 'Undo', like))
    expect(await ratings()).toEqual([])

    await node.deliver(mallory.account, like)
    // With a part that its author did not sign it is rejected without a check, since its id is known.
    await node.deliver(mallory.account, { ...like, summary: 'really' })
    expect(await ratings()).toEqual([])
    const said = await node.query('select 1 from incoming_activity where activity_id = $1', [like.id])
    expect(said).toHaveLength(1)
  })

  it('has no effect in an Announce of a group', async () => {
    const like = await signed(home.activity(alice, 'Like', video.url))
    await node.deliver(alice, like)
    await node.deliver(alice, home.activity(alice, 'Undo', like))
    await node.deliver(mallory.channel, away.activity(mallory.channel, 'Announce', like))
    expect(await ratings()).toEqual([])
  })

  it('has no effect with a later, unsigned timestamp', async () => {
    const like = home.activity(alice, 'Like', video.url)
    const keys = {
      rsa: { keyId: alice.keyId, privateKey: await importPrivateKey(alice.keys.rsa.privatePem) },
      ed25519: {
        keyId: `${alice.url}#ed25519-key`,
        privateKey: await importPrivateKey(alice.keys.ed25519.privatePem),
      },
    }
    await node.query('update actor set ed25519_public = $2 where url = $1', [alice.url, alice.keys.ed25519.publicMultibase])
    const { signature, ...proven } = await signDocument(like, keys, new Date(Date.now() - 60_000))
    await node.deliver(mallory.account, proven)
    expect(await ratings()).toEqual(['like'])
    const undo = home.activity(alice, 'Undo', like, { published: new Date(Date.now() - 30_000).toISOString() })
    await node.deliver(alice, undo)
    expect(await ratings()).toEqual([])
    const forged = { ...(signature as JsonObject), created: new Date().toISOString() }
    await post(node, mallory.account, { ...proven, signature: forged })
    await node.settled()
    expect(await ratings()).toEqual([])
  })

  it('has an effect when its actor sends it again', async () => {
    const like = home.activity(alice, 'Like', video.url)
    await node.deliver(alice, like)
    await node.deliver(alice, home.activity(alice, 'Undo', like))
    await node.deliver(alice, { ...like, signature: { type: 'RsaSignature2017', created: new Date().toISOString() } })
    expect(await ratings()).toEqual(['like'])
  })
})

describe('activities without a timestamp', () => {
  it('take effect in order of arrival, also among those with one', async () => {
    const published = new Date(Date.now() - 3_600_000).toISOString()
    await node.deliver(alice, home.activity(alice, 'Like', video.url, { published }))
    await node.deliver(alice, home.activity(alice, 'Undo', { type: 'Like', actor: alice.url, object: video.url }))
    expect(await ratings()).toEqual([])
    await node.deliver(alice, home.activity(alice, 'Dislike', video.url, { published }))
    expect(await ratings()).toEqual(['dislike'])
  })
})

describe('a group that owns itself, directly or in a cycle', () => {
  it.each([1, 2])('is not stored, and causes no endless fetches (%i of them)', async (count) => {
    const names = Array.from({ length: count }, (_, at) => `${away.base}/video-channels/ring${count}_${at}`)
    const groups = await Promise.all(names.map((_, at) => away.channel(`ring${count}_${at}`, mallory.account)))
    for (const [at, group] of groups.entries()) {
      const owner = names[(at + 1) % count] ?? ''
      away.serve(group.url, { ...group.document, attributedTo: [owner] })
    }
    const [first] = groups
    if (!first) throw new Error('no group')
    away.fetched.length = 0
    await node.deliver(first, away.activity(first, 'Like', video.url))
    expect(away.fetched.length).toBeLessThanOrEqual(2)
    expect(await node.query('select 1 from actor where url = any($1)', [names])).toEqual([])
  })
})

describe('a document that is expensive to canonicalise', () => {
  it('is refused before that', async () => {
    const tag = Array.from({ length: 4000 }, () => ({ type: 'Note' }))
    const like = home.activity(alice, 'Like', video.url, { tag })
    const signature = {
      type: 'RsaSignature2017',
      creator: alice.url,
      created: new Date().toISOString(),
      signatureValue: 'AAAA',
    }
    const spent = startCpuTime()
    const { status } = await post(node, mallory.account, { ...like, signature })
    expect(spent()).toBeLessThan(1000)
    expect(status).toBe(401)
  })

  it('is not checked again and again for a server that sends wrong ones', async () => {
    const note = home.note({ author: alice.url, inReplyTo: video.url })
    const creation = await signed(home.activity(alice, 'Create', note))
    const wrong = { ...creation, object: { ...note, content: 'altered' } }
    const statuses: number[] = []
    for (let time = 0; time < 65; time += 1) {
      statuses.push((await post(node, mallory.account, { ...wrong, id: home.id() })).status)
    }
    expect(new Set(statuses)).toEqual(new Set([401]))
    // For a minute, embedded signatures from this address are ignored; signatures of the sender count.
    expect((await post(node, mallory.account, creation)).status).toBe(401)
    expect((await post(node, alice, creation)).status).toBe(204)
  })
})

describe('a date that neither the database nor clients can represent', () => {
  it.each(['0000-01-01T00:00:00Z', '-000001-01-01T00:00:00Z', '+275760-09-13T00:00:00Z'])('breaks no list (%s)', async (published) => {
    const note = home.note({ author: alice.url, inReplyTo: video.url, more: { published } })
    await node.deliver(alice, home.activity(alice, 'Create', note))
    const threads = await node.client.get<{ data: unknown[] }>(`/api/v1/videos/${video.uuid}/comment-threads`)
    expect(Array.isArray(threads.data)).toBe(true)
    expect(await node.query("select error from incoming_activity where state in ('retrying', 'parked')")).toEqual([])
  })
})
