// Blocks by the instance, towards other servers: nothing from a blocked server or account is accepted or fetched, and nothing is sent to
// it except the end of follows. After the block, it is accepted again.

import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { blockedHosts } from '../../src/actors/blocklist/index.ts'
import { importPrivateKey, signOutgoing } from '../../src/federation/security/index.ts'
import { type FakePeer, type JsonObject, type PeerActor, post, signedInside, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let local: FederatedNode
let bad: FakePeer
let good: FakePeer
let mallory: { account: PeerActor; channel: PeerActor }
let carol: { account: PeerActor; channel: PeerActor }
let alice: { account: PeerActor; channel: PeerActor }
let video: { id: number; uuid: string; url: string }

beforeAll(async () => {
  ;[local, bad, good] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  mallory = await introduce(local, bad, 'mallory')
  carol = await introduce(local, bad, 'carol')
  alice = await introduce(local, good, 'alice')
  await local.deliver(bad.instance, bad.activity(bad.instance, 'Arrive', bad.instance.url))
  await local.deliver(good.instance, good.activity(good.instance, 'Arrive', good.instance.url))
  video = await local.upload(await readFile(await media('small.mp4')))
})
afterAll(async () => {
  await Promise.all([bad?.close(), good?.close(), local?.stop()])
})

interface Block {
  what: string
  block(): Promise<unknown>
  unblock(): Promise<unknown>
}

const server = '/api/v1/server/blocklist'
const send = (method: 'POST' | 'DELETE', path: string, body?: object) => local.client.send(method, path, body)
const blocks: Block[] = [
  {
    what: 'host',
    block: () => send('POST', `${server}/servers`, { host: bad.host }),
    unblock: () => send('DELETE', `${server}/servers/${bad.host}`),
  },
  {
    what: 'account',
    block: () => send('POST', `${server}/accounts`, { accountName: `mallory@${bad.host}` }),
    unblock: () => send('DELETE', `${server}/accounts/mallory@${bad.host}`),
  },
]

const noteOf = (author: PeerActor, peer: FakePeer, inReplyTo = video.url) => {
  const note = peer.note({ author: author.url, inReplyTo })
  return { note, create: peer.activity(author, 'Create', note) }
}
const isStored = async (noteId: unknown) => (await local.query('select 1 from comment where url = $1', [noteId])).length === 1
const activities = async (by: PeerActor) =>
  (await local.query<{ n: number }>('select count(*)::int as n from incoming_activity where actor_url = $1', [by.url]))[0]?.n
const follow = (follower: PeerActor, peer: FakePeer, target: string) => peer.activity(follower, 'Follow', target)
const followState = async (follower: string, target: string) =>
  (
    await local.query<{ state: string }>(
      `select f.state from follow f join actor a on a.id = f.follower_id join actor b on b.id = f.target_id
       where a.url = $1 and b.url = $2`,
      [follower, target],
    )
  )[0]?.state
const idle = async () => {
  await local.settled()
  await until(
    async () => (await local.query("select 1 from job where state in ('waiting', 'active') union all select 1 from outbox")).length === 0,
    { what: 'the end of all jobs' },
  )
}

/** A signed GET, like that of another server. */
async function read(url: string, by: PeerActor | null): Promise<number> {
  const headers: Record<string, string> = { accept: 'application/activity+json' }
  const signed = by
    ? await signOutgoing({
        method: 'GET',
        url,
        headers,
        key: { keyId: by.keyId, privateKey: await importPrivateKey(by.keys.rsa.privatePem) },
        profile: 'cavage',
        now: new Date(),
      })
    : {}
  return await new Promise((resolve, reject) => {
    const sent = request(url, { headers: { ...headers, ...signed } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject).end()
  })
}

describe.each(blocks)('a blocked $what', ({ what, block, unblock }) => {
  beforeEach(() => {
    bad.received.length = 0
    good.received.length = 0
    bad.fetched.length = 0
  })

  it('is refused by the inbox, account and channel alike, and nothing is stored', async () => {
    await block()
    const before = [await activities(mallory.account), await activities(mallory.channel)]
    const { note, create } = noteOf(mallory.account, bad)
    expect((await post(local, mallory.account, create)).status).toBe(403)
    expect((await post(local, mallory.channel, bad.activity(mallory.channel, 'Announce', video.url))).status).toBe(403)
    expect((await post(local, mallory.account, create, { inbox: '/accounts/peertube/inbox' })).status).toBe(403)
    expect([await activities(mallory.account), await activities(mallory.channel)]).toEqual(before)
    expect(await isStored(note.id)).toBe(false)
    await unblock()
    await local.deliver(mallory.account, create)
    expect(await isStored(note.id)).toBe(true)
  })

  it('stays blocked when others forward its activities, and the forwarders get no error', async () => {
    await block()
    const { note, create } = noteOf(mallory.account, bad)
    const forwarded = await signedInside(create, mallory.account)
    expect((await post(local, good.instance, forwarded)).status).toBe(204)
    await local.settled()
    expect(await isStored(note.id)).toBe(false)
    await unblock()
  })

  it('has no effect by activities that waited when the block began', async () => {
    const { note, create } = noteOf(mallory.account, bad)
    await local.query(
      `insert into incoming_activity (activity_id, type, actor_url, host, body, body_hash, state, context, received_at, said_at,
         due_at)
       values ($1, 'Create', $2, $3, $4, md5($4)::uuid, 'retrying', '{"tries": 1, "reason": null}', now(), now(),
         now() + interval '1 hour')`,
      [create.id, mallory.account.url, bad.host, JSON.stringify(create)],
    )
    await block()
    await local.query('update incoming_activity set due_at = now() where activity_id = $1', [create.id])
    await local.query("update lane set due_at = now(), dirty = true where kind = 'inbox'")
    // When the lane has run, other activities in the same lane are done too.
    await until(
      async () =>
        (await local.query("select 1 from incoming_activity where activity_id = $1 and state = 'done'", [create.id])).length === 1,
      { what: 'the end of the activity' },
    )
    expect(await isStored(note.id)).toBe(false)
    await unblock()
  })

  it('cannot read with its signature', async () => {
    const places = [video.url, `${video.url}/comments`, local.instance, `${local.instance}/outbox`]
    await block()
    for (const place of places) {
      expect([place, await read(place, mallory.account)]).toEqual([place, 403])
      expect([place, await read(place, mallory.channel)]).toEqual([place, 403])
      expect([place, await read(place, carol.account)]).toEqual([place, what === 'host' ? 403 : 200])
      expect([place, await read(place, alice.account)]).toEqual([place, 200])
      expect([place, await read(place, null)]).toEqual([place, 200])
    }
    await unblock()
    for (const place of places) expect([place, await read(place, mallory.account)]).toEqual([place, 200])
  })

  it("loses its follows of the instance, and the instance's follows of it end; new ones are possible after the block", async () => {
    await local.deliver(mallory.channel, follow(mallory.channel, bad, local.instance))
    await local.deliver(alice.channel, follow(alice.channel, good, local.instance))
    await send('POST', '/api/v1/server/following', { handles: [`mallory_channel@${bad.host}`] })
    const requested = await bad.awaited('our Follow', (one) => one.activity.type === 'Follow')
    await local.deliver(mallory.channel, bad.activity(mallory.channel, 'Accept', requested.activity))
    expect(await followState(mallory.channel.url, local.instance)).toBe('accepted')
    expect(await followState(local.instance, mallory.channel.url)).toBe('accepted')
    await idle()

    await block()
    await bad.awaited('the Reject', ({ activity }) => activity.type === 'Reject')
    await bad.awaited('the Undo', ({ activity }) => activity.type === 'Undo')
    await idle()
    expect(await followState(mallory.channel.url, local.instance)).toBeUndefined()
    expect(await followState(local.instance, mallory.channel.url)).toBeUndefined()
    expect(await followState(alice.channel.url, local.instance)).toBe('accepted')
    bad.received.length = 0
    const again = follow(mallory.channel, bad, local.instance)
    await local.deliver(mallory.channel, again)
    const { activity } = await bad.awaited('the Reject of the new Follow', (one) => one.activity.type === 'Reject')
    expect(activity).toMatchObject({ actor: local.instance, object: { type: 'Follow', id: again.id } })
    expect(await followState(mallory.channel.url, local.instance)).toBeUndefined()
    await send('POST', '/api/v1/server/following', { handles: [`mallory_channel@${bad.host}`] })
    await idle()
    expect(await followState(local.instance, mallory.channel.url)).toBeUndefined()

    await unblock()
    await local.deliver(mallory.channel, follow(mallory.channel, bad, local.instance))
    expect(await followState(mallory.channel.url, local.instance)).toBe('accepted')
    await local.deliver(
      mallory.channel,
      bad.activity(mallory.channel, 'Undo', { ...follow(mallory.channel, bad, local.instance), id: undefined }),
    )
  })

  it('loses follows of users and channels too, also pending ones, and the end of the block restores none', async () => {
    const ourActors = ['/accounts/root', '/video-channels/root_channel', '/accounts/peertube'].map((path) => local.base + path)
    const remote = ourActors.flatMap((target) => [mallory.account, mallory.channel].map((by) => follow(by, bad, target)))
    const followAll = async () => {
      for (const one of remote) {
        const by = one.actor === mallory.account.url ? mallory.account : mallory.channel
        await local.deliver(by, { ...one, id: bad.id() })
      }
      // Never answered: it stays pending.
      await send('POST', '/api/v1/users/me/subscriptions', { uri: `mallory_channel@${bad.host}` })
      await bad.awaited('our Follow', ({ activity }) => activity.type === 'Follow')
    }
    const follows = async () =>
      (
        await local.query<{ state: string }>(
          `select f.state from follow f join actor a on a.id = f.follower_id join actor b on b.id = f.target_id
           where $1 in (a.url, b.url) or $2 in (a.url, b.url) order by f.state`,
          [mallory.account.url, mallory.channel.url],
        )
      ).map(({ state }) => state)
    const all = [...remote.map(() => 'accepted'), 'pending']
    await followAll()
    expect(await follows()).toEqual(all)

    // A block that is removed before it was processed ends nothing; after a crash in between, the next process does the rest.
    await send('POST', '/api/v1/jobs/pause')
    await block()
    await unblock()
    await send('POST', '/api/v1/jobs/resume')
    await idle()
    expect(await follows()).toEqual(all)
    await send('POST', '/api/v1/jobs/pause')
    bad.received.length = 0
    await block()
    await local.node.restart()
    await send('POST', '/api/v1/jobs/resume')
    await bad.awaited('all Rejects', () => bad.of('Reject').length === remote.length)
    await bad.awaited('the Undo', () => bad.of('Undo').length === 1)
    await idle()
    expect(await follows()).toEqual([])
    const rejects = bad.of('Reject').map(({ activity, path }) => {
      const { actor: follower } = activity.object as JsonObject
      return `${activity.actor} ${follower} ${path === new URL(`${follower}/inbox`).pathname}`
    })
    expect(rejects.toSorted()).toEqual(remote.map(({ actor, object }) => `${object} ${actor} true`).toSorted())
    expect(bad.of('Undo')[0]?.activity).toMatchObject({
      actor: `${local.base}/accounts/root`,
      object: { type: 'Follow', object: mallory.channel.url },
    })

    await unblock()
    await idle()
    expect(await follows()).toEqual([])
    expect(bad.of('Follow')).toEqual([])
    bad.received.length = 0
    await followAll()
    expect(await follows()).toEqual(all)
    for (const by of [mallory.account, mallory.channel]) {
      for (const one of remote.filter(({ actor }) => actor === by.url)) {
        await local.deliver(by, bad.activity(by, 'Undo', { ...one, id: undefined }))
      }
    }
    await send('DELETE', `/api/v1/users/me/subscriptions/mallory_channel@${bad.host}`)
  })

  it('has nothing imported through others', async () => {
    const remote = bad.video({ ...mallory })
    await block()
    bad.fetched.length = 0
    await local.deliver(good.instance, good.activity(good.instance, 'Announce', remote.id))
    expect(await local.query('select 1 from video where url = $1', [remote.id])).toEqual([])
    if (what === 'host') expect(bad.fetched).toEqual([])
    await unblock()
  })

  it('is not refreshed through another URL that redirects to it', async () => {
    const { channel } = mallory
    const name = `Renamed during the block of the ${what}`
    const renamed = { ...channel.document, name }
    for (const address of [channel.url, '/@during', '/@after']) bad.serve(address, renamed)
    const isRenamed = async () => (await local.query('select 1 from channel where name = $1', [name])).length === 1
    const find = (path: string) => local.client.get(`/api/v1/search/video-channels?search=${encodeURIComponent(`${bad.base}${path}`)}`)
    await block()
    await find('/@during')
    expect(await isRenamed()).toBe(false)
    const another = await bad.channel(`another-of-${what}`, mallory.account)
    await find(new URL(another.url).pathname)
    expect(await local.query('select 1 from actor where url = $1', [another.url])).toEqual([])
    await unblock()
    await find('/@after')
    expect(await isRenamed()).toBe(true)
    bad.serve(channel.url, channel.document)
  })
})

describe('a blocked host', () => {
  const [host] = blocks

  it('is blocked in every notation of its name', async () => {
    await send('POST', `${server}/servers`, { host: 'Bad.example:443' })
    const names = ['bad.example', 'BAD.example', 'bad.example.', 'bad.example:8443', 'bad.example.:8443']
    const others = ['not-bad.example', 'bad.example.net', '']
    expect(await blockedHosts(local.query, [...names, ...others])).toEqual([...names.map(() => true), ...others.map(() => false)])
    await send('DELETE', `${server}/servers/bad.example`)
  })

  it('is never fetched, whoever refers to it', async () => {
    const parent = bad.note({ author: mallory.account.url, inReplyTo: video.url })
    await host?.block()
    bad.fetched.length = 0
    const { note, create } = noteOf(alice.account, good, parent.id)
    await local.deliver(alice.account, create)
    good.serve('/moved', () => ({ status: 302 }))
    await send('POST', '/api/v1/server/following', { hosts: [bad.host] })
    await idle()
    expect(bad.fetched).toEqual([])
    expect(await isStored(note.id)).toBe(false)
    await host?.unblock()
  })

  it('gets no deliveries, and pending ones are dropped; another host gets all', async () => {
    for (const [by, peer] of [
      [carol.channel, bad],
      [alice.account, good],
    ] as const) {
      await local.deliver(by, follow(by, peer, `${local.base}/accounts/root`))
    }
    bad.answerPosts(() => 503)
    await send('POST', `/api/v1/videos/${video.uuid}/comment-threads`, { text: 'First' })
    await until(async () => (await local.query("select 1 from delivery where state = 'waiting'")).length > 0 && bad.of('Create')[0], {
      what: 'a delivery that waits',
    })
    await host?.block()
    await idle()
    expect(
      await local.query(
        "select doc.type from delivery d join document doc on doc.id = d.document_id where doc.type = 'Create' and d.state = 'waiting'",
      ),
    ).toEqual([])
    bad.answerPosts(undefined)
    bad.received.length = 0
    good.received.length = 0
    await send('POST', `/api/v1/videos/${video.uuid}/comment-threads`, { text: 'Second' })
    const creation = ({ activity }: { activity: JsonObject }) => activity.type === 'Create'
    await good.awaited('the comment', creation)
    await idle()
    expect(bad.received.filter(creation)).toEqual([])
    await host?.unblock()
  })
})
