// A host that failed for more than seven days is dormant: nothing is queued for it until it sends something. Then it gets pending and new
// deliveries, and its missed activities are fetched.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { login } from '../../scripts/demo/client.ts'
import { fakeClock } from '../support/clock.ts'
import { type FakePeer, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

const HALF_DAY = 12 * 3_600_000
const clock = fakeClock()
let local: FederatedNode
let peer: FakePeer
let fan: { account: PeerActor; channel: PeerActor }
let bytes: Buffer

beforeAll(async () => {
  ;[local, peer] = await Promise.all([
    startFederatedNode({ vireo: { federation: { fetch: { timeout: '4 seconds' } } } }, { clock }),
    startFakePeer(),
  ])
  bytes = await readFile(await media('small.mp4'))
  fan = await introduce(local, peer, 'fan')
})
afterAll(async () => {
  await Promise.all([peer?.close(), local?.stop()])
})

const root = () => `${local.base}/accounts/root`
const sent = (type: string, url: string) =>
  peer.awaited(`${type} of ${url}`, ({ activity }) => activity.type === type && JSON.stringify(activity).includes(url))
const host = async () =>
  (
    await local.query<{ state: string; failures: number; waits: boolean }>(
      `select state, (context->>'failures')::int as failures, due_at > $2 as waits from remote_host where host = $1`,
      [peer.host, clock.now()],
    )
  )[0]
const rows = async () => (await local.query('select 1 from delivery')).length
const names = async () => (await local.query<{ name: string }>('select name from video where remote order by name')).map(({ name }) => name)
const outbox = (videos: { id: string }[]) =>
  peer.serve(`${fan.account.url}/outbox`, {
    '@context': 'https://www.w3.org/ns/activitystreams',
    type: 'OrderedCollection',
    id: `${fan.account.url}/outbox`,
    totalItems: videos.length,
    orderedItems: videos.map((video) => peer.activity(fan.account, 'Create', video)),
  })
const ofFan = (name: string) => peer.video({ ...fan, more: { name } })
/** Tokens expire while the clock advances. */
const upload = async (name: string) => {
  Object.assign(local.client, await login(local.base, local.node.username, local.node.password))
  return await local.upload(bytes, { name })
}

it('gets nothing while dormant; its next activity wakes it, and both sides catch up', async () => {
  const known = ofFan('Known')
  outbox([known])
  await local.deliver(fan.account, peer.activity(fan.account, 'Follow', root()))
  await local.client.send('POST', '/api/v1/server/following', { handles: [`fan@${peer.host}`] })
  const { activity } = await peer.awaited('the Follow', (one) => one.activity.object === fan.account.url)
  await local.deliver(fan.account, peer.activity(fan.account, 'Accept', activity))
  await until(async () => (await names()).includes('Known'))
  await until(async () => (await local.query("select 1 from history_walk where state = 'done'"))[0])

  await peer.down()
  const before = await upload('Before it was given up')
  for (let time = 0; time < 40 && (await host())?.state !== 'dormant'; time += 1) {
    await until(async () => (await host())?.waits || (await host())?.state === 'dormant', { what: 'a failure' })
    clock.pass(HALF_DAY)
  }
  expect((await host())?.state).toBe('dormant')
  const kept = await rows()
  expect(kept).toBeGreaterThan(0)
  const asleep = await upload('While it slept')
  await until(async () => (await local.query('select 1 from outbox')).length === 0)
  expect(await rows()).toBe(kept)

  const missed = ofFan('Missed')
  outbox([missed, known])
  await peer.up()
  await local.deliver(fan.account, peer.activity(fan.account, 'Arrive', fan.account.url), { date: clock.now() })
  await until(async () => (await host())?.state === 'healthy', { what: 'the host awake' })
  await sent('Create', before.url)
  await until(async () => (await names()).includes('Missed'), { what: 'what we missed' })
  const after = await upload('After it was there again')
  await sent('Create', after.url)
  expect(peer.received.filter(({ activity: one }) => JSON.stringify(one).includes(asleep.url))).toEqual([])
  await until(async () => (await rows()) === 0, { what: 'the end of all deliveries' })
})
