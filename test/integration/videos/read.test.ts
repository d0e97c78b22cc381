// Lists of videos and single videos, compared with recorded responses.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { renewScores } from '../../../src/actors/video/index.ts'
import { toShortUuid } from '../../../src/platform/ids.ts'
import { type MadeVideo, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { recorded, refusalOf, shapeOf } from './recorded.ts'
import { startVideoServer, type VideoServer } from './server.ts'

let server: VideoServer
const videos: Record<string, MadeVideo> = {}

beforeAll(async () => {
  server = await startVideoServer()
  const { db, users } = server
  const { channelId } = users.user
  const described = { description: `${'d'.repeat(300)} end`, support: 'support me' }
  const labels = { category: 1, licence: 1, language: 'en', tags: ['alpha', 'Common'] }
  videos.alpha = await makeVideo(db, {
    channelId,
    webVideo: { resolution: 240 },
    columns: { name: 'videos alpha', ...described, ...labels, published_at: new Date('2024-01-01') },
  })
  const beta = { name: 'videos beta', nsfw: true, category: 2, language: 'fr', tags: ['beta', 'common'] }
  videos.beta = await makeVideo(db, { channelId, columns: { ...beta, published_at: new Date('2024-01-02') } })
  videos.gamma = await makeVideo(db, {
    channelId: users.other.channelId,
    columns: { name: 'videos gamma', views: 7, published_at: new Date('2024-01-03') },
  })
  const unusual = { unlisted: 2, private: 3, internal: 4, password: 5 }
  for (const [name, privacy] of Object.entries(unusual)) {
    videos[name] = await makeVideo(db, {
      channelId,
      webVideo: { resolution: 240 },
      passwords: privacy === 5 ? ['pass word 1'] : [],
      columns: { name: `videos v${name}`, privacy, published_at: new Date('2024-01-04') },
    })
  }
  videos.unpublished = await makeVideo(db, { channelId, columns: { name: 'videos early', state: 'to-transcode' } })
  videos.removed = await makeVideo(db, { channelId, columns: { name: 'videos removed', state: 'removed' } })
  // A job refreshes the sizes of files.
  await renewScores(db, { days: 7 })
})
afterAll(() => server.stop())

const of = (name: string): MadeVideo => {
  const video = videos[name]
  if (!video) throw new Error(`no video ${name}`)
  return video
}

async function list(query: string, as?: keyof VideoServer['users']) {
  const headers = as ? server.as(as) : {}
  const answer = await server.app.inject({ url: `/api/v1/videos?${query}`, headers })
  const body = answer.json()
  return {
    status: answer.statusCode,
    body,
    total: body.total,
    names: body.data?.map((one: { name: string }) => one.name),
  }
}

describe('the list of videos', () => {
  it('has the recorded members', async () => {
    const { status, body } = await list('search=videos&count=2&sort=name')
    const { body: expected } = recorded('videos', 'list: own search')
    expect(status).toBe(200)
    expect(shapeOf(body)).toEqual(shapeOf(expected))
    expect(body.total).toBe(3)
  })

  it('contains published public videos, newest first, and internal ones for local users', async () => {
    expect((await list('')).names).toEqual(['videos gamma', 'videos beta', 'videos alpha'])
    const known = await list('', 'other')
    expect(known.names).toEqual(['videos vinternal', 'videos gamma', 'videos beta', 'videos alpha'])
    expect(known.total).toBe(4)
  })

  it('truncates long descriptions with dots', async () => {
    const { body } = await list('sort=name&count=1')
    expect(body.data[0].description).toHaveLength(250)
    expect(body.data[0].description).toMatch(/d\.\.\.$/)
    expect(body.data[0].truncatedDescription).toBe(body.data[0].description)
  })

  it('has a total beyond the last page, and none if it is skipped', async () => {
    expect((await list('start=50')).body).toEqual({ total: 3, data: [] })
    expect((await list('start=50&nsfw=true&search=beta')).body).toEqual({ total: 1, data: [] })
    expect((await list('skipCount=true')).body).not.toHaveProperty('total')
    expect((await list('count=0')).body).toEqual({ total: 3, data: [] })
  })

  const filters: [string, string[]][] = [
    ['nsfw=true', ['videos beta']],
    ['nsfw=false', ['videos gamma', 'videos alpha']],
    ['categoryOneOf=1&categoryOneOf=2', ['videos beta', 'videos alpha']],
    ['licenceOneOf=1', ['videos alpha']],
    ['languageOneOf=fr&languageOneOf=_unknown', ['videos gamma', 'videos beta']],
    ['tagsOneOf=ALPHA&tagsOneOf=beta', ['videos beta', 'videos alpha']],
    ['tagsAllOf=alpha&tagsAllOf=common', ['videos alpha']],
    ['isLocal=false', []],
    ['isLocal=true&count=1', ['videos gamma']],
    ['isLive=true', []],
    ['hasHLSFiles=true', []],
    ['hasWebVideoFiles=true', ['videos alpha']],
    ['host=LOCALHOST:9000&count=1', ['videos gamma']],
    ['host=other.example', []],
    ['search=100%25', []],
    ['search=beta', ['videos beta']],
    ['sort=-views&count=1', ['videos gamma']],
    ['sort=-name', ['videos gamma', 'videos beta', 'videos alpha']],
    ['sort=name&start=1&count=1', ['videos beta']],
    ['sort=-localVideoFilesSize&count=1', ['videos alpha']],
    ['sort=-originallyPublishedAt&count=1', ['videos gamma']],
  ]
  it.each(filters)('filters and sorts by %s', async (query, names) => {
    expect((await list(query)).names).toEqual(names)
  })

  it('has other privacies and states for the staff only', async () => {
    const refused = await list('include=1', 'user')
    expect(refusalOf(refused.body)).toEqual(refusalOf(recorded('videos', 'list: include 1 user').body))
    expect((await list('privacyOneOf=3')).status).toBe(401)
    expect((await list('privacyOneOf=3', 'moderator')).names).toEqual(['videos vprivate'])
    expect((await list('include=1&search=early', 'admin')).names).toEqual(['videos early'])
  })

  it('includes files on request', async () => {
    const { body } = await list('include=8&privacyOneOf=4', 'admin')
    expect(shapeOf(body)).toEqual(shapeOf(recorded('videos', 'list: include 8 admin').body))
    expect(body.data[0].files[0].fileUrl).toContain('/static/web-videos/private/')
  })

  it.each(['bad sort', 'count over maximum'])('refuses a %s with the recorded response', async (name) => {
    const { body } = await list(name === 'bad sort' ? 'sort=hello' : 'count=101')
    expect(refusalOf(body)).toEqual(refusalOf(recorded('videos', `list: ${name}`).body))
  })

  it('includes likes and views of the last second', async () => {
    const { id } = of('gamma')
    await server.db.query('insert into video_delta (video_id, likes, views) values ($1, 2, 3), ($1, -1, 0)', [id])
    const { body } = await list('count=1')
    expect(body.data[0]).toMatchObject({ likes: 1, views: 10 })
    await server.db.query('delete from video_delta')
  })

  it('takes at most three statements', async () => {
    const before = server.statements()
    await list('count=15', 'user')
    expect(server.statements() - before).toBeLessThanOrEqual(2)
  })

  it("follows the user's policy on sensitive videos", async () => {
    await server.db.query("update users set nsfw_policy = 'do_not_list' where id = $1", [server.users.other.id])
    expect((await list('search=beta', 'other')).names).toEqual([])
    expect((await list('search=beta&nsfw=both', 'other')).names).toEqual(['videos beta'])
    await server.db.query("update users set nsfw_policy = 'display'")
  })

  it('has own videos in every state, except those being removed', async () => {
    const { body } = await server.app.inject({ url: '/api/v1/users/me/videos', headers: server.as('user') }).then((answer) => ({
      body: answer.json(),
    }))
    expect(body.total).toBe(7)
    expect(shapeOf(body)).toEqual(shapeOf(recorded('me', 'my videos').body))
    const other = await server.app.inject({
      url: `/api/v1/users/me/videos?channelId=${server.users.other.channelId}`,
      headers: server.as('user'),
    })
    expect(other.json()).toEqual({ total: 0, data: [] })
  })
})

describe('a video', () => {
  const get = (key: string | number, headers: Record<string, string> = {}) => server.app.inject({ url: `/api/v1/videos/${key}`, headers })

  it('has the recorded members, by id, UUID and short UUID', async () => {
    const { id, uuid } = of('alpha')
    for (const key of [id, uuid, toShortUuid(uuid)]) {
      const answer = await get(key)
      expect(answer.statusCode).toBe(200)
      expect(shapeOf(answer.json())).toEqual(shapeOf(recorded('videos', 'get').body))
      expect(answer.json().trackerUrls).toEqual(['http://localhost:9000/tracker/announce', 'ws://localhost:9000/tracker/socket'])
    }
  })

  it('is read with one statement', async () => {
    const before = server.statements()
    await get(of('alpha').uuid)
    expect(server.statements() - before).toBe(1)
  })

  const sights: [string, string, number][] = [
    ['unlisted', 'anonymous', 200],
    ['private', 'anonymous', 401],
    ['private', 'user', 200],
    ['private', 'other', 403],
    ['private', 'moderator', 200],
    ['internal', 'anonymous', 401],
    ['internal', 'other', 200],
    ['password', 'anonymous', 403],
    ['password', 'user', 200],
    ['password', 'other', 403],
    ['password', 'admin', 200],
    ['removed', 'admin', 404],
    ['unpublished', 'user', 200],
  ]
  it.each(sights)('that is %s answers %s with %i', async (name, who, status) => {
    const headers = who === 'anonymous' ? {} : server.as(who as keyof VideoServer['users'])
    expect((await get(of(name).uuid, headers)).statusCode).toBe(status)
  })

  const refusals: [string, () => Promise<{ json(): unknown }>][] = [
    ['get: bad id', () => get('man')],
    ['get: unknown id', () => get(424242)],
    ['get vprivate by anonymous', () => get(of('private').uuid)],
    ['get vprivate by user2', () => get(of('private').uuid, server.as('other'))],
    ['get vpassword by anonymous', () => get(of('password').uuid)],
    ['get password video: wrong password', () => get(of('password').uuid, { 'x-peertube-video-password': 'no' })],
    ['get unlisted by id', () => get(of('unlisted').id)],
    ['description: private', () => get(`${of('private').uuid}/description`)],
  ]
  it.each(refusals)('is refused with the recorded response: %s', async (name, ask) => {
    expect(refusalOf((await ask()).json())).toEqual(refusalOf(recorded('videos', name).body))
  })

  it('opens with its password', async () => {
    const answer = await get(of('password').uuid, { 'x-peertube-video-password': 'pass word 1' })
    expect(answer.statusCode).toBe(200)
  })

  it.each(['latin1', 'utf8'] as const)('opens with a non-ASCII password: %s', async (encoding) => {
    const { uuid } = await makeVideo(server.db, {
      channelId: server.users.user.channelId,
      passwords: ['S\u00e9same'],
      columns: { privacy: 5 },
    })
    for (const form of encoding === 'utf8' ? ['NFC', 'NFD'] : ['NFC']) {
      const sent = Buffer.from('S\u00e9same'.normalize(form), encoding).toString('latin1')
      expect((await get(uuid, { 'x-peertube-video-password': sent })).statusCode).toBe(200)
    }
  })

  it('has the whole description and the metadata of its files for authorized users', async () => {
    const { uuid } = of('alpha')
    expect((await get(`${uuid}/description`)).json().description).toHaveLength(304)
    const file = (name: string) => `${uuid}/metadata/${of(name).webVideo?.id}`
    expect((await get(file('alpha'))).json()).toMatchObject({ streams: [] })
    expect((await get(file('private'))).statusCode).toBe(401)
    expect((await get(`${uuid}/metadata/424242`)).statusCode).toBe(404)
  })

  it('of another server has the URLs of its origin', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const origin = `https://${host}`
    const { uuid, url } = await makeVideo(server.db, {
      channelId,
      remoteOrigin: origin,
      columns: { privacy: 2 },
      hls: { resolution: 720, playlistUrl: `${origin}/hls/master.m3u8` },
    })
    const body = (await get(uuid)).json()
    expect(body).toMatchObject({ isLocal: false, url, channel: { host, isLocal: false }, account: { host } })
    expect(body.streamingPlaylists[0].playlistUrl).toBe(`${origin}/hls/master.m3u8`)
    expect(body.streamingPlaylists[0].files[0].fileUrl).toMatch(`${origin}/hls/`)
  })

  it('has constants with names', async () => {
    const answer = await server.app.inject({ url: '/api/v1/videos/categories' })
    expect(answer.json()).toMatchObject({ 1: 'Music', 18: 'Food' })
  })
})

describe('the secrets of a video', () => {
  const max = 5
  let limited: VideoServer
  let [locked, other]: MadeVideo[] = []
  beforeAll(async () => {
    limited = await startVideoServer({ rates_limit: { login: { max } } })
    const { channelId } = limited.users.user
    const columns = { privacy: 5 }
    const make = () => makeVideo(limited.db, { channelId, passwords: ['right'], columns })
    ;[locked, other] = [await make(), await make()]
  })
  afterAll(() => limited?.stop())

  const statusOf = async (url: string, remoteAddress: string, headers = {}) =>
    (await limited.app.inject({ url, headers, remoteAddress })).statusCode
  const look = (video: MadeVideo | undefined, password: string, address: string) =>
    statusOf(`/api/v1/videos/${video?.uuid}`, address, { 'x-peertube-video-password': password })
  const folderOf = (video: MadeVideo | undefined) => `/static/streaming-playlists/hls/private/${video?.uuid}/master.m3u8`
  const [guesser, viewer, player] = ['198.51.100.1', '198.51.100.2', '198.51.100.3']

  it('have limited attempts: a password, by one address and by all together', async () => {
    for (let tried = 0; tried < max; tried++) expect(await look(locked, 'wrong', guesser)).toBe(403)
    expect(await look(locked, 'right', guesser)).toBe(429)
    expect(await look(locked, 'right', viewer)).toBe(200)
    expect(await look(other, 'right', guesser)).toBe(200)
    const issued = await limited.app.inject({
      method: 'POST',
      url: `/api/v1/videos/${locked?.uuid}/token`,
      remoteAddress: viewer,
      headers: { 'x-peertube-video-password': 'right' },
    })
    const read = (token: string, address: string) => statusOf(`${folderOf(locked)}?videoFileToken=${token}`, address)
    const asBefore = await read(issued.json().files.token, viewer)
    for (let tried = 0; tried < 9 * max; tried++) await look(locked, 'wrong', `203.0.113.${tried}`)
    expect(await look(locked, 'right', viewer)).toBe(429)
    // Viewers with access are not interrupted.
    expect(await read(issued.json().files.token, viewer)).toBe(asBefore)
    expect([200, 404]).toContain(asBefore)
    expect(await look(other, 'right', viewer)).toBe(200)
  })

  it('have limited attempts: simultaneous ones', async () => {
    const columns = { privacy: 5 }
    const third = await makeVideo(limited.db, { channelId: limited.users.user.channelId, passwords: ['x1'], columns })
    const tries = Array.from({ length: 40 }, (_, index) => look(third, `wrong ${index}`, '198.51.100.4'))
    const checked = (await Promise.all(tries)).filter((status) => status === 403).length
    expect(checked).toBeGreaterThanOrEqual(max)
    // Attempts that were being checked at the limit are answered.
    expect(checked).toBeLessThan(max + 4)
  })

  it('have limited attempts: a file token, and the password on the page', async () => {
    const read = () => statusOf(`${folderOf(other)}?videoFileToken=wrong`, player)
    for (let tried = 0; tried < max; tried++) expect(await read()).toBe(403)
    expect(await read()).toBe(429)
    const type = async (password: string) => {
      const request = { method: 'POST', url: `/w/${other?.uuid}`, remoteAddress: viewer } as const
      const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
      return (await limited.app.inject({ ...request, headers, payload: `password=${password}` })).statusCode
    }
    for (let tried = 0; tried < max; tried++) expect(await type('wrong')).toBe(403)
    expect(await type('right')).toBe(429)
  })
})
