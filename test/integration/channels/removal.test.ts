// Removal of a channel with its videos and followers: at once over REST, in the tables and the store by a job that survives crashes, and
// on other servers by Deletes. Its playlists remain, private.

import { readdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type FederatedNode, introduce, secondChannel, startFederatedNode } from '../../federation/support.ts'
import { type FakePeer, type PeerActor, startFakePeer } from '../../support/fake-peer.ts'
import { media } from '../../support/media.ts'
import { until } from '../../support/until.ts'
import { formWith, plain } from '../me/users.ts'

let local: FederatedNode
let peer: FakePeer
let nora: { account: PeerActor; channel: PeerActor }
let channel: { id: number; url: string }
let video: { id: number; uuid: string; url: string }
let kept: { id: number; uuid: string; url: string }
let playlist: { id: number; url: string }

const REST = '/api/v1/video-channels/second_channel'
const asPeer = (url: string) => fetch(url, { headers: { accept: 'application/activity+json' } })
const filesWith = async (name: string) => (await readdir(local.node.dataDir, { recursive: true })).filter((path) => path.includes(name))
const status = async (path: string, init: RequestInit = {}) => (await local.client.raw(path, init)).status

beforeAll(async () => {
  ;[local, peer] = await Promise.all([startFederatedNode(), startFakePeer()])
  const bytes = await readFile(await media('small.mp4'))
  nora = await introduce(local, peer, 'nora')
  channel = await secondChannel(local)
  await local.deliver(nora.account, peer.activity(nora.account, 'Follow', channel.url))
  video = await local.upload(bytes, { channelId: String(channel.id) })
  kept = await local.upload(bytes)
  const fields = { displayName: 'A playlist', privacy: 1, videoChannelId: channel.id }
  const made = await local.client.send<{ videoPlaylist: { id: number } }>('POST', '/api/v1/video-playlists', fields)
  playlist = await local.client.get(`/api/v1/video-playlists/${made.videoPlaylist.id}`)
  const picture = formWith('avatarfile', await plain(64, 64).png().toBuffer(), 'a.png')
  await local.client.send('POST', `${REST}/avatar/pick`, picture)
  await local.client.send('POST', '/api/v1/users/me/subscriptions', { uri: `second_channel@${local.host}` })
  await peer.awaited('the playlist', ({ activity }) => activity.type === 'Create' && JSON.stringify(activity).includes(playlist.url))
  peer.received.length = 0
})
afterAll(async () => {
  await Promise.all([peer?.close(), local?.stop()])
})

it('a new name is sent to followers', async () => {
  await local.client.send('PUT', REST, { displayName: 'Soon gone' })
  const named = ({ activity }: { activity: { type?: unknown; object?: unknown } }) =>
    activity.type === 'Update' && JSON.stringify(activity.object).includes('Soon gone')
  const { activity } = await peer.awaited('the change', named)
  expect(activity).toMatchObject({ actor: channel.url, object: { id: channel.url, type: 'Group', name: 'Soon gone' } })
})

it('a removed channel is gone at once for everybody, and keeps its name', async () => {
  expect((await asPeer(channel.url)).status).toBe(200)
  expect(await status(REST, { method: 'DELETE' })).toBe(204)

  expect(await status(REST)).toBe(404)
  expect(await status(REST, { method: 'DELETE' })).toBe(404)
  expect(await status(`${REST}/videos`)).toBe(404)
  const me = await local.client.get<{ videoChannels: { name: string }[] }>('/api/v1/users/me')
  expect(me.videoChannels.map(({ name }) => name)).toEqual(['root_channel'])
  expect(await local.client.get('/api/v1/users/me/subscriptions')).toEqual({ total: 0, data: [] })
  expect(await local.client.get('/api/v1/video-channels?search=Soon gone')).toEqual({ total: 0, data: [] })
  for (const url of [channel.url, `${channel.url}/followers`]) {
    await until(async () => (await asPeer(url)).status === 410, { what: `the end of ${url}` })
  }
  const again = await local.client.raw('/api/v1/video-channels', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'second_channel', displayName: 'Again' }),
  })
  expect(again.status).toBe(409)
  expect(await status('/api/v1/video-channels/root_channel', { method: 'DELETE' })).toBe(409)
})

it('it accepts no video and no playlist any more', async () => {
  const change = (path: string, body: object) =>
    status(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  expect(await change(`/api/v1/videos/${kept.id}`, { channelId: channel.id })).toBe(400)
  await expect(local.upload(await readFile(await media('small.mp4')), { channelId: String(channel.id) })).rejects.toThrow('400')
})

it('it leaves only a tombstone, and playlists without a channel, also after a crash', async () => {
  await local.node.restart()
  await until(async () => (await local.query('select id from channel where id = $1', [channel.id])).length === 0, {
    what: 'the end of the channel',
  })
  expect(await local.query('select id from video order by id')).toEqual([{ id: kept.id }])
  expect(await filesWith(video.uuid)).toEqual([])
  expect(await local.query('select privacy, channel_id from playlist where id = $1', [playlist.id])).toEqual([
    { privacy: 3, channel_id: null },
  ])
  expect(await local.query('select deleted_at is not null as gone from actor where url = $1', [channel.url])).toEqual([{ gone: true }])
  expect(await local.query('select 1 from actor_image i join actor a on a.id = i.actor_id where a.url = $1', [channel.url])).toEqual([])
  await until(
    async () =>
      (await local.query('select 1 from follow f join actor a on a.id = f.target_id where a.url = $1', [channel.url])).length === 0,
    { what: 'the end of the follows' },
  )
  expect(await local.query("select following_count from actor where preferred_username = 'root'")).toEqual([{ following_count: 0 }])
})

it('its own Delete is sent to its followers last', async () => {
  const deletes = () => peer.of('Delete').map(({ activity }) => String(activity.object))
  await until(() => deletes().includes(channel.url), { what: 'the Delete' })
  expect(deletes().toSorted()).toEqual([channel.url, playlist.url, video.url].toSorted())
  expect(deletes().at(-1)).toBe(channel.url)
  const last = peer.of('Delete').find(({ activity }) => activity.object === channel.url)
  expect(last?.activity).toMatchObject({ id: `${channel.url}/delete`, actor: channel.url })
  expect(String(last?.headers.signature)).toContain(channel.url)
})

it('it cannot sign any more after all deliveries', async () => {
  await until(async () => (await local.query("select 1 from delivery where state = 'waiting'")).length === 0)
  await local.node.restart()
  await until(
    async () => (await local.query('select 1 from actor where url = $1 and private_key_sealed is not null', [channel.url])).length === 0,
    { what: 'the end of the key' },
  )
})
