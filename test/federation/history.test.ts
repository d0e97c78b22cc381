// The history of followed actors: walked page by page, resumed after an interruption, within bounds, and checked again periodically.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Values } from '../../src/config/layers.ts'
import { type FakePeer, type JsonObject, type PeerActor, type PeerAnswer, startFakePeer } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

interface Walk {
  state: string
  seen: number
  total: number | null
  pages: number
  given_up: number
  next_url: string | null
  aside: number
  error: string | null
}

let local: FederatedNode
let peer: FakePeer
const QUICK = { initial_backoff: '100 ms', max_backoff: '200 ms' }
const start = async (backfill: Values = {}) => {
  await local?.stop()
  await peer?.close()
  ;[local, peer] = await Promise.all([
    startFederatedNode({
      vireo: { federation: { backfill: { ...QUICK, ...backfill }, fetch: { timeout: '4 seconds' } } },
    }),
    startFakePeer(),
  ])
}
afterAll(async () => {
  await Promise.all([peer?.close(), local?.stop()])
})

const names = async () => (await local.query<{ name: string }>('select name from video order by name')).map(({ name }) => name)
const walkOf = async (actor: PeerActor): Promise<Walk | undefined> =>
  (
    await local.query<Walk>(
      `select w.state, w.seen, w.total, w.pages, w.given_up, w.next_url, w.error,
         (select count(*)::integer from history_item i where i.walk_id = w.id) as aside
       from history_walk w join actor a on a.id = w.actor_id where a.url = $1`,
      [actor.url],
    )
  )[0]
const becomes = async (actor: PeerActor, ...states: string[]): Promise<Walk> => {
  let walk: Walk | undefined
  await until(
    async () => {
      walk = await walkOf(actor)
      return walk && states.includes(walk.state)
    },
    { what: `the walk as ${states.join(' or ')}` },
  )
  return walk as Walk
}
const follow = async (actor: PeerActor) => {
  peer.received.length = 0
  await local.client.send('POST', '/api/v1/server/following', {
    handles: [`${actor.document.preferredUsername}@${peer.host}`],
  })
  const { activity } = await peer.awaited('the Follow', (one) => one.activity.object === actor.url)
  await local.deliver(actor, peer.activity(actor, 'Accept', activity))
}
const collection = (id: string, more: JsonObject) => ({
  '@context': 'https://www.w3.org/ns/activitystreams',
  type: 'OrderedCollection',
  id,
  ...more,
})
/** An outbox of these pages; `answer` may override the answer of a page, counted from 1. */
const outbox = (actor: PeerActor, pages: unknown[][], answer: (page: number) => PeerAnswer | undefined = () => undefined) => {
  const id = `${actor.url}/outbox`
  peer.serve(id, (query) => {
    const page = Number(query.get('page') ?? 0)
    const other = answer(page)
    if (other) return other
    const totalItems = pages.flat().length
    if (page === 0) return { body: collection(id, { totalItems, first: `${id}?page=1` }) }
    const next = page < pages.length ? { next: `${id}?page=${page + 1}` } : {}
    const items = { partOf: id, totalItems, orderedItems: pages[page - 1] ?? [], ...next }
    return { body: collection(`${id}?page=${page}`, { type: 'OrderedCollectionPage', ...items }) }
  })
}
const fetchesOf = (actor: PeerActor, page: number) =>
  peer.fetched.filter((path) => path === `${new URL(actor.url).pathname}/outbox?page=${page}`).length

let made = 0
const newMaker = async (): Promise<{ account: PeerActor; channel: PeerActor }> => {
  made += 1
  const account = await peer.account(`maker_${made}`)
  return { account, channel: await peer.channel(`channel_${made}`, account) }
}
const videosOf = (of: { account: PeerActor; channel: PeerActor }, names: string[]) =>
  names.map((name) => peer.video({ ...of, more: { name } }))

describe('a walk', () => {
  beforeAll(async () => {
    await start({ max_pages: 20, max_items: 40 })
  })
  beforeEach(() => {
    peer.fetched.length = 0
  })

  it('reads every page, skips broken items, and reports its progress', async () => {
    const { account, channel } = await newMaker()
    const good = videosOf({ account, channel }, ['a', 'b', 'c'])
    const broken = peer.video({ account, channel, more: { name: 'no duration', duration: undefined } })
    const foreign = { ...peer.video({ account, channel }), id: 'http://127.0.0.1:1/videos/watch/x' }
    const own = `${local.base}/videos/watch/11111111-1111-4111-8111-111111111111`
    const create = (video: unknown) => peer.activity(account, 'Create', video)
    const announce = (video: unknown) => peer.activity(channel, 'Announce', video)
    outbox(channel, [
      [create(good[0]), `${peer.base}/activities/gone`, create(broken), 7, null, 'not an address'],
      [create({ ...foreign }), announce(own), announce(good[1]?.id), peer.activity(account, 'Like', own)],
      [{ type: 'Create' }, announce(`${peer.base}/videos/watch/gone`), announce(good[2]?.id)],
    ])
    await follow(channel)
    const walk = await becomes(channel, 'done', 'incomplete')
    expect(walk).toMatchObject({ seen: 10, total: 13, pages: 4, next_url: null, error: null })
    expect(await names()).toEqual(['a', 'b', 'c'])
  })

  it('is not stopped by items that the database cannot store', async () => {
    const { account, channel } = await newMaker()
    const language = { identifier: 'e\u0000n', name: 'Engl\u0000ish' }
    const odd = peer.video({ account, channel, more: { name: 'odd', language } })
    const [after] = videosOf({ account, channel }, ['oddly after'])
    outbox(channel, [[odd, after].map((video) => peer.activity(channel, 'Announce', video?.id))])
    await follow(channel)
    expect(await becomes(channel, 'done', 'incomplete', 'failed')).toMatchObject({ state: 'done', seen: 2 })
    expect(await names()).toEqual(['a', 'b', 'c', 'odd', 'oddly after'])
    await local.query("delete from video where name like 'odd%'")
  })

  it('resumes at the page where it stopped, when the remote server was away', async () => {
    const { account, channel } = await newMaker()
    const pages = [['d', 'e'], ['f'], ['g', 'h']].map((names) =>
      videosOf({ account, channel }, names).map((video) => peer.activity(channel, 'Announce', video.id)),
    )
    let isAway = true
    outbox(channel, pages, (page) => (page === 3 && isAway ? { status: 503 } : undefined))
    await follow(channel)
    expect(await becomes(channel, 'retrying', 'failed')).toMatchObject({
      next_url: `${channel.url}/outbox?page=3`,
      seen: 3,
      total: 5,
      error: expect.stringContaining('503'),
    })
    isAway = false
    expect(await becomes(channel, 'done')).toMatchObject({ seen: 5, total: 5, error: null })
    expect([1, 2].map((page) => fetchesOf(channel, page))).toEqual([1, 1])
    expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
  })

  it('resumes at the page where it stopped, when the local server ended', async () => {
    const { account, channel } = await newMaker()
    const pages = [['i'], ['j']].map((names) =>
      videosOf({ account, channel }, names).map((video) => peer.activity(channel, 'Announce', video.id)),
    )
    outbox(channel, pages)
    // The state after `kill -9`: a job of a dead process, a stored page, and nothing of the next one.
    outbox(channel, pages, (page) => (page === 2 ? { status: 503 } : undefined))
    await follow(channel)
    await becomes(channel, 'retrying')
    await local.node.server.stop()
    await local.query(
      `update history_walk set state = 'walking', due_at = now() + interval '1 hour'
       where actor_id = (select id from actor where url = $1)`,
      [channel.url],
    )
    // Other walks of this file run periodically.
    const [last] = await local.query<{ id: number }>(
      `select max(j.id) as id from job j join history_walk w on (j.data->>'walkId')::bigint = w.id
       join actor a on a.id = w.actor_id where j.type = 'activitypub-http-fetcher' and a.url = $1`,
      [channel.url],
    )
    await local.query(
      `update job set state = 'active', lease_owner = 'gone', lease_until = now() - interval '1 s', finished_at = null
       where id = $1`,
      [last?.id],
    )
    await local.query("delete from job where type = 'activitypub-http-fetcher' and state in ('waiting', 'delayed')")
    outbox(channel, pages)
    await local.node.restart()
    expect(await becomes(channel, 'done')).toMatchObject({ seen: 2, total: 2 })
    expect(fetchesOf(channel, 1)).toBe(1)
  })

  it('defers items of a third server, and imports them later', async () => {
    const third = await startFakePeer()
    const their = await third.account('third')
    const late = third.video({
      account: their,
      channel: await third.channel('third_channel', their),
      more: { name: 'z' },
    })
    const { account, channel } = await newMaker()
    const [one, other] = videosOf({ account, channel }, ['k', 'l'])
    outbox(channel, [
      [one?.id, late.id].map((id) => peer.activity(channel, 'Announce', id)),
      [peer.activity(channel, 'Announce', other?.id)],
    ])
    await third.down()
    await follow(channel)
    expect(await becomes(channel, 'incomplete')).toMatchObject({ seen: 3, aside: 1, given_up: 0 })
    expect(await names()).toEqual(expect.arrayContaining(['k', 'l']))
    await third.up()
    expect(await becomes(channel, 'done')).toMatchObject({ seen: 3, aside: 0, given_up: 0 })
    expect(await names()).toContain('z')
    await third.close()
  })

  it.each([
    ['runs in a circle', (page: number) => (page % 3) + 1],
    ['is itself the next page', (page: number) => page],
    ['never ends', (page: number) => page + 1],
  ])('over pages of which one %s ends within bounds', async (_what, nextOf) => {
    const { account } = await newMaker()
    const id = `${account.url}/outbox`
    let pages = 0
    peer.serve(id, (query) => {
      const page = Number(query.get('page') ?? 0)
      pages += 1
      if (page === 0) return { body: collection(id, { first: `${id}?page=1` }) }
      const next = `${id}?page=${nextOf(page)}`
      return { body: collection(`${id}?page=${page}`, { type: 'OrderedCollectionPage', orderedItems: [], next }) }
    })
    await follow(account)
    expect(await becomes(account, 'done')).toMatchObject({ seen: 0, next_url: null })
    expect(pages).toBeLessThanOrEqual(20)
  })

  it('with more items than the configuration allows ends there', async () => {
    const { account } = await newMaker()
    const id = `${account.url}/outbox`
    peer.serve(id, collection(id, { orderedItems: Array.from({ length: 400 }, (_, n) => `${peer.base}/missing/${n}`) }))
    await follow(account)
    expect(await becomes(account, 'done')).toMatchObject({ seen: 40 })
    expect(peer.fetched.filter((path) => path.startsWith('/missing/'))).toHaveLength(40)
  })

  it.each<[string, (id: string) => PeerAnswer]>([
    ['on another server', (id) => ({ body: collection(id, { first: 'http://127.0.0.1:1/outbox?page=1' }) })],
    ['with absurd numbers', (id) => ({ body: collection(id, { totalItems: 1e300, orderedItems: [] }) })],
    ['with items that are none', (id) => ({ body: collection(id, { orderedItems: { a: [{ b: 1 }] }, totalItems: -5 }) })],
    ['whose next page is a number', (id) => ({ body: collection(id, { orderedItems: [[], {}, 5], next: 7 }) })],
  ])('over an outbox %s ends at once', async (_what, answer) => {
    const { account } = await newMaker()
    peer.serve(`${account.url}/outbox`, () => answer(`${account.url}/outbox`))
    const before = await names()
    await follow(account)
    await becomes(account, 'done')
    expect(await names()).toEqual(before)
  })

  it.each<[string, (id: string) => PeerAnswer]>([
    ['that is no collection', (id) => ({ body: { type: 'Person', id } })],
    ['that is a list', () => ({ body: [1, 2] })],
    ['of 10 MB', (id) => ({ body: collection(id, { orderedItems: ['x'.repeat(10_000_000)] }) })],
    ['that is no ActivityPub document', (id) => ({ type: 'text/html', body: collection(id, {}) })],
    ['that is gone', () => ({ status: 410 })],
  ])('over an outbox %s fails, and is not retried at once', async (_what, answer) => {
    const { account } = await newMaker()
    peer.serve(`${account.url}/outbox`, () => answer(`${account.url}/outbox`))
    await follow(account)
    expect(await becomes(account, 'failed')).toMatchObject({ seen: 0, error: expect.any(String) })
  })

  it('ends with the follow', async () => {
    const { account } = await newMaker()
    peer.serve(`${account.url}/outbox`, () => ({ status: 503 }))
    await follow(account)
    await becomes(account, 'retrying')
    await local.client.send('DELETE', `/api/v1/server/following/maker_${made}@${peer.host}`)
    await becomes(account, 'stopped')
    outbox(account, [])
    await follow(account)
    await becomes(account, 'done')
  })
})

describe('a new follow', () => {
  beforeAll(async () => {
    await start({ initial_backoff: '1 hour', max_backoff: '1 hour' })
  })
  const unfollow = () => local.client.send('DELETE', `/api/v1/server/following/channel_${made}@${peer.host}`)
  const announce = (channel: PeerActor, id: unknown) => peer.activity(channel, 'Announce', id)

  it('imports the videos and their comments at once', async () => {
    const { account, channel } = await newMaker()
    const [video] = videosOf({ account, channel }, ['with comments'])
    const id = video?.id ?? ''
    const note = peer.note({ author: account.url, inReplyTo: id, content: 'The first word' })
    peer.serve(`${id}/comments`, collection(`${id}/comments`, { totalItems: 1, orderedItems: [note.id] }))
    outbox(channel, [[announce(channel, id)]])
    await follow(channel)
    await until(async () => (await local.query('select 1 from comment where url = $1', [note.id])).length === 1, {
      what: 'the comment',
    })
  })

  it('starts a new walk where an earlier one waits for a retry', async () => {
    const { account, channel } = await newMaker()
    const [video] = videosOf({ account, channel }, ['after all'])
    peer.serve(`${channel.url}/outbox`, () => ({ status: 503 }))
    await follow(channel)
    await becomes(channel, 'retrying')
    await unfollow()
    outbox(channel, [[announce(channel, video?.id)]])
    await follow(channel)
    expect(await becomes(channel, 'done')).toMatchObject({ seen: 1, error: null })
  })

  it('that is undone ends the walk, which is limited to a few videos a second', async () => {
    const { account, channel } = await newMaker()
    const all = videosOf(
      { account, channel },
      Array.from({ length: 60 }, (_, n) => `one of many ${n}`),
    )
    outbox(channel, [all.map(({ id }) => announce(channel, id))])
    const begun = performance.now()
    await follow(channel)
    const isOf = (path: string) => all.some(({ id }) => new URL(id).pathname === path)
    const requested = () => peer.fetched.filter(isOf).length
    await until(() => requested() > 5, { what: 'the first videos' })
    await unfollow()
    await becomes(channel, 'stopped')
    const seconds = (performance.now() - begun) / 1000
    expect(requested()).toBeLessThan(Math.min(all.length, 5 + 40 * seconds))
    expect(fetchesOf(channel, 2)).toBe(0)
  })
})

describe('items that stay unavailable', () => {
  beforeAll(async () => {
    await start({ attempts: 3, max_put_aside: 5 })
  })

  it('are given up and counted, and their number is limited', async () => {
    const { account, channel } = await newMaker()
    const dead = await startFakePeer()
    await dead.close()
    const items = Array.from({ length: 8 }, (_, n) => `${dead.base}/videos/watch/${n}`)
    outbox(channel, [items.map((id) => peer.activity(channel, 'Announce', id))])
    await follow(channel)
    expect(await becomes(channel, 'done')).toMatchObject({ seen: 8, aside: 0, given_up: 8 })
    expect(account).toBeDefined()
  })
})

describe('a periodic walk', () => {
  beforeAll(async () => {
    await start({ look_again: '1 second' })
  })

  it('imports missed items, from the newest to the first known one', async () => {
    const { account, channel } = await newMaker()
    const create = (names: string[]) => videosOf({ account, channel }, names).map((video) => peer.activity(account, 'Create', video))
    const old = [create(['c', 'd']), create(['e'])]
    outbox(account, old)
    await follow(account)
    await until(async () => (await names()).length === 3)
    await becomes(account, 'done')
    // Activities of a time in which the local server was down and the remote one gave up deliveries.
    outbox(account, [create(['a']), create(['b']), ...old])
    peer.fetched.length = 0
    await until(async () => (await names()).length === 5, { what: 'the videos that were missed' })
    await becomes(account, 'done')
    expect([1, 2, 3].map((page) => fetchesOf(account, page) > 0)).toEqual([true, true, true])
    expect(fetchesOf(account, 4)).toBe(0)
  })
})
