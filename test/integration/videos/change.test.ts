// Changes and removal of videos: permissions, rows and files, and activities.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { hlsFile, webVideoFile } from '../../../src/media/index.ts'
import { type MadeVideo, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { until } from '../../support/until.ts'
import { recorded, refusalOf } from './recorded.ts'
import { startVideoServer, type VideoServer } from './server.ts'

let server: VideoServer
let video: MadeVideo

beforeAll(async () => {
  server = await startVideoServer()
})
afterAll(() => server.stop())

beforeEach(async () => {
  const { channelId } = server.users.user
  video = await makeVideo(server.db, { channelId, webVideo: { resolution: 240 }, hls: { resolution: 240 } })
  for (const ref of filesOf(video, false)) await server.store.put(ref, Buffer.from(ref.name))
  await server.store.put({ kind: 'thumbnails', name: video.thumbnail }, Buffer.from('old'))
  await server.store.put({ kind: 'previews', name: video.preview }, Buffer.from('old'))
  server.events.length = 0
})

const filesOf = ({ uuid, hls, webVideo }: MadeVideo, isPrivate: boolean) => [
  ...[hls?.master, hls?.playlist, hls?.fragmented, hls?.sha256].map((name) => hlsFile(uuid, name ?? '', isPrivate)),
  webVideoFile(webVideo?.filename ?? '', isPrivate),
]

type Who = keyof VideoServer['users']

const put = (body: object, as?: Who, key: string | number = video.uuid) =>
  server.app.inject({
    method: 'PUT',
    url: `/api/v1/videos/${key}`,
    payload: body,
    headers: { 'content-type': 'application/json', ...(as ? server.as(as) : {}) },
  })
const remove = (as?: Who, key: string | number = video.uuid) =>
  server.app.inject({ method: 'DELETE', url: `/api/v1/videos/${key}`, headers: as ? server.as(as) : {} })
const read = async (as: Who = 'user') => (await server.app.inject({ url: `/api/v1/videos/${video.uuid}`, headers: server.as(as) })).json()

const emitted = (name: string) => until(async () => server.events.some((event) => event.name === name))

describe('a change of a video', () => {
  it('sets every field, sends an Update, and clears fields with null', async () => {
    const fields = {
      name: 'updated',
      category: 3,
      licence: 3,
      language: 'es',
      nsfw: true,
      description: 'new description',
      support: 'new support',
      tags: ['new1', 'new2', 'new1'],
      commentsPolicy: 3,
      downloadEnabled: false,
      waitTranscoding: false,
      originallyPublishedAt: '2021-01-01T00:00:00.000Z',
      privacy: 1,
    }
    expect((await put(fields, 'user')).statusCode).toBe(204)
    expect(await read()).toMatchObject({
      name: 'updated',
      category: { id: 3, label: 'Vehicles' },
      licence: { id: 3 },
      language: { id: 'es' },
      nsfw: true,
      description: 'new description',
      support: 'new support',
      tags: ['new1', 'new2'],
      commentsPolicy: { id: 3, label: 'Requires approval' },
      commentsEnabled: true,
      downloadEnabled: false,
      originallyPublishedAt: '2021-01-01T00:00:00.000Z',
    })
    await emitted('VideoUpdated')

    const nothing = { category: null, licence: null, language: null, description: null, support: null, tags: null }
    expect((await put({ ...nothing, originallyPublishedAt: null }, 'user')).statusCode).toBe(204)
    expect(await read()).toMatchObject({
      category: { id: null, label: 'Unknown' },
      description: null,
      tags: [],
      originallyPublishedAt: null,
    })
    // Words with a special meaning in PostgreSQL array literals.
    expect((await put({ tags: ['null', ' two\\tabs ', '"a, b"', '{c}'] }, 'user')).statusCode).toBe(204)
    expect(await read()).toMatchObject({ tags: ['null', 'two\\tabs', '"a, b"', '{c}'] })
    expect((await put({}, 'user')).statusCode).toBe(204)
    expect((await put({ commentsEnabled: false }, 'moderator')).statusCode).toBe(204)
    expect(await read()).toMatchObject({ commentsPolicy: { id: 2 } })
  })

  const refusals: [string, object, Who][] = [
    ['update: other user', { name: 'hello' }, 'other'],
    ['update: bad name', { name: 'a' }, 'user'],
    ['update: bad category', { category: 125 }, 'user'],
    ['update: bad tags', { tags: ['a', 'bb'] }, 'user'],
    ['update: to password without passwords', { privacy: 5 }, 'user'],
    ['update: bad channelId', { channelId: 424242 }, 'user'],
  ]
  it.each(refusals)('is refused with the recorded response: %s', async (name, body, as) => {
    const answer = await put(body, as)
    expect(refusalOf(answer.json())).toEqual(refusalOf(recorded('videos', name).body))
    expect(server.events).toEqual([])
  })

  it('is refused for visitors, for unknown ids, into channels of others and with invalid booleans', async () => {
    expect((await put({ name: 'hello' })).statusCode).toBe(401)
    expect((await put({ name: 'hello' }, 'user', 424242)).statusCode).toBe(404)
    expect((await put({ name: 'hello' }, 'user', 'blabla')).statusCode).toBe(400)
    expect((await put({ channelId: server.users.other.channelId }, 'user')).statusCode).toBe(400)
    expect((await put({ nsfw: 'yes' }, 'user')).json()).toHaveProperty('invalid-params.nsfw')
  })

  it('is refused for remote videos, also for the staff', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const { uuid } = await makeVideo(server.db, { channelId, remoteOrigin: `https://${host}` })
    expect((await put({ name: 'hello' }, 'admin', uuid)).statusCode).toBe(403)
    expect((await remove('admin', uuid)).statusCode).toBe(403)
  })

  it('to private moves the files and sends a Delete; back to public sends a Create', async () => {
    expect((await put({ privacy: 3 }, 'user')).statusCode).toBe(204)
    for (const ref of filesOf(video, true)) expect(await server.store.stat(ref)).toBeDefined()
    for (const ref of filesOf(video, false)) expect(await server.store.stat(ref)).toBeUndefined()
    await emitted('VideoRemoved')
    const { actorId: accountActorId, channelActorId } = server.users.user
    expect(server.events.at(-1)?.payload).toEqual({ videoId: video.id, url: video.url, accountActorId, channelActorId })

    const before = (await read()).publishedAt
    expect((await put({ privacy: 1 }, 'user')).statusCode).toBe(204)
    for (const ref of filesOf(video, false)) expect(await server.store.stat(ref)).toBeDefined()
    await emitted('VideoPublished')
    expect((await read()).publishedAt > before).toBe(true)
  })

  it('of the privacy by concurrent requests leaves the files where the last one wants them', async () => {
    const privacies = [3, 1, 4, 2, 3, 1, 3]
    await Promise.all(privacies.map((privacy) => put({ privacy }, 'user')))
    const isPrivate = [3, 4, 5].includes((await read()).privacy.id)
    await until(async () => {
      const places = await Promise.all(filesOf(video, isPrivate).map((ref) => server.store.stat(ref)))
      return places.every((place) => place !== undefined)
    })
    for (const ref of filesOf(video, !isPrivate)) expect(await server.store.stat(ref)).toBeUndefined()
  })

  it('keeps passwords only while the video is protected by them', async () => {
    expect((await put({ privacy: 5, videoPasswords: ['one password', 'two password'] }, 'user')).statusCode).toBe(204)
    const ask = (password: string) =>
      server.app.inject({
        url: `/api/v1/videos/${video.uuid}`,
        headers: { 'x-peertube-video-password': password },
      })
    expect((await ask('two password')).statusCode).toBe(200)
    expect((await put({ privacy: 5, name: 'still protected' }, 'user')).statusCode).toBe(400)
    expect((await put({ name: 'still protected' }, 'user')).statusCode).toBe(204)
    expect((await ask('one password')).statusCode).toBe(200)
    await put({ privacy: 1 }, 'user')
    expect(await server.db.query('select 1 from video_password where video_id = $1', [video.id])).toEqual([])
  })

  it('accepts passwords in any Unicode normalisation, also those that were set before', async () => {
    const composed = 'caf\u00e9 secret'
    const ask = async () =>
      (
        await server.app.inject({
          url: `/api/v1/videos/${video.uuid}`,
          headers: { 'x-peertube-video-password': composed },
        })
      ).statusCode
    const stored = () => server.db.query('select password from video_password where video_id = $1', [video.id])
    await put({ privacy: 5, videoPasswords: [composed.normalize('NFD')] }, 'user')
    expect([await ask(), await stored()]).toEqual([200, [{ password: composed }]])
    await server.db.query('update video_password set password = $2 where video_id = $1', [video.id, composed.normalize('NFD')])
    expect(await ask()).toBe(200)
  })

  it('of the privacy can be scheduled', async () => {
    const past = new Date(Date.now() - 1000).toISOString()
    const future = new Date(Date.now() + 86_400_000).toISOString()
    await put({ privacy: 3, scheduleUpdate: { updateAt: future, privacy: 1 } }, 'user')
    expect((await read()).scheduledUpdate).toEqual({ updateAt: future, privacy: 1 })
    await put({ privacy: 1 }, 'user')
    const listed = await server.app.inject('/api/v1/videos')
    const seen = listed.json<{ data: { uuid: string }[] }>().data.find(({ uuid }) => uuid === video.uuid)
    expect(seen).toBeDefined()
    expect(seen).not.toHaveProperty('scheduledUpdate')
    await put({ privacy: 3 }, 'user')
    await put({ scheduleUpdate: null }, 'user')
    expect(await read()).not.toHaveProperty('scheduledUpdate')
    await put({ scheduleUpdate: { updateAt: past, privacy: 1 } }, 'user')
    await until(async () => (await read()).privacy.id === 1)
    await emitted('VideoPublished')
    expect(await read()).not.toHaveProperty('scheduledUpdate')
  })

  it('by a form replaces pictures, and removes the old files', async () => {
    const jpeg = await sharp({ create: { width: 900, height: 500, channels: 3, background: '#283' } })
      .jpeg()
      .toBuffer()
    const answer = await putForm({ thumbnailfile: jpeg, previewfile: jpeg }, { name: 'with pictures', nsfw: 'true' })
    expect(answer.statusCode).toBe(204)
    const after = await read()
    expect(after).toMatchObject({ name: 'with pictures', nsfw: true })
    expect(after.thumbnailPath).not.toContain(video.thumbnail)
    const picture = await server.app.inject({ url: after.previewPath })
    expect(await sharp(picture.rawPayload).metadata()).toMatchObject({ width: 850, height: 480 })
    expect(await server.store.stat({ kind: 'thumbnails', name: video.thumbnail })).toBeUndefined()
    expect(await server.db.query('select 1 from pending_file')).toEqual([])
  })

  it('with an invalid picture is refused and leaves nothing behind', async () => {
    const answer = await putForm({ thumbnailfile: Buffer.from('no picture') }, {})
    expect(answer.json()).toMatchObject({ status: 400, 'invalid-params': { thumbnailfile: {} } })
    expect((await read()).thumbnailPath).toContain(video.thumbnail)
    expect(await server.db.query('select 1 from pending_file')).toEqual([])
  })
})

function putForm(files: Record<string, Buffer>, fields: Record<string, string>) {
  const boundary = 'boundary'
  const part = (name: string, extra: string, body: Buffer) =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${extra}\r\n\r\n`),
      body,
      Buffer.from('\r\n'),
    ])
  const payload = Buffer.concat([
    ...Object.entries(fields).map(([name, value]) => part(name, '', Buffer.from(value))),
    ...Object.entries(files).map(([name, body]) => part(name, '; filename="a.jpg"\r\nContent-Type: image/jpeg', body)),
    Buffer.from(`--${boundary}--\r\n`),
  ])
  return server.app.inject({
    method: 'PUT',
    url: `/api/v1/videos/${video.uuid}`,
    payload,
    headers: { ...server.as('user'), 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
}

describe('the removal of a video', () => {
  it('hides it at once, sends a Delete, and removes its files and rows', async () => {
    expect((await remove('user')).statusCode).toBe(204)
    expect((await remove('user')).statusCode).toBe(404)
    expect((await read()).status).toBe(404)
    await emitted('VideoRemoved')
    await until(async () => (await server.db.query('select 1 from video where id = $1', [video.id])).length === 0)
    const pictures = [
      { kind: 'thumbnails', name: video.thumbnail },
      { kind: 'previews', name: video.preview },
    ] as const
    for (const ref of [...filesOf(video, false), ...pictures]) expect(await server.store.stat(ref)).toBeUndefined()
  })

  it('is allowed for moderators, and refused for visitors and other users', async () => {
    expect((await remove()).statusCode).toBe(401)
    expect((await remove('other')).statusCode).toBe(403)
    expect((await remove('user', 'hello')).statusCode).toBe(400)
    expect((await remove('moderator')).statusCode).toBe(204)
    await emitted('VideoRemoved')
  })

  it('of a video that was never sent sends nothing', async () => {
    await server.db.query('update video set privacy = 3 where id = $1', [video.id])
    await remove('user')
    await until(async () => (await server.db.query('select 1 from video where id = $1', [video.id])).length === 0)
    expect(server.events).toEqual([])
  })

  it('completes when its job was lost', async () => {
    await server.db.query("update video set state = 'removed' where id = $1", [video.id])
    await server.runtime.registry.periodics.get('video-removal')?.run()
    await until(async () => (await server.db.query('select 1 from video where id = $1', [video.id])).length === 0)
  })
})
