// Videos blocked by the instance: who still sees what of them, locally and on other servers, and what comes back when the block ends.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Client } from '../../scripts/demo/client.ts'
import { type FakePeer, type JsonObject, type PeerActor, signedInside, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, newcomer, startFederatedNode, uploadBy } from './support.ts'

let node: FederatedNode
/** Follows account, channel and instance. */
let near: FakePeer
let nora: { account: PeerActor; channel: PeerActor }
let bytes: Buffer
let owner: Client
let other: Client
let moderator: Client

beforeAll(async () => {
  // Visitors may see videos of servers that the instance does not follow.
  const config = { search: { remote_uri: { anonymous: true } } }
  ;[node, near] = await Promise.all([startFederatedNode(config), startFakePeer()])
  bytes = await readFile(await media('small.mp4'))
  owner = await newcomer(node, 'owner')
  other = await newcomer(node, 'other')
  moderator = await newcomer(node, 'moderator', { role: 1 })
  nora = await introduce(node, near, 'nora')
  for (const path of ['/accounts/peertube', '/accounts/owner', '/video-channels/owner_channel']) {
    await node.deliver(nora.account, near.activity(nora.account, 'Follow', node.base + path))
  }
  await near.awaited('the answers', () => near.of('Accept').length === 3)
})
afterAll(async () => {
  await Promise.all([near?.close(), node?.stop()])
})
beforeEach(() => {
  near.received.length = 0
})

type Who = 'visitor' | 'other' | 'owner' | 'moderator'

async function statusOf(who: Who, path: string, init: RequestInit = {}): Promise<number> {
  const client = { visitor: undefined, other, owner, moderator }[who]
  const url = new URL(path, node.base).href
  const answer = await (client ? client.raw(url, init) : fetch(url, init))
  await answer.arrayBuffer()
  return answer.status
}
const statusesOf = async (path: string, init: RequestInit = {}) => [
  await statusOf('visitor', path, init),
  await statusOf('other', path, init),
  await statusOf('owner', path, init),
  await statusOf('moderator', path, init),
]
const block = (uuid: string, body: object = {}) => moderator.send('POST', `/api/v1/videos/${uuid}/blacklist`, body)
const unblock = (uuid: string) => moderator.send('DELETE', `/api/v1/videos/${uuid}/blacklist`)
const get = <T>(path: string): Promise<T> => fetch(node.base + path).then(async (answer) => (await answer.json()) as T)
const ap = async (url: string) => {
  const answer = await fetch(url, { headers: { accept: 'application/activity+json' }, redirect: 'manual' })
  await answer.arrayBuffer()
  return answer.status
}
interface List {
  total: number
  data: { uuid: string; blacklisted?: boolean; blacklistedReason?: string | null }[]
}
const holds = ({ data }: List, uuid: string): boolean => data.some((video) => video.uuid === uuid)

/**
 * The activities about a video, once all earlier ones were sent. A video that becomes public waits for its files, so the expected number
 * is awaited.
 */
async function saidOf(uuid: string, atLeast = 0): Promise<JsonObject[]> {
  const isAbout = (one: JsonObject) => JSON.stringify(one).includes(uuid)
  const last = await uploadBy(owner, bytes, { name: 'The last' })
  await near.awaited(
    'the last',
    () => near.received.filter(({ activity }) => JSON.stringify(activity.object).includes(last.uuid)).length === 3,
  )
  await near.awaited('what is said', () => near.received.filter(({ activity }) => isAbout(activity)).length >= atLeast)
  const said = near.received.map(({ activity }) => activity).filter(isAbout)
  near.received.length = 0
  return said
}
const shortly = (said: JsonObject[]) => said.map(({ type, actor }) => `${type} ${actor}`.replace(node.base, '')).toSorted()
const CREATED = ['Announce /accounts/peertube', 'Announce /video-channels/owner_channel', 'Create /accounts/owner']

describe('a blocked video', () => {
  let video: { id: number; uuid: string; url: string }
  let file: string

  beforeAll(async () => {
    video = await uploadBy(owner, bytes)
    const details = await owner.get<{ files: { fileUrl: string }[] }>(`/api/v1/videos/${video.uuid}`)
    file = new URL(details.files[0]?.fileUrl ?? '').pathname
    await owner.send('POST', `/api/v1/videos/${video.uuid}/comment-threads`, { text: 'A comment' })
    // A video that was blocked before its first activity is created afterwards, not updated.
    expect(shortly(await saidOf(video.uuid, CREATED.length))).toEqual(expect.arrayContaining(CREATED))
    await block(video.uuid, { reason: 'a good reason' })
  })

  it.each([
    ['/api/v1/videos/ID', [401, 403, 200, 200]],
    ['/api/v1/videos/ID/description', [401, 403, 200, 200]],
    ['/api/v1/videos/ID/comment-threads', [401, 403, 200, 200]],
    ['/api/v1/videos/ID/captions', [401, 403, 200, 200]],
    ['/api/v1/videos/ID/chapters', [401, 403, 200, 200]],
    ['/api/v1/videos/ID/storyboards', [401, 403, 200, 200]],
    ['/w/ID', [404, 404, 404, 404]],
    ['/videos/embed/ID', [404, 404, 404, 404]],
    ['/services/oembed?url=URL', [403, 403, 403, 403]],
  ])('answers %s with %j', async (path, expected) => {
    const named = path.replace('ID', video.uuid).replace('URL', encodeURIComponent(video.url))
    expect(await statusesOf(named)).toEqual(expected)
  })

  it('has its files where each request is authorized', async () => {
    expect(await statusesOf(file)).toEqual([404, 404, 404, 404])
    const hidden = file.replace('/web-videos/', '/web-videos/private/')
    expect(await statusesOf(hidden)).toEqual([403, 403, 200, 200])
    const details = await owner.get<{ files: { fileUrl: string }[] }>(`/api/v1/videos/${video.uuid}`)
    expect(details.files[0]?.fileUrl).toBe(node.base + hidden)
  })

  it('cannot be viewed, rated or commented on by others', async () => {
    const json = (method: string, body: object) => ({
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const at = `/api/v1/videos/${video.uuid}`
    expect(await statusesOf(`${at}/views`, json('POST', { currentTime: 1 }))).toEqual([401, 403, 204, 204])
    expect(await statusesOf(`${at}/rate`, json('PUT', { rating: 'like' }))).toEqual([401, 403, 204, 204])
    expect(await statusOf('other', `${at}/comment-threads`, json('POST', { text: 'Hello' }))).toBe(403)
    const like = near.activity(nora.account, 'Like', video.url)
    await node.deliver(nora.account, like)
    expect(await node.query('select 1 from rating where url = $1', [like.id])).toEqual([])
  })

  it('is in no list and no total, except for those who request blocked videos', async () => {
    for (const path of ['/api/v1/videos?count=100', '/api/v1/search/videos?search=ours&count=100']) {
      const list = await get<List>(path)
      expect([path, holds(list, video.uuid), list.total]).toEqual([path, false, list.data.length])
    }
    const search = `/api/v1/search/videos?search=${encodeURIComponent(video.url)}`
    expect(await owner.get<List>(search)).toMatchObject({ total: 0, data: [] })
    const all = await moderator.get<List>('/api/v1/videos?include=2&count=100')
    expect(all.data.find(({ uuid }) => uuid === video.uuid)).toMatchObject({
      blacklisted: true,
      blacklistedReason: 'a good reason',
    })
    const mine = await owner.get<List>('/api/v1/users/me/videos?count=100')
    expect(mine.data.find(({ uuid }) => uuid === video.uuid)).toMatchObject({
      blacklisted: true,
      blacklistedReason: 'a good reason',
    })
    expect(await owner.get(`/api/v1/videos/${video.uuid}`)).toMatchObject({
      blacklisted: true,
      blacklistedReason: 'a good reason',
    })
  })

  it('is an empty element of a playlist, and no element for other servers', async () => {
    const form = new FormData()
    const me = await owner.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
    const fields = { displayName: 'Mine', privacy: '1', videoChannelId: String(me.videoChannels[0]?.id) }
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    const { videoPlaylist } = await owner.send<{ videoPlaylist: { uuid: string } }>('POST', '/api/v1/video-playlists', form)
    const at = `/api/v1/video-playlists/${videoPlaylist.uuid}/videos`
    await owner.send('POST', at, { videoId: video.uuid })
    expect(await get(at)).toMatchObject({ total: 1, data: [{ type: 3, video: null }] })
    expect(await moderator.get(at)).toMatchObject({ data: [{ type: 3, video: null }] })
    expect(await owner.get(at)).toMatchObject({ data: [{ type: 0, video: { uuid: video.uuid } }] })
    const page = await fetch(`${node.base}/video-playlists/${videoPlaylist.uuid}?page=1`, {
      headers: { accept: 'application/activity+json' },
    })
    expect(await page.json()).toMatchObject({ totalItems: 0, orderedItems: [] })
  })

  it('is not served to other servers, which got no activity', async () => {
    for (const part of ['', '/comments', '/likes', '/announces', '/chapters', '/activity']) {
      expect([part, await ap(video.url + part)]).toEqual([part, 401])
    }
    near.received.length = 0
    await owner.send('PUT', `/api/v1/videos/${video.uuid}`, { name: 'Another name' })
    expect(shortly(await saidOf(video.uuid))).toEqual([])
    const outbox = await fetch(`${node.base}/accounts/owner/outbox?page=1`, {
      headers: { accept: 'application/activity+json' },
    })
    expect(await outbox.text()).not.toContain(video.uuid)
  })

  it('is marked in reports', async () => {
    const open = await uploadBy(owner, bytes)
    for (const { id } of [open, video]) {
      await moderator.send('POST', '/api/v1/abuses', { reason: 'a reason', video: { id } })
    }
    const reports = await moderator.get<{ data: { video: { uuid: string; blacklisted: boolean } }[] }>('/api/v1/abuses?videoIs=blacklisted')
    expect(reports.data.map((report) => [report.video.uuid, report.video.blacklisted])).toEqual([[video.uuid, true]])
  })

  it('is blocked once, and an unblocked video cannot be unblocked', async () => {
    const again = await moderator.raw(`/api/v1/videos/${video.uuid}/blacklist`, { method: 'POST' })
    expect(again.status).toBe(409)
    const { uuid } = await uploadBy(owner, bytes)
    for (const method of ['PUT', 'DELETE']) {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ reason: 'a reason' })
      const answer = await moderator.raw(`/api/v1/videos/${uuid}/blacklist`, {
        method,
        ...(method === 'PUT' ? { headers, body } : {}),
      })
      expect([method, answer.status]).toEqual([method, 404])
    }
  })

  it('comes back completely when the block ends: one Update has its current state', async () => {
    near.received.length = 0
    await unblock(video.uuid)
    expect(await statusesOf(`/api/v1/videos/${video.uuid}`)).toEqual([200, 200, 200, 200])
    expect(await statusesOf(file)).toEqual([200, 200, 200, 200])
    const list = await get<List>('/api/v1/videos?count=100')
    expect([holds(list, video.uuid), list.total]).toEqual([true, list.data.length])
    const said = await saidOf(video.uuid)
    // Earlier ratings send an Update later, and views a View.
    const updates = said.filter(({ type }) => type !== 'View')
    expect([...new Set(shortly(updates))]).toEqual(['Update /accounts/owner'])
    expect(updates[0]?.object).toMatchObject({ id: video.url, name: 'Another name' })
    expect(await until(async () => (await ap(video.url)) === 200)).toBe(true)
  })
})

describe('a video blocked with unfederation', () => {
  it('is deleted on other servers and not found there, and created again when the block ends', async () => {
    const video = await uploadBy(owner, bytes)
    expect(shortly(await saidOf(video.uuid, CREATED.length))).toEqual(CREATED)
    await block(video.uuid, { unfederate: true })
    expect(shortly(await saidOf(video.uuid))).toEqual(['Delete /accounts/owner'])
    for (const part of ['', '/comments', '/activity']) {
      expect([part, await until(async () => (await ap(video.url + part)) === 404)]).toEqual([part, true])
    }
    await owner.send('PUT', `/api/v1/videos/${video.uuid}`, { name: 'Another name' })
    expect(shortly(await saidOf(video.uuid))).toEqual([])
    await unblock(video.uuid)
    expect(shortly(await saidOf(video.uuid, CREATED.length))).toEqual(CREATED)
    expect(await until(async () => (await ap(video.url)) === 200)).toBe(true)
  })

  it('that is removed meanwhile sends no second Delete', async () => {
    const video = await uploadBy(owner, bytes)
    await block(video.uuid, { unfederate: true })
    await saidOf(video.uuid)
    await owner.send('DELETE', `/api/v1/videos/${video.uuid}`)
    expect(shortly(await saidOf(video.uuid))).toEqual([])
    expect(await node.query('select 1 from video_block where video_id = $1', [video.id])).toEqual([])
  })
})

describe('a video blocked without unfederation', () => {
  it('is deleted on other servers when it becomes private or is removed', async () => {
    const [first, second] = [await uploadBy(owner, bytes), await uploadBy(owner, bytes)]
    await saidOf(second.uuid)
    await block(first.uuid)
    await block(second.uuid)
    await saidOf(first.uuid)
    await owner.send('PUT', `/api/v1/videos/${first.uuid}`, { privacy: 3 })
    expect(shortly(await saidOf(first.uuid))).toEqual(['Delete /accounts/owner'])
    await owner.send('DELETE', `/api/v1/videos/${second.uuid}`)
    expect(shortly(await saidOf(second.uuid))).toEqual(['Delete /accounts/owner'])
  })

  it('is not published while it is blocked, but when the block ends', async () => {
    const video = await uploadBy(owner, bytes, { privacy: '3' })
    await block(video.uuid)
    await owner.send('PUT', `/api/v1/videos/${video.uuid}`, { privacy: 1 })
    expect(shortly(await saidOf(video.uuid))).toEqual([])
    await unblock(video.uuid)
    expect(shortly(await saidOf(video.uuid, CREATED.length))).toEqual(CREATED)
  })
})

describe('a remote video', () => {
  it('is blocked locally, stays blocked when it changes, and cannot be unfederated', async () => {
    await node.deliver(near.instance, near.activity(near.instance, 'Arrive', near.instance.url))
    const document = near.video(nora)
    await node.deliver(nora.account, near.activity(nora.account, 'Create', document))
    const [row] = await node.query<{ uuid: string }>('select uuid from video where url = $1', [document.id])
    const uuid = row?.uuid ?? ''
    const refused = await moderator.raw(`/api/v1/videos/${uuid}/blacklist`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"unfederate":true}',
    })
    expect(refused.status).toBe(409)
    await block(uuid)
    await node.deliver(nora.account, near.activity(nora.account, 'Update', { ...document, name: 'A new name' }))
    expect(await statusesOf(`/api/v1/videos/${uuid}`)).toEqual([401, 403, 403, 200])
    expect(await moderator.get(`/api/v1/videos/${uuid}`)).toMatchObject({ name: 'A new name', blacklisted: true })
    expect(await ap(`${node.base}/videos/watch/${uuid}`)).toBe(401)
    expect(holds(await get<List>('/api/v1/videos?count=100'), uuid)).toBe(false)
    const search = `/api/v1/search/videos?search=${encodeURIComponent(document.id)}`
    expect(await owner.get<List>(search)).toMatchObject({ total: 0, data: [] })
    await unblock(uuid)
    expect(await statusesOf(`/api/v1/videos/${uuid}`)).toEqual([200, 200, 200, 200])
  })

  it('is blocked again when its server deletes and recreates it, until the block ends', async () => {
    await node.deliver(near.instance, near.activity(near.instance, 'Arrive', near.instance.url))
    const document = near.video(nora)
    const { uuid } = document as { uuid?: string }
    const statuses = () => statusesOf(`/api/v1/videos/${uuid}`)
    const say = async (type: 'Create' | 'Delete') => {
      const object = type === 'Create' ? document : document.id
      // After a Delete, only what was signed later counts.
      await node.deliver(nora.account, await signedInside(near.activity(nora.account, type, object), nora.account))
    }
    await say('Create')
    await moderator.send('POST', `/api/v1/videos/${uuid}/blacklist`, { reason: 'Not here' })
    await say('Delete')
    expect(await statuses()).toEqual([404, 404, 404, 404])
    await say('Create')
    expect(await statuses()).toEqual([401, 403, 403, 200])
    const list = await moderator.get<{ data: { reason: string; video: { uuid: string } }[] }>('/api/v1/videos/blacklist')
    expect(list.data.find(({ video }) => video.uuid === uuid)?.reason).toBe('Not here')
    await unblock(uuid ?? '')
    await say('Delete')
    await say('Create')
    expect(await statuses()).toEqual([200, 200, 200, 200])
  })
})

it('the list of blocks is sorted, searched and paged', async () => {
  const [one, two] = [await uploadBy(owner, bytes, { name: 'Sorted b' }), await uploadBy(owner, bytes, { name: 'Sorted a' })]
  for (const { uuid } of [one, two]) await block(uuid)
  const list = async (query: string) => {
    const { total, data } = await moderator.get<{ total: number; data: { video: { uuid: string } }[] }>(
      `/api/v1/videos/blacklist?search=sorted&${query}`,
    )
    return [total, ...data.map(({ video }) => video.uuid)]
  }
  expect(await list('')).toEqual([2, two.uuid, one.uuid])
  for (const field of ['id', 'createdAt']) expect(await list(`sort=${field}`)).toEqual([2, one.uuid, two.uuid])
  expect(await list('sort=name')).toEqual([2, two.uuid, one.uuid])
  expect(await list('sort=-name&start=1&count=1')).toEqual([2, two.uuid])
  for (const field of ['duration', 'views', 'likes', 'dislikes', 'uuid']) {
    expect((await list(`sort=-${field}`))[0]).toBe(2)
  }
  expect(await list('type=2')).toEqual([0])
  expect(await list('start=5')).toEqual([2])
  for (const { uuid } of [one, two]) await unblock(uuid)
})

describe('where new videos of users need approval', () => {
  let trusted: Client

  beforeAll(async () => {
    trusted = await newcomer(node, 'trusted', { adminFlags: 1 })
  })
  const waitForModerators = async (enabled: boolean) => {
    const custom = await node.client.get<object>('/api/v1/config/custom')
    await node.client.send('PUT', '/api/v1/config/custom', {
      ...custom,
      autoBlacklist: { videos: { ofUsers: { enabled } } },
    })
  }
  /** Uploads while new videos need approval. */
  async function uploadWaiting(by: Client, fields: Record<string, string> = {}) {
    await waitForModerators(true)
    const video = await uploadBy(by, bytes, fields)
    await waitForModerators(false)
    return video
  }
  const waiting = async () => {
    const { data } = await moderator.get<{ data: { video: { uuid: string } }[] }>('/api/v1/videos/blacklist?type=2')
    return data.map(({ video }) => video.uuid)
  }

  it('a video is visible to its owner and the staff alone, and sent nowhere; once accepted, it is new', async () => {
    const video = await uploadWaiting(owner, { name: 'Waiting' })
    expect(await moderator.get('/api/v1/videos/blacklist?type=2')).toMatchObject({
      total: 1,
      data: [{ type: 2, unfederated: true, reason: expect.any(String), video: { uuid: video.uuid } }],
    })
    expect(await statusesOf(`/api/v1/videos/${video.uuid}`)).toEqual([401, 403, 200, 200])
    const details = await owner.get<{ files: { fileUrl: string }[]; publishedAt: string }>(`/api/v1/videos/${video.uuid}`)
    const file = new URL(details.files[0]?.fileUrl ?? '').pathname
    expect(file).toContain('/web-videos/private/')
    expect(await statusesOf(file)).toEqual([403, 403, 200, 200])
    expect(holds(await get<List>('/api/v1/videos?count=100'), video.uuid)).toBe(false)
    for (const part of ['', '/comments', '/activity']) expect([part, await ap(video.url + part)]).toEqual([part, 404])
    await owner.send('PUT', `/api/v1/videos/${video.uuid}`, { name: 'Still waiting' })
    expect(await saidOf(video.uuid)).toEqual([])

    await unblock(video.uuid)
    expect(await waiting()).toEqual([])
    expect(await statusesOf(`/api/v1/videos/${video.uuid}`)).toEqual([200, 200, 200, 200])
    expect(await statusesOf(file.replace('private/', ''))).toEqual([200, 200, 200, 200])
    expect(holds(await get<List>('/api/v1/videos?count=100'), video.uuid)).toBe(true)
    const { publishedAt } = await get<{ publishedAt: string }>(`/api/v1/videos/${video.uuid}`)
    expect(publishedAt > details.publishedAt).toBe(true)
    const said = await saidOf(video.uuid, CREATED.length)
    expect(shortly(said)).toEqual(CREATED)
    const creation = said.find(({ type }) => type === 'Create')
    expect(creation?.object).toMatchObject({ name: 'Still waiting', published: publishedAt })
    expect(await until(async () => (await ap(video.url)) === 200)).toBe(true)
  })

  it('a video accepted while it is private is new when it leaves privacy', async () => {
    const video = await uploadWaiting(owner, { privacy: '3' })
    expect(await waiting()).toEqual([video.uuid])
    await unblock(video.uuid)
    expect(shortly(await saidOf(video.uuid))).toEqual([])
    await owner.send('PUT', `/api/v1/videos/${video.uuid}`, { privacy: 1 })
    expect(shortly(await saidOf(video.uuid, CREATED.length))).toEqual(CREATED)
  })

  it('a pending video that leaves privacy stays pending', async () => {
    const video = await uploadWaiting(owner, { privacy: '3' })
    await owner.send('PUT', `/api/v1/videos/${video.uuid}`, { privacy: 1 })
    expect(shortly(await saidOf(video.uuid))).toEqual([])
    expect(await statusOf('visitor', `/api/v1/videos/${video.uuid}`)).toBe(401)
    await unblock(video.uuid)
    expect(shortly(await saidOf(video.uuid, CREATED.length))).toEqual(CREATED)
  })

  it('a video removed while it is pending never existed for others', async () => {
    const video = await uploadWaiting(owner)
    await owner.send('DELETE', `/api/v1/videos/${video.uuid}`)
    expect(shortly(await saidOf(video.uuid))).toEqual([])
    expect(await waiting()).toEqual([])
  })

  it('videos of the staff and of trusted users are published at once', async () => {
    for (const by of [node.client, moderator, trusted]) {
      const video = await uploadWaiting(by)
      expect(await statusOf('visitor', `/api/v1/videos/${video.uuid}`)).toBe(200)
    }
    expect(await waiting()).toEqual([])
  })
})
