// kill -9 during a walk over the history of a followed actor: it continues at the page where it was.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { login } from '../../scripts/demo/client.ts'
import { type FakePeer, type PeerActor, post, startFakePeer } from '../support/fake-peer.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'
import { ask, type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'

const PAGES = 30
const PER_PAGE = 4

const folder = dataFolder({ prepared: true })
let options: { dataDir: string; port: number }
let node: Child
let peer: FakePeer
let channel: PeerActor

beforeAll(async () => {
  options = { dataDir: folder.path, port: await freePort() }
  ;[node, peer] = await Promise.all([start(options), startFakePeer()])
  const account = await peer.account('maker')
  channel = await peer.channel('maker_channel', account)
  const pages = Array.from({ length: PAGES }, () =>
    Array.from({ length: PER_PAGE }, () => peer.activity(channel, 'Announce', peer.video({ account, channel }).id)),
  )
  const id = `${channel.url}/outbox`
  peer.serve(id, (query) => {
    const page = Number(query.get('page') ?? 0)
    const more = page < PAGES ? { next: `${id}?page=${page + 1}` } : {}
    const type = page === 0 ? 'OrderedCollection' : 'OrderedCollectionPage'
    const items = page === 0 ? { first: `${id}?page=1` } : { orderedItems: pages[page - 1], ...more }
    return { body: { type, id: page === 0 ? id : `${id}?page=${page}`, totalItems: PAGES * PER_PAGE, ...items } }
  })
})

afterAll(async () => {
  await peer?.close()
  await node?.kill9({ database: true })
  await folder.remove()
})

const walk = async () =>
  (await ask<{ state: string; seen: number; pages: number }>(folder.path, 'select state, seen, pages from history_walk'))[0]

it('fetches no stored page again, and stores every video once', async () => {
  const client = await login(node.base, USERNAME, PASSWORD)
  await client.send('POST', '/api/v1/server/following', { handles: [`maker_channel@${peer.host}`] })
  const { activity } = await peer.awaited('the Follow', (one) => one.activity.type === 'Follow', 20_000)
  await post(node, channel, peer.activity(channel, 'Accept', activity))
  for (const share of [0.2, 0.5, 0.8]) {
    await until(async () => ((await walk())?.pages ?? 0) >= PAGES * share, { what: 'a part' })
    await node.kill9({ database: share > 0.4 })
    const left = share > 0.4 ? undefined : await walk()
    peer.fetched.length = 0
    node = await start(options)
    const pages = left?.pages ?? 0
    await until(async () => ((await walk())?.pages ?? 0) > Math.max(pages, PAGES * share))
    const requested = peer.fetched.flatMap((path) => /outbox\?page=(\d+)$/.exec(path)?.[1] ?? []).map(Number)
    // The collection itself counts as a page.
    if (left) expect(Math.min(...requested)).toBe(left.pages)
    expect(Math.min(...requested)).toBeGreaterThanOrEqual(Math.floor(PAGES * share))
  }
  await until(async () => (await walk())?.state === 'done', { what: 'the end' })
  expect(await walk()).toMatchObject({ seen: PAGES * PER_PAGE, pages: PAGES + 1 })
  expect(await ask(folder.path, 'select count(*)::integer as count from video')).toEqual([{ count: PAGES * PER_PAGE }])
})
