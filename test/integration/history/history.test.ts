// The watch history of a user over REST: what is stored, shown, left out of lists, and removed.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type MadeVideo, makeVideo } from '../../support/builders.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { addUser, openDatabase, type Query } from '../me/users.ts'

interface Listed {
  total: number
  data: { name: string; userHistory?: { currentTime: number } }[]
}
type User = Awaited<ReturnType<typeof addUser>>

let node: TestNode
let query: Query
let close: () => Promise<void>
let viewer: User
let other: User
let cats: MadeVideo
let dogs: MadeVideo
let inside: MadeVideo
let hidden: MadeVideo

beforeAll(async () => {
  node = await startTestNode()
  ;({ query, close } = await openDatabase(node))
  viewer = await addUser(node, query, { username: 'viewer' })
  other = await addUser(node, query, { username: 'other' })
  const make = (name: string, columns: Record<string, unknown> = {}) =>
    makeVideo({ query }, { channelId: viewer.channelId, columns: { name, duration: 600, ...columns } })
  cats = await make('About cats')
  dogs = await make('Dogs')
  inside = await make('For users', { privacy: 4 })
  hidden = await make('Secret', { privacy: 3 })
})
afterAll(async () => {
  await close?.()
  await node?.stop()
})
beforeEach(async () => {
  await query('delete from history')
  await query('update users set videos_history_enabled = true')
})

const MINE = '/api/v1/users/me/history/videos'
const watch = (video: MadeVideo, currentTime: number, by: User | null = viewer) => {
  const path = `/api/v1/videos/${video.uuid}/views`
  const init = {
    method: 'POST',
    body: JSON.stringify({ currentTime }),
    headers: { 'content-type': 'application/json' },
  }
  return by ? by.client.raw(path, init) : fetch(`${node.base}${path}`, init)
}
/** Watched in this order. */
async function watched(...positions: [MadeVideo, number][]): Promise<void> {
  for (const [video, seconds] of positions) {
    expect((await watch(video, seconds)).status).toBe(204)
    await query("update history set watched_at = watched_at - interval '1 minute'")
  }
}
const history = async (text = '', by = viewer) => {
  const { total, data } = await by.client.get<Listed>(`${MINE}${text}`)
  return { total, data: data.map(({ name, userHistory }) => [name, userHistory?.currentTime]) }
}

describe('a watched video', () => {
  it('is listed with the last position, last watched first, for its user only', async () => {
    await watched([cats, 10], [dogs, 20], [cats, 35])
    expect(await history()).toEqual({
      total: 2,
      data: [
        ['About cats', 35],
        ['Dogs', 20],
      ],
    })
    expect(await history('', other)).toEqual({ total: 0, data: [] })
  })

  it('is stored by the former route too', async () => {
    await viewer.client.send('PUT', `/api/v1/videos/${cats.id}/watching`, { currentTime: 7 })
    expect(await history()).toEqual({ total: 1, data: [['About cats', 7]] })
  })

  it('is searched, and paged', async () => {
    await watched([cats, 10], [dogs, 20], [inside, 30])
    expect(await history('?search=CATS')).toEqual({ total: 1, data: [['About cats', 10]] })
    expect(await history('?start=1&count=1')).toEqual({ total: 3, data: [['Dogs', 20]] })
    expect(await history('?start=5')).toEqual({ total: 3, data: [] })
  })

  it('is not listed once it is no longer visible', async () => {
    await watched([dogs, 20], [hidden, 5])
    expect(await history()).toEqual({ total: 1, data: [['Dogs', 20]] })
    await query('update video set privacy = 3 where id = $1', [dogs.id])
    expect(await history()).toEqual({ total: 0, data: [] })
    await query('update video set privacy = 1 where id = $1', [dogs.id])
  })

  it('is not stored for visitors, for users without a history, or for refused positions', async () => {
    expect((await watch(cats, 10, null)).status).toBe(204)
    expect((await watch(cats, 4242)).status).toBe(400)
    await viewer.client.send('PUT', '/api/v1/users/me', { videosHistoryEnabled: false })
    expect((await watch(cats, 10)).status).toBe(204)
    expect(await query('select 1 from history')).toEqual([])
  })

  it('is stored when the video is reported many times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => watch(cats, at)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]))
    expect((await history()).total).toBe(1)
  })
})

describe('the position of the requesting user', () => {
  it('is in lists, in the details and in playlists, for that user only', async () => {
    await watched([cats, 35])
    const positions = async (path: string, by: User | null) => {
      const answer = by ? await by.client.raw(path) : await fetch(`${node.base}${path}`)
      const text = await answer.text()
      return [answer.status, ...text.matchAll(/"userHistory":(\{[^}]*\})/g)].map((found) => (typeof found === 'number' ? found : found[1]))
    }
    const created = await viewer.client.send<{ videoPlaylist: { id: number } }>('POST', '/api/v1/video-playlists', {
      displayName: 'All',
      privacy: 1,
      videoChannelId: viewer.channelId,
    })
    const playlist = `/api/v1/video-playlists/${created.videoPlaylist.id}/videos`
    for (const video of [cats, dogs]) await viewer.client.send('POST', playlist, { videoId: video.id })
    await viewer.client.send('POST', '/api/v1/users/me/subscriptions', {
      uri: `viewer_channel@${new URL(node.base).host}`,
    })
    const shown = [200, '{"currentTime":35}']
    const forAll = ['/api/v1/videos', '/api/v1/search/videos?search=cats', `/api/v1/videos/${cats.uuid}`, playlist]
    const forUsers = ['/api/v1/users/me/videos', '/api/v1/users/me/subscriptions/videos']
    for (const path of [...forAll, ...forUsers]) expect([path, await positions(path, viewer)]).toEqual([path, shown])
    for (const path of forAll) {
      expect([path, await positions(path, other)]).toEqual([path, [200]])
      expect([path, await positions(path, null)]).toEqual([path, [200]])
    }
  })

  it('is used to leave out watched videos on request', async () => {
    await watched([cats, 35])
    const names = async (path: string) => {
      const { total, data } = await viewer.client.get<Listed>(path)
      expect(total).toBe(data.length)
      return data.map(({ name }) => name)
    }
    expect(await names('/api/v1/videos?excludeAlreadyWatched=true&sort=name')).toEqual(['Dogs', 'For users'])
    expect(await names('/api/v1/videos?excludeAlreadyWatched=false&sort=name')).toEqual(['About cats', 'Dogs', 'For users'])
    expect(await names('/api/v1/search/videos?search=cats&excludeAlreadyWatched=true')).toEqual([])
    for (const wanted of ['true', 'false']) {
      expect((await fetch(`${node.base}/api/v1/videos?excludeAlreadyWatched=${wanted}`)).status).toBe(400)
    }
  })
})

describe('removing', () => {
  const remove = (body: RequestInit['body'], headers: Record<string, string> = {}) =>
    viewer.client.raw(`${MINE}/remove`, { method: 'POST', ...(body ? { body } : {}), headers })
  const asJson = (body: unknown) => remove(JSON.stringify(body), { 'content-type': 'application/json' })

  it('removes one video, idempotently', async () => {
    await watched([cats, 10], [dogs, 20])
    for (let time = 0; time < 2; time += 1) {
      expect((await viewer.client.raw(`${MINE}/${cats.id}`, { method: 'DELETE' })).status).toBe(204)
    }
    expect(await history()).toEqual({ total: 1, data: [['Dogs', 20]] })
  })

  it('removes videos watched before a date, by JSON or a form', async () => {
    await watched([cats, 10], [dogs, 20])
    const [row] = await query<{ watched_at: Date }>('select watched_at from history where video_id = $1', [dogs.id])
    expect((await asJson({ beforeDate: row?.watched_at.toISOString() })).status).toBe(204)
    expect(await history()).toEqual({ total: 1, data: [['Dogs', 20]] })
    const form = new FormData()
    form.set('beforeDate', '2999-01-01')
    expect((await remove(form)).status).toBe(204)
    expect(await history()).toEqual({ total: 0, data: [] })
  })

  it('removes all of the user without a date, and nothing of others', async () => {
    await watched([cats, 10], [dogs, 20])
    await watch(cats, 5, other)
    expect((await remove(undefined)).status).toBe(204)
    expect(await history()).toEqual({ total: 0, data: [] })
    expect((await history('', other)).total).toBe(1)
  })

  it('removes nothing when the body is malformed', async () => {
    await watched([cats, 10])
    const unread = await remove('{"beforeDate":"2020-01-01T00:00:00.000Z"}', { 'content-type': 'text/plain' })
    expect(unread.status).toBe(400)
    expect((await history()).total).toBe(1)
  })

  it('removes nothing when the date is invalid', async () => {
    await watched([cats, 10])
    for (const beforeDate of ['hello', 5, '2020-13-01', {}]) {
      const answer = await asJson({ beforeDate })
      expect(answer.status).toBe(400)
      expect(Object.keys((await answer.json())['invalid-params'])).toEqual(['beforeDate'])
    }
    expect((await history()).total).toBe(1)
  })
})
