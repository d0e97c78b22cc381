// Follows in both directions, from request to end, with a peer that answers, is silent or is down.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Values } from '../../src/config/layers.ts'
import { type FakePeer, type JsonObject, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

interface FollowView {
  state: string
  follower: { name: string; host: string }
  following: { name: string; host: string }
}

let node: FederatedNode
let peer: FakePeer
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop()])
})

const QUICK = { initial_backoff: '50 ms', max_backoff: '100 ms' }
const start = async (config: Values = {}) => {
  await node?.stop()
  await peer?.close()
  ;[node, peer] = await Promise.all([startFederatedNode(config), startFakePeer()])
}
const listed = async (direction: 'following' | 'followers') =>
  (await node.client.get<{ data: FollowView[] }>(`/api/v1/server/${direction}`)).data
const stateOf = async (direction: 'following' | 'followers', name: string) =>
  (await listed(direction)).find((one) => (direction === 'following' ? one.following : one.follower).name === name)?.state
const becomes = (direction: 'following' | 'followers', name: string, state: string | undefined) =>
  until(async () => (await stateOf(direction, name)) === state, { what: `${name} as ${state}` })
const follow = (what: { hosts?: string[]; handles?: string[] }) => node.client.send('POST', '/api/v1/server/following', what)
const objectOf = (activity: JsonObject) => activity.object as JsonObject

describe('an outgoing follow', () => {
  beforeAll(async () => {
    await start()
  })
  beforeEach(() => {
    peer.received.length = 0
  })

  it('of a server is sent to the personal inbox of its instance actor, signed, and is pending until the answer', async () => {
    await follow({ hosts: [peer.host] })
    const { path, headers, activity } = await peer.awaited('the Follow', (one) => one.activity.type === 'Follow')
    expect(path).toBe('/accounts/peertube/inbox')
    expect(headers).toMatchObject({ signature: expect.stringContaining(`keyId="${node.instance}#main-key"`) })
    expect(activity).toMatchObject({ actor: node.instance, object: peer.instance.url })
    expect(await stateOf('following', 'peertube')).toBe('pending')

    await node.deliver(peer.instance, peer.activity(peer.instance, 'Accept', activity))
    await becomes('following', 'peertube', 'accepted')
  })

  it('is withdrawn by an Undo of the same Follow, and can be requested again', async () => {
    await node.client.send('DELETE', `/api/v1/server/following/${peer.host}`)
    const { path, activity } = await peer.awaited('the Undo', (one) => one.activity.type === 'Undo')
    expect(path).toBe('/accounts/peertube/inbox')
    expect(objectOf(activity)).toMatchObject({ type: 'Follow', actor: node.instance, object: peer.instance.url })
    expect(await stateOf('following', 'peertube')).toBeUndefined()

    await follow({ hosts: [peer.host] })
    const again = await peer.awaited('the new Follow', (one) => one.activity.type === 'Follow')
    expect(again.activity.id).not.toBe(objectOf(activity).id)
    expect(await stateOf('following', 'peertube')).toBe('pending')
    // The answer to the withdrawn Follow does not answer this one.
    const withdrawn = objectOf(activity)
    for (const object of [withdrawn, withdrawn.id]) {
      for (const type of ['Accept', 'Reject']) await node.deliver(peer.instance, peer.activity(peer.instance, type, object))
    }
    expect(await stateOf('following', 'peertube')).toBe('pending')
  })

  it('that is rejected is listed as rejected, and can be requested again', async () => {
    await follow({ hosts: [peer.host] })
    const first = await peer.awaited('the Follow', (one) => one.activity.type === 'Follow')
    await node.deliver(peer.instance, peer.activity(peer.instance, 'Reject', first.activity))
    await becomes('following', 'peertube', 'rejected')
    peer.received.length = 0
    await follow({ hosts: [peer.host] })
    const second = await peer.awaited('the Follow again', (one) => one.activity.type === 'Follow')
    expect(await stateOf('following', 'peertube')).toBe('pending')
    await node.deliver(peer.instance, peer.activity(peer.instance, 'Accept', second.activity.id))
    await becomes('following', 'peertube', 'accepted')
    await node.deliver(peer.instance, peer.activity(peer.instance, 'Reject', second.activity))
    await becomes('following', 'peertube', 'rejected')
  })

  it('of a channel and of an account by handle', async () => {
    const account = await peer.account('maker')
    const channel = await peer.channel('maker_channel', account)
    await follow({ handles: [`maker@${peer.host}`, `maker_channel@${peer.host}`] })
    for (const actor of [account, channel]) {
      const { activity, path } = await peer.awaited('the Follow', (one) => one.activity.object === actor.url)
      expect(path).toBe(`${new URL(actor.url).pathname}/inbox`)
      await node.deliver(actor, peer.activity(actor, 'Accept', { ...activity, id: undefined }))
    }
    await becomes('following', 'maker', 'accepted')
    await becomes('following', 'maker_channel', 'accepted')
  })

  it('of an unknown host or handle is not listed', async () => {
    const before = await listed('following')
    await follow({ hosts: ['127.0.0.1:1'], handles: [`nobody@${peer.host}`] })
    await until(async () => {
      const [job] = await node.query("select 1 from job where type = 'activitypub-follow' and state = 'failed'")
      return job
    })
    expect(await listed('following')).toEqual(before)
  })
})

describe('an outgoing follow to a server that is down or silent', () => {
  beforeAll(async () => {
    await start({ vireo: { federation: { follow: { ...QUICK, retry_for: '3 seconds' }, delivery: QUICK } } })
  })

  it('of an unknown server is retried until the server is reachable', async () => {
    const unknown = await startFakePeer()
    await unknown.down()
    await follow({ hosts: [unknown.host] })
    await until(async () => (await node.query("select 1 from job where type = 'activitypub-follow' and data ? 'tries'")).length > 0, {
      what: 'another try',
    })
    expect((await listed('following')).filter(({ following }) => following.host === unknown.host)).toEqual([])
    await unknown.up()
    const { activity } = await unknown.awaited('the Follow', (one) => one.activity.type === 'Follow')
    expect(activity).toMatchObject({ actor: node.instance, object: unknown.instance.url })
    await unknown.close()
  })

  it('is delivered once the server is back', async () => {
    const channel = await peer.channel('resting', await peer.account('rester'))
    await node.deliver(channel, peer.activity(channel, 'Arrive', channel.url))
    peer.answerPosts(() => 503)
    await follow({ handles: [`resting@${peer.host}`] })
    await peer.awaited('a first try', (one) => one.activity.type === 'Follow')
    expect(await stateOf('following', 'resting')).toBe('pending')
    await peer.down()
    await until(async () => {
      const [host] = await node.query<{ failures: number }>(
        "select (context ->> 'failures')::int as failures from remote_host where host = $1 and state = 'failing'",
        [peer.host],
      )
      return host
    })
    peer.received.length = 0
    peer.answerPosts(undefined)
    await peer.up()
    const { activity } = await peer.awaited('the Follow', (one) => one.activity.type === 'Follow')
    await node.deliver(channel, peer.activity(channel, 'Accept', activity))
    await becomes('following', 'resting', 'accepted')
  })

  it('is repeated, then given up; a late Accept still counts', async () => {
    const account = await peer.account('silent')
    await follow({ handles: [`silent@${peer.host}`] })
    const { activity } = await peer.awaited('the Follow', (one) => one.activity.object === account.url)
    await until(() => peer.received.filter((one) => one.activity.object === account.url).length >= 3)
    await until(async () => {
      const [row] = await node.query("select 1 from follow where url = $1 and state = 'expired'", [activity.id])
      return row
    })
    expect(await stateOf('following', 'silent')).toBe('rejected')
    await node.deliver(account, peer.activity(account, 'Accept', activity))
    await becomes('following', 'silent', 'accepted')
  })
})

describe('an incoming follow', () => {
  let follower: PeerActor
  let request: JsonObject
  const answers = (type: string) => peer.of(type).filter((one) => objectOf(one.activity)?.actor === follower.url)
  const remote = (verb: string) => `/api/v1/server/followers/peertube@${peer.host}${verb}`

  beforeAll(async () => {
    await start()
    follower = peer.instance
  })

  it("is accepted at once, in the follower's personal inbox", async () => {
    request = peer.activity(follower, 'Follow', node.instance)
    await node.deliver(follower, request)
    const { path, activity } = await peer.awaited('the Accept', (one) => one.activity.type === 'Accept')
    expect(path).toBe('/accounts/peertube/inbox')
    expect(activity).toMatchObject({ actor: node.instance, object: { id: request.id, actor: follower.url } })
    expect(await stateOf('followers', 'peertube')).toBe('accepted')
  })

  it('that is repeated is accepted again', async () => {
    await node.deliver(follower, peer.activity(follower, 'Follow', node.instance))
    await until(() => answers('Accept').length === 2)
    expect(await listed('followers')).toHaveLength(1)
    // The same request again, from a server that lost the answer.
    await node.deliver(follower, { ...request, published: new Date().toISOString() })
    await until(() => answers('Accept').length === 3)
  })

  it('that the admin removes sends a Reject, and may be requested again', async () => {
    await node.client.send('DELETE', remote(''))
    const { activity } = await peer.awaited('the Reject', (one) => one.activity.type === 'Reject')
    expect(objectOf(activity)).toMatchObject({ type: 'Follow', actor: follower.url, object: node.instance })
    expect(await listed('followers')).toEqual([])
    await node.deliver(follower, peer.activity(follower, 'Follow', node.instance))
    await becomes('followers', 'peertube', 'accepted')
  })

  it('that the admin rejects gets no more videos', async () => {
    peer.received.length = 0
    await node.client.send('POST', remote('/reject'))
    await peer.awaited('the Reject', (one) => one.activity.type === 'Reject')
    await becomes('followers', 'peertube', 'rejected')
  })

  it('that the admin rejected stays rejected when it is repeated, also after an Undo, until it is accepted or removed', async () => {
    for (const [times, type] of ['Follow', 'Undo', 'Follow'].entries()) {
      peer.received.length = 0
      const follow = peer.activity(follower, 'Follow', node.instance)
      await node.deliver(follower, type === 'Follow' ? follow : peer.activity(follower, 'Undo', follow))
      expect([times, await stateOf('followers', 'peertube')]).toEqual([times, 'rejected'])
      if (type === 'Follow') await peer.awaited('the Reject', (one) => one.activity.type === 'Reject')
      expect(peer.of('Accept')).toEqual([])
    }
    await node.client.send('DELETE', remote(''))
    await node.deliver(follower, peer.activity(follower, 'Follow', node.instance))
    await becomes('followers', 'peertube', 'accepted')
    await node.client.send('POST', remote('/reject'))
    await becomes('followers', 'peertube', 'rejected')
    peer.received.length = 0
    await node.client.send('POST', remote('/accept'))
    await peer.awaited('the Accept', (one) => one.activity.type === 'Accept')
    await becomes('followers', 'peertube', 'accepted')
  })

  it('ends by an Undo', async () => {
    const last = await node.query<{ url: string }>('select url from follow')
    await node.deliver(
      follower,
      peer.activity(follower, 'Undo', { type: 'Follow', id: last[0]?.url, actor: follower.url, object: node.instance }),
    )
    expect(await listed('followers')).toEqual([])
    expect(await node.query('select 1 from actor where url = $1 and followers_count = 0', [node.instance])).toHaveLength(1)
  })

  it('of an account and of a channel is accepted', async () => {
    const account = await peer.account('reader')
    for (const path of ['/accounts/root', '/video-channels/root_channel']) {
      const target = `${node.base}${path}`
      await node.deliver(account, peer.activity(account, 'Follow', target))
      const { activity } = await peer.awaited('the Accept', (one) => one.activity.actor === target)
      expect(activity).toMatchObject({ type: 'Accept', object: { object: target } })
    }
    await node.deliver(account, peer.activity(account, 'Follow', `${node.base}/accounts/nobody`))
    expect(await node.query("select 1 from incoming_activity where state <> 'done'")).toEqual([])
  })

  it('with the id of another actor’s Follow does not change that one', async () => {
    const [first, second] = [await peer.account('first'), await peer.account('second')]
    const original = peer.activity(first, 'Follow', node.instance)
    await node.deliver(first, original)
    await node.deliver(second, { ...peer.activity(second, 'Follow', node.instance), id: original.id })
    await node.deliver(second, peer.activity(second, 'Undo', original.id))
    await becomes('followers', 'first', 'accepted')
  })

  it('is counted in the statistics of processed activities, by type, and of refused ones', async () => {
    const [follows] = await node.query<{ n: string }>("select count(*) as n from incoming_activity where type = 'Follow'")
    const stats = await node.client.get<Record<string, number>>('/api/v1/server/stats')
    expect(stats).toMatchObject({
      totalActivityPubFollowMessagesSuccesses: Number(follows?.n),
      totalActivityPubFollowMessagesErrors: 0,
      totalActivityPubUndoMessagesSuccesses: 2,
      totalActivityPubUndoMessagesErrors: 1,
      totalActivityPubMessagesProcessed: Number(follows?.n) + 3,
      totalActivityPubMessagesErrors: 1,
      totalActivityPubMessagesWaiting: 0,
    })
  })
})

describe('a server that approves followers manually', () => {
  beforeAll(async () => {
    await start({ followers: { instance: { manual_approval: true } } })
  })

  it('lists them as pending for the admin', async () => {
    await node.deliver(peer.instance, peer.activity(peer.instance, 'Follow', node.instance))
    expect(await stateOf('followers', 'peertube')).toBe('pending')
    expect(peer.of('Accept')).toEqual([])
    await node.client.send('POST', `/api/v1/server/followers/peertube@${peer.host}/accept`)
    await peer.awaited('the Accept', (one) => one.activity.type === 'Accept')
    expect(await stateOf('followers', 'peertube')).toBe('accepted')
  })

  it('accepts followers of channels at once', async () => {
    await node.deliver(peer.instance, peer.activity(peer.instance, 'Follow', `${node.base}/video-channels/root_channel`))
    await peer.awaited('the Accept', (one) => String(one.activity.actor).endsWith('root_channel'))
  })
})

describe('a server that accepts no followers', () => {
  beforeAll(async () => {
    await start({ followers: { instance: { enabled: false } } })
  })

  it('rejects them at once', async () => {
    await node.deliver(peer.instance, peer.activity(peer.instance, 'Follow', node.instance))
    await peer.awaited('the Reject', (one) => one.activity.type === 'Reject')
    expect(peer.of('Accept')).toEqual([])
    expect(await listed('followers')).toEqual([])
  })

  it('has channels that can still be followed', async () => {
    await node.deliver(peer.instance, peer.activity(peer.instance, 'Follow', `${node.base}/video-channels/root_channel`))
    const { activity } = await peer.awaited('the Accept', (one) => one.activity.type === 'Accept')
    expect(activity.actor).toBe(`${node.base}/video-channels/root_channel`)
  })
})

describe('a follow that is requested, undone and requested again', () => {
  let asker: PeerActor
  const target = () => `${node.base}/video-channels/root_channel`
  const state = async () =>
    (
      await node.query<{ state: string }>('select f.state from follow f join actor a on a.id = f.follower_id where a.url = $1', [asker.url])
    )[0]?.state ?? 'none'
  const request = () => peer.activity(asker, 'Follow', target())
  const undo = (of: JsonObject | string) => peer.activity(asker, 'Undo', of)

  beforeAll(async () => {
    await start()
  })
  beforeEach(async () => {
    asker = await peer.account(`asker_${Date.now()}_${Math.trunc(performance.now())}`)
    await node.deliver(asker, peer.activity(asker, 'Arrive', asker.url))
  })

  it('is not ended by late news about an earlier one', async () => {
    const [first, second] = [request(), request()]
    await node.deliver(asker, first)
    await node.deliver(asker, undo(first))
    expect(await state()).toBe('none')
    await node.deliver(asker, second)
    await node.deliver(asker, { ...undo(first), published: new Date().toISOString() })
    expect(await state()).toBe('accepted')
    await node.deliver(asker, undo(second))
    expect(await state()).toBe('none')
  })

  it.each([
    ['of the first of two requests', (first: JsonObject, _second: JsonObject) => first],
    ['of the second of two requests', (_first: JsonObject, second: JsonObject) => second],
    ['that was made for the end', () => request()],
  ])('is ended by the id %s', async (_what, named) => {
    const [first, second] = [request(), request()]
    await node.deliver(asker, first)
    await node.deliver(asker, second)
    expect(await state()).toBe('accepted')
    await node.deliver(asker, undo(named(first, second)))
    expect(await state()).toBe('none')
  })

  it('ends with its follower', async () => {
    await node.deliver(asker, request())
    const followers = async () =>
      (await node.query<{ followers_count: number }>('select followers_count from actor where url = $1', [target()]))[0]
    expect(await followers()).toEqual({ followers_count: 1 })
    await node.deliver(asker, peer.activity(asker, 'Delete', asker.url))
    expect(await state()).toBe('none')
    expect(await followers()).toEqual({ followers_count: 0 })
  })

  it('ends with its target, together with the walk over the history', async () => {
    await follow({ handles: [`${asker.document.preferredUsername}@${peer.host}`] })
    const { activity } = await peer.awaited('the Follow', (one) => one.activity.object === asker.url)
    await node.deliver(asker, peer.activity(asker, 'Accept', activity))
    await until(async () => (await node.query('select 1 from history_walk'))[0])
    await node.deliver(asker, peer.activity(asker, 'Delete', asker.url))
    expect(await node.query('select 1 from follow f join actor a on a.id = f.target_id where a.url = $1', [asker.url])).toEqual([])
    expect(await node.query('select 1 from history_walk')).toEqual([])
  })

  it('of a deleted actor is not accepted', async () => {
    const { user } = await node.client.send<{ user: { id: number } }>('POST', '/api/v1/users', {
      username: 'leaver',
      email: 'leaver@example.com',
      password: 'password1',
      role: 2,
      videoQuota: -1,
      videoQuotaDaily: -1,
    })
    await node.client.send('DELETE', `/api/v1/users/${user.id}`)
    const url = `${node.base}/accounts/leaver`
    await until(async () => (await node.query('select 1 from actor where url = $1 and deleted_at is not null', [url]))[0])
    await node.deliver(asker, peer.activity(asker, 'Follow', url))
    expect(await state()).toBe('none')
  })
})

describe('a server that follows automatically', () => {
  let index: { hosts: string[]; asked: string[] }
  beforeAll(async () => {
    await start({
      followings: { instance: { auto_follow_back: { enabled: true } } },
      vireo: { schedulers: { auto_follow_index_instances: '1 second' } },
    })
    index = { hosts: [], asked: [] }
    peer.serve('/index', (query) => {
      index.asked.push(query.get('since') ?? 'never')
      const data: unknown[] = index.hosts.map((host) => ({ host }))
      return { type: 'application/json', body: { total: data.length, data: [...data, 7, { host: 'a b' }, {}] } }
    })
  })

  it('follows back servers that follow it, once', async () => {
    await node.deliver(peer.instance, peer.activity(peer.instance, 'Follow', node.instance))
    const { activity } = await peer.awaited('the Follow', (one) => one.activity.type === 'Follow')
    expect(activity).toMatchObject({ actor: node.instance, object: peer.instance.url })
    await node.deliver(peer.instance, peer.activity(peer.instance, 'Follow', node.instance))
    await until(() => peer.of('Accept').length === 2)
    expect(peer.of('Follow')).toHaveLength(1)
  })

  it('does not follow accounts back', async () => {
    const account = await peer.account('fan')
    await node.deliver(account, peer.activity(account, 'Follow', node.instance))
    await until(() => peer.of('Accept').length === 3)
    expect(peer.of('Follow')).toHaveLength(1)
  })

  it('does not follow back a server that has unfollowed meanwhile', async () => {
    const account = await peer.account('quitter')
    await node.deliver(account, peer.activity(account, 'Arrive', account.url))
    await node.query(
      `insert into job (type, queue, data, max_attempts, due_at)
       select 'activitypub-follow', 'io', jsonb_build_object('actorId', id, 'followBackOf', 424242), 1, now()
       from actor where url = $1`,
      [account.url],
    )
    const done = "select 1 from job where (data->>'followBackOf')::int = 424242 and state = 'completed'"
    await until(async () => (await node.query(done)).length === 1)
    expect(await node.query('select 1 from follow where target_id = (select id from actor where url = $1)', [account.url])).toEqual([])
  })

  it('follows new servers of an index', async () => {
    const other = await startFakePeer()
    index.hosts = [other.host, peer.host, node.host]
    await node.client.send('PUT', '/api/v1/config/custom', await withIndex(`${peer.base}/index`))
    const { activity } = await other.awaited('the Follow', (one) => one.activity.type === 'Follow', 10_000)
    expect(activity).toMatchObject({ actor: node.instance, object: other.instance.url })
    await until(() => index.asked.length >= 2)
    expect(index.asked[0]).toBe('never')
    expect(new Date(index.asked[1] ?? '').getTime()).toBeGreaterThan(0)
    expect(other.of('Follow')).toHaveLength(1)
    await other.close()
  })

  async function withIndex(indexUrl: string) {
    const custom = await node.client.get<{ followings: { instance: object } }>('/api/v1/config/custom')
    const instance = { ...custom.followings.instance, autoFollowIndex: { enabled: true, indexUrl } }
    return { ...custom, followings: { instance } }
  }
})
