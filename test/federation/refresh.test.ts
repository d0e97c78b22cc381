// Refreshing stale data: remote actors that are referenced again, and the software of servers.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type FakePeer, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

let node: FederatedNode
let peer: FakePeer
let alice: PeerActor
beforeAll(async () => {
  ;[node, peer] = await Promise.all([startFederatedNode({ vireo: { federation: { refresh: { host: '1 second' } } } }), startFakePeer()])
})
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop()])
})

let made = 0
beforeEach(async () => {
  made += 1
  alice = await peer.account(`alice_${made}`)
  peer.serve(`${alice.url}/followers`, { type: 'OrderedCollection', id: `${alice.url}/followers`, totalItems: 41 })
  await node.deliver(alice, peer.activity(alice, 'Arrive', alice.url))
})

const stored = async () =>
  (
    await node.query<{ name: string; strikes: number }>(
      'select ac.name, a.strikes from actor a join account ac on ac.actor_id = a.id where a.url = $1',
      [alice.url],
    )
  )[0]
/** Alice sends something, long after she was fetched. */
const meet = async () => {
  await node.query(
    "update actor set refreshed_at = now() - interval '3 days', refresh_asked_at = now() - interval '3 days' where url = $1",
    [alice.url],
  )
  await node.deliver(alice, peer.activity(alice, 'Follow', node.instance))
  await until(
    async () =>
      (await node.query("select 1 from job where type = 'activitypub-refresher' and state in ('waiting', 'active')")).length === 0,
  )
}
const gone = (status: number) => peer.serve(alice.url, () => ({ status }))

it('a stale actor that sends something is refreshed by a job', async () => {
  peer.serve(alice.url, { ...alice.document, name: 'Another name' })
  await meet()
  await until(async () => (await stored())?.name === 'Another name', { what: 'the new name' })
})

it('an actor that becomes a bot stays the same actor, with its new key', async () => {
  const id = (await node.query<{ id: number }>('select id from actor where url = $1', [alice.url]))[0]?.id
  const { keys } = await peer.account(`other_${made}`)
  const publicKey = { ...(alice.document.publicKey as object), publicKeyPem: keys.rsa.publicPem }
  peer.serve(alice.url, { ...alice.document, type: 'Service', publicKey })
  await meet()
  const of = () => node.query('select id, type, public_key_pem as pem from actor where url = $1', [alice.url])
  await until(async () => ((await of())[0] as { type: string }).type === 'Service', { what: 'the bot' })
  expect(await of()).toEqual([{ id, type: 'Service', pem: keys.rsa.publicPem }])
})

it('an actor that its server calls gone is removed, with its follows', async () => {
  gone(410)
  await meet()
  await until(async () => (await stored()) === undefined, { what: 'the end of the actor' })
  expect(await node.query('select 1 from follow f join actor a on a.id = f.follower_id where a.url = $1', [alice.url])).toEqual([])
})

it('an actor that is missing is removed after three answers of its server', async () => {
  gone(404)
  await meet()
  expect(await stored()).toMatchObject({ strikes: 1 })
  await meet()
  expect(await stored()).toMatchObject({ strikes: 2 })
  peer.serve(alice.url, alice.document)
  await meet()
  expect(await stored()).toMatchObject({ strikes: 0 })
  gone(404)
  for (let time = 0; time < 3; time += 1) await meet()
  await until(async () => (await stored()) === undefined, { what: 'the end of the actor' })
})

it('an actor is unchanged when its server is away, or answers otherwise', async () => {
  const before = await stored()
  for (const status of [500, 503, 403, 401]) {
    gone(status)
    await meet()
  }
  peer.serve(alice.url, { ...alice.document, id: `${peer.base}/accounts/somebody` })
  await meet()
  expect(await stored()).toEqual(before)
})

it('the software of every known server is fetched', async () => {
  await until(async () => (await node.query("select 1 from remote_host where software = 'peertube' and software_version = '6.3.0'"))[0], {
    what: 'the software',
  })
})

describe('the followers of an actor', () => {
  const followersOf = async (url: string) =>
    (await node.query<{ count: number }>('select followers_count as count from actor where url = $1', [url]))[0]?.count
  const counted = (totalItems: unknown, more = {}) => ({
    type: 'OrderedCollection',
    id: `${alice.url}/followers`,
    totalItems,
    ...more,
  })
  const jobsOf = (url: string) =>
    node.query<{ state: string }>(
      "select j.state from job j join actor a on a.id = (j.data->>'actorId')::int where j.type = 'remote-followers' and a.url = $1",
      [url],
    )
  const isRead = async () => (await jobsOf(alice.url)).every(({ state }) => state === 'completed')
  /** The actor in the API. */
  const shown = async () => {
    const handle = `${alice.document.preferredUsername}@${peer.host}`
    const answer = await fetch(`${node.base}/api/v1/accounts/${handle}`)
    return ((await answer.json()) as { followersCount: number }).followersCount
  }
  /** Triggers a refresh of the actor, more than an hour after its followers were counted. */
  const readAgain = async () => {
    await until(async () => (await jobsOf(alice.url)).length > 0 && (await isRead()), { what: 'the followers before' })
    await node.query("update actor set followers_asked_at = now() - interval '2 hours' where url = $1", [alice.url])
    await node.query("delete from job where type = 'remote-followers'")
    await meet()
    await until(async () => (await jobsOf(alice.url)).length > 0 && (await isRead()), { what: 'the followers' })
  }

  it('are as many as its server says, and fetched with it', async () => {
    await until(async () => (await followersOf(alice.url)) === 41, { what: 'the count' })
    expect(await shown()).toBe(41)
    peer.serve(`${alice.url}/followers`, counted(Number.MAX_SAFE_INTEGER))
    await readAgain()
    expect(await shown()).toBe(2_147_483_647)
  })

  it('are at least the local ones, and unchanged if its server does not tell', async () => {
    peer.serve(`${alice.url}/followers`, counted(0))
    await node.query(
      `insert into follow (follower_id, target_id, state)
       select i.id, a.id, 'accepted' from actor i, actor a
       where i.host_id is null and i.type = 'Application' and a.url = $1`,
      [alice.url],
    )
    await readAgain()
    expect(await shown()).toBe(1)
    peer.serve(`${alice.url}/followers`, counted(7))
    await readAgain()
    expect(await shown()).toBe(7)
    for (const nothing of [counted(undefined), { type: 'Note' }]) {
      peer.serve(`${alice.url}/followers`, nothing)
      await readAgain()
      expect([nothing, await shown()]).toEqual([nothing, 7])
    }
  })

  it('are not fetched again within the hour, nor from another server', async () => {
    await until(async () => (await jobsOf(alice.url)).length > 0 && (await isRead()), { what: 'the followers' })
    await meet()
    expect(await jobsOf(alice.url)).toEqual([{ state: 'completed' }])
    expect(await shown()).toBe(41)
    await node.query('update actor set followers_asked_at = null where url = $1', [alice.url])
    await node.query("delete from job where type = 'remote-followers'")
    peer.serve(alice.url, { ...alice.document, followers: 'https://elsewhere.example/followers' })
    await meet()
    expect(await jobsOf(alice.url)).toEqual([])
  })
})

it('the likes and dislikes of a video are the counts of its server', async () => {
  const channel = await peer.channel(`channel_${made}`, alice)
  const elsewhere = await startFakePeer()
  try {
    const counted = (id: string, totalItems: unknown) => ({ type: 'OrderedCollection', id, totalItems })
    const rates = async (video: { id: string }) => (await node.query('select likes, dislikes from video where url = $1', [video.id]))[0]
    const video = peer.video({ account: alice, channel })
    peer.serve(`${video.id}/likes`, counted(`${video.id}/likes`, 12))
    peer.serve(`${video.id}/dislikes`, counted(`${video.id}/dislikes`, Number.MAX_SAFE_INTEGER))
    const foreign = peer.video({ account: alice, channel, more: { likes: `${elsewhere.base}/likes` } })
    const silent = peer.video({ account: alice, channel })
    for (const one of [video, foreign, silent]) await node.deliver(alice, peer.activity(alice, 'Create', one))
    await until(async () => JSON.stringify(await rates(video)) === '{"likes":12,"dislikes":2147483647}', {
      what: 'the counts',
    })
    const jobs = (state: string) => node.query("select 1 from job where type = 'remote-rates' and state = $1", [state])
    await until(async () => (await jobs('delayed')).length + (await jobs('active')).length === 0)
    for (const one of [foreign, silent]) expect(await rates(one)).toEqual({ likes: 0, dislikes: 0 })
    expect(elsewhere.fetched).toEqual([])
  } finally {
    await elsewhere.close()
  }
})
