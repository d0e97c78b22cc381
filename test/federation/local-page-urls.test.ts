// Users copy URLs of local pages into other software: activities about these URLs refer to what the page shows.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { toShortUuid } from '../../src/platform/ids.ts'
import { type FakePeer, type JsonObject, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let peer: FakePeer
let fan: { account: PeerActor; channel: PeerActor }
let video: { id: number; uuid: string; url: string }
let thread: { id: number; url: string }
let playlist: { uuid: string; url: string }

beforeAll(async () => {
  ;[node, peer] = await Promise.all([startFederatedNode(), startFakePeer()])
  fan = await introduce(node, peer, 'fan')
  video = await node.upload(await readFile(await media('small.mp4')))
  const { comment } = await node.client.send<{ comment: { id: number; url: string } }>(
    'POST',
    `/api/v1/videos/${video.id}/comment-threads`,
    { text: 'A thread' },
  )
  thread = comment
  const form = new FormData()
  for (const [name, value] of [
    ['displayName', 'A playlist'],
    ['privacy', '1'],
    ['videoChannelId', '1'],
  ] as const)
    form.set(name, value)
  const { videoPlaylist } = await node.client.send<{ videoPlaylist: { uuid: string } }>('POST', '/api/v1/video-playlists', form)
  playlist = { uuid: videoPlaylist.uuid, url: `${node.base}/video-playlists/${videoPlaylist.uuid}` }
})
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop()])
})

const VIDEO_PAGES: [string, (video: { uuid: string; short: string }) => string][] = [
  ['the short address', ({ short }) => `/w/${short}`],
  ['the short address with a slash', ({ short }) => `/w/${short}/`],
  ['the short address with a UUID', ({ uuid }) => `/w/${uuid.toUpperCase()}`],
  ['the short address with doubled slashes', ({ short }) => `//w//${short}`],
  ['a moment of it', ({ short }) => `/w/${short}?start=1m5s`],
  ['a part of the page', ({ short }) => `/w/${short}#comments`],
  ['a conversation below it', ({ short }) => `/w/${short};threadId=${thread.id}`],
  ['the older address with a slash', ({ uuid }) => `/videos/watch/${uuid}/`],
  ['the older address and a moment', ({ uuid }) => `/videos/watch/${uuid}?start=5`],
  ['the older address with a short UUID', ({ short }) => `/videos/watch/${short}`],
  ['the frame', ({ uuid }) => `/videos/embed/${uuid}`],
]
const ACTOR_PAGES = (short: string, name: string): string[] => [
  `/${short}/${name}`,
  `/${short}/${name}/`,
  `/${short}/${name}/videos`,
  `/${short}/${name}/videos/`,
  `/@${name}`,
  `/@${name}/`,
  `/@${name}/videos`,
  `/${short}/${name.toUpperCase()}`,
  `/${short}/${name}?sort=views#top`,
]

const pageOf = (path: (video: { uuid: string; short: string }) => string) =>
  node.base + path({ uuid: video.uuid, short: toShortUuid(video.uuid) })
const say = async (type: string, object: unknown, more: JsonObject = {}) => {
  const activity = peer.activity(fan.account, type, object, more)
  await node.deliver(fan.account, activity)
  return activity
}
const about = () => node.client.get<{ likes: number; dislikes: number; views: number }>(`/api/v1/videos/${video.uuid}`)

describe.each(VIDEO_PAGES)('%s refers to the video', (_what, path) => {
  it('when others rate, share, view and report it', async () => {
    const page = pageOf(path)
    const like = await say('Like', page)
    expect(await about()).toMatchObject({ likes: 1, dislikes: 0 })
    await say('Undo', { ...like, object: page })
    expect(await about()).toMatchObject({ likes: 0, dislikes: 0 })
    const dislike = await say('Dislike', page)
    expect(await about()).toMatchObject({ likes: 0, dislikes: 1 })
    await say('Undo', { type: 'Dislike', id: dislike.id, actor: fan.account.url, object: { type: 'Video', id: page } })
    expect(await about()).toMatchObject({ likes: 0, dislikes: 0 })

    const share = await say('Announce', page)
    expect(await node.query('select url from share where video_id = $1 and url = $2', [video.id, share.id])).toHaveLength(1)
    await say('Undo', share)
    expect(await node.query('select url from share where url = $1', [share.id])).toEqual([])

    await say('Flag', page, { content: 'Loud' })
    const reported = page.includes('threadId') ? thread.url : video.url
    expect(await node.query('delete from abuse returning object_url as "objectUrl"')).toEqual([{ objectUrl: reported }])
    const before = (await node.world()) as { views: { url: string; views: number }[] }
    await say('View', page)
    const viewsOf = ({ views }: typeof before) => Number(views.find(({ url }) => url === video.url)?.views)
    await until(async () => viewsOf((await node.world()) as typeof before) === viewsOf(before) + 1, {
      what: 'the view',
    })
  })

  it('when others fetch and search it', async () => {
    const page = pageOf(path)
    const answer = await fetch(page, { headers: { accept: 'application/activity+json' } })
    if (!page.includes('/embed/')) expect(await answer.json()).toMatchObject({ type: 'Video', id: video.url })
    const found = await node.client.get<{ data: { uuid: string }[] }>(`/api/v1/search/videos?search=${encodeURIComponent(page)}`)
    expect(found.data.map(({ uuid }) => uuid)).toEqual([video.uuid])
  })
})

describe('a reply to a page', () => {
  const parentOf = async (inReplyTo: string): Promise<{ parent: string | null; video: string } | undefined> => {
    const note = peer.note({ author: fan.account.url, inReplyTo })
    await node.deliver(fan.account, peer.activity(fan.account, 'Create', note))
    const [row] = await node.query<{ parent: string | null; video: string }>(
      `select p.url as parent, v.url as video from comment m join video v on v.id = m.video_id
         left join comment p on p.id = m.parent_id where m.url = $1`,
      [note.id],
    )
    return row
  }

  it('is stored below the video', async () => {
    for (const [, path] of VIDEO_PAGES) {
      if (path({ uuid: '', short: '' }).includes('threadId')) continue
      const found = await parentOf(pageOf(path))
      expect({ page: pageOf(path), ...found }).toEqual({ page: pageOf(path), parent: null, video: video.url })
    }
  })

  it('is stored below the comment that the page shows', async () => {
    const short = toShortUuid(video.uuid)
    for (const path of [
      `/w/${short};threadId=${thread.id}`,
      `/w/${short}?threadId=${thread.id}#comments`,
      `/w/${short};threadId=1234567#comment-${thread.id}`,
      `/videos/watch/${video.uuid};threadId=${thread.id}`,
      `/videos/watch/${video.uuid}/comments/${thread.id}/`,
    ]) {
      expect({ path, ...(await parentOf(node.base + path)) }).toEqual({ path, parent: thread.url, video: video.url })
    }
    // The comment does not belong to this video.
    expect(await parentOf(`${node.base}/w/${short};threadId=1234567`)).toEqual({ parent: null, video: video.url })
  })

  it('mentions the account or channel of the page', async () => {
    const page = `${node.base}/a/root`
    const note = peer.note({
      author: fan.account.url,
      inReplyTo: video.url,
      more: { tag: [{ type: 'Mention', href: page, name: '@root' }] },
    })
    await node.deliver(fan.account, peer.activity(fan.account, 'Create', note))
    expect(
      await node.query('select 1 from comment_mention m join comment c on c.id = m.comment_id where c.url = $1', [note.id]),
    ).toHaveLength(1)
  })
})

describe.each([
  ['a', 'accounts', 'root', 'Person'],
  ['c', 'video-channels', 'root_channel', 'Group'],
])('pages under /%s', (short, path, name, type) => {
  const followed = async () =>
    await node.query<{ target: string }>(
      `select t.url as target from follow f join actor x on x.id = f.follower_id join actor t on t.id = f.target_id where x.url = $1`,
      [fan.account.url],
    )

  it(`refer to the ${type} when others follow, fetch and search it`, async () => {
    const id = `${node.base}/${path}/${name}`
    for (const page of ACTOR_PAGES(short, name).map((one) => node.base + one)) {
      const follow = await say('Follow', page)
      expect({ page, followed: await followed() }).toEqual({ page, followed: [{ target: id }] })
      await say('Undo', { type: 'Follow', id: `${follow.id}/other`, actor: fan.account.url, object: page })
      expect(await followed()).toEqual([])
      const answer = await fetch(page, { headers: { accept: 'application/activity+json' } })
      expect({ page, document: await answer.json() }).toEqual({ page, document: expect.objectContaining({ type, id }) })
      if (type !== 'Group') continue
      const found = await node.client.get<{ data: { url: string }[] }>(`/api/v1/search/video-channels?search=${encodeURIComponent(page)}`)
      expect({ page, found: found.data.map(({ url }) => url) }).toEqual({ page, found: [id] })
    }
  })
})

it('of a playlist refer to the playlist', async () => {
  const short = toShortUuid(playlist.uuid)
  for (const path of [
    `/w/p/${short}`,
    `/w/p/${short}/`,
    `/w/p/${playlist.uuid}?playlistPosition=2`,
    `/videos/watch/playlist/${playlist.uuid}`,
    `/video-playlists/${short}#top`,
  ]) {
    const page = node.base + path
    const answer = await fetch(page, { headers: { accept: 'application/activity+json' } })
    expect({ path, document: await answer.json() }).toEqual({
      path,
      document: expect.objectContaining({ type: 'Playlist', id: playlist.url }),
    })
    const found = await node.client.get<{ data: { uuid: string }[] }>(`/api/v1/search/video-playlists?search=${encodeURIComponent(page)}`)
    expect({ path, found: found.data.map(({ uuid }) => uuid) }).toEqual({ path, found: [playlist.uuid] })
  }
})

describe('parts of a video', () => {
  const read = async (path: string) => {
    const answer = await fetch(node.base + path, { headers: { accept: 'application/activity+json' } })
    return { status: answer.status, document: answer.ok ? await answer.json() : undefined }
  }

  it('are served below each URL of the video', async () => {
    const parts = ['activity', 'announces', 'announces/1', 'chapters', 'comments', 'comments?page=1', 'dislikes', 'likes']
    for (const part of [...parts, `comments/${thread.id}`, `comments/${thread.id}/activity`]) {
      const expected = await read(`/videos/watch/${video.uuid}/${part}`)
      for (const name of [toShortUuid(video.uuid), video.id, video.uuid.toUpperCase()])
        expect({ part, name, ...(await read(`/videos/watch/${name}/${part}`)) }).toEqual({ part, name, ...expected })
      if (part !== 'announces/1') expect(expected.status).toBe(200)
    }
    expect((await read(`/videos/watch/${toShortUuid(video.uuid)}/nothing`)).status).toBe(404)
    expect((await read('/videos/watch/2147483647/likes')).status).toBe(404)
  })

  it('are not found by counting ids while the video is unlisted', async () => {
    const privacy = async (value: number) => node.client.send('PUT', `/api/v1/videos/${video.id}`, { privacy: value })
    await privacy(2)
    expect((await read(`/videos/watch/${video.id}/likes`)).status).toBe(401)
    expect((await read(`/videos/watch/${toShortUuid(video.uuid)}/likes`)).status).toBe(200)
    await privacy(1)
  })
})
