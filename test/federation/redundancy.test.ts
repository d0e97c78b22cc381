// Copies of videos in both directions, with honest, foreign, hostile and unavailable peers.

import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Values } from '../../src/config/layers.ts'
import { AS_PUBLIC, contextOf } from '../../src/federation/wire/context.ts'
import { type FakePeer, type JsonObject, type PeerActor, post, signedInside, startFakePeer } from '../support/fake-peer.ts'
import { type HlsOrigin, startHlsOrigin } from '../support/hls-origin.ts'
import { media } from '../support/media.ts'
import { storedNames } from '../support/node.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let local: FederatedNode
/** Has copies. */
let home: FakePeer
/** Follows the local instance. */
let near: FakePeer
/** Is not involved. */
let away: FakePeer
let origin: HlsOrigin
let alice: { account: PeerActor; channel: PeerActor }
let mallory: { account: PeerActor; channel: PeerActor }
let video: { id: number; uuid: string; url: string }

const start = async (config: Values = {}) => {
  ;[local, home, near, away, origin] = await Promise.all([
    startFederatedNode(config),
    startFakePeer(),
    startFakePeer(),
    startFakePeer(),
    startHlsOrigin(),
  ])
  alice = await introduce(local, home, 'alice')
  mallory = await introduce(local, away, 'mallory')
  for (const peer of [home, away]) await local.deliver(peer.instance, peer.activity(peer.instance, 'Arrive', peer.instance.url))
  await local.deliver(near.instance, near.activity(near.instance, 'Follow', local.instance))
  video = await publish()
}
const stop = () => Promise.all([home?.close(), near?.close(), away?.close(), origin?.close(), local?.stop()])

/** A local video with a web video and a playlist. */
async function publish(fields: Record<string, string> = {}) {
  const made = await local.upload(await readFile(await media('small.mp4')), fields)
  await local.query("insert into streaming_playlist (video_id, playlist_filename) values ($1, 'm-master.m3u8')", [made.id])
  return made
}

const folder = (peer: FakePeer, uuid = video.uuid) => `${peer.base}/static/redundancy/hls/${uuid}`
const playlistCopy = (peer: FakePeer, more: JsonObject = {}): JsonObject => ({
  '@context': contextOf('cache-file'),
  to: [AS_PUBLIC],
  cc: [],
  id: `${peer.base}/redundancy/streaming-playlists/hls/${video.uuid}`,
  type: 'CacheFile',
  object: video.url,
  expires: null,
  url: { type: 'Link', mediaType: 'application/x-mpegURL', href: folder(peer) },
  ...more,
})
const fileCopy = (peer: FakePeer, more: JsonObject = {}): JsonObject => ({
  ...playlistCopy(peer),
  id: `${peer.base}/redundancy/videos/${video.uuid}/240-25`,
  url: {
    type: 'Link',
    mediaType: 'video/mp4',
    href: `${peer.base}/static/redundancy/x-240.mp4`,
    height: 240,
    size: 1000,
    fps: 25,
  },
  ...more,
})
let serial = 0
/** With the same id each time, like the reference, but other bytes. */
const creation = (peer: FakePeer, copy: JsonObject, by: PeerActor = peer.instance): JsonObject & { id: string } => {
  serial += 1
  return { ...peer.activity(by, 'Create', copy, { published: later(serial) }), id: `${copy.id}/activity` }
}
/** In the form of the reference. After an Undo, only what was signed later counts. */
const share = async (peer: FakePeer, copy: JsonObject) =>
  local.deliver(peer.instance, await signedInside(creation(peer, copy), peer.instance))
const copies = () =>
  local.query<{ url: string; file_url: string; expires_on: Date | null; state: string }>(
    'select url, file_url, expires_on, state from redundancy order by id',
  )
const offered = async () =>
  (await local.client.get<{ streamingPlaylists: { redundancies: unknown[] }[] }>(`/api/v1/videos/${video.uuid}`)).streamingPlaylists[0]
    ?.redundancies
const later = (ms: number) => new Date(Date.now() + ms).toISOString()
const year = 365 * 24 * 3_600_000

describe('a copy on another server', () => {
  beforeAll(async () => {
    await start()
    await near.awaited('the answer', ({ activity }) => activity.type === 'Accept')
  })
  afterAll(stop)
  beforeEach(async () => {
    await local.query('delete from redundancy')
    near.received.length = 0
  })

  it('of a playlist is offered to players, listed, and forwarded unchanged', async () => {
    const activity = await signedInside(creation(home, playlistCopy(home)), home.instance)
    await local.deliver(home.instance, activity)
    expect(await offered()).toEqual([{ baseUrl: folder(home) }])
    const list = await local.client.get<JsonObject>('/api/v1/server/redundancy/videos?target=my-videos')
    expect(list).toMatchObject({
      total: 1,
      data: [{ id: video.id, redundancies: { files: [], streamingPlaylists: [{ fileUrl: folder(home), strategy: null }] } }],
    })
    const forwarded = await near.awaited('the news', (one) => one.activity.id === activity.id)
    expect(forwarded.activity).toEqual(activity)
    expect(home.fetched.filter((path) => path.includes('static'))).toEqual([])
  })

  it('of a web video is listed with it', async () => {
    await local.deliver(home.instance, creation(home, fileCopy(home)))
    const list = await local.client.get<JsonObject>('/api/v1/server/redundancy/videos?target=my-videos')
    expect(list).toMatchObject({
      data: [{ redundancies: { files: [{ fileUrl: `${home.base}/static/redundancy/x-240.mp4` }], streamingPlaylists: [] } }],
    })
    expect(await offered()).toEqual([])
    await local.query("update video_file set magnet_url = 'magnet:?xt=urn:btih:1' where video_id = $1", [video.id])
    const { files } = await local.client.get<{ files: { magnetUri: string }[] }>(`/api/v1/videos/${video.uuid}`)
    const seed = encodeURIComponent(`${home.base}/static/redundancy/x-240.mp4`)
    expect(files[0]?.magnetUri).toBe(`magnet:?xt=urn:btih:1&ws=${seed}`)
  })

  it('is stored once, however often it is received, and forwarded once', async () => {
    for (let time = 0; time < 3; time += 1) {
      const activity = { ...creation(home, playlistCopy(home)), published: later(time) }
      await local.deliver(home.instance, await signedInside(activity, home.instance))
    }
    expect(await copies()).toHaveLength(1)
    await local.deliver(home.instance, await signedInside(creation(home, fileCopy(home)), home.instance))
    await near.awaited('the last', ({ activity }) => String(activity.id).includes('/redundancy/videos/'))
    expect(near.of('Create').filter(({ activity }) => String(activity.id).includes('playlists'))).toHaveLength(1)
  })

  it('is extended by an Update, by a year at most', async () => {
    await local.deliver(home.instance, creation(home, playlistCopy(home, { expires: later(60_000) })))
    const [first] = await copies()
    await local.deliver(home.instance, home.activity(home.instance, 'Update', playlistCopy(home, { expires: later(120_000) })))
    const [second] = await copies()
    expect(Number(second?.expires_on) - Number(first?.expires_on)).toBeGreaterThan(50_000)
    await local.deliver(home.instance, home.activity(home.instance, 'Update', playlistCopy(home, { expires: later(50 * year) })))
    const [third] = await copies()
    expect(Math.abs(Number(third?.expires_on) - Date.now() - year)).toBeLessThan(60_000)
  })

  it('is removed when it expires', async () => {
    await local.deliver(home.instance, creation(home, playlistCopy(home, { expires: later(1500) })))
    expect(await copies()).toHaveLength(1)
    await until(async () => (await copies()).length === 0, { what: 'the end of the copy' })
  })

  it('that has expired, or of an unknown object, is not stored', async () => {
    const hidden = await publish({ privacy: '3' })
    const link = fileCopy(home).url as JsonObject
    for (const copy of [
      playlistCopy(home, { expires: later(-1000) }),
      playlistCopy(home, { object: `${local.base}/videos/watch/11111111-1111-4111-8111-111111111111` }),
      playlistCopy(home, { object: hidden.url }),
      playlistCopy(home, { object: local.instance }),
      playlistCopy(home, { object: home.video(alice).id }),
      fileCopy(home, { url: { ...link, height: 1080 } }),
      fileCopy(home, { url: { ...link, fps: 60 } }),
    ]) {
      await local.deliver(home.instance, { ...creation(home, copy), id: home.id() })
    }
    expect(await copies()).toEqual([])
    expect(await local.query("select error from incoming_activity where state in ('retrying', 'parked')")).toEqual([])
  })

  it.each<[string, (copy: JsonObject) => unknown]>([
    ['whole', (copy) => creation(home, copy)],
    ['by the address of its Create', (copy) => `${copy.id}/activity`],
  ])('is removed by the Undo of its Create, %s, which is forwarded', async (_what, undone) => {
    const copy = playlistCopy(home)
    await share(home, copy)
    expect(await copies()).toHaveLength(1)
    const undo = await signedInside(home.activity(home.instance, 'Undo', undone(copy)), home.instance)
    await local.deliver(home.instance, undo)
    expect(await copies()).toEqual([])
    expect((await near.awaited('the Undo', (one) => one.activity.id === undo.id)).activity).toEqual(undo)
    await share(home, copy)
    expect(await copies()).toHaveLength(1)
  })

  it('that the administrator removes is only removed locally', async () => {
    await share(home, playlistCopy(home))
    const [row] = await local.query<{ id: number }>('select id from redundancy')
    await local.client.send('DELETE', `/api/v1/server/redundancy/videos/${row?.id}`)
    expect(await copies()).toEqual([])
    expect(home.of('Undo')).toEqual([])
  })

  it('is removed when its video is private', async () => {
    const shown = await publish()
    await share(home, playlistCopy(home, { object: shown.url }))
    expect(await copies()).toHaveLength(1)
    await local.client.send('PUT', `/api/v1/videos/${shown.uuid}`, { privacy: 3 })
    await until(async () => (await copies()).length === 0, { what: 'the end of the copy' })
  })

  it('is removed with its server', async () => {
    const other = await startFakePeer()
    await local.deliver(other.instance, creation(other, playlistCopy(other)))
    expect(await copies()).toHaveLength(1)
    await local.deliver(other.instance, other.activity(other.instance, 'Delete', other.instance.url))
    expect(await copies()).toEqual([])
    await other.close()
  })

  describe('and that another actor sends activities about', () => {
    const strangers = (): [string, FakePeer, PeerActor][] => [
      ['an account of its server', home, alice.account],
      ['a channel of its server', home, alice.channel],
      ['another server', away, away.instance],
      ['an account of another server', away, mallory.account],
    ]

    it('is not stored, extended or removed', async () => {
      for (const [who, peer, by] of strangers()) {
        await post(local, by, peer.activity(by, 'Create', playlistCopy(home)))
        await local.settled()
        expect({ who, copies: await copies() }).toEqual({ who, copies: [] })
      }
      const copy = playlistCopy(home)
      await share(home, copy)
      const before = await copies()
      expect(before).toHaveLength(1)
      for (const [who, peer, by] of strangers()) {
        for (const activity of [
          peer.activity(by, 'Update', playlistCopy(home, { expires: later(60_000) })),
          peer.activity(by, 'Undo', creation(home, copy)),
          peer.activity(by, 'Undo', { ...creation(home, copy), actor: undefined }),
          peer.activity(by, 'Undo', { ...creation(peer, playlistCopy(peer)), object: copy }),
          peer.activity(by, 'Undo', `${copy.id}/activity`),
          peer.activity(by, 'Delete', copy.id),
        ]) {
          await post(local, by, activity)
          await local.settled()
          expect({ who, copies: await copies() }).toEqual({ who, copies: before })
        }
      }
    })

    it('is not stored when its file is elsewhere, or when its actor is no server', async () => {
      const link = playlistCopy(home).url as JsonObject
      const attempts: JsonObject[] = [
        creation(home, playlistCopy(home, { url: { ...link, href: folder(away) } })),
        { ...creation(home, playlistCopy(away)), id: home.id() },
        creation(home, playlistCopy(home), alice.account),
      ]
      for (const activity of attempts) {
        const by = activity.actor === alice.account.url ? alice.account : home.instance
        await post(local, by, await signedInside(activity, by))
        await local.settled()
      }
      expect(await copies()).toEqual([])
    })

    it('cannot be replaced by another one with its id', async () => {
      await share(home, playlistCopy(home))
      const before = await copies()
      expect(before).toHaveLength(1)
      const other = { ...creation(home, { ...fileCopy(home), id: playlistCopy(home).id }), id: home.id() }
      await local.deliver(home.instance, await signedInside(other, home.instance))
      expect(await copies()).toEqual(before)
    })
  })
})

describe('a server that accepts copies from', () => {
  afterAll(stop)

  it('nobody stores none', async () => {
    await start({ remote_redundancy: { videos: { accept_from: 'nobody' } } })
    await local.deliver(home.instance, creation(home, playlistCopy(home)))
    expect(await copies()).toEqual([])
    await stop()
  })

  it('followed servers stores only theirs', async () => {
    await start({ remote_redundancy: { videos: { accept_from: 'followings' } } })
    await local.deliver(home.instance, creation(home, playlistCopy(home)))
    expect(await copies()).toEqual([])
    await local.client.send('POST', '/api/v1/server/following', { hosts: [home.host] })
    const { activity } = await home.awaited('the Follow', (one) => one.activity.type === 'Follow')
    await local.deliver(home.instance, home.activity(home.instance, 'Accept', activity))
    for (const peer of [home, away]) {
      await local.deliver(peer.instance, { ...creation(peer, playlistCopy(peer)), published: later(0) })
    }
    expect(await copies()).toMatchObject([{ file_url: folder(home) }])
  })
})

describe('a local copy of a remote video', () => {
  let remote: JsonObject & { id: string }
  let theirId: number

  beforeAll(async () => {
    await start({
      vireo: { federation: { fetch: { video_file_timeout: '500 ms' } } },
      redundancy: { videos: { check_interval: '1 second' } },
    })
    remote = home.video({ ...alice, more: { url: origin.links } })
    await local.deliver(alice.account, home.activity(alice.account, 'Create', remote))
    const [row] = await local.query<{ id: number }>('select id from video where url = $1', [remote.id])
    theirId = row?.id ?? 0
  })
  afterAll(stop)
  beforeEach(() => {
    home.received.length = 0
    home.answerPosts(undefined)
  })

  const mirror = () => local.client.send('POST', '/api/v1/server/redundancy/videos', { videoId: theirId })
  const address = (kind: 'playlist' | 'file') =>
    kind === 'playlist'
      ? `${local.base}/redundancy/streaming-playlists/hls/${remote.uuid}`
      : `${local.base}/redundancy/videos/${remote.uuid}/240-25`
  const heard = (type: string, id: string) =>
    home.awaited(`${type} of ${id}`, ({ activity }) => {
      const object = activity.object as JsonObject
      return activity.type === type && (object?.id === id || (object?.object as JsonObject | undefined)?.id === id)
    })
  const removeAll = async () => {
    for (const { id } of await local.query<{ id: number }>('select id from redundancy where path is not null')) {
      await local.client.send('DELETE', `/api/v1/server/redundancy/videos/${id}`)
    }
    await until(async () => (await local.query('select 1 from redundancy union all select 1 from pending_file')).length === 0, {
      what: 'the end of all copies',
    })
  }
  const filesHere = () => storedNames(local.node, 'redundancy')
  const jobs = (state: string) =>
    local.query<{ error: string }>("select error from job where type = 'video-redundancy' and state = $1 order by id", [state])

  it("is announced to the video's owner in the recorded form, and so is its end", async () => {
    await mirror()
    const { path, activity } = await heard('Create', address('playlist'))
    expect(path).toBe('/inbox')
    const audience = { to: [alice.account.url], cc: [] }
    const { signature: _signature, proof: _proof, '@context': _context, ...activities } = activity
    expect(activities).toEqual({
      ...audience,
      type: 'Create',
      id: `${address('playlist')}/activity`,
      actor: local.instance,
      object: {
        ...audience,
        id: address('playlist'),
        type: 'CacheFile',
        object: remote.id,
        expires: null,
        url: {
          type: 'Link',
          mediaType: 'application/x-mpegURL',
          href: `${local.base}/static/redundancy/hls/${remote.uuid}`,
        },
      },
    })
    const file = await heard('Create', address('file'))
    expect(file.activity.object).toMatchObject({ url: { mediaType: 'video/mp4', height: 240, size: 50_000, fps: 25 } })
    await removeAll()
    const undo = await heard('Undo', address('playlist'))
    const everybody = { to: [AS_PUBLIC], cc: [`${local.instance}/followers`] }
    expect(undo.activity).toMatchObject({
      ...audience,
      id: `${address('playlist')}/undo`,
      actor: local.instance,
      object: {
        ...everybody,
        type: 'Create',
        id: `${address('playlist')}/activity`,
        object: { ...everybody, type: 'CacheFile' },
      },
    })
    await heard('Undo', address('file'))
    expect(await filesHere()).toEqual([])
  })

  it('that is extended sends an Update', async () => {
    await mirror()
    await heard('Create', address('playlist'))
    await until(async () => (await local.query("select 1 from redundancy where state = 'announced'")).length === 2)
    const expires = new Date('2040-01-01T00:00:00.000Z')
    await local.query('update redundancy set expires_on = $1 where streaming_playlist_id is not null', [expires])
    await local.query(
      `insert into outbox (aggregate, aggregate_id, event, payload)
       select 'redundancy', id, 'RedundancyRenewed', jsonb_build_object('redundancyId', id)
       from redundancy where streaming_playlist_id is not null`,
    )
    const { activity } = await heard('Update', address('playlist'))
    expect(String(activity.id)).toContain(`${address('playlist')}/updates/`)
    expect(activity).toMatchObject({
      to: [alice.account.url],
      object: { type: 'CacheFile', expires: expires.toISOString() },
    })
    await removeAll()
  })

  it('that expires is undone', async () => {
    await mirror()
    await heard('Create', address('playlist'))
    await until(async () => (await local.query("select 1 from redundancy where state = 'announced'")).length === 2)
    await local.query('update redundancy set due_at = now()')
    await heard('Undo', address('playlist'))
    await until(async () => (await local.query('select 1 from redundancy')).length === 0)
  })

  it.each<[string, () => void]>([
    ['whose server falls silent', () => origin.answer('/240-fragmented.mp4', (response) => void response.write('x'))],
    ['whose file has another size', () => origin.answer('/240-fragmented.mp4', (response) => void response.end('short'))],
    ['whose playlist is none', () => origin.answer('/240.m3u8', (response) => void response.end('<html>'))],
    ['whose server answers errors', () => origin.answer('/master.m3u8', (response) => void response.writeHead(500).end())],
  ])('%s leaves nothing behind, sends nothing, and can be requested again', async (_what, bend) => {
    await local.query("delete from job where type = 'video-redundancy'")
    bend()
    await mirror()
    await heard('Create', address('file'))
    await until(async () => (await jobs('failed')).length === 1, { what: 'the failure' })
    await until(async () => (await local.query('select 1 from pending_file')).length === 0, {
      what: 'the end of the files',
    })
    expect(await filesHere()).toHaveLength(1)
    expect(home.of('Create')).toHaveLength(1)
    for (const path of ['/240-fragmented.mp4', '/240.m3u8', '/master.m3u8']) origin.answer(path, undefined)
    await mirror()
    await heard('Create', address('playlist'))
    await removeAll()
  })

  it('that is cancelled during its download leaves nothing', async () => {
    let sent: () => void = () => {}
    const began = new Promise<void>((resolve) => {
      sent = resolve
    })
    const timer: NodeJS.Timeout[] = []
    origin.answer('/240-fragmented.mp4', (response) => {
      timer.push(setInterval(() => response.write('x'), 50))
      sent()
    })
    await mirror()
    await began
    await removeAll()
    timer.forEach(clearInterval)
    origin.answer('/240-fragmented.mp4', undefined)
    expect(await filesHere()).toEqual([])
    expect(home.of('Create').filter(({ activity }) => String(activity.id).includes('playlists'))).toEqual([])
  })

  it('is removed when the remote server deletes the video', async () => {
    const other = home.video({ ...alice, more: { url: origin.links } })
    await local.deliver(alice.account, home.activity(alice.account, 'Create', other))
    const [row] = await local.query<{ id: number }>('select id from video where url = $1', [other.id])
    await local.client.send('POST', '/api/v1/server/redundancy/videos', { videoId: row?.id })
    await home.awaited('the news', ({ activity }) => String(activity.id).includes(`hls/${other.uuid}`))
    await local.deliver(alice.account, home.activity(alice.account, 'Delete', other.id))
    expect(await local.query('select 1 from redundancy')).toEqual([])
    await until(async () => (await filesHere()).length === 0, { what: 'the end of the files' })
  })

  it('of a host that is no longer allowed is removed', async () => {
    await mirror()
    await heard('Create', address('playlist'))
    const allow = (redundancyAllowed: boolean) => local.client.send('PUT', `/api/v1/server/redundancy/${home.host}`, { redundancyAllowed })
    await allow(true)
    expect(await local.query('select 1 from remote_host where redundancy_allowed and host = $1', [home.host])).toHaveLength(1)
    await allow(false)
    await until(async () => (await local.query('select 1 from redundancy')).length === 0)
    await heard('Undo', address('playlist'))
  })

  it('of a locally blocked video is removed, and not made again during the block', async () => {
    await mirror()
    await heard('Create', address('playlist'))
    home.received.length = 0
    await local.client.send('POST', `/api/v1/videos/${theirId}/blacklist`)
    await until(async () => (await local.query('select 1 from redundancy')).length === 0, {
      what: 'the end of the copy',
    })
    await heard('Undo', address('playlist'))
    await expect(mirror()).rejects.toThrow(/^400/)
    await local.client.send('DELETE', `/api/v1/videos/${theirId}/blacklist`)
  })

  it('of a video with new files is made again', async () => {
    await mirror()
    await heard('Create', address('playlist'))
    await heard('Create', address('file'))
    home.received.length = 0
    const master = await (await fetch(`${origin.base}/master.m3u8`)).text()
    origin.answer('/renewed-master.m3u8', (response) => void response.end(master))
    const renewed = JSON.parse(JSON.stringify(remote).replaceAll('/master.m3u8', '/renewed-master.m3u8')) as JsonObject
    const update = home.activity(alice.account, 'Update', { ...renewed, updated: later(1000) })
    await local.deliver(alice.account, update)
    await heard('Create', address('playlist'))
    expect((await filesHere()).map((name) => basename(name))).toEqual(
      expect.arrayContaining(['renewed-master.m3u8', '240.m3u8', '240-fragmented.mp4']),
    )
    expect((await filesHere()).map((name) => basename(name))).not.toContain('master.m3u8')
    await removeAll()
  })

  it('is refused for local videos, lives, and videos without files', async () => {
    const send = (videoId: unknown) => local.client.send('POST', '/api/v1/server/redundancy/videos', { videoId })
    await expect(send(video.id)).rejects.toThrow(/400/)
    await expect(send(4_242_424)).rejects.toThrow(/404/)
    const live = home.video({
      ...alice,
      more: { url: origin.links, isLiveBroadcast: true, liveSaveReplay: false, permanentLive: false, latencyMode: 1 },
    })
    await local.deliver(alice.account, home.activity(alice.account, 'Create', live))
    const [row] = await local.query<{ id: number }>('select id from video where url = $1', [live.id])
    await expect(send(row?.id)).rejects.toThrow(/400/)
  })

  it('of a server that cannot read CacheFiles is not announced again', async () => {
    home.answerPosts(() => 400)
    await mirror()
    await until(
      async () => {
        const [host] = await local.query<{ types: string[] }>('select unsupported_types as types from remote_host where host = $1', [
          home.host,
        ])
        return host?.types.includes('Create:CacheFile')
      },
      { what: 'what the host does not take' },
    )
    await until(async () => (await local.query("select 1 from redundancy where state = 'announced'")).length === 2)
    await removeAll()
    await until(async () => (await local.query("select 1 from delivery where state = 'waiting'")).length === 0, {
      what: 'the end of deliveries',
    })
    await local.query("update remote_host set unsupported_types = '{}'")
  })
})
