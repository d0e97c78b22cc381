// Equivalent names: routes with additional slashes, videos by id, UUID and short UUID, hosts in different notations.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { toShortUuid } from '../../../src/platform/ids.ts'
import { until } from '../../support/until.ts'
import type { Caller } from './caller.ts'
import { makeRouteFixtures, type RouteFixtures } from './fixtures.ts'
import { addressOf, contentOf } from './request.ts'
import type { Row } from './row.ts'
import { rows } from './rows/index.ts'
import { type RouteServer, startRouteServer } from './server.ts'

let stage: RouteServer
let fixtures: RouteFixtures

beforeAll(async () => {
  stage = await startRouteServer()
})
beforeEach(async () => {
  fixtures = await makeRouteFixtures(stage)
})
afterAll(async () => {
  await stage?.stop()
})

async function statusOf(caller: Caller, path: string, init: RequestInit = {}): Promise<number> {
  const answer = await fixtures.send(caller, path, { redirect: 'manual', ...init })
  await answer.arrayBuffer()
  return answer.status
}

const json = (method: string, body: object): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

describe('additional slashes', () => {
  const reads = rows.filter(({ route, statuses }) => /^(GET|POST|PUT|DELETE) /.test(route) && statuses.admin < 400)

  async function answered(row: Row, change: (path: string) => string): Promise<number> {
    const route = stage.routes.find(({ name }) => name === row.route)
    if (!route) throw new Error(`There is no route ${row.route}.`)
    // The previous row may have ended the session.
    fixtures = await makeRouteFixtures(stage)
    const request = await row.request(fixtures, 'admin')
    const [path = '', ...query] = addressOf(route, request).split('?')
    return await statusOf('admin', [change(path), ...query].join('?'), {
      method: request.method ?? route.method,
      ...contentOf(request),
    })
  }

  it('are ignored, within and at the end of a path', async () => {
    const faults: string[] = []
    for (const row of reads) {
      const status = await answered(row, (path) => (path === '/' ? path : `${path.replace(/(?<=.)\//g, '//')}/`))
      if (status !== row.statuses.admin) faults.push(`${row.route}: ${row.statuses.admin} expected, ${status} answered`)
    }
    expect(faults).toEqual([])
  })

  it('are ignored for ActivityPub documents and inboxes', async () => {
    const { username } = fixtures.users.user
    const video = await fixtures.video()
    for (const path of [`/accounts/${username}`, `/videos/watch/${video.uuid}`, `/accounts/${username}/followers`]) {
      const headers = { accept: 'application/activity+json' }
      expect([path, await statusOf('anonymous', `${path}/`, { headers })]).toEqual([path, 200])
    }
    const activity = { ...json('POST', { type: 'Nothing' }), headers: { 'content-type': 'application/activity+json' } }
    const plain = await statusOf('anonymous', '/inbox', activity)
    expect(plain).not.toBe(404)
    expect(await statusOf('anonymous', '/inbox//', activity)).toBe(plain)
  })
})

describe('a video', () => {
  it.each([
    ['its id', ({ id }: { id: number }) => id],
    ['its id as a text', ({ id }: { id: number }) => String(id)],
    ['its UUID', ({ uuid }: { uuid: string }) => uuid],
    ['its UUID in capitals', ({ uuid }: { uuid: string }) => uuid.toUpperCase()],
    ['its short UUID', ({ uuid }: { uuid: string }) => toShortUuid(uuid)],
  ])('can be addressed by %s in every path, query and body', async (_form, nameOf) => {
    const video = await fixtures.video()
    const name = nameOf(video)
    const { id: playlistId } = await fixtures.playlist()
    const { db } = stage
    const requested = await Promise.all([
      statusOf('user', `/api/v1/videos/${name}`),
      statusOf('user', `/api/v1/videos/${name}/rate`, json('PUT', { rating: 'like' })),
      statusOf('other', '/api/v1/abuses', json('POST', { reason: 'a reason', video: { id: name } })),
      statusOf('user', `/api/v1/users/me/videos/comments?videoId=${name}`),
      statusOf('moderator', `/api/v1/videos/comments?videoId=${name}`),
      statusOf('user', `/api/v1/video-playlists/${playlistId}/videos`, json('POST', { videoId: name })),
      statusOf('anonymous', '/api/v1/metrics/playback', json('POST', { ...PLAYBACK, videoId: name })),
      statusOf('anonymous', `/feeds/video-comments.xml?videoId=${name}`),
      statusOf('anonymous', `/w/${name}`, { headers: { accept: 'text/html' } }),
      statusOf('user', `/api/v1/videos/${name}/views`, json('PUT', { currentTime: 3 })),
    ])
    expect(requested).toEqual([200, 204, 200, 200, 200, 200, 204, 200, 200, 204])

    const exist = await fixtures.send('user', `/api/v1/users/me/video-playlists/videos-exist?videoIds=${name}`, {})
    expect(await exist.json()).toMatchObject({ [name]: [{ playlistId }] })
    const watched = () => db.query('select 1 from history where video_id = $1', [video.id])
    await until(async () => (await watched()).length === 1)
    expect(await statusOf('user', `/api/v1/users/me/history/videos/${name}`, { method: 'DELETE' })).toBe(204)
    expect(await watched()).toEqual([])
    expect(await statusOf('admin', `/api/v1/videos/${name}`, { method: 'DELETE' })).toBe(204)
  })

  it('with an unknown UUID is 404', async () => {
    const uuid = '00000000-0000-4000-8000-000000000000'
    expect(await statusOf('other', '/api/v1/abuses', json('POST', { reason: 'a reason', video: { id: uuid } }))).toBe(404)
    expect(await statusOf('user', `/api/v1/users/me/history/videos/${uuid}`, { method: 'DELETE' })).toBe(404)
    expect(await statusOf('admin', '/api/v1/server/redundancy/videos', json('POST', { videoId: uuid }))).toBe(404)
  })
})

describe('a host', () => {
  it.each(['pasted.example', 'https://pasted.example', 'https://pasted.example/', 'HTTPS://pasted.example/'])(
    'can be written as %s',
    async (host) => {
      const path = '/api/v1/users/me/blocklist/servers'
      expect(await statusOf('user', path, json('POST', { host }))).toBe(204)
      const status = await fixtures.send('user', `/api/v1/blocklist/status?hosts=${encodeURIComponent(host)}`, {})
      expect(await status.json()).toMatchObject({ hosts: { 'pasted.example': { blockedByUser: true } } })
      expect(await statusOf('user', `${path}/${encodeURIComponent(host)}`, { method: 'DELETE' })).toBe(204)
      expect(await statusOf('admin', '/api/v1/server/following', json('POST', { hosts: [host] }))).toBe(204)
      expect(await statusOf('anonymous', `/api/v1/search/videos?host=${encodeURIComponent(host)}`)).toBe(200)
    },
  )

  it.each(['http://pasted.example', 'https://pasted.example/path', 'https://a@pasted.example', `${'x'.repeat(260)}.example`])(
    'cannot be written as %s',
    async (host) => {
      expect(await statusOf('user', '/api/v1/users/me/blocklist/servers', json('POST', { host }))).toBe(400)
      expect(await statusOf('admin', '/api/v1/server/following', json('POST', { hosts: [host] }))).toBe(400)
    },
  )

  it('of this server may be an IP address', async () => {
    const { host } = new URL(stage.base)
    const { username } = fixtures.users.other
    const handle = `${username}@${host}`
    const status = await fixtures.send('user', `/api/v1/blocklist/status?accounts=${handle}&hosts=${host}`, {})
    expect(await status.json()).toMatchObject({ accounts: { [handle]: {} }, hosts: { [host]: {} } })
  })
})

describe('the block status', () => {
  it.each(['accounts=true', 'accounts=hello', 'accounts[]=false', 'hosts=true', 'hosts[]=false'])(
    'is not returned for %s, which is no list of handles or hosts',
    async (query) => {
      expect(await statusOf('user', `/api/v1/blocklist/status?${query}`)).toBe(400)
    },
  )
})

const PLAYBACK = {
  playerMode: 'web-video',
  p2pEnabled: false,
  resolutionChanges: 0,
  errors: 0,
  downloadedBytesP2P: 0,
  downloadedBytesHTTP: 0,
  uploadedBytesP2P: 0,
}
