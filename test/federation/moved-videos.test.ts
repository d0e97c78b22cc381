// Two real nodes: videos change their owner on one of them, and are taken back before the other one has processed it.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Client } from '../../scripts/demo/client.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { arrives, startNodes, videoOn } from './nodes.ts'
import { type FederatedNode, newcomer, uploadBy } from './support.ts'

let nodes: FederatedNode[] = []
let bytes: Buffer
let giver: Client
let taker: Client
let channelId: number

const pair = (): { a: FederatedNode; b: FederatedNode } => {
  const [a, b] = nodes
  if (!a || !b) throw new Error('These nodes did not start.')
  return { a, b }
}

beforeAll(async () => {
  bytes = await readFile(await media('small.mp4'))
  nodes = await startNodes(2)
  const { a } = pair()
  giver = await newcomer(a, 'giver')
  taker = await newcomer(a, 'taker')
  const me = await taker.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  channelId = me.videoChannels[0]?.id ?? 0
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
})

type Video = Awaited<ReturnType<typeof uploadBy>>

/** Known on B as a video of the giver. */
async function known(name: string): Promise<Video> {
  const video = await uploadBy(giver, bytes, { name })
  await arrives(pair().b, video.uuid)
  return video
}

async function take({ uuid }: Video): Promise<void> {
  await giver.send('POST', `/api/v1/videos/${uuid}/give-ownership`, { username: 'taker' })
  const path = '/api/v1/videos/ownership'
  const offers = await taker.get<{ data: { id: number; video: { uuid: string } }[] }>(`${path}?count=100`)
  const offer = offers.data.find(({ video }) => video.uuid === uuid)
  await taker.send('POST', `${path}/${offer?.id}/accept`, { channelId })
}

const move = ({ uuid }: Video) => pair().a.client.send('PUT', `/api/v1/videos/${uuid}`, { channelId })
const remove = ({ uuid }: Video, by = taker) => by.send('DELETE', `/api/v1/videos/${uuid}`)
const change = ({ uuid }: Video, fields: object) => taker.send('PUT', `/api/v1/videos/${uuid}`, fields)
const block = ({ uuid }: Video) => pair().a.client.send('POST', `/api/v1/videos/${uuid}/blacklist`, { unfederate: true })

const ends = ({ uuid }: Video, what: string) =>
  until(async () => (await videoOn(pair().b, uuid)) === undefined, { what: `the end of what was ${what}` })

const ways: [string, (video: Video) => Promise<unknown>][] = [
  ['taken and deleted', async (video) => [await take(video), await remove(video)]],
  ['taken and hidden', async (video) => [await take(video), await change(video, { privacy: 3 })]],
  ['taken and blocked', async (video) => [await take(video), await block(video)]],
  ['moved and deleted', async (video) => [await move(video), await remove(video, pair().a.client)]],
]
it.each([1, 2])('converges on B when many videos are changed and taken back at once (%d)', async (round) => {
  const videos: Video[] = []
  for (const [name] of ways) videos.push(await uploadBy(giver, bytes, { name: `${name} ${round}` }))
  await Promise.all(videos.map(({ uuid }) => arrives(pair().b, uuid)))
  // The first Announces also make B fetch the videos.
  await pair().b.settled()
  const each = ways.flatMap(([name, way], at) => {
    const video = videos[at]
    return video ? [{ name, way, video }] : []
  })
  await Promise.all(each.map(({ way, video }) => way(video)))
  await Promise.all(each.map(({ name, video }) => ends(video, name)))
})

it('arrives in order on B, when B was away during the change of owner and other changes', async () => {
  const { a, b } = pair()
  const gone = await known('Gone')
  const back = await known('Back')
  await b.settled()
  await b.node.server.stop()
  for (const video of [gone, back]) await take(video)
  const sent = (type: string, { url }: Video) =>
    until(async () => (await a.query('select 1 from document where type = $1 and activity_id like $2', [type, `${url}%`]))[0], {
      what: `${type} of ${url}`,
    })
  for (const video of [gone, back]) await sent('Update', video)
  await remove(gone)
  await change(back, { privacy: 3 })
  await sent('Delete', back)
  await change(back, { privacy: 1, name: 'Back again' })
  await sent('Create', back)
  await b.node.restart()
  await ends(gone, 'taken and deleted')
  await until(async () => (await a.query("select 1 from delivery where state = 'waiting' union all select 1 from outbox")).length === 0, {
    what: 'the end of all deliveries',
  })
  await b.settled()
  expect(await arrives(b, back.uuid)).toMatchObject({ name: 'Back again', account: { name: 'taker' } })
  expect(await videoOn(b, gone.uuid)).toBeUndefined()
})
