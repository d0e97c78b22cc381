// Uploads in one request: every field, every refusal, and cleanup.

import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { type MediaName, media } from '../../support/media.ts'
import { eventually } from '../../support/until.ts'
import { allFiles, type Disk, makeDisk, NOTHING, rowCounts, startNode, type UploadNode } from './node.ts'

let disk: Disk
let node: UploadNode
beforeAll(async () => {
  disk = await makeDisk()
  node = await startNode(disk)
})
afterAll(async () => {
  await node.stop()
  await disk.remove()
})
afterEach(async () => {
  await node.db.query('delete from video')
  await node.db.query('update users set video_quota = -1, video_quota_daily = -1')
  await disk.store.clear()
})

type Value = string | { path: string; filename: string }

async function form(fields: Record<string, Value | undefined>): Promise<FormData> {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    if (typeof value === 'string') data.append(name, value)
    else data.append(name, new Blob([await readFile(value.path)], { type: 'video/mp4' }), value.filename)
  }
  return data
}

const video = async (name: MediaName = 'small.mp4', filename: string = name) => ({ path: await media(name), filename })

const minimal = async () => ({
  name: 'A name',
  channelId: String(disk.users.owner.channelId),
  videofile: await video(),
})

async function upload(fields: Record<string, Value | undefined>, token: string | null = disk.users.owner.token) {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(`${node.base}/api/v1/videos/upload`, { method: 'POST', headers, body: await form(fields) })
  return { status: answer.status, type: answer.headers.get('content-type'), body: JSON.parse(await answer.text()) }
}

async function expectNothingLeft(): Promise<void> {
  await eventually(async () => {
    expect(await rowCounts(node.db)).toEqual(NOTHING)
    expect(await allFiles(disk)).toEqual([])
  })
}

describe('an upload in one request', () => {
  it('creates a private video from a name, a channel and a file', async () => {
    const { status, body } = await upload(await minimal())
    expect(status).toBe(200)
    expect(body).toEqual({
      video: { id: expect.any(Number), uuid: expect.stringMatching(/^[0-9a-f-]{36}$/), shortUUID: expect.any(String) },
    })
    const [row] = await node.db.query('select * from video where id = $1', [body.video.id])
    expect(row).toMatchObject({
      uuid: body.video.uuid,
      url: `http://localhost:9000/videos/watch/${body.video.uuid}`,
      name: 'A name',
      privacy: 3,
      state: 'published',
      duration: 2,
      aspect_ratio: 1.3333,
      category: null,
      comments_policy: 1,
      download_enabled: true,
      tags: [],
    })
    const [file] = await node.db.query<{ filename: string }>('select * from video_file')
    expect(file).toMatchObject({ resolution: 240, width: 320, height: 240, fps: 25, extname: '.mp4', streams: 3 })
    expect(file?.filename).toMatch(/^[0-9a-f-]{36}-240\.mp4$/)
    await eventually(async () =>
      expect(await allFiles(disk)).toEqual([
        expect.stringMatching(/^previews\/.*\.jpg$/),
        expect.stringMatching(/^thumbnails\/.*\.jpg$/),
        `web_videos/private/${file?.filename}`,
      ]),
    )
    await eventually(async () => expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0, upload: 0, thumbnail: 2 }))
  })

  it('stores every field', async () => {
    const picture = { path: await media('picture.png'), filename: 'picture.png' }
    const { status, body } = await upload({
      ...(await minimal()),
      category: '5',
      licence: '4',
      language: 'zh',
      privacy: '1',
      nsfw: 'true',
      description: 'my description',
      support: 'my support',
      waitTranscoding: 'true',
      commentsPolicy: '3',
      downloadEnabled: 'false',
      originallyPublishedAt: '2020-01-02T03:04:05.000Z',
      'tags[0]': 'tag one',
      'tags[1]': 'tag two',
      'scheduleUpdate[updateAt]': '2100-01-01T00:00:00Z',
      'scheduleUpdate[privacy]': '2',
      thumbnailfile: picture,
      previewfile: picture,
    })
    expect(status).toBe(200)
    const [row] = await node.db.query('select * from video where id = $1', [body.video.id])
    expect(row).toMatchObject({
      category: 5,
      licence: 4,
      language: 'zh',
      privacy: 1,
      nsfw: true,
      description: 'my description',
      support: 'my support',
      wait_transcoding: true,
      comments_policy: 3,
      download_enabled: false,
      originally_published_at: new Date('2020-01-02T03:04:05.000Z'),
      tags: ['tag one', 'tag two'],
    })
    expect(await node.db.query('select update_at, privacy from video_schedule')).toEqual([
      { update_at: new Date('2100-01-01T00:00:00Z'), privacy: 2 },
    ])
    expect(await node.db.query('select type, width, height, automatically_generated from thumbnail order by type')).toEqual([
      { type: 1, width: 280, height: 157, automatically_generated: false },
      { type: 2, width: 850, height: 480, automatically_generated: false },
    ])
  })

  it('stores passwords, in their order', async () => {
    const { status } = await upload({
      ...(await minimal()),
      privacy: '5',
      'videoPasswords[0]': 'second thought',
      'videoPasswords[1]': 'first thought',
    })
    expect(status).toBe(200)
    expect(await node.db.query('select password from video_password order by id')).toEqual([
      { password: 'second thought' },
      { password: 'first thought' },
    ])
  })

  it('accepts the old commentsEnabled, and lenient booleans', async () => {
    const { body } = await upload({
      ...(await minimal()),
      commentsEnabled: 'false',
      nsfw: '2',
      waitTranscoding: 'hello',
    })
    expect(await node.db.query('select comments_policy, nsfw from video where id = $1', [body.video.id])).toEqual([
      { comments_policy: 2, nsfw: false },
    ])
  })

  it('takes a video without sound', async () => {
    const { status } = await upload({ ...(await minimal()), videofile: await video('silent.mp4') })
    expect(status).toBe(200)
    expect(await node.db.query('select streams from video_file')).toEqual([{ streams: 1 }])
  })
})

describe('an upload in one request is refused', () => {
  const bad: [what: string, fields: Record<string, string | undefined>, named: string[]][] = [
    ['without name', { name: undefined }, ['name']],
    ['with a short name', { name: 'ab' }, ['name']],
    ['with a long name', { name: 'a'.repeat(121) }, ['name']],
    ['without channel', { channelId: undefined }, ['channelId']],
    ['with a channel that is no number', { channelId: 'abc' }, ['channelId']],
    ['with a bad category', { category: '125' }, ['category']],
    ['with a bad licence', { licence: '125' }, ['licence']],
    ['with a bad language', { language: 'aaaaaaaaaaaaaaa' }, ['language']],
    ['with a bad privacy', { privacy: '42' }, ['privacy']],
    ['with a bad comments policy', { commentsPolicy: '42' }, ['commentsPolicy']],
    ['with a long description', { description: 'a'.repeat(10_001) }, ['description']],
    ['with a long support', { support: 'a'.repeat(1001) }, ['support']],
    ['with a bad date', { originallyPublishedAt: 'toto' }, ['originallyPublishedAt']],
    ['with too many tags', { 'tags[]': 'a', 'tags[1]': 'b' }, ['tags']],
    [
      'with a bad schedule',
      { 'scheduleUpdate[updateAt]': 'toto', 'scheduleUpdate[privacy]': '42' },
      ['scheduleUpdate.updateAt', 'scheduleUpdate.privacy'],
    ],
    ['with several faults at once', { name: 'a', category: '125', privacy: '42' }, ['name', 'privacy', 'category']],
  ]
  it.each(bad)('%s', async (_what, fields, named) => {
    const { status, type, body } = await upload({ ...(await minimal()), ...fields })
    expect(type).toContain('application/problem+json')
    expect(status).toBe(400)
    expect(Object.keys(body['invalid-params']).sort()).toEqual([...named].sort())
    await expectNothingLeft()
  })

  it('without a file', async () => {
    const { status, body } = await upload({ ...(await minimal()), videofile: undefined })
    expect({ status, named: Object.keys(body['invalid-params']) }).toEqual({ status: 400, named: ['videofile'] })
    await expectNothingLeft()
  })

  it('with an invalid field after the file', async () => {
    const { status } = await upload({ videofile: await video(), name: 'A name', channelId: 'x' })
    expect(status).toBe(400)
    await expectNothingLeft()
  })

  it.each<[what: string, name: MediaName, status: number]>([
    ['a text file', 'text.mp4', 422],
    ['a playlist', 'playlist.mp4', 422],
    ['a concat script', 'concat.mp4', 422],
    ['a truncated file', 'truncated.mp4', 422],
    ['a truncated file that begins with its index', 'truncated-faststart.mp4', 422],
    ['an empty file', 'empty.mp4', 422],
    ['a sound file', 'sound.ogg', 415],
    ['an uncommon container', 'odd.mkv', 415],
  ])('with %s', async (_what, name, status) => {
    const answer = await upload({ ...(await minimal()), videofile: await video(name) })
    expect({ status: answer.status, type: answer.type }).toEqual({
      status,
      type: expect.stringContaining('application/problem+json'),
    })
    expect(JSON.stringify(answer.body)).not.toContain('/tmp')
    await expectNothingLeft()
  })

  it('with an audio file that claims to be a video', async () => {
    const { status } = await upload({ ...(await minimal()), videofile: await video('sound.ogg', 'sound.mp4') })
    expect(status).toBe(415)
    await expectNothingLeft()
  })

  it('with an extension that is not accepted', async () => {
    const { status } = await upload({ ...(await minimal()), videofile: await video('small.mp4', 'small.txt') })
    expect(status).toBe(415)
    await expectNothingLeft()
  })

  it('with pictures that are not images', async () => {
    const text = join(disk.folder, '..', `${disk.folder.split('/').at(-1)}-text.jpg`)
    await writeFile(text, 'no picture')
    const wrong = [await video(), { path: text, filename: 'text.jpg' }]
    for (const field of ['thumbnailfile', 'previewfile']) {
      for (const file of wrong) {
        const { status, body } = await upload({ ...(await minimal()), [field]: file })
        expect({ status, named: Object.keys(body['invalid-params'] ?? {}) }).toEqual({ status: 400, named: [field] })
        await expectNothingLeft()
      }
    }
  })

  it('for a channel of another user, and for an unknown one', async () => {
    for (const channelId of [String(disk.users.other.channelId), '424242']) {
      const { status, body } = await upload({ ...(await minimal()), channelId })
      expect({ status, named: body['invalid-params'] }).toEqual({ status: 400, named: undefined })
      await expectNothingLeft()
    }
  })

  it('with privacy by password without passwords', async () => {
    const { status } = await upload({ ...(await minimal()), privacy: '5' })
    expect(status).toBe(400)
    await expectNothingLeft()
  })

  it.each(['video_quota', 'video_quota_daily'])('over the %s', async (quota) => {
    await node.db.query(`update users set ${quota} = 1000`)
    const { status, body } = await upload(await minimal())
    expect({ status, code: body.code }).toEqual({ status: 413, code: 'quota_reached' })
    await expectNothingLeft()
  })

  it('of two that together exceed the quota, one', async () => {
    const { size } = await import('node:fs/promises').then(async ({ stat }) => stat(await media('small.mp4')))
    await node.db.query('update users set video_quota = $1', [Math.floor(size * 1.5)])
    const answers = await Promise.all([upload(await minimal()), upload(await minimal())])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 413])
    await eventually(async () => {
      expect(await rowCounts(node.db)).toMatchObject({ video: 1, thumbnail: 2, pending_file: 0 })
      expect(await allFiles(disk)).toHaveLength(3)
    })
  })

  it('without a token', async () => {
    const { status, body } = await upload(await minimal(), null)
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'unauthorized_request' })
    await expectNothingLeft()
  })

  it('and leaves nothing when the client disconnects half-way', async () => {
    const { hostname, port } = new URL(node.base)
    const socket = connect(Number(port), hostname)
    const body = `--b\r\ncontent-disposition: form-data; name="videofile"; filename="a.mp4"\r\n\r\n${'x'.repeat(100_000)}`
    const head = [
      'POST /api/v1/videos/upload HTTP/1.1',
      `host: ${hostname}`,
      `authorization: Bearer ${disk.users.owner.token}`,
      'content-type: multipart/form-data; boundary=b',
      'content-length: 5000000',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    await eventually(async () => expect(await allFiles(disk)).toEqual([expect.stringMatching(/^tmp\/form-.*\/video$/)]))
    socket.destroy()
    await expectNothingLeft()
  })
})
