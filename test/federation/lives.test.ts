// Lives of this node as other servers learn of them: announced before the stream, one Update for each start, end and change of settings.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, type Received, startFakePeer } from '../support/fake-peer.ts'
import { publish } from '../support/live.ts'
import { until } from '../support/until.ts'
import { createLive, LIVE_CONFIG, liveAddress } from './live-nodes.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let ours: FederatedNode
let peer: FakePeer

beforeAll(async () => {
  ;[ours, peer] = await Promise.all([startFederatedNode(LIVE_CONFIG), startFakePeer()])
  const { account } = await introduce(ours, peer, 'nora')
  for (const target of [ours.instance, `${ours.base}/accounts/root`, `${ours.base}/video-channels/root_channel`]) {
    await ours.tell(account, peer.activity(account, 'Follow', target))
  }
  await peer.awaited('all answers', () => peer.of('Accept').length === 3)
}, 60_000)
afterAll(async () => {
  await Promise.all([peer?.close(), ours?.stop()])
})
beforeEach(() => {
  peer.received.length = 0
})

const objectOf = ({ activity }: Received) => activity.object as JsonObject
const idOf = (one: Received) => (typeof one.activity.object === 'string' ? one.activity.object : objectOf(one)?.id)
const about = (url: string) => peer.received.filter((one) => idOf(one) === url)
const typesOf = (url: string) => about(url).map(({ activity }) => activity.type)
/** Waits for `count` such activities; returns the last one. */
const heard = async (url: string, type: string, count = 1): Promise<Received> => {
  const found = () => about(url).filter(({ activity }) => activity.type === type)
  return await until(async () => (found().length >= count ? found().at(-1) : undefined), {
    what: `${count} × ${type} of ${url}, beside ${typesOf(url)}`,
    withinMs: 25_000,
  })
}
/** An Update of another video of the account has arrived: whatever was sent before it has, too. */
async function everythingBefore(): Promise<void> {
  const { id, url } = await createLive(ours)
  await heard(url, 'Announce', 2)
  await ours.client.send('DELETE', `/api/v1/videos/${id}`)
  await heard(url, 'Delete')
}

describe('a live', () => {
  it('is announced while it waits, updated when its settings change, its stream starts and ends, and deleted', async () => {
    const live = await createLive(ours, { saveReplay: true, latencyMode: 3 })
    const { url, uuid } = live
    await heard(url, 'Announce', 2)
    expect(typesOf(url).toSorted()).toEqual(['Announce', 'Announce', 'Create'])
    const created = objectOf(await heard(url, 'Create'))
    const terms = { isLiveBroadcast: true, liveSaveReplay: true, permanentLive: false, latencyMode: 3, duration: 'PT0S', uuid }
    expect(created).toMatchObject({ ...terms, state: 4 })
    expect(typesOfLinks(created)).toEqual(['text/html', undefined, undefined])

    await ours.client.send('PUT', `/api/v1/videos/live/${live.id}`, { latencyMode: 1 })
    expect(objectOf(await heard(url, 'Update'))).toMatchObject({ ...terms, latencyMode: 1, state: 4 })
    await ours.client.send('PUT', `/api/v1/videos/${live.id}`, { name: 'Renamed' })
    expect(objectOf(await heard(url, 'Update', 2))).toMatchObject({ name: 'Renamed', state: 4 })

    const sending = publish(liveAddress(ours, live.key), { seconds: 4, paced: true })
    const started = objectOf(await heard(url, 'Update', 3))
    expect(started).toMatchObject({ ...terms, latencyMode: 1, state: 1 })
    const folder = `${ours.base}/static/streaming-playlists/hls/${uuid}`
    expect((started.url as JsonObject[])[1]).toEqual({
      type: 'Link',
      mediaType: 'application/x-mpegURL',
      href: `${folder}/master.m3u8`,
      tag: [
        { type: 'Infohash', name: expect.stringMatching(/^[0-9a-f]{40}$/) },
        { type: 'Link', name: 'sha256', mediaType: 'application/json', href: `${folder}/segments-sha256.json` },
      ],
    })
    expect(Date.parse(String(started.published))).toBeGreaterThan(Date.parse(String(created.published)))
    expect((await sending).code).toBe(0)
    expect(objectOf(await heard(url, 'Update', 4))).toMatchObject({ ...terms, latencyMode: 1, state: 5 })

    await ours.client.send('DELETE', `/api/v1/videos/${live.id}`)
    await heard(url, 'Delete')
    await everythingBefore()
    expect(typesOf(url).toSorted()).toEqual(['Announce', 'Announce', 'Create', 'Delete', ...Array<string>(4).fill('Update')])
    expect(new Set(about(url).map(({ activity }) => activity.id)).size).toBe(8)
  }, 90_000)

  it('that is permanent waits again after each stream', async () => {
    const { id, url, key } = await createLive(ours, { permanentLive: true })
    await heard(url, 'Create')
    for (const time of [1, 2]) {
      expect((await publish(liveAddress(ours, key), { seconds: 4, paced: true })).code).toBe(0)
      await heard(url, 'Update', 2 * time)
    }
    const states = about(url).flatMap((one) => (one.activity.type === 'Update' ? [objectOf(one).state] : []))
    expect(states).toEqual([1, 4, 1, 4])
    await ours.client.send('DELETE', `/api/v1/videos/${id}`)
  }, 60_000)

  it('that becomes private is deleted elsewhere, and created again when it is public', async () => {
    const { id, url } = await createLive(ours)
    await heard(url, 'Announce', 2)
    await ours.client.send('PUT', `/api/v1/videos/${id}`, { privacy: 3 })
    await heard(url, 'Delete')
    await ours.client.send('PUT', `/api/v1/videos/live/${id}`, { permanentLive: true })
    await ours.client.send('PUT', `/api/v1/videos/${id}`, { privacy: 1 })
    expect(objectOf(await heard(url, 'Create', 2))).toMatchObject({ state: 4, permanentLive: true })
    await ours.client.send('DELETE', `/api/v1/videos/${id}`)
    await everythingBefore()
    expect(typesOf(url)).not.toContain('Update')
  })

  it('that is private never leaves, whatever happens to it', async () => {
    const { id, url, key, uuid } = await createLive(ours, { privacy: 3 })
    expect((await publish(liveAddress(ours, key), { seconds: 2 })).code).toBe(0)
    await until(async () => (await ours.client.get<{ state: { id: number } }>(`/api/v1/videos/${uuid}`)).state.id === 5)
    await ours.client.send('DELETE', `/api/v1/videos/${id}`)
    await everythingBefore()
    expect(about(url)).toEqual([])
  }, 60_000)

  it('is in the outbox of its account while it waits', async () => {
    const { id, url } = await createLive(ours)
    const outbox = await fetch(`${ours.base}/accounts/root/outbox?page=1`, { headers: { accept: 'application/activity+json' } })
    const { orderedItems } = (await outbox.json()) as { orderedItems: JsonObject[] }
    expect(orderedItems[0]).toMatchObject({ type: 'Create', object: { id: url, state: 4 } })
    await ours.client.send('DELETE', `/api/v1/videos/${id}`)
  })
})

const typesOfLinks = ({ url }: JsonObject) => (url as JsonObject[]).map(({ mediaType }) => mediaType)
