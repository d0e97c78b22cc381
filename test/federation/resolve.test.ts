// URLs and handles that users paste into the search, and subscriptions to remote channels.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { login } from '../../scripts/demo/client.ts'
import { contextOf } from '../../src/federation/wire/context.ts'
import { newUuid, toShortUuid } from '../../src/platform/ids.ts'
import { importArchive } from '../support/archive.ts'
import { type Browser, makeBrowser } from '../support/browser.ts'
import { slowness } from '../support/cpu-time.ts'
import { type FakePeer, type JsonObject, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { until } from '../support/until.ts'
import { makeZip } from '../support/zip.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

interface Found {
  total: number
  data: { name: string; url: string; host: string }[]
}

let local: FederatedNode
let peer: FakePeer
let account: PeerActor
let channel: PeerActor
let video: JsonObject & { id: string }
let uuid: string

beforeAll(async () => {
  ;[local, peer] = await Promise.all([
    startFederatedNode({ vireo: { federation: { fetch: { timeout: '4 seconds', search_timeout: '15 seconds' } } } }),
    startFakePeer(),
  ])
})
afterAll(async () => {
  await Promise.all([peer?.close(), local?.stop()])
})

type What = 'videos' | 'video-channels' | 'video-playlists'
const search = (what: What, text: string) => local.client.get<Found>(`/api/v1/search/${what}?search=${encodeURIComponent(text)}`)
const anonymous = async (what: What, text: string): Promise<Found> =>
  (await fetch(`${local.base}/api/v1/search/${what}?search=${encodeURIComponent(text)}`)).json() as Promise<Found>

let made = 0
beforeEach(async () => {
  made += 1
  account = await peer.account(`painter_${made}`)
  channel = await peer.channel(`gallery_${made}`, account)
  video = peer.video({ account, channel, more: { name: `Sunflowers ${made}` } })
  uuid = String(video.uuid)
})

describe('a search by a user', () => {
  it.each<[string, () => string]>([
    ['its id', () => video.id],
    ['the short page', () => `${peer.base}/w/${toShortUuid(uuid)}`],
    ['the page with its whole UUID', () => `${peer.base}/w/${uuid}?start=10s`],
    ['an embed', () => `${peer.base}/videos/embed/${uuid}`],
  ])('finds a video by %s', async (_what, address) => {
    expect(await search('videos', address())).toMatchObject({
      total: 1,
      data: [{ name: `Sunflowers ${made}`, url: video.id }],
    })
    // From now on all visitors find it locally.
    expect(await anonymous('videos', address())).toMatchObject({ total: 1 })
    expect(await search('videos', `Sunflowers ${made}`)).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ url: video.id })]),
    })
  })

  it.each<[string, () => string]>([
    ['its id', () => channel.url],
    ['a handle', () => `gallery_${made}@${peer.host}`],
    ['a handle with @', () => `@gallery_${made}@${peer.host}`],
    ['the short page', () => `${peer.base}/c/gallery_${made}/videos`],
  ])('finds a channel by %s', async (_what, text) => {
    expect(await search('video-channels', text())).toMatchObject({
      total: 1,
      data: [{ url: channel.url, host: peer.host }],
    })
    expect(await anonymous('video-channels', text())).toMatchObject({ total: 1 })
  })

  it.each<[string, () => string]>([
    ['a page that is not there', () => `${peer.base}/w/${toShortUuid('11111111-1111-4111-8111-111111111111')}`],
    ['a server that is not there', () => `http://127.0.0.1:1/w/${uuid}`],
    ['a note', () => peer.note({ author: account.url, inReplyTo: video.id }).id],
    ['an actor', () => channel.url],
    ['a file', () => 'file:///etc/passwd'],
    ['credentials in an address', () => `http://a:b@${peer.host}/w/${uuid}`],
    ['a video of our own that is not there', () => `${local.base}/w/${uuid}`],
    ['an address of 5,000 characters', () => `${peer.base}/${'x'.repeat(900)}`],
  ])('finds nothing by the URL of %s', async (_what, address) => {
    expect(await search('videos', address())).toEqual({ total: 0, data: [] })
  })

  it.each<[string, () => string]>([
    ['an unknown handle', () => `nobody@${peer.host}`],
    ['the handle of an account', () => `painter_${made}@${peer.host}`],
    ['the page of an account', () => `${peer.base}/a/painter_${made}`],
    ['a handle of a server that is not there', () => 'gallery@127.0.0.1:1'],
    ['a handle of nobody here', () => `nobody@${local.host}`],
  ])('finds no channel by %s', async (_what, text) => {
    expect(await search('video-channels', text())).toEqual({ total: 0, data: [] })
  })

  it('finds a remote playlist by its URLs, with its elements', async () => {
    const playlist = served()
    for (const address of [playlist.id, `${peer.base}/w/p/${toShortUuid(String(playlist.uuid))}`]) {
      expect(await search('video-playlists', address)).toMatchObject({ total: 1, data: [{ url: playlist.id }] })
    }
    expect(await anonymous('video-playlists', playlist.id)).toMatchObject({ total: 1 })
    const named = () => anonymous('video-playlists', `Flowers ${made}`)
    await until(async () => (await named()).total === 1, { what: 'the element of the playlist' })
    expect(await named()).toMatchObject({ data: [{ displayName: `Flowers ${made}`, videosLength: 1, isLocal: false }] })
    const ofHost = (host: string) => local.client.get<Found>(`/api/v1/search/video-playlists?host=${host}`)
    expect((await ofHost(peer.host)).data.map(({ url }) => url)).toContain(playlist.id)
    expect((await ofHost(local.host)).data.map(({ url }) => url)).not.toContain(playlist.id)
    const [byUuid] = (await local.client.get<Found>(`/api/v1/search/video-playlists?uuids=${playlist.uuid}`)).data
    expect(byUuid).toMatchObject({ url: playlist.id })
  })

  it.each<[string, () => string]>([
    ['a video', () => video.id],
    ['an actor', () => channel.url],
    ['a playlist that is not there', () => `${peer.base}/w/p/${toShortUuid(uuid)}`],
    ['a playlist of our own that is not there', () => `${local.base}/w/p/${uuid}`],
  ])('finds no playlist by the URL of %s', async (_what, address) => {
    expect(await search('video-playlists', address())).toEqual({ total: 0, data: [] })
  })

  it('finds a local playlist by its URL, unless it is private', async () => {
    const of = async (privacy: number) => {
      const { videoChannels } = await local.client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
      const { videoPlaylist } = await local.client.send<{ videoPlaylist: { shortUUID: string } }>(
        ...(['POST', '/api/v1/video-playlists'] as const),
        { displayName: `Own ${privacy}`, privacy, videoChannelId: videoChannels[0]?.id },
      )
      return await anonymous('video-playlists', `${local.base}/w/p/${videoPlaylist.shortUUID}`)
    }
    expect(await of(1)).toMatchObject({ total: 1, data: [{ displayName: 'Own 1' }] })
    expect(await of(2)).toMatchObject({ total: 1 })
    expect(await of(3)).toEqual({ total: 0, data: [] })
    // Empty playlists are found by their URL alone.
    expect(await anonymous('video-playlists', 'Own 1')).toEqual({ total: 0, data: [] })
  })

  it('does not wait for a silent server', async () => {
    const { createServer } = await import('node:http')
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const bound = silent.address()
    const begun = Date.now()
    const port = typeof bound === 'object' ? bound?.port : 0
    expect(await search('video-channels', `gallery@127.0.0.1:${port}`)).toEqual({ total: 0, data: [] })
    expect(Date.now() - begun).toBeLessThan(17_000 * slowness())
    silent.closeAllConnections()
    await new Promise((resolve) => silent.close(resolve))
  })
})

describe('a URL pasted on a page', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = makeBrowser(local.base)
    // The job that fetches a playlist with its elements sends requests too.
    await local.client.send('POST', '/api/v1/jobs/pause')
    expect((await browser.login(local.node.username, local.node.password)).path).toBe('/admin/setup')
  })
  afterAll(() => local.client.send('POST', '/api/v1/jobs/resume'))

  const timesAsked = (address: string) => {
    const { pathname } = new URL(address, peer.base)
    return peer.fetched.filter((path) => new URL(path, peer.base).pathname === pathname).length
  }
  /** A document at a URL that does not show its type. */
  const elsewhere = (document: JsonObject): string => {
    const id = peer.id('things')
    peer.serve(id, { ...document, id })
    return id
  }

  it.each<[string, RegExp, () => string]>([
    ['a video', /^\/w\/\w+$/, () => video.id],
    ['a video at a strange address', /^\/w\/\w+$/, () => elsewhere({ ...video, uuid: newUuid() })],
    ['a playlist', /^\/w\/p\/\w+$/, () => served().id],
    ['a playlist at a strange address', /^\/w\/p\/\w+$/, () => elsewhere({ ...served(), uuid: newUuid() })],
    ['a channel', /^\/c\/gallery_/, () => channel.url],
    ['an account', /^\/a\/painter_/, () => account.url],
    ['nothing', /^\/search\?/, () => peer.id('things')],
    ['a note', /^\/search\?/, () => peer.note({ author: account.url, inReplyTo: video.id }).id],
  ])('redirects to %s, and is fetched from its server once', async (_what, expected, addressOf) => {
    const address = addressOf()
    const found = await browser.open(`/search?search=${encodeURIComponent(address)}`)
    expect([found.status, found.path]).toEqual([200, expect.stringMatching(expected)])
    expect(timesAsked(address)).toBe(1)
  })

  it('or a handle redirects to its actor, with one WebFinger request', async () => {
    // The owner of a channel would be known with it.
    for (const name of [`painter_${made}`, `gallery_${made}`, 'nobody']) {
      const before = timesAsked('/.well-known/webfinger')
      const { path } = await browser.open(`/search?search=${name}@${peer.host}`)
      expect(path).toMatch(name === 'nobody' ? /^\/search/ : new RegExp(`^/[ac]/${name}@`))
      expect(timesAsked('/.well-known/webfinger') - before).toBe(1)
    }
    expect(timesAsked(channel.url)).toBe(1)
    expect(timesAsked(account.url)).toBe(1)
  })

  it('without a login sends no request', async () => {
    const address = elsewhere({ ...video, uuid: newUuid() })
    const { path } = await makeBrowser(local.base).open(`/search?search=${encodeURIComponent(address)}`)
    expect(path).toMatch(/^\/search/)
    expect(timesAsked(address)).toBe(0)
  })
})

/** A playlist of the peer with its video in it. */
function served(): JsonObject & { id: string } {
  const playlist = newUuid()
  const id = `${peer.base}/video-playlists/${playlist}`
  const element = `${id}/videos/1`
  peer.serve(element, {
    '@context': contextOf('playlist'),
    type: 'PlaylistElement',
    id: element,
    url: video.id,
    position: 1,
  })
  const document = {
    '@context': contextOf('playlist'),
    type: 'Playlist',
    id,
    uuid: playlist,
    name: `Flowers ${made}`,
    content: 'Yellow ones',
    mediaType: 'text/markdown',
    attributedTo: [channel.url],
    icon: null,
    totalItems: 1,
    published: '2026-01-01T00:00:00.000Z',
    updated: '2026-01-01T00:00:00.000Z',
    to: ['https://www.w3.org/ns/activitystreams#Public'],
    cc: [],
    orderedItems: [element],
  }
  peer.serve(id, document)
  return document
}

it('a visitor sends no request', async () => {
  const playlist = served().id
  expect(await anonymous('videos', video.id)).toEqual({ total: 0, data: [] })
  expect(await anonymous('video-channels', `gallery_${made}@${peer.host}`)).toEqual({ total: 0, data: [] })
  expect(await anonymous('video-playlists', playlist)).toEqual({ total: 0, data: [] })
  const requested = [uuid, `gallery_${made}`, new URL(playlist).pathname]
  expect(peer.fetched.filter((path) => requested.some((part) => path.includes(part)))).toEqual([])
})

describe('a subscription to a remote channel', () => {
  const mine = async () => (await local.client.get<Found>('/api/v1/users/me/subscriptions')).data.map(({ url }) => url)
  const root = () => `${local.base}/accounts/root`

  it('sends a Follow of the account, is shown at once, imports the videos, and can be undone', async () => {
    peer.received.length = 0
    const uri = `gallery_${made}@${peer.host}`
    await local.client.send('POST', '/api/v1/users/me/subscriptions', { uri })
    const { path, activity } = await peer.awaited('the Follow', (one) => one.activity.type === 'Follow')
    expect(path).toBe(`/video-channels/gallery_${made}/inbox`)
    expect(activity).toMatchObject({ actor: root(), object: channel.url })
    expect(await mine()).toEqual([channel.url])
    expect(await local.client.get(`/api/v1/users/me/subscriptions/exist?uris=${uri}`)).toEqual({ [uri]: true })

    peer.serve(`${channel.url}/outbox`, {
      type: 'OrderedCollection',
      id: `${channel.url}/outbox`,
      totalItems: 1,
      orderedItems: [peer.activity(channel, 'Announce', video.id)],
    })
    await local.deliver(channel, peer.activity(channel, 'Accept', activity))
    const videos = () => local.client.get<Found>('/api/v1/users/me/subscriptions/videos')
    await until(async () => (await videos()).total === 1, { what: 'the video of the channel' })
    expect(await videos()).toMatchObject({ data: [{ url: video.id }] })

    await local.client.send('DELETE', `/api/v1/users/me/subscriptions/${uri}`)
    const undo = await peer.awaited('the Undo', (one) => one.activity.type === 'Undo')
    expect(undo.activity).toMatchObject({ actor: root(), object: { id: activity.id, object: channel.url } })
    expect(await mine()).toEqual([])
    expect(await videos()).toMatchObject({ total: 0 })
  })

  it('that is rejected does not exist, and can be requested again', async () => {
    const uri = `gallery_${made}@${peer.host}`
    for (const answer of ['Reject', 'Accept']) {
      peer.received.length = 0
      await local.client.send('POST', '/api/v1/users/me/subscriptions', { uri })
      const { activity } = await peer.awaited('the Follow', (one) => one.activity.type === 'Follow')
      await local.deliver(channel, peer.activity(channel, answer, activity))
      expect(await mine()).toEqual(answer === 'Accept' ? [channel.url] : [])
    }
  })

  it('does not exist when it is undone before the channel was found', async () => {
    const [uri, path] = [`gallery_${made}@${peer.host}`, `/video-channels/gallery_${made}`]
    // The job of an unknown channel is waiting or running.
    await local.client.send('POST', '/api/v1/users/me/subscriptions', { uri })
    await local.client.send('DELETE', `/api/v1/users/me/subscriptions/${uri}`)
    const jobs = () =>
      local.query(
        "select 1 from job where type = 'activitypub-follow' and data->>'handle' = $1 and (state <> 'cancelled' or lease_owner is not null)",
        [uri],
      )
    await until(async () => (await jobs()).length === 0)
    expect(await mine()).not.toContain(`${peer.base}${path}`)
    expect(await local.client.get(`/api/v1/users/me/subscriptions/exist?uris=${uri}`)).toEqual({ [uri]: false })
  })

  it('to an account is refused', async () => {
    const before = await local.query('select 1 from follow')
    await local.client.send('POST', '/api/v1/users/me/subscriptions', { uri: `painter_${made}@${peer.host}` })
    await until(async () => (await local.query("select 1 from job where type = 'activitypub-follow' and state = 'failed'"))[0])
    expect(await local.query('select 1 from follow')).toHaveLength(before.length)
  })
})

it('is visible only to its owner', async () => {
  await local.client.send('POST', '/api/v1/users', {
    username: 'other',
    email: 'other@example.com',
    password: 'password1',
    role: 2,
    videoQuota: -1,
    videoQuotaDaily: -1,
  })
  const other = await login(local.base, 'other', 'password1')
  await other.send('POST', '/api/v1/users/me/subscriptions', { uri: `root_channel@${local.host}` })
  expect((await other.get<Found>('/api/v1/users/me/subscriptions')).data).toHaveLength(1)
  const own = await local.client.get<Found>('/api/v1/users/me/subscriptions')
  expect(own.data.filter(({ host }) => host === local.host)).toEqual([])
})

describe('the import of an archive', () => {
  it('fetches the remote objects that it refers to', async () => {
    const me = await local.client.get<{ id: number; account: { name: string } }>('/api/v1/users/me')
    const at = '2026-01-02T03:04:05.678Z'
    const lost = `${peer.base}/videos/watch/11111111-1111-4111-8111-111111111111`
    const parts = {
      likes: { likes: [video.id, lost].map((videoUrl) => ({ videoUrl, createdAt: at })) },
      'video-history': {
        watchedVideos: [{ videoUrl: video.id, lastTimecode: 1, createdAt: at, updatedAt: at }],
      },
      following: {
        following: [{ handle: 'somebody@there.example', targetHandle: `gallery_${made}@${peer.host}`, createdAt: at }],
      },
      blocklist: {
        instances: [],
        actors: [{ handle: `painter_${made}@${peer.host}` }, { handle: `nobody@${peer.host}` }],
      },
    }
    const files = Object.entries(parts).map(([part, data]) => ({
      name: `peertube/${part}.json`,
      data: JSON.stringify(data),
    }))
    files.push({
      name: 'peertube/account.json',
      data: JSON.stringify({
        url: 'http://there.example/a',
        name: 'a',
        displayName: 'Root',
        createdAt: at,
        updatedAt: at,
        archiveFiles: {},
      }),
    })
    const stats = await importArchive(local.client, me.id, makeZip(files))
    expect(stats).toMatchObject({
      likes: { success: 1, duplicates: 0, errors: 1 },
      userVideoHistory: { success: 1, duplicates: 0, errors: 0 },
      following: { success: 1, duplicates: 0, errors: 0 },
      blocklist: { success: 1, duplicates: 0, errors: 0 },
    })
    const blocks = await local.client.get<{ data: { blockedAccount: { name: string; host: string } }[] }>(
      '/api/v1/users/me/blocklist/accounts',
    )
    expect(blocks.data.map(({ blockedAccount: { name, host } }) => `${name}@${host}`)).toContain(`painter_${made}@${peer.host}`)
  })
})
