// Three real nodes: videos of one on the others, their changes and removal, and ratings from there.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { arrives, follow, startNodes, takeTurns, videoOn } from './nodes.ts'
import { type FederatedNode, newcomer, secondChannel, uploadBy } from './support.ts'

let nodes: FederatedNode[] = []
let bytes: Buffer
beforeAll(async () => {
  bytes = await readFile(await media('small.mp4'))
  nodes = await startNodes(3)
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
})

const rate = (node: FederatedNode, uuid: string, rating: string) => node.client.send('PUT', `/api/v1/videos/${uuid}/rate`, { rating })
const rates = async (node: FederatedNode, uuid: string) => {
  const video = await videoOn(node, uuid)
  return video && [video.likes, video.dislikes].join()
}
const becomesRated = (node: FederatedNode, uuid: string, expected: string) =>
  until(async () => (await rates(node, uuid)) === expected, { what: `${expected} rates on ${node.base}` })
const sharesOn = async (node: FederatedNode, url: string) =>
  (
    await node.query<{ actor: string }>(
      'select a.url as actor from share s join actor a on a.id = s.actor_id join video v on v.id = s.video_id where v.url = $1',
      [url],
    )
  ).map(({ actor }) => actor)

describe('between two nodes', () => {
  const pair = takeTurns(() => nodes)

  it('a video arrives with its channel, changes and is removed, on every node', async () => {
    const { from, to, third } = pair()
    const { uuid, url } = await from.upload(bytes, { name: 'As it was', description: 'A test' })
    const mine = await arrives(from, uuid)
    for (const node of [to, third]) {
      expect(await arrives(node, uuid)).toMatchObject({
        url,
        name: 'As it was',
        account: { name: 'root', host: from.host },
        channel: { name: mine.channel.name, host: from.host },
      })
      await until(async () => (await sharesOn(node, url)).includes(from.instance), { what: 'the Announce' })
    }
    await from.client.send('PUT', `/api/v1/videos/${uuid}`, { name: 'Renamed', tags: ['one', 'two'] })
    for (const node of [to, third]) {
      await until(async () => (await videoOn(node, uuid))?.name === 'Renamed', { what: 'the new name' })
      expect((await videoOn(node, uuid))?.tags.toSorted()).toEqual(['one', 'two'])
    }
    await from.client.send('DELETE', `/api/v1/videos/${uuid}`)
    for (const node of [to, third]) {
      await until(async () => !(await videoOn(node, uuid)), { what: `the end on ${node.base}` })
    }
  })

  it("likes and dislikes are counted at the video's node, undone, and sent to all nodes that have it", async () => {
    const { from, to, third } = pair()
    const { uuid } = await from.upload(bytes)
    await Promise.all([to, third].map((node) => arrives(node, uuid)))
    await rate(to, uuid, 'like')
    await becomesRated(from, uuid, '1,0')
    await rate(third, uuid, 'dislike')
    await becomesRated(from, uuid, '1,1')
    await rate(to, uuid, 'none')
    await becomesRated(from, uuid, '0,1')
    await rate(third, uuid, 'none')
    await becomesRated(from, uuid, '0,0')
    await rate(to, uuid, 'dislike')
    await becomesRated(from, uuid, '0,1')
    await rate(to, uuid, 'like')
    await becomesRated(from, uuid, '1,0')
    await Promise.all([to, third].map((node) => becomesRated(node, uuid, '1,0')))
  })

  it('a video that moves to another channel is announced by the new one, and no longer by the old one', async () => {
    const { from, to } = pair()
    const former = `${from.base}/video-channels/root_channel`
    const other = await secondChannel(from)
    await follow(to, { handles: [`root_channel@${from.host}`, `second_channel@${from.host}`] })
    const { uuid, url } = await from.upload(bytes)
    await arrives(to, uuid)
    await until(async () => (await sharesOn(to, url)).includes(former), { what: 'the first Announce' })
    await from.client.send('PUT', `/api/v1/videos/${uuid}`, { channelId: other.id })
    await until(async () => (await sharesOn(to, url)).toSorted().join() === [from.instance, other.url].toSorted().join(), {
      what: 'the other Announce',
    })
    await until(async () => (await videoOn(to, uuid))?.channel.name === 'second_channel', { what: 'the move' })
  })

  it('a video that changes its owner belongs to the new one on every node, with its changes', async () => {
    const { from, to, third } = pair()
    const [giver, taker] = [await newcomer(from, 'gina'), await newcomer(from, 'tom')]
    const { uuid } = await uploadBy(giver, bytes)
    for (const node of [to, third]) expect((await arrives(node, uuid)).account.name).toBe('gina')
    await giver.send('POST', `/api/v1/videos/${uuid}/give-ownership`, { username: 'tom' })
    const offers = await taker.get<{ data: { id: number }[] }>('/api/v1/videos/ownership')
    const me = await taker.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
    const body = { channelId: me.videoChannels[0]?.id }
    await taker.send('POST', `/api/v1/videos/ownership/${offers.data[0]?.id}/accept`, body)
    for (const node of [to, third]) {
      await until(async () => (await videoOn(node, uuid))?.account.name === 'tom', { what: 'the new owner' })
      expect((await videoOn(node, uuid))?.channel).toMatchObject({ name: 'tom_channel', host: from.host })
    }
    await taker.send('PUT', `/api/v1/videos/${uuid}`, { name: 'Mine now' })
    await until(async () => (await videoOn(to, uuid))?.name === 'Mine now', { what: 'the new name' })
    await taker.send('DELETE', `/api/v1/videos/${uuid}`)
    await until(async () => !(await videoOn(to, uuid)), { what: 'the end' })
  })

  it('a video blocked with unfederation is gone from other nodes, and comes back when the block ends', async () => {
    const { from, to, third } = pair()
    const { uuid } = await from.upload(bytes)
    await Promise.all([to, third].map((node) => arrives(node, uuid)))
    await from.client.send('POST', `/api/v1/videos/${uuid}/blacklist`, { unfederate: true })
    for (const node of [to, third]) {
      await until(async () => !(await videoOn(node, uuid)), { what: `the end on ${node.base}` })
    }
    await from.client.send('DELETE', `/api/v1/videos/${uuid}/blacklist`)
    await Promise.all([to, third].map((node) => arrives(node, uuid)))
  })
})
