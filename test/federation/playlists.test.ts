// Playlists between servers: sent, received, and exchanged by two nodes.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { contextOf } from '../../src/federation/wire/context.ts'
import { newUuid, toShortUuid } from '../../src/platform/ids.ts'
import { type FakePeer, type JsonObject, type PeerActor, signedInside, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { oracleProblems } from '../support/peertube-oracle.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

const PUBLIC = 'https://www.w3.org/ns/activitystreams#Public'

interface PlaylistView {
  id: number
  uuid: string
  url: string
  displayName: string
  videosLength: number
  isLocal: boolean
  thumbnailPath: string | null
  privacy: { id: number }
}
interface ElementView {
  id: number
  position: number
  startTimestamp: number | null
  stopTimestamp: number | null
  type: number
  video: { name: string; uuid: string; url: string } | null
}

async function makePlaylist(node: FederatedNode, fields: Record<string, string> = {}): Promise<PlaylistView> {
  const me = await node.client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const form = new FormData()
  const all = { displayName: 'Good ones', privacy: '1', videoChannelId: String(me.videoChannels[0]?.id), ...fields }
  for (const [name, value] of Object.entries(all)) form.set(name, value)
  const { videoPlaylist } = await node.client.send<{ videoPlaylist: { id: number; uuid: string } }>('POST', '/api/v1/video-playlists', form)
  return await node.client.get(`/api/v1/video-playlists/${videoPlaylist.uuid}`)
}
const put = (node: FederatedNode, playlist: { uuid: string }, fields: object) =>
  node.client.send('PUT', `/api/v1/video-playlists/${playlist.uuid}`, fields)
const add = async (node: FederatedNode, playlist: { uuid: string }, element: object) =>
  (await node.client.send<{ videoPlaylistElement: { id: number } }>('POST', `/api/v1/video-playlists/${playlist.uuid}/videos`, element))
    .videoPlaylistElement.id
const remove = (node: FederatedNode, playlist: { uuid: string }) => node.client.send('DELETE', `/api/v1/video-playlists/${playlist.uuid}`)
const document = async (url: string): Promise<JsonObject & { status: number }> => {
  const response = await fetch(url, { headers: { accept: 'application/activity+json' }, redirect: 'manual' })
  return { ...(response.status === 200 ? ((await response.json()) as JsonObject) : {}), status: response.status }
}
const playlistAt = async (node: FederatedNode, url: string): Promise<PlaylistView | undefined> => {
  const [row] = await node.query<{ uuid: string }>('select uuid from playlist where url = $1', [url])
  if (!row) return undefined
  const response = await node.client.raw(`/api/v1/video-playlists/${row.uuid}`)
  // It may vanish in between.
  return response.ok ? ((await response.json()) as PlaylistView) : undefined
}
const elementsAt = async (node: FederatedNode, url: string): Promise<ElementView[]> => {
  const playlist = await playlistAt(node, url)
  if (!playlist) return []
  const response = await node.client.raw(`/api/v1/video-playlists/${playlist.uuid}/videos`)
  return response.ok ? ((await response.json()) as { data: ElementView[] }).data : []
}
const namesAt = async (node: FederatedNode, url: string) => (await elementsAt(node, url)).map(({ video }) => video?.name ?? null)
/** Waits until no job about playlists is open. */
const read = (node: FederatedNode) =>
  until(
    async () =>
      (await node.query("select 1 from job where type in ('playlist-reading', 'playlists-of-followed') and state in ('waiting', 'active')"))
        .length === 0,
    { what: 'the end of all reading' },
  )

let local: FederatedNode
let bytes: Buffer
beforeAll(async () => {
  bytes = await readFile(await media('small.mp4'))
})

describe('a local playlist', () => {
  /** Follows the account. */
  let near: FakePeer
  /** Follows the instance. */
  let far: FakePeer
  let playlist: PlaylistView
  let video: { uuid: string; url: string }
  const both = () => [near, far]
  const root = () => `${local.base}/accounts/root`
  const objectOf = (activity: JsonObject) =>
    typeof activity.object === 'string' ? activity.object : String((activity.object as JsonObject).id)
  const heard = (peer: FakePeer, type: string, url: string) =>
    peer.awaited(`${type} of ${url}`, ({ activity }) => activity.type === type && objectOf(activity) === url)
  const about = (peer: FakePeer, url: string) => peer.received.filter(({ activity }) => objectOf(activity) === url)

  beforeAll(async () => {
    ;[local, near, far] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
    const { account } = await introduce(local, near, 'nora')
    await local.deliver(account, near.activity(account, 'Follow', root()))
    await local.deliver(far.instance, far.activity(far.instance, 'Follow', local.instance))
    for (const peer of both()) await peer.awaited('the answer', () => peer.of('Accept').length === 1)
    video = await local.upload(bytes, { name: 'First' })
    playlist = await makePlaylist(local, { description: 'Well chosen' })
  })
  afterAll(async () => {
    await Promise.all([near?.close(), far?.close(), local?.stop()])
  })
  beforeEach(async () => {
    await local.settled()
  })

  it('is sent by its account to the followers of account, channel and instance', async () => {
    for (const peer of both()) {
      const { activity, path } = await heard(peer, 'Create', playlist.url)
      expect(path).toBe('/inbox')
      expect(activity).toMatchObject({
        id: `${playlist.url}/activity`,
        actor: root(),
        to: [PUBLIC],
        cc: [`${root()}/followers`],
        object: { type: 'Playlist', totalItems: 0, name: 'Good ones', content: 'Well chosen' },
      })
      expect(activity.object).not.toHaveProperty('first')
    }
  })

  it('sends an Update with each element, change and removal', async () => {
    for (const peer of both()) peer.received.length = 0
    const id = await add(local, playlist, { videoId: video.uuid, startTimestamp: 1, stopTimestamp: 2 })
    for (const peer of both()) {
      const { activity } = await heard(peer, 'Update', playlist.url)
      expect(activity.object).toMatchObject({
        totalItems: 1,
        first: `${playlist.url}?page=1`,
        icon: { type: 'Image', mediaType: 'image/jpeg', url: expect.stringContaining('/lazy-static/thumbnails/') },
      })
    }
    for (const change of [
      () => put(local, playlist, { displayName: 'Better ones' }),
      () =>
        local.client.send('PUT', `/api/v1/video-playlists/${playlist.uuid}/videos/${id}`, {
          startTimestamp: 0,
          stopTimestamp: 1,
        }),
    ]) {
      near.received.length = 0
      await change()
      await heard(near, 'Update', playlist.url)
    }
  })

  it('is served with its pages and elements, at each of its URLs', async () => {
    const found = await document(playlist.url)
    expect(found).toMatchObject({
      id: playlist.url,
      type: 'Playlist',
      totalItems: 1,
      '@context': contextOf('playlist'),
    })
    for (const path of [`/w/p/${toShortUuid(playlist.uuid)}`, `/video-playlists/${playlist.id}`]) {
      expect(await document(`${local.base}${path}`)).toEqual(found)
    }
    const page = await document(`${playlist.url}?page=1`)
    const [element = ''] = page.orderedItems as string[]
    expect(page).toMatchObject({ id: `${playlist.url}?page=1`, partOf: playlist.url, orderedItems: [element] })
    for (const one of [found, page, await document(element)]) {
      expect(oracleProblems(JSON.parse(JSON.stringify(one).replaceAll(local.base, 'https://ours.example')))).toEqual([])
    }
    expect(await document(element)).toMatchObject({
      id: element,
      type: 'PlaylistElement',
      url: video.url,
      position: 1,
      startTimestamp: 0,
      stopTimestamp: 1,
    })
    for (const actor of [root(), `${local.base}/video-channels/root_channel`]) {
      expect(await document(`${actor}/playlists?page=1`)).toMatchObject({ totalItems: 1, orderedItems: [playlist.url] })
    }
  })

  it('leaves out videos that others may not see', async () => {
    const hidden = await local.upload(bytes, { name: 'Hidden', privacy: '3' })
    const id = await add(local, playlist, { videoId: hidden.uuid })
    const page = await document(`${playlist.url}?page=1`)
    expect(page).toMatchObject({ totalItems: 1, orderedItems: [expect.any(String)] })
    expect(await document(`${playlist.url}/videos/${id}`)).toEqual({ status: 404 })
    await local.client.send('DELETE', `/api/v1/video-playlists/${playlist.uuid}/videos/${id}`)
  })

  it('sends an Update when a video in it is hidden from others, and shown again', async () => {
    for (const [privacy, totalItems] of [
      [3, 0],
      [1, 1],
    ]) {
      for (const peer of both()) peer.received.length = 0
      await local.client.send('PUT', `/api/v1/videos/${video.uuid}`, { privacy })
      for (const peer of both()) {
        await peer.awaited('the Update', ({ activity: { type, object } }) => {
          const { id, totalItems: sent } = Object(object)
          return type === 'Update' && id === playlist.url && sent === totalItems
        })
      }
      expect(await document(playlist.url)).toMatchObject({ totalItems })
    }
  })

  it('that becomes private is deleted on other servers, and created again when it is public', async () => {
    for (const peer of both()) peer.received.length = 0
    await put(local, playlist, { privacy: 3 })
    for (const peer of both()) {
      const { activity } = await heard(peer, 'Delete', playlist.url)
      expect(activity).toMatchObject({ id: `${playlist.url}/delete`, actor: root(), object: playlist.url })
    }
    for (const url of [playlist.url, `${playlist.url}?page=1`]) expect(await document(url)).toEqual({ status: 401 })
    expect(await document(`${root()}/playlists`)).toMatchObject({ totalItems: 0 })
    await put(local, playlist, { privacy: 1 })
    for (const peer of both()) await heard(peer, 'Create', playlist.url)
  })

  it('that is private is never sent, whatever happens to it', async () => {
    for (const peer of both()) peer.received.length = 0
    const secret = await makePlaylist(local, { displayName: 'Secret', privacy: '3' })
    await put(local, secret, { displayName: 'Still secret' })
    await add(local, secret, { videoId: video.uuid })
    await remove(local, secret)
    const [later] = await local.query<{ uuid: string; id: number }>('select id, uuid from playlist where type = 2')
    await add(local, { uuid: later?.uuid ?? '' }, { videoId: video.uuid })
    expect(await document(`${local.base}/video-playlists/${later?.uuid}`)).toEqual({ status: 401 })
    await put(local, playlist, { displayName: 'The last' })
    for (const peer of both()) {
      await heard(peer, 'Update', playlist.url)
      expect(about(peer, secret.url)).toEqual([])
      expect(JSON.stringify(peer.received)).not.toContain(later?.uuid)
    }
  })

  it('that is unlisted is sent to followers, addressed to nobody, and listed nowhere', async () => {
    const unlisted = await makePlaylist(local, { privacy: '2' })
    const { activity } = await heard(near, 'Create', unlisted.url)
    expect(activity).toMatchObject({ to: [], cc: [], object: { to: [], cc: [] } })
    expect(await document(unlisted.url)).toMatchObject({ status: 200, uuid: unlisted.uuid })
    expect(await document(`${local.base}/video-playlists/${unlisted.id}`)).toEqual({ status: 404 })
    expect(await document(`${root()}/playlists`)).toMatchObject({ totalItems: 1 })
  })

  it('that is removed is deleted on other servers', async () => {
    for (const peer of both()) peer.received.length = 0
    await remove(local, playlist)
    for (const peer of both()) await heard(peer, 'Delete', playlist.url)
    expect(await document(playlist.url)).toEqual({ status: 404 })
  })
})

describe('a remote playlist', () => {
  let home: FakePeer
  let away: FakePeer
  let alice: { account: PeerActor; channel: PeerActor }
  let carol: { account: PeerActor; channel: PeerActor }
  let mallory: { account: PeerActor; channel: PeerActor }

  beforeAll(async () => {
    ;[local, home, away] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
    alice = await introduce(local, home, 'alice')
    carol = await introduce(local, home, 'carol')
    mallory = await introduce(local, away, 'mallory')
  })
  afterAll(async () => {
    await Promise.all([home?.close(), away?.close(), local?.stop()])
  })

  interface Element {
    video: string
    id?: string
    startTimestamp?: number
  }
  /** Served at its id, with its elements and pages of two. */
  function playlistOf(peer: FakePeer, channel: PeerActor, elements: Element[], more: JsonObject = {}) {
    const uuid = String(more.uuid ?? newUuid())
    const url = String(more.id ?? `${peer.base}/video-playlists/${uuid}`)
    const common = {
      '@context': contextOf('playlist'),
      to: [PUBLIC],
      cc: [],
      type: 'Playlist',
      name: 'Of a peer',
      content: null,
      mediaType: 'text/markdown',
      uuid,
      published: '2026-02-01T00:00:00.000Z',
      updated: '2026-02-01T00:00:00.000Z',
      attributedTo: [channel.url],
      totalItems: elements.length,
      ...more,
    }
    const whole: JsonObject & { id: string } = {
      ...common,
      id: url,
      ...(elements.length > 0 ? { first: `${url}?page=1` } : {}),
    }
    const ids = elements.map((element, index) => {
      const id = element.id ?? `${url}/videos/${index + 1}`
      const { video, startTimestamp } = element
      const stamp = startTimestamp === undefined ? {} : { startTimestamp }
      if (id.startsWith(peer.base)) {
        peer.serve(id, {
          '@context': contextOf('playlist'),
          id,
          type: 'PlaylistElement',
          url: video,
          position: index + 1,
          ...stamp,
        })
      }
      return id
    })
    peer.serve(url, (query) => {
      const page = Number(query.get('page') ?? 0)
      if (page === 0) return { body: whole }
      const orderedItems = ids.slice((page - 1) * 2, page * 2)
      const next = page * 2 < ids.length ? { next: `${url}?page=${page + 1}` } : {}
      return { body: { ...common, id: `${url}?page=${page}`, partOf: url, orderedItems, ...next } }
    })
    return whole
  }
  const create = async (by: PeerActor, peer: FakePeer, playlist: JsonObject) => {
    await local.deliver(by, peer.activity(by, 'Create', playlist))
    await read(local)
  }
  const update = async (by: PeerActor, peer: FakePeer, playlist: JsonObject) => {
    await local.deliver(by, peer.activity(by, 'Update', playlist))
    await read(local)
  }
  const videoOf = (name: string) => home.video({ ...alice, more: { name } }).id

  it('is imported with its elements: videos of any server, in their order', async () => {
    const own = await local.upload(bytes, { name: 'Of ours' })
    const elsewhere = away.video({ ...mallory, more: { name: 'Of a third server' } }).id
    const playlist = playlistOf(home, alice.channel, [
      { video: videoOf('Of theirs'), startTimestamp: 3 },
      { video: own.url },
      { video: elsewhere },
    ])
    await create(alice.account, home, playlist)
    expect(await playlistAt(local, playlist.id)).toMatchObject({
      displayName: 'Of a peer',
      isLocal: false,
      videosLength: 3,
      privacy: { id: 1 },
      url: playlist.id,
      ownerAccount: { name: 'alice', host: home.host },
      videoChannel: { name: 'alice_channel', host: home.host },
    })
    expect(await elementsAt(local, playlist.id)).toMatchObject([
      { position: 1, startTimestamp: 3, type: 0, video: { name: 'Of theirs' } },
      { position: 2, startTimestamp: null, type: 0, video: { name: 'Of ours' } },
      { position: 3, type: 0, video: { name: 'Of a third server' } },
    ])
    for (const path of ['accounts/alice', 'video-channels/alice_channel']) {
      const list = await local.client.get(`/api/v1/${path}@${home.host}/video-playlists`)
      expect(list).toMatchObject({ total: 1, data: [{ url: playlist.id }] })
    }
  })

  it('is changed by its Updates, also repeated ones, but not by older ones', async () => {
    const [one, two] = [videoOf('One'), videoOf('Two')]
    const first = playlistOf(home, alice.channel, [{ video: one }, { video: two }])
    await create(alice.account, home, first)
    const later = playlistOf(
      home,
      alice.channel,
      [
        { video: two, id: `${first.id}/videos/2` },
        { video: one, id: `${first.id}/videos/1` },
      ],
      {
        uuid: first.uuid,
        name: 'Renamed',
        updated: '2026-03-01T00:00:00.000Z',
      },
    )
    for (let time = 1; time <= 2; time += 1) {
      await update(alice.account, home, later)
      expect(await playlistAt(local, first.id)).toMatchObject({ displayName: 'Renamed', videosLength: 2 })
      expect(await namesAt(local, first.id)).toEqual(['Two', 'One'])
    }
    await update(alice.account, home, first)
    expect(await playlistAt(local, first.id)).toMatchObject({ displayName: 'Renamed' })
    const empty = playlistOf(home, alice.channel, [], { uuid: first.uuid, updated: '2026-03-02T00:00:00.000Z' })
    await update(alice.account, home, empty)
    expect(await playlistAt(local, first.id)).toMatchObject({ videosLength: 0 })
  })

  it('is removed by its Delete, and can be created again', async () => {
    const playlist = playlistOf(home, alice.channel, [{ video: videoOf('Short-lived') }])
    const say = async (type: string, object: unknown) =>
      local.deliver(alice.account, await signedInside(home.activity(alice.account, type, object), alice.account))
    for (let time = 1; time <= 2; time += 1) {
      // The reference signs its activities: after a Delete, only what was signed later counts.
      await say('Create', playlist)
      await read(local)
      expect(await namesAt(local, playlist.id)).toEqual(['Short-lived'])
      await say('Delete', playlist.id)
      expect(await playlistAt(local, playlist.id)).toBeUndefined()
    }
  })

  it('ignores elements of another server or playlist, and videos that are not accessible', async () => {
    const hidden = await local.upload(bytes, { name: 'Hidden', privacy: '3' })
    const other = playlistOf(home, carol.channel, [{ video: videoOf('Of carol') }])
    await create(carol.account, home, other)
    const foreign = `${away.base}/video-playlists/${newUuid()}/videos/1`
    away.serve(foreign, { id: foreign, type: 'PlaylistElement', url: videoOf('Foreign'), position: 1 })
    const playlist = playlistOf(home, alice.channel, [
      { video: videoOf('Fine') },
      { video: '', id: foreign },
      { video: hidden.url },
      { video: videoOf('Of carol again'), id: `${other.id}/videos/1` },
      { video: `${home.base}/videos/watch/${newUuid()}` },
    ])
    await create(alice.account, home, playlist)
    expect(await namesAt(local, playlist.id)).toEqual(['Fine'])
    expect(await namesAt(local, other.id)).toHaveLength(1)
  })

  it('cannot be changed or removed by others', async () => {
    const playlist = playlistOf(home, alice.channel, [])
    await create(alice.account, home, playlist)
    const before = await playlistAt(local, playlist.id)
    for (const by of [carol.account, carol.channel, alice.channel, mallory.account, away.instance]) {
      const peer = by.url.startsWith(home.base) ? home : away
      const renamed = { ...playlist, name: 'Taken over', updated: '2026-04-01T00:00:00.000Z' }
      for (const type of ['Create', 'Update']) await local.deliver(by, peer.activity(by, type, renamed))
      await local.deliver(by, peer.activity(by, 'Update', { ...renamed, attributedTo: [carol.channel.url] }))
      await local.deliver(by, peer.activity(by, 'Delete', playlist.id))
      expect({ by: by.url, is: await playlistAt(local, playlist.id) }).toEqual({ by: by.url, is: before })
    }
  })

  it('is refused in a channel of another actor and without a channel, and gets a new UUID if its UUID is taken', async () => {
    const known = playlistOf(home, alice.channel, [])
    await create(alice.account, home, known)
    const refused: [PeerActor, FakePeer, JsonObject & { id: string }][] = [
      [alice.account, home, playlistOf(home, carol.channel, [])],
      [mallory.account, away, playlistOf(away, alice.channel, [])],
      [alice.account, home, playlistOf(home, alice.channel, [], { attributedTo: [] })],
      [alice.account, home, playlistOf(home, alice.channel, [], { attributedTo: [alice.account.url] })],
      [alice.account, home, playlistOf(home, alice.channel, [], { id: `${local.base}/video-playlists/${newUuid()}` })],
    ]
    for (const [by, peer, playlist] of refused) {
      await local.deliver(by, peer.activity(by, 'Create', playlist))
      expect(await playlistAt(local, playlist.id)).toBeUndefined()
    }
    const twin = playlistOf(away, mallory.channel, [], { uuid: known.uuid })
    await create(mallory.account, away, twin)
    expect(await playlistAt(local, twin.id)).toMatchObject({ uuid: expect.not.stringContaining(String(known.uuid)) })
    expect(await playlistAt(local, known.id)).toMatchObject({ uuid: known.uuid })
  })

  it('that is old is refreshed when it is viewed, and removed when it is gone', async () => {
    const first = playlistOf(home, alice.channel, [])
    await create(alice.account, home, first)
    const stale = () => local.query("update playlist set refreshed_at = now() - interval '3 days' where url = $1", [first.id])
    playlistOf(home, alice.channel, [{ video: videoOf('New') }], {
      uuid: first.uuid,
      name: 'Changed silently',
      updated: '2026-03-01T00:00:00.000Z',
    })
    await stale()
    await playlistAt(local, first.id)
    await until(async () => (await namesAt(local, first.id))[0] === 'New', { what: 'the new element' })
    expect(await playlistAt(local, first.id)).toMatchObject({ displayName: 'Changed silently' })
    for (const status of [401, 404, 410]) {
      const playlist = playlistOf(home, alice.channel, [])
      await create(alice.account, home, playlist)
      home.serve(playlist.id, () => ({ status }))
      await local.query("update playlist set refreshed_at = now() - interval '3 days' where url = $1", [playlist.id])
      await until(async () => (await playlistAt(local, playlist.id)) === undefined, { what: `its end by ${status}` })
    }
  })

  it('on a server that is down is fetched once an hour, however often it is viewed', async () => {
    const playlist = playlistOf(home, alice.channel, [])
    await create(alice.account, home, playlist)
    home.serve(playlist.id, () => ({ status: 503 }))
    await local.query("update playlist set refreshed_at = now() - interval '3 days' where url = $1", [playlist.id])
    const open = "type = 'playlist-reading' and state in ('waiting', 'delayed', 'active')"
    const jobs = async () => (await local.query(`select id from job where ${open}`)).length
    /** The state after its last attempt. */
    const giveUp = () => local.query(`delete from job where ${open}`)
    await playlistAt(local, playlist.id)
    expect(await jobs()).toBe(1)
    await giveUp()
    await playlistAt(local, playlist.id)
    expect(await jobs()).toBe(0)
    await local.query("update playlist set refresh_asked_at = now() - interval '2 hours' where url = $1", [playlist.id])
    await playlistAt(local, playlist.id)
    expect(await jobs()).toBe(1)
    await giveUp()
  })

  it('is removed with its account', async () => {
    const gone = await introduce(local, home, 'gone')
    const playlist = playlistOf(home, gone.channel, [{ video: videoOf('Stays') }])
    await create(gone.account, home, playlist)
    await local.deliver(gone.account, home.activity(gone.account, 'Delete', gone.account.url))
    expect(await playlistAt(local, playlist.id)).toBeUndefined()
  })

  it('cannot be changed locally', async () => {
    const playlist = playlistOf(home, alice.channel, [])
    await create(alice.account, home, playlist)
    const found = await playlistAt(local, playlist.id)
    await expect(put(local, { uuid: found?.uuid ?? '' }, { displayName: 'Ours' })).rejects.toThrow('403')
    await expect(remove(local, { uuid: found?.uuid ?? '' })).rejects.toThrow('403')
  })
})

describe('two nodes', () => {
  let remote: FederatedNode
  beforeAll(async () => {
    ;[local, remote] = await Promise.all([startFederatedNode(), startFederatedNode()])
  })
  afterAll(async () => {
    await Promise.all([remote?.stop(), local?.stop()])
  })

  it.each([
    ['A', 'B', () => [local, remote] as const],
    ['B', 'A', () => [remote, local] as const],
  ])('%s has the playlists of %s after a follow: old and new ones, their changes and their removal', async (_by, _of, pair) => {
    const [by, of] = pair()
    const [one, two] = [await of.upload(bytes, { name: 'One' }), await of.upload(bytes, { name: 'Two' })]
    const old = await makePlaylist(of, { displayName: 'From before' })
    await add(of, old, { videoId: one.uuid, startTimestamp: 1 })
    await by.client.send('POST', '/api/v1/server/following', { handles: [`root@${of.host}`] })
    await until(async () => (await namesAt(by, old.url))[0] === 'One', { what: 'the old playlist' })

    const fresh = await makePlaylist(of, { displayName: 'From now on' })
    await until(() => playlistAt(by, fresh.url), { what: 'the new playlist' })
    await add(of, fresh, { videoId: two.uuid })
    await add(of, fresh, { videoId: one.uuid, startTimestamp: 0, stopTimestamp: 1 })
    await until(async () => (await namesAt(by, fresh.url)).join() === 'Two,One', { what: 'its elements' })
    expect((await elementsAt(by, fresh.url))[1]).toMatchObject({ startTimestamp: 0, stopTimestamp: 1 })
    expect((await playlistAt(by, fresh.url))?.thumbnailPath).not.toBeNull()

    await of.client.send('POST', `/api/v1/video-playlists/${fresh.uuid}/videos/reorder`, {
      startPosition: 2,
      insertAfterPosition: 0,
    })
    await put(of, fresh, { displayName: 'Renamed' })
    await until(async () => (await namesAt(by, fresh.url)).join() === 'One,Two', { what: 'the new order' })
    await until(async () => (await playlistAt(by, fresh.url))?.displayName === 'Renamed', { what: 'the new name' })

    await put(of, fresh, { privacy: 3 })
    await until(async () => (await playlistAt(by, fresh.url)) === undefined, { what: 'its hiding' })
    await put(of, fresh, { privacy: 1 })
    await until(async () => (await namesAt(by, fresh.url)).length === 2, { what: 'its return' })
    await remove(of, fresh)
    await until(async () => (await playlistAt(by, fresh.url)) === undefined, { what: 'its end' })
  })
})
