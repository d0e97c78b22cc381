// Real nodes that follow each other's instance, account and channel: follows are requested, accepted, undone, repeated, rejected, and
// accepted after a rejection.

import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

let a: FederatedNode
let b: FederatedNode
let c: FederatedNode
beforeAll(async () => {
  const config = { vireo: { federation: { delivery: { initial_backoff: '50 ms', max_backoff: '100 ms' } } } }
  ;[a, b, c] = await Promise.all([startFederatedNode(config), startFederatedNode(config), startFederatedNode(config)])
})
afterAll(async () => {
  await Promise.all([a?.stop(), b?.stop(), c?.stop()])
})

/** The state of the follow of `target` by the instance of `by`, as a node stores it. */
const on = async (node: FederatedNode, by: FederatedNode, target: string): Promise<string> =>
  (
    await node.query<{ state: string }>(
      `select f.state from follow f join actor x on x.id = f.follower_id join actor y on y.id = f.target_id
       where x.url = $1 and y.url = $2`,
      [by.instance, target],
    )
  )[0]?.state ?? 'none'
const both = async (by: FederatedNode, of: FederatedNode, target: string, state: string) => {
  for (const node of [by, of]) {
    await until(async () => (await on(node, by, target)) === state, {
      what: `${target} as ${state} on ${node.base}`,
    })
  }
}

describe.each([
  ['instance', 'peertube', '/accounts/peertube'],
  ['account', 'root', '/accounts/root'],
  ['channel', 'root_channel', '/video-channels/root_channel'],
])('the %s of another node', (kind, name, path) => {
  it.each([
    ['A', 'B', () => [a, b] as const],
    ['C', 'B', () => [c, b] as const],
  ])('is followed by %s on %s, unfollowed, and followed again', async (_by, _of, nodes) => {
    const [by, of] = nodes()
    const target = `${of.base}${path}`
    const ask = kind === 'instance' ? { hosts: [of.host] } : { handles: [`${name}@${of.host}`] }
    const handle = kind === 'instance' ? of.host : `${name}@${of.host}`
    const counts = async () => [
      (await by.query<{ n: number }>('select following_count as n from actor where url = $1', [by.instance]))[0],
      (await of.query<{ n: number }>('select followers_count as n from actor where url = $1', [target]))[0],
    ]
    const shownCounts = async (node: FederatedNode) => {
      const { data } = await node.client.get<{ data: { url: string; followingCount: number }[] }>('/api/v1/accounts?count=100')
      return data.find(({ url }) => url === node.instance) ?? { followingCount: -1 }
    }
    const before = await counts()
    for (let round = 0; round < 2; round += 1) {
      await by.client.send('POST', '/api/v1/server/following', ask)
      await both(by, of, target, 'accepted')
      await until(async () => (await shownCounts(by)).followingCount === (before[0]?.n ?? 0) + 1, {
        what: 'the account of the instance with its follows',
      })
      await by.client.send('DELETE', `/api/v1/server/following/${handle}`)
      await both(by, of, target, 'none')
    }
    await until(async () => JSON.stringify(await counts()) === JSON.stringify(before), { what: 'the counts' })
  })
})

describe('followers of an instance', () => {
  const target = () => b.instance
  const follower = (verb: string) => `/api/v1/server/followers/peertube@${a.host}${verb}`

  it('are rejected, accepted afterwards, removed, and may follow again', async () => {
    await a.client.send('POST', '/api/v1/server/following', { hosts: [b.host] })
    await both(a, b, target(), 'accepted')
    await b.client.send('POST', follower('/reject'))
    await both(a, b, target(), 'rejected')
    await b.client.send('POST', follower('/accept'))
    await both(a, b, target(), 'accepted')
    await b.client.send('POST', follower('/reject'))
    await both(a, b, target(), 'rejected')
    await a.client.send('DELETE', `/api/v1/server/following/${b.host}`)
    await a.client.send('POST', '/api/v1/server/following', { hosts: [b.host] })
    await until(async () => (await on(a, a, target())) === 'rejected', { what: 'the Reject of one that asked again' })
    expect(await on(b, a, target())).toBe('rejected')

    await b.client.send('DELETE', follower(''))
    expect(await on(b, a, target())).toBe('none')
    await a.client.send('POST', '/api/v1/server/following', { hosts: [b.host] })
    await both(a, b, target(), 'accepted')

    await b.client.send('DELETE', follower(''))
    await until(async () => (await on(a, a, target())) === 'rejected', { what: 'the Reject of a removed follower' })
    expect(await on(b, a, target())).toBe('none')
  })

  it('of a muted server are rejected, and not listed', async () => {
    await b.client.send('POST', '/api/v1/server/blocklist/servers', { host: a.host })
    await a.client.send('DELETE', `/api/v1/server/following/${b.host}`)
    await a.client.send('POST', '/api/v1/server/following', { hosts: [b.host] })
    await until(async () => (await on(a, a, target())) === 'rejected', { what: 'the Reject by who muted' })
    expect(await on(b, a, target())).toBe('none')
    await b.client.send('DELETE', `/api/v1/server/blocklist/servers/${a.host}`)
    await a.client.send('POST', '/api/v1/server/following', { hosts: [b.host] })
    await both(a, b, target(), 'accepted')
  })

  it('that are requested several times at once follow once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => c.client.send('POST', '/api/v1/server/following', { hosts: [a.host] })))
    await both(c, a, a.instance, 'accepted')
    expect(await c.query('select 1 from follow f join actor y on y.id = f.target_id where y.url = $1', [a.instance])).toHaveLength(1)
  })
})

describe('servers that follow back', () => {
  const set = async (node: FederatedNode, change: { followings?: object; followers?: object }) =>
    node.client.send('PUT', '/api/v1/config/custom', {
      ...(await node.client.get<object>('/api/v1/config/custom')),
      ...change,
    })
  const followBack = {
    instance: { autoFollowBack: { enabled: true }, autoFollowIndex: { enabled: false, indexUrl: '' } },
  }
  const approval = (manualApproval: boolean) => ({ instance: { enabled: true, manualApproval } })
  const follower = (node: FederatedNode, verb = '') => `/api/v1/server/followers/peertube@${node.host}${verb}`
  /** Follows of a node's instance by another one, and the jobs that follow back. */
  const requested = async (node: FederatedNode, by: FederatedNode) => [
    (await node.query("select 1 from incoming_activity where type = 'Follow' and actor_url = $1", [by.instance])).length,
    (await node.query("select 1 from job where type = 'activitypub-follow'")).length,
  ]
  const nothing = async () => {
    for (const node of [b, c]) {
      for (const other of [b, c]) {
        if (other !== node) await node.client.raw(`/api/v1/server/following/${other.host}`, { method: 'DELETE' })
      }
    }
    await both(b, c, c.instance, 'none')
    await both(c, b, b.instance, 'none')
  }

  it('follow each other after one request, and then stop', async () => {
    await nothing()
    await set(b, { followings: followBack })
    await set(c, { followings: followBack })
    const before = [await requested(b, c), await requested(c, b)]
    await b.client.send('POST', '/api/v1/server/following', { hosts: [c.host] })
    await both(b, c, c.instance, 'accepted')
    await both(c, b, b.instance, 'accepted')
    await b.settled()
    await c.settled()
    const rise = (pair: number[] | undefined) => (pair ?? []).map((count) => count + 1)
    expect([await requested(b, c), await requested(c, b)]).toEqual(before.map(rise))
    for (const node of [b, c]) {
      const { data } = await node.client.get<{ data: { following: { host: string } }[] }>(
        '/api/v1/server/following?state=accepted&actorType=Application',
      )
      expect(data.filter(({ following }) => following.host === (node === b ? c : b).host)).toHaveLength(1)
    }
  })

  it('do not follow again by themselves after a rejection or removal', async () => {
    const before = [await requested(b, c), await requested(c, b)]
    await c.client.send('POST', follower(b, '/reject'))
    await both(b, c, c.instance, 'rejected')
    await c.client.send('DELETE', follower(b))
    await until(async () => (await on(c, b, c.instance)) === 'none')
    await b.settled()
    await c.settled()
    expect(await on(b, b, c.instance)).toBe('rejected')
    await both(c, b, b.instance, 'accepted')
    expect([await requested(b, c), await requested(c, b)]).toEqual(before)
  })

  it('wait until the follower is approved, and ignore a rejected one', async () => {
    await nothing()
    await set(c, { followers: approval(true) })
    await b.client.send('POST', '/api/v1/server/following', { hosts: [c.host] })
    await both(b, c, c.instance, 'pending')
    await c.client.send('POST', follower(b, '/reject'))
    await both(b, c, c.instance, 'rejected')
    await c.settled()
    expect(await on(c, c, b.instance)).toBe('none')
    await c.client.send('POST', follower(b, '/accept'))
    await both(b, c, c.instance, 'accepted')
    await both(c, b, b.instance, 'accepted')
    await set(c, { followers: approval(false) })
  })
})

it('an unreachable server gets no further Follow once the follow is removed', async () => {
  const host = '127.0.0.1:9'
  await a.client.send('POST', '/api/v1/server/following', { hosts: [host] })
  await until(async () => (await a.query("select 1 from job where data->>'host' = $1 and data ? 'tries'", [host])).length > 0)
  const remove = () => a.client.raw(`/api/v1/server/following/${host}`, { method: 'DELETE' })
  expect((await remove()).status).toBe(204)
  expect((await remove()).status).toBe(404)
  expect(await a.query("select 1 from job where data->>'host' = $1 and state in ('waiting', 'delayed', 'active')", [host])).toEqual([])
})

it('a server that fails gets no further Follow once the follow is removed meanwhile', async () => {
  const sockets: Socket[] = []
  let isOver = false
  const silent = createServer((socket) => {
    socket.on('error', () => {})
    if (isOver) socket.destroy()
    else sockets.push(socket)
  })
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
  const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  try {
    await a.client.send('POST', '/api/v1/server/following', { hosts: [host] })
    await until(() => sockets.length > 0)
    expect((await a.client.raw(`/api/v1/server/following/${host}`, { method: 'DELETE' })).status).toBe(204)
    isOver = true
    for (const socket of sockets) socket.destroy()
    // One job runs after the other.
    await a.client.send('POST', '/api/v1/server/following', { hosts: ['127.0.0.1:7'] })
    await until(async () => (await a.query("select 1 from job where data->>'host' = '127.0.0.1:7' and data ? 'tries'"))[0])
    expect(await a.query("select state from job where data->>'host' = $1", [host])).toEqual([{ state: 'cancelled' }])
    expect((await a.client.raw('/api/v1/server/following/127.0.0.1:7', { method: 'DELETE' })).status).toBe(204)
  } finally {
    silent.close()
  }
})
