// An activity that is undone while it waits for a retry has no late effect.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, type PeerActor, post, signedInside, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let home: FakePeer
let alice: { account: PeerActor; channel: PeerActor }
let bob: { account: PeerActor; channel: PeerActor }

beforeAll(async () => {
  ;[node, home] = await Promise.all([
    startFederatedNode({ vireo: { federation: { inbox: { initial_backoff: '1 hour' } } } }),
    startFakePeer(),
  ])
  alice = await introduce(node, home, 'alice')
  bob = await introduce(node, home, 'bob')
})
afterAll(async () => {
  await Promise.all([home?.close(), node?.stop()])
})

/** A Create that fails, since its video cannot be fetched yet. */
async function createThatWaits(): Promise<{ video: JsonObject & { id: string }; create: JsonObject & { id: string } }> {
  const video = home.video(alice)
  home.serve(video.id, () => ({ status: 503 }))
  const create = home.activity(alice.account, 'Create', video.id)
  await node.deliver(alice.account, create)
  expect(await stateOf(create.id)).toBe('retrying')
  home.serve(video.id, video)
  return { video, create }
}

async function stateOf(activityId: string): Promise<string | undefined> {
  const [row] = await node.query<{ state: string }>('select state from incoming_activity where activity_id = $1', [activityId])
  return row?.state
}

/** Makes all pending retries due. */
async function nextTries(): Promise<void> {
  await node.query("update incoming_activity set due_at = now() where state = 'retrying'")
  await node.query("update lane set due_at = now() where kind = 'inbox'")
  await until(async () => (await node.query("select 1 from incoming_activity where state in ('retrying', 'received')")).length === 0, {
    what: 'the end of all tries',
  })
}

const isKnown = async (url: string) => (await node.query('select 1 from video where url = $1', [url])).length > 0

describe('a Create that waits for a retry', () => {
  it('has its effect when it is retried', async () => {
    const { video, create } = await createThatWaits()
    await nextTries()
    expect(await stateOf(create.id)).toBe('done')
    expect(await isKnown(video.id)).toBe(true)
  })

  it('has none after the Delete of its actor', async () => {
    const { video, create } = await createThatWaits()
    await node.deliver(alice.account, home.activity(alice.account, 'Delete', video.id))
    await nextTries()
    expect(await stateOf(create.id)).toBe('done')
    expect(await isKnown(video.id)).toBe(false)
  })

  it('is not ended by the Delete of another actor, or of another object', async () => {
    const { video } = await createThatWaits()
    await node.deliver(bob.account, home.activity(bob.account, 'Delete', video.id))
    await node.deliver(alice.account, home.activity(alice.account, 'Delete', `${video.id}/comments/1`))
    await nextTries()
    expect(await isKnown(video.id)).toBe(true)
  })
})

describe('a reply that waits for a retry', () => {
  it('is not ended by the Delete of its parent', async () => {
    const known = await node.upload(await readFile(await media('small.mp4')))
    const first = home.note({ author: bob.account.url, inReplyTo: known.url })
    await node.deliver(bob.account, home.activity(bob.account, 'Create', first))
    const reply = home.note({ author: bob.account.url, inReplyTo: first.id })
    home.serve(reply.id, () => ({ status: 503 }))
    const create = { ...home.activity(bob.account, 'Create', reply.id), inReplyTo: first.id }
    await node.deliver(bob.account, create)
    expect(await stateOf(create.id)).toBe('retrying')
    await node.deliver(bob.account, home.activity(bob.account, 'Delete', first.id))
    expect(await stateOf(create.id)).toBe('retrying')
  })
})

describe('a Delete that overtakes the Create of a comment', () => {
  const later = { published: '2099-01-01T00:00:00.000Z' }
  const earlier = { published: '2001-01-01T00:00:00.000Z' }
  const commentAt = async (url: string) =>
    (await node.query('select 1 from comment where url = $1 and deleted_at is null', [url])).length > 0
  let known: { url: string }
  beforeAll(async () => {
    known = await node.upload(await readFile(await media('small.mp4')))
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['without dates', {}, {}],
    ['when the Create is dated later', {}, later],
    ['when the Create is dated later than the Delete', earlier, later],
    ['when the Delete is dated later', later, earlier],
    ['when the Delete alone is dated', later, {}],
  ])('keeps the comment deleted %s', async (_what, ofDelete, ofCreate) => {
    const note = home.note({ author: bob.account.url, inReplyTo: known.url, more: ofCreate })
    await node.deliver(bob.account, home.activity(bob.account, 'Delete', note.id, ofDelete))
    await node.deliver(bob.account, home.activity(bob.account, 'Create', note, ofCreate))
    await node.deliver(bob.account, home.activity(bob.account, 'Update', note, ofCreate))
    expect(await commentAt(note.id)).toBe(false)
  })

  it('keeps it deleted when its sender was unknown', async () => {
    const stranger = await home.account('stranger')
    const note = home.note({ author: stranger.url, inReplyTo: known.url, more: later })
    await node.deliver(stranger, home.activity(stranger, 'Delete', note.id))
    await node.deliver(stranger, home.activity(stranger, 'Create', note, later))
    expect(await commentAt(note.id)).toBe(false)
  })

  it('keeps it deleted when the Create was signed before the Delete arrived', async () => {
    const note = home.note({ author: bob.account.url, inReplyTo: known.url })
    const create = await signedInside(home.activity(bob.account, 'Create', note), bob.account)
    await node.deliver(bob.account, home.activity(bob.account, 'Delete', note.id))
    await node.deliver(bob.account, create)
    expect(await commentAt(note.id)).toBe(false)
  })

  it('does not block a comment that was signed afterwards', async () => {
    const note = home.note({ author: bob.account.url, inReplyTo: known.url })
    await node.deliver(bob.account, home.activity(bob.account, 'Delete', note.id))
    // Signatures have a resolution of seconds.
    await until(() => new Date().getMilliseconds() < 50, { what: 'the next second' })
    await node.deliver(bob.account, await signedInside(home.activity(bob.account, 'Create', note), bob.account))
    expect(await commentAt(note.id)).toBe(true)
  })
})

describe('the Undo of a Like', () => {
  const rating = async (url: string) =>
    (await node.query('select type from rating where video_id = (select id from video where url = $1)', [url])).at(0)

  it('keeps the Dislike that replaced it', async () => {
    const video = await node.upload(await readFile(await media('small.mp4')))
    const like = home.activity(bob.account, 'Like', video.url)
    await node.deliver(bob.account, like)
    const dislike = home.activity(bob.account, 'Dislike', video.url)
    await node.deliver(bob.account, dislike)
    await node.deliver(bob.account, home.activity(bob.account, 'Undo', like))
    expect(await rating(video.url)).toEqual({ type: 'dislike' })
    await node.deliver(bob.account, home.activity(bob.account, 'Undo', dislike))
    expect(await rating(video.url)).toBeUndefined()
  })
})

describe('the Undo of a second Follow that is still pending', () => {
  const root = () => `${node.base}/accounts/root`
  const lane = "kind = 'inbox' and key = md5($1)::uuid::text"

  it('ends the first one', async () => {
    const start = Date.now() - 60_000
    const at = (second: number) => ({ published: new Date(start + second * 1000).toISOString() })
    const [first, second] = [1, 2].map((time) => home.activity(bob.account, 'Follow', root(), at(time)))
    if (!first || !second) throw new Error('no follows')
    await node.deliver(bob.account, first)
    await node.query(`update lane set lease_owner = 'another', lease_until = now() + interval '1 hour' where ${lane}`, [bob.account.url])
    await post(node, bob.account, home.activity(bob.account, 'Undo', second, at(3)))
    await post(node, bob.account, second)
    await node.query(`update lane set lease_until = '-infinity', due_at = now() where ${lane}`, [bob.account.url])
    await node.settled()
    expect(
      await node.query('select state from follow where follower_id = (select id from actor where url = $1)', [bob.account.url]),
    ).toEqual([])
  })
})
