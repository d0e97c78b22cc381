// Removal of a user: at once over REST, in the tables and the store by a job that survives crashes, and on other servers by Deletes.

import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { type FederatedNode, introduce, startFederatedNode } from '../../federation/support.ts'
import { type FakePeer, type PeerActor, startFakePeer } from '../../support/fake-peer.ts'
import { media } from '../../support/media.ts'
import { storedNames } from '../../support/node.ts'
import { until } from '../../support/until.ts'
import { formWith, plain } from '../me/users.ts'

let local: FederatedNode
let peer: FakePeer
let nora: { account: PeerActor; channel: PeerActor }
let ada: Client
let adaId: number
let adasVideo: { id: number; uuid: string; url: string }
let rootsVideo: { id: number; url: string }
let playlist: { url: string; thumbnailPath: string }
let comment: { id: number; url: string }
let reply: { id: number }

const account = () => `${local.base}/accounts/ada`
const channel = () => `${local.base}/video-channels/ada_channel`
const asPeer = (url: string) => fetch(url, { headers: { accept: 'application/activity+json' } })
const newAda = { username: 'ada', password: 'password of ada', email: 'ada@example.org', role: 2 }
const objectOf = (activity: { object?: unknown }) => String(activity.object)
const filesWith = async (name: string) =>
  (await Promise.all((['web_videos', 'avatars', 'thumbnails', 'previews'] as const).map((kind) => storedNames(local.node, kind))))
    .flat()
    .filter((one) => one.includes(name))

async function uploadAsAda(bytes: Buffer) {
  const me = await ada.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const form = new FormData()
  const fields = { channelId: String(me.videoChannels[0]?.id), name: 'A video of Ada', privacy: '1' }
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('videofile', new File([new Uint8Array(bytes)], 'small.mp4', { type: 'video/mp4' }))
  const { video } = await ada.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/upload', form)
  return { ...video, url: `${local.base}/videos/watch/${video.uuid}` }
}

/** With its own thumbnail, and a video in it. */
async function makePlaylist(videoId: number) {
  const me = await ada.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const form = formWith('thumbnailfile', await plain(64, 64).png().toBuffer(), 'picture.png')
  const fields = { displayName: 'A playlist of Ada', privacy: '1', videoChannelId: String(me.videoChannels[0]?.id) }
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  const { videoPlaylist } = await ada.send<{ videoPlaylist: { id: number } }>('POST', '/api/v1/video-playlists', form)
  await ada.send('POST', `/api/v1/video-playlists/${videoPlaylist.id}/videos`, { videoId })
  return await ada.get<{ url: string; thumbnailPath: string }>(`/api/v1/video-playlists/${videoPlaylist.id}`)
}

async function openUpload(): Promise<void> {
  const me = await ada.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const answer = await ada.raw('/api/v1/videos/upload-resumable', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-upload-content-length': '1000',
      'x-upload-content-type': 'video/mp4',
    },
    body: JSON.stringify({ channelId: me.videoChannels[0]?.id, filename: 'half.mp4', name: 'Half a video' }),
  })
  expect(answer.status).toBe(201)
}

async function write(by: Client, path: string, text: string) {
  return (await by.send<{ comment: { id: number; url: string } }>('POST', path, { text })).comment
}

beforeAll(async () => {
  ;[local, peer] = await Promise.all([startFederatedNode(), startFakePeer()])
  const bytes = await readFile(await media('small.mp4'))
  const made = await local.client.send<{ user: { id: number } }>('POST', '/api/v1/users', newAda)
  adaId = made.user.id
  ada = await login(local.base, newAda.username, newAda.password)
  nora = await introduce(local, peer, 'nora')
  for (const target of [local.instance, account(), channel()]) {
    await local.deliver(nora.account, peer.activity(nora.account, 'Follow', target))
  }
  adasVideo = await uploadAsAda(bytes)
  rootsVideo = await local.upload(bytes)
  const threads = `/api/v1/videos/${rootsVideo.id}/comment-threads`
  comment = await write(ada, threads, 'A thought of Ada')
  reply = await write(local.client, `/api/v1/videos/${rootsVideo.id}/comments/${comment.id}`, 'An answer')
  await ada.send('PUT', `/api/v1/videos/${rootsVideo.id}/rate`, { rating: 'like' })
  playlist = await makePlaylist(rootsVideo.id)
  await openUpload()
  await local.query(
    `insert into follow (follower_id, target_id, state, url)
     select a.id, b.id, 'accepted', a.url || '/follows/1' from actor a, actor b where a.url = $1 and b.url = $2`,
    [account(), nora.channel.url],
  )
  await peer.awaited('the comment', ({ activity }) => JSON.stringify(activity).includes('A thought of Ada'))
  peer.received.length = 0
})
afterAll(async () => {
  await Promise.all([peer?.close(), local?.stop()])
})

it('a user can be removed only by the user and those who manage users', async () => {
  expect((await fetch(`${local.base}/api/v1/users/${adaId}`, { method: 'DELETE' })).status).toBe(401)
  expect((await ada.raw(`/api/v1/users/${adaId}`, { method: 'DELETE' })).status).toBe(403)
  expect((await local.client.raw('/api/v1/users/me', { method: 'DELETE' })).status).toBe(400)
  expect((await asPeer(account())).status).toBe(200)
})

it('a removed user is gone at once for everybody, and keeps the name', async () => {
  const webVideos = await local.query<{ filename: string }>('select filename from video_file where video_id = $1', [adasVideo.id])
  const filename = webVideos[0]?.filename ?? 'none'
  expect(await filesWith(filename)).toHaveLength(1)
  const picture = basename(playlist.thumbnailPath)
  expect(await filesWith(picture)).toHaveLength(1)

  expect((await ada.raw('/api/v1/users/me', { method: 'DELETE' })).status).toBe(204)

  expect((await ada.raw('/api/v1/users/me')).status).toBe(401)
  expect((await local.client.raw(`/api/v1/users/${adaId}`)).status).toBe(404)
  expect((await local.client.raw(`/api/v1/users/${adaId}`, { method: 'DELETE' })).status).toBe(404)
  expect(await local.client.get('/api/v1/users?search=ada')).toEqual({ total: 0, data: [] })
  await expect(login(local.base, newAda.username, newAda.password)).rejects.toThrow('400')
  for (const url of [account(), channel(), `${account()}/outbox`, `${channel()}/followers`]) {
    await until(async () => (await asPeer(url)).status === 410, { what: `the end of ${url}` })
  }
  expect((await asPeer(`${local.base}/accounts/nobody`)).status).toBe(404)
  const again = await local.client.raw('/api/v1/users', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(newAda),
  })
  expect(again.status).toBe(409)

  // The process ends while the job runs; another one continues.
  await local.node.restart()
  await until(async () => (await local.query('select id from users where id = $1', [adaId])).length === 0, {
    what: 'the end of the user',
  })
  expect(await filesWith(filename)).toEqual([])
  await until(async () => (await filesWith(picture)).length === 0, { what: 'the end of the picture' })
})

it('a removed user leaves only tombstones', async () => {
  const left = await local.query(
    `select (select count(*)::int from account a join actor x on x.id = a.actor_id where x.url = $1) as accounts,
       (select count(*)::int from channel c join actor x on x.id = c.actor_id where x.url = $2) as channels,
       (select count(*)::int from video where uuid = $3) as videos,
       (select count(*)::int from playlist where url = $4) + (select count(*)::int from playlist_element) as playlists,
       (select count(*)::int from upload) as uploads, (select count(*)::int from rating) as ratings,
       (select array_agg(url || ' ' || (deleted_at is not null) order by id) from actor where url in ($1, $2)) as actors`,
    [account(), channel(), adasVideo.uuid, playlist.url],
  )
  expect(left).toEqual([
    {
      accounts: 0,
      channels: 0,
      videos: 0,
      playlists: 0,
      uploads: 0,
      ratings: 0,
      actors: [`${account()} true`, `${channel()} true`],
    },
  ])

  const thread = await local.client.get<{ comment: unknown; children: { comment: { id: number; text: string } }[] }>(
    `/api/v1/videos/${rootsVideo.id}/comment-threads/${comment.id}`,
  )
  expect(thread.comment).toMatchObject({ isDeleted: true, text: '', account: null })
  expect(thread.children.map((child) => child.comment)).toMatchObject([{ id: reply.id, text: 'An answer' }])
  expect(await (await asPeer(comment.url)).json()).toMatchObject({ type: 'Tombstone' })
  const counts = () => local.query('select likes, comments from video where id = $1', [rootsVideo.id])
  await until(async () => JSON.stringify(await counts()) === '[{"likes":0,"comments":1}]', { what: 'the counts' })
})

it('a removed user sends a Delete of each actor to those who knew it, last', async () => {
  const deletes = () => peer.of('Delete').map(({ activity }) => objectOf(activity))
  await until(() => deletes().includes(account()) && deletes().includes(channel()), { what: 'the Deletes' })
  expect([...deletes()].sort()).toEqual([account(), channel(), adasVideo.url, playlist.url, comment.url].sort())
  expect(deletes().indexOf(account())).toBeGreaterThan(deletes().indexOf(comment.url))
  expect(deletes().indexOf(account())).toBeGreaterThan(deletes().indexOf(adasVideo.url))
  const ofTheAccount = peer.of('Delete').find(({ activity }) => objectOf(activity) === account())
  expect(ofTheAccount?.activity).toMatchObject({ id: `${account()}/delete`, actor: account() })
  expect(String(ofTheAccount?.headers.signature)).toContain(account())
  expect(peer.of('Undo').map(({ activity }) => activity.object)).toMatchObject([
    { type: 'Follow', actor: account(), object: nora.channel.url },
  ])
  expect(
    await local.query('select 1 from follow f join actor a on a.id in (f.follower_id, f.target_id) where a.url = $1', [account()]),
  ).toEqual([])
})

it('a removed user cannot sign any more after all deliveries', async () => {
  const keys = () => local.query('select 1 from actor where url in ($1, $2) and private_key_sealed is not null', [account(), channel()])
  await until(async () => (await local.query("select 1 from delivery where state = 'waiting'")).length === 0)
  await local.node.restart()
  await until(async () => (await keys()).length === 0, { what: 'the end of the keys' })
})
