// Lives towards other servers: created before the stream, with one Update for each start, end and change of settings.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, type PeerActor, type Received, startFakePeer } from '../support/fake-peer.ts'
import { publish } from '../support/live.ts'
import { until } from '../support/until.ts'
import { createLive, LIVE_CONFIG, liveAddress } from './live-nodes.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let peer: FakePeer
let nora: { account: PeerActor; channel: PeerActor }

beforeAll(async () => {
  ;[node, peer] = await Promise.all([startFederatedNode(LIVE_CONFIG), startFakePeer()])
  nora = await introduce(node, peer, 'nora')
  const { account } = nora
  for (const target of [node.instance, `${node.base}/accounts/root`, `${node.base}/video-channels/root_channel`]) {
    await node.deliver(account, peer.activity(account, 'Follow', target))
  }
  await peer.awaited('all answers', () => peer.of('Accept').length === 3)
})
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop()])
})
beforeEach(() => {
  peer.received.length = 0
})

const objectOf = ({ activity }: Received) => activity.object as JsonObject
const idOf = (one: Received) => (typeof one.activity.object === 'string' ? one.activity.object : objectOf(one)?.id)
const about = (url: string) => peer.received.filter((one) => idOf(one) === url)
const typesOf = (url: string) => about(url).map(({ activity }) => activity.type)
/** Waits for `count` matching activities; returns the last one. */
const heard = async (url: string, type: string, count = 1): Promise<Received> => {
  const found = () => about(url).filter(({ activity }) => activity.type === type)
  return await until(async () => (found().length >= count ? found().at(-1) : undefined), {
    what: `${count} × ${type} of ${url}, beside ${typesOf(url)}`,
  })
}
/** Waits for an Update of another video of the account: earlier activities have arrived then. */
async function everythingBefore(): Promise<void> {
  const { id, url } = await createLive(node)
  await heard(url, 'Create')
  await heard(url, 'Announce', 2)
  await node.client.send('DELETE', `/api/v1/videos/${id}`)
  await heard(url, 'Delete')
}

describe('a live', () => {
  it('is created while it waits, updated when its settings change and its stream starts and ends, and deleted', async () => {
    const live = await createLive(node, { latencyMode: 3 })
    const { url, uuid } = live
    // Activities of different actors arrive in any order.
    const created = objectOf(await heard(url, 'Create'))
    await heard(url, 'Announce', 2)
    expect(typesOf(url).toSorted()).toEqual(['Announce', 'Announce', 'Create'])
    const terms = { isLiveBroadcast: true, liveSaveReplay: false, permanentLive: false, latencyMode: 3, duration: 'PT0S', uuid }
    expect(created).toMatchObject({ ...terms, state: 4 })
    expect(typesOfLinks(created)).toEqual(['text/html', undefined, undefined])

    await node.client.send('PUT', `/api/v1/videos/live/${live.id}`, { latencyMode: 1 })
    expect(objectOf(await heard(url, 'Update'))).toMatchObject({ ...terms, latencyMode: 1, state: 4 })
    await node.client.send('PUT', `/api/v1/videos/${live.id}`, { name: 'Renamed' })
    expect(objectOf(await heard(url, 'Update', 2))).toMatchObject({ name: 'Renamed', state: 4 })

    const sending = publish(liveAddress(node, live.key), { seconds: 10, paced: true })
    const started = objectOf(await heard(url, 'Update', 3))
    expect(started).toMatchObject({ ...terms, latencyMode: 1, state: 1 })
    const folder = `${node.base}/static/streaming-playlists/hls/${uuid}`
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

    await node.client.send('DELETE', `/api/v1/videos/${live.id}`)
    await heard(url, 'Delete')
    await everythingBefore()
    expect(typesOf(url).toSorted()).toEqual(['Announce', 'Announce', 'Create', 'Delete', ...Array<string>(4).fill('Update')])
    expect(new Set(about(url).map(({ activity }) => activity.id)).size).toBe(8)
  })

  it('that is permanent waits again after each stream', async () => {
    const { id, url, key } = await createLive(node, { permanentLive: true })
    await heard(url, 'Create')
    for (const time of [1, 2]) {
      expect((await publish(liveAddress(node, key), { seconds: 8, paced: true })).code).toBe(0)
      await heard(url, 'Update', 2 * time)
    }
    const states = about(url).flatMap((one) => (one.activity.type === 'Update' ? [objectOf(one).state] : []))
    expect(states).toEqual([1, 4, 1, 4])
    await node.client.send('DELETE', `/api/v1/videos/${id}`)
  })

  it('that becomes private is deleted on other servers, and created again when it is public', async () => {
    const { id, url } = await createLive(node)
    await heard(url, 'Announce', 2)
    await node.client.send('PUT', `/api/v1/videos/${id}`, { privacy: 3 })
    await heard(url, 'Delete')
    await node.client.send('PUT', `/api/v1/videos/live/${id}`, { permanentLive: true })
    await node.client.send('PUT', `/api/v1/videos/${id}`, { privacy: 1 })
    expect(objectOf(await heard(url, 'Create', 2))).toMatchObject({ state: 4, permanentLive: true })
    await node.client.send('DELETE', `/api/v1/videos/${id}`)
    await everythingBefore()
    expect(typesOf(url)).not.toContain('Update')
  })

  it('that is private is never sent, whatever happens to it', async () => {
    const { id, url, key, uuid } = await createLive(node, { privacy: 3 })
    expect((await publish(liveAddress(node, key), { seconds: 2 })).code).toBe(0)
    await until(async () => (await node.client.get<{ state: { id: number } }>(`/api/v1/videos/${uuid}`)).state.id === 5)
    await node.client.send('DELETE', `/api/v1/videos/${id}`)
    await everythingBefore()
    expect(about(url)).toEqual([])
  })

  it('with a published replay is updated to a video, not created again', async () => {
    const { id, url } = await createLive(node, { saveReplay: true })
    await heard(url, 'Announce', 2)
    // The end of the transcoding of the replay.
    await node.query(
      `with replay as (update video set state = 'published', is_live = false, duration = 11, updated_at = now() where id = $1 returning id)
       insert into outbox (aggregate, aggregate_id, event, payload)
       select 'video', id, 'VideoPublished', jsonb_build_object('videoId', id) from replay`,
      [id],
    )
    expect(objectOf(await heard(url, 'Update'))).toMatchObject({
      duration: 'PT11S',
      state: 1,
      isLiveBroadcast: false,
      liveSaveReplay: null,
      permanentLive: null,
      latencyMode: null,
    })
    await node.client.send('DELETE', `/api/v1/videos/${id}`)
    await everythingBefore()
    expect(typesOf(url).toSorted()).toEqual(['Announce', 'Announce', 'Create', 'Delete', 'Update'])
  })

  it('becomes its replay by an Update, and is deleted on other servers if the replay is private', async () => {
    for (const [privacy, last] of [
      [1, 'Update'],
      [3, 'Delete'],
    ] as const) {
      const { url, key } = await createLive(node, { saveReplay: true, replaySettings: { privacy } })
      await heard(url, 'Announce', 2)
      expect((await publish(liveAddress(node, key), { seconds: 4, paced: true })).code).toBe(0)
      const isLast = ({ activity }: Received) =>
        activity.type === last && (last === 'Delete' || objectOf({ activity } as Received).isLiveBroadcast === false)
      const replay = await until(async () => about(url).find(isLast), {
        what: `the ${last} by a replay, beside ${typesOf(url)}`,
      })
      if (last === 'Update')
        expect(objectOf(replay)).toMatchObject({ state: 1, liveSaveReplay: null, permanentLive: null, latencyMode: null })
    }
  })

  it('is in the outbox of its account while it waits', async () => {
    const { id, url } = await createLive(node)
    const outbox = await fetch(`${node.base}/accounts/root/outbox?page=1`, { headers: { accept: 'application/activity+json' } })
    const { orderedItems } = (await outbox.json()) as { orderedItems: JsonObject[] }
    expect(orderedItems[0]).toMatchObject({ type: 'Create', object: { id: url, state: 4 } })
    await node.client.send('DELETE', `/api/v1/videos/${id}`)
  })
})

const typesOfLinks = ({ url }: JsonObject) => (url as JsonObject[]).map(({ mediaType }) => mediaType)

describe('a remote live', () => {
  interface Seen {
    id: number
    isLive: boolean
    state: { id: number }
    files: unknown[]
    streamingPlaylists: { playlistUrl: string; segmentsSha256Url: string | null }[]
  }
  const PAGE = { type: 'Link', mediaType: 'text/html', href: 'https://far.example/w/live' }
  const MASTER = 'https://far.example/hls/live/master.m3u8'
  const HASHES = 'https://far.example/hls/live/segments-sha256.json'
  const hls = (href: string) => ({
    type: 'Link',
    mediaType: 'application/x-mpegURL',
    href,
    tag: [{ type: 'Link', name: 'sha256', mediaType: 'application/json', href: HASHES }],
  })
  const WAITING = {
    isLiveBroadcast: true,
    liveSaveReplay: false,
    permanentLive: true,
    latencyMode: 3,
    duration: 'PT0S',
    state: 4,
    url: [PAGE],
  }
  const PLAYING = { ...WAITING, state: 1, url: [PAGE, hls(MASTER)] }

  let changes = 0
  function at(): string {
    changes += 1
    return new Date(Date.now() - 3_600_000 + changes * 1000).toISOString()
  }
  async function arrive(more: JsonObject) {
    const document = peer.video({ ...nora, more: { ...more, published: at(), updated: at() } })
    await node.deliver(nora.account, peer.activity(nora.account, 'Create', document))
    return {
      change: (changed: JsonObject) =>
        node.deliver(nora.account, peer.activity(nora.account, 'Update', { ...document, ...changed, updated: at() })),
      seen: () => node.client.get<Seen>(`/api/v1/videos/${document.uuid}`),
      live: () => node.client.raw(`/api/v1/videos/live/${document.uuid}`),
    }
  }

  it('is stored with its state, playlist and settings through its streams', async () => {
    const { change, seen, live } = await arrive(WAITING)
    expect(await seen()).toMatchObject({ isLive: true, state: { id: 4 }, streamingPlaylists: [] })
    expect(await (await live()).json()).toEqual({ permanentLive: true, saveReplay: false, latencyMode: 3 })
    const playing = { isLive: true, state: { id: 1 }, files: [], streamingPlaylists: [{ playlistUrl: MASTER, segmentsSha256Url: HASHES }] }
    for (const _stream of [1, 2]) {
      await change(PLAYING)
      expect(await seen()).toMatchObject(playing)
      await change({ ...PLAYING, state: 4 })
      expect(await seen()).toMatchObject({ isLive: true, state: { id: 4 } })
    }
    await change({ ...PLAYING, latencyMode: 2, permanentLive: false })
    expect(await seen()).toMatchObject(playing)
    expect(await (await live()).json()).toMatchObject({ permanentLive: false, latencyMode: 2 })
    await change({ ...PLAYING, state: 5 })
    expect(await seen()).toMatchObject({ isLive: true, state: { id: 5 } })
  })

  it.each<[string, JsonObject, number]>([
    ['without a state', { ...PLAYING, state: null }, 1],
    ['in an unknown state', { ...PLAYING, state: 99 }, 1],
    ['without a state and a playlist', { ...WAITING, state: null }, 4],
    ['that plays without a playlist', { ...WAITING, state: 1 }, 4],
    ['whose playlist is no web address', { ...PLAYING, url: [PAGE, hls('javascript:alert(1)')] }, 4],
  ])('%s has a valid state', async (_what, document, state) => {
    const { seen } = await arrive(document)
    expect(await seen()).toMatchObject({ isLive: true, state: { id: state } })
  })

  it.each([9, 0, -1, 'small', {}, null])('has the default latency for the value %j', async (latencyMode) => {
    const { live } = await arrive({ ...WAITING, latencyMode, permanentLive: 'perhaps', liveSaveReplay: [] })
    expect(await (await live()).json()).toEqual({ permanentLive: false, saveReplay: false, latencyMode: 1 })
  })

  it('may become a video, and a video a live', async () => {
    const { change, seen, live } = await arrive({})
    expect(await seen()).toMatchObject({ isLive: false, state: { id: 1 }, files: [{}] })
    expect((await live()).status).toBe(404)
    await change(WAITING)
    expect(await seen()).toMatchObject({ isLive: true, state: { id: 4 }, files: [], streamingPlaylists: [] })
    await change(PLAYING)
    await change({ isLiveBroadcast: false })
    expect(await seen()).toMatchObject({ isLive: false, state: { id: 1 }, files: [{}], streamingPlaylists: [] })
    expect((await live()).status).toBe(404)
  })

  it('starts once for local users, however often its server repeats it', async () => {
    const { change, seen } = await arrive(WAITING)
    const { id } = await seen()
    await node.query(
      `create table if not exists started (video_id int);
       create or replace function note_start() returns trigger as $$ begin
         if new.event = 'LiveStarted' then insert into started values ((new.payload->>'videoId')::int); end if; return new; end $$ language plpgsql;
       create or replace trigger note_start before insert on outbox for each row execute function note_start()`,
    )
    await change(PLAYING)
    await change({ ...PLAYING, name: 'Renamed' })
    await change({ ...PLAYING, state: 5 })
    expect(await node.query('select video_id from started where video_id = $1', [id])).toHaveLength(1)
    await node.query('drop trigger note_start on outbox')
  })
})
