// Video files over HTTP: ranges, conditional requests, types, access to private files; pictures of other servers.

import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { fileKinds, hlsFile, MediaError, webVideoFile } from '../../../src/media/index.ts'
import { FetchError } from '../../../src/platform/fetch/index.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { type MadeVideo, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { PRIVATE_FILE } from '../../support/private-file-headers.ts'
import { inObjectStorage } from '../../support/test-store.ts'
import { until } from '../../support/until.ts'
import { recorded, refusalOf } from './recorded.ts'
import { startVideoServer, type VideoServer } from './server.ts'

let server: VideoServer
let open: MadeVideo
let hidden: MadeVideo
let locked: MadeVideo
const bytes = Buffer.from(Array.from({ length: 30175 }, (_, index) => index % 251))

beforeAll(async () => {
  server = await startVideoServer({ vireo: { federation: { fetch: { file_wait: '1 second' } } } })
  await server.app.listen({ host: '127.0.0.1', port: 0 })
  const make = async (privacy: number, passwords: string[] = []) => {
    const files = { webVideo: { resolution: 240 }, hls: { resolution: 240 } }
    const { channelId } = server.users.user
    const video = await makeVideo(server.db, { channelId, passwords, columns: { privacy }, ...files })
    await server.store.put(webVideoFile(video.webVideo?.filename ?? '', privacy > 2), bytes)
    await server.store.put(hlsFile(video.uuid, video.hls?.master ?? '', privacy > 2), Buffer.from('#EXTM3U\n'))
    await server.store.put(hlsFile(video.uuid, video.hls?.sha256 ?? '', privacy > 2), Buffer.from('{}'))
    return video
  }
  open = await make(1)
  hidden = await make(3)
  locked = await make(5, ['a password'])
})
afterAll(() => server.stop())

const file = (video: MadeVideo, folder = '') => `/static/web-videos/${folder}${video.webVideo?.filename}`
const master = (video: MadeVideo, folder = '') => `/static/streaming-playlists/hls/${folder}${video.uuid}/${video.hls?.master}`
const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  server.app.inject({ method, url, headers })
/** A file that the server sends itself: buckets serve public ones, and the server those of private videos. */
const sentHere = () =>
  inObjectStorage
    ? { path: file(hidden, 'private/'), as: server.as('user'), cacheControl: 'public, max-age=0' }
    : { path: file(open), as: {}, cacheControl: 'public, max-age=7200' }
const getHere = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  get(sentHere().path, { ...headers, ...sentHere().as }, method)
/** The response after redirects, as players get it. */
async function follow(url: string, headers: Record<string, string> = {}) {
  const answer = await get(url, headers)
  if (answer.statusCode !== 302) {
    return { status: answer.statusCode, type: answer.headers['content-type'], bytes: answer.rawPayload }
  }
  const sent = await fetch(String(answer.headers.location), { headers })
  return { status: sent.status, type: sent.headers.get('content-type'), bytes: Buffer.from(await sent.arrayBuffer()) }
}

describe('a web video', () => {
  it('is sent completely, with headers for caches and players', async () => {
    const answer = await getHere()
    expect(answer.statusCode).toBe(200)
    expect(answer.rawPayload.equals(bytes)).toBe(true)
    expect(answer.headers).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': '30175',
      'accept-ranges': 'bytes',
      'cache-control': sentHere().cacheControl,
      etag: expect.stringMatching(/^"/),
      'last-modified': expect.stringMatching(/GMT$/),
    })
  })

  it('is served completely and in ranges to everybody, from any store', async () => {
    const whole = await follow(file(open))
    expect(whole).toEqual({ status: 200, type: 'video/mp4', bytes })
    const part = await follow(file(open), { range: 'bytes=100-199' })
    expect(part).toEqual({ status: 206, type: 'video/mp4', bytes: bytes.subarray(100, 200) })
    const { statusCode, headers } = await get(file(open))
    expect({ statusCode, cached: headers['cache-control'] }).toEqual({
      statusCode: inObjectStorage ? 302 : 200,
      cached: 'public, max-age=7200',
    })
  })

  it('answers HEAD with its length and no bytes', async () => {
    const answer = await getHere({}, 'HEAD')
    expect(answer.headers['content-length']).toBe('30175')
    expect(answer.rawPayload).toHaveLength(0)
    for (const range of ['bytes=0-9', 'bytes=9999999-']) {
      const part = await getHere({ range }, 'HEAD')
      expect([part.statusCode, part.headers['content-length'], part.headers['content-range']]).toEqual([200, '30175', undefined])
    }
  })

  const ranges: [string, number, number, string | undefined][] = [
    ['bytes=0-99', 206, 100, 'bytes 0-99/30175'],
    ['bytes=100-', 206, 30075, 'bytes 100-30174/30175'],
    ['bytes=-100', 206, 100, 'bytes 30075-30174/30175'],
    ['bytes=30174-99999', 206, 1, 'bytes 30174-30174/30175'],
    ['bytes=-99999', 206, 30175, 'bytes 0-30174/30175'],
    ['bytes=0-9,20-29', 200, 30175, undefined],
    ['hello', 200, 30175, undefined],
    ['bytes=9-2', 200, 30175, undefined],
  ]
  it.each(ranges)('answers the range %s with %i and %i bytes', async (range, status, length, contentRange) => {
    const answer = await getHere({ range })
    expect(answer.statusCode).toBe(status)
    expect(answer.rawPayload).toHaveLength(length)
    expect(answer.headers['content-range']).toBe(contentRange)
    const start = Number(/bytes (\d+)/.exec(contentRange ?? '')?.[1] ?? 0)
    expect(answer.rawPayload.equals(bytes.subarray(start, start + length))).toBe(true)
  })

  it('refuses a range beyond its end with the recorded response', async () => {
    const answer = await getHere({ range: 'bytes=9999999-' })
    const expected = recorded('static', 'public web video, Range bytes=9999999-')
    expect(refusalOf(answer.json())).toEqual(refusalOf(expected.body))
    expect(answer.headers['content-range']).toBe('bytes */30175')
    for (const name of ['accept-ranges', 'cache-control', 'etag']) expect(answer.headers).toHaveProperty(name)
  })

  it('is 304 for clients with this version, and a range of an old version gets the new file completely', async () => {
    const { etag = '', 'last-modified': date = '' } = (await getHere()).headers
    const day = 86_400_000
    for (const [headers, status] of [
      [{ 'if-match': String(etag) }, 200],
      [{ 'if-match': `"old", ${etag}` }, 200],
      [{ 'if-match': '*' }, 200],
      [{ 'if-match': '"old"' }, 412],
      [{ 'if-unmodified-since': String(date) }, 200],
      [{ 'if-unmodified-since': new Date(Date.parse(String(date)) - day).toUTCString() }, 412],
      [{ 'if-unmodified-since': 'nonsense' }, 200],
    ] as const) {
      expect([headers, (await getHere(headers)).statusCode]).toEqual([headers, status])
    }
    expect((await getHere({ 'if-none-match': String(etag) })).statusCode).toBe(304)
    expect((await getHere({ 'if-modified-since': String(date) })).statusCode).toBe(304)
    expect((await getHere({ 'if-none-match': '"old"', 'if-modified-since': String(date) })).statusCode).toBe(200)
    const part = { range: 'bytes=0-9' }
    expect((await getHere({ ...part, 'if-range': String(etag) })).statusCode).toBe(206)
    expect((await getHere({ ...part, 'if-range': String(date) })).statusCode).toBe(206)
    expect((await getHere({ ...part, 'if-range': '"old"' })).statusCode).toBe(200)
  })

  it.each([
    ['unknown-240.mp4', 404],
    ['..%2f..%2fsecret', 404],
    ['.incoming', 404],
    ['%00.mp4', 400],
    ['a%2fb.mp4', 404],
  ])('named %s is answered with %i', async (name, status) => {
    expect((await get(`/static/web-videos/${name}`)).statusCode).toBe(status)
    expect((await get(`/static/streaming-playlists/hls/${open.uuid}/${name}`)).statusCode).toBe(status)
    expect((await get(`/lazy-static/previews/${name}`)).statusCode).toBe(status)
  })

  it('of a private video is not served at a public URL', async () => {
    expect((await get(file(hidden))).statusCode).toBe(404)
    expect((await get(`/static/web-videos/private%2f${hidden.webVideo?.filename}`)).statusCode).toBe(404)
  })
})

describe('HLS files', () => {
  it('have the types that players expect', async () => {
    expect((await get(master(open))).headers['content-type']).toBe('application/vnd.apple.mpegurl')
    const hashes = `/static/streaming-playlists/hls/${open.uuid}/${open.hls?.sha256}`
    expect(await follow(hashes)).toEqual({
      status: 200,
      bytes: Buffer.from('{}'),
      type: expect.stringMatching(/^application\/json(; charset=UTF-8)?$/),
    })
  })

  it('of a private video are for its owner and the staff', async () => {
    const path = master(hidden, 'private/')
    expect((await get(path)).statusCode).toBe(403)
    expect((await get(path, server.as('other'))).statusCode).toBe(403)
    const answer = await get(path, server.as('user'))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/vnd.apple.mpegurl; charset=utf-8')
    expect(answer.headers).toMatchObject(PRIVATE_FILE)
    expect((await get(path, server.as('moderator'))).statusCode).toBe(200)
  })
})

describe('files of private videos', () => {
  it('are refused as recorded', async () => {
    const path = file(hidden, 'private/')
    const anonymous = recorded('static', 'vp private file: anonymous')
    expect(refusalOf((await get(path)).json())).toEqual(refusalOf(anonymous.body))
    const other = recorded('static', 'vp private file: other user')
    expect(refusalOf((await get(path, server.as('other'))).json())).toEqual(refusalOf(other.body))
    expect((await get(`${path}?videoFileToken=bad`)).statusCode).toBe(403)
    expect((await get('/static/web-videos/private/unknown.mp4', server.as('admin'))).statusCode).toBe(403)
    expect((await get(path, { authorization: 'Bearer wrong' })).statusCode).toBe(401)
  })

  it('open with a range for the owner, and with the password of the video', async () => {
    expect((await get(file(hidden, 'private/'), { ...server.as('user'), range: 'bytes=0-9' })).rawPayload).toHaveLength(10)
    const path = file(locked, 'private/')
    expect((await get(path, { 'x-peertube-video-password': 'a password' })).statusCode).toBe(200)
    expect((await get(path, { 'x-peertube-video-password': 'another' })).statusCode).toBe(403)
  })

  it('that just became public are still served at the old URL to authorized users', async () => {
    await server.db.query('update video set privacy = 3 where id = $1', [open.id])
    expect((await get(file(open, 'private/'), server.as('user'))).statusCode).toBe(200)
    await server.db.query('update video set privacy = 1 where id = $1', [open.id])
  })
})

describe('a client that reads nothing', () => {
  afterEach(() => server.configure({}))

  it('is disconnected', async () => {
    server.configure({ vireo: { delivery: { stall_timeout: '1 second' } } })
    const { channelId } = server.users.user
    const { webVideo } = await makeVideo(server.db, {
      channelId,
      columns: { privacy: 3 },
      webVideo: { resolution: 240 },
    })
    const large = webVideoFile(webVideo?.filename ?? '', true)
    await server.store.put(large, Buffer.alloc(32 << 20))
    const { port } = server.app.server.address() as AddressInfo
    const opened = Promise.withResolvers<Socket>()
    server.app.server.once('connection', opened.resolve)
    const reader = connect(port, '127.0.0.1').pause()
    const { authorization } = server.as('user')
    reader.write(`GET /static/web-videos/${large.name} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n\r\n`)
    const connection = await opened.promise
    await until(() => connection.destroyed)
    expect(connection.bytesWritten).toBeGreaterThan(1000)
    reader.destroy()
    await server.store.remove(large)
  })
})

describe('with a web server in front that sends the bytes', () => {
  afterEach(() => server.configure({}))

  const told = async (): Promise<void> => {
    server.configure({ vireo: { delivery: { x_accel_location: '/internal/' } } })
    const name = open.webVideo?.filename
    const answer = await get(file(open), { range: 'bytes=0-9' })
    expect(answer.statusCode).toBe(200)
    expect(answer.rawPayload).toHaveLength(0)
    expect(answer.headers).toMatchObject({
      'x-accel-redirect': `/internal/web_videos/${name}`,
      'content-type': 'video/mp4',
      'cache-control': 'public, max-age=7200',
    })
    for (const own of ['etag', 'last-modified', 'accept-ranges']) expect(answer.headers).not.toHaveProperty(own)
    expect((await get(master(hidden, 'private/'), server.as('user'))).headers).toMatchObject({
      'x-accel-redirect': `/internal/streaming_playlists/hls/private/${hidden.uuid}/${hidden.hls?.master}`,
      ...PRIVATE_FILE,
      'content-type': 'application/vnd.apple.mpegurl; charset=utf-8',
    })
    for (const path of [file(hidden), file(hidden, 'private/'), '/static/web-videos/unknown.mp4']) {
      const refusal = await get(path)
      expect(refusal.statusCode).toBeGreaterThanOrEqual(400)
      expect(refusal.headers).not.toHaveProperty('x-accel-redirect')
    }
  }
  /** It has no path of files in buckets. */
  const sentOn = async (): Promise<void> => {
    server.configure({ vireo: { delivery: { x_accel_location: '/internal/' } } })
    expect(await follow(file(open))).toMatchObject({ status: 200, bytes })
    const answer = await get(file(hidden, 'private/'), server.as('user'))
    expect(answer.rawPayload.equals(bytes)).toBe(true)
    expect(answer.headers).not.toHaveProperty('x-accel-redirect')
  }
  if (inObjectStorage) it('it gets no paths of files in buckets', sentOn)
  else it('it gets the file and its type, and nothing for unauthorized readers', told)

  it('playlists with a token are still sent by this server', async () => {
    server.configure({ vireo: { delivery: { x_accel_location: '/internal' } } })
    const { token } = (
      await server.app.inject({
        method: 'POST',
        url: `/api/v1/videos/${hidden.uuid}/token`,
        headers: server.as('user'),
      })
    ).json<{ files: { token: string } }>().files
    const answer = await get(`${master(hidden, 'private/')}?videoFileToken=${token}&reinjectVideoFileToken=true`)
    expect(answer.payload).toBe('#EXTM3U\n')
    expect(answer.headers).not.toHaveProperty('x-accel-redirect')
  })
})

describe('a path traversal', () => {
  const secret = 'a file that nobody may read'
  const names = [
    '..',
    '../secret',
    '../../secret',
    '..%2fsecret',
    '..%2f..%2fsecret',
    '%2e%2e%2fsecret',
    '%2e%2e/%2e%2e/secret',
    '..%5csecret',
    '%5c..%5csecret',
    '..\\secret',
    'C:%5csecret',
    '%2fetc%2fpasswd',
    '/etc/passwd',
    '....//secret',
    '%00',
    'secret%00.mp4',
    '%00../secret',
    '%252e%252e%252fsecret',
    '%c0%ae%c0%ae%2fsecret',
    '.incoming',
    '.hidden',
    'link.mp4',
    'private%2flink.mp4',
    'linked/secret',
    'linked%2fsecret',
    'a%2f..%2fsecret',
    '~',
    '%',
    'x'.repeat(300),
  ]
  /** Sends the raw path, unlike `fetch` and `inject`. */
  const raw = (path: string) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const { port } = server.app.server.address() as AddressInfo
      const headers = server.as('moderator')
      request({ host: '127.0.0.1', port, path, headers }, async (answer) =>
        resolve({ status: answer.statusCode ?? 0, body: await text(answer) }),
      )
        .on('error', reject)
        .end()
    })

  it('is a 4xx at every file route', async () => {
    await writeFile(join(server.folder, 'secret'), secret)
    await mkdir(join(server.folder, 'outside'))
    await writeFile(join(server.folder, 'outside', 'secret'), secret)
    for (const root of [server.folder, join(server.folder, 'cache')]) {
      for (const folder of [
        ...fileKinds,
        'web_videos/private',
        'redundancy/hls',
        `redundancy/hls/${open.uuid}`,
        'streaming_playlists/hls',
        `streaming_playlists/hls/${open.uuid}`,
        `streaming_playlists/hls/private/${open.uuid}`,
      ]) {
        const at = join(root, folder)
        await mkdir(at, { recursive: true })
        for (const name of ['secret', '.hidden']) await writeFile(join(at, '..', name), secret)
        await symlink(join(server.folder, 'secret'), join(at, 'link.mp4'))
        await symlink(join(server.folder, 'outside'), join(at, 'linked'))
      }
    }
    const routes = server.routes.filter((url) => url.endsWith('/:filename'))
    expect(routes.length).toBeGreaterThanOrEqual(19)
    const surprises: string[] = []
    for (const route of routes) {
      for (const name of names) {
        const path = route.replace(':uuid', open.uuid).replace(':filename', name)
        const { status, body } = await raw(path)
        if (status < 400 || status >= 500 || body.includes(secret)) surprises.push(`${status} ${path}`)
      }
    }
    expect(surprises).toEqual([])
  })

  it('is a 4xx as the folder of a playlist too', async () => {
    const folder = newUuid()
    const hls = join(server.folder, 'streaming_playlists', 'hls')
    await symlink(join(server.folder, 'outside'), join(hls, folder))
    for (const uuid of [folder, '..', '%2e%2e', '..%2f..', '%5c', '%00', 'private', 'linked']) {
      const { status, body } = await raw(`/static/streaming-playlists/hls/${uuid}/secret`)
      expect({ uuid, refused: status >= 400 && status < 500, told: body.includes(secret) }).toEqual({
        uuid,
        refused: true,
        told: false,
      })
    }
  })
})

describe('pictures of other servers', () => {
  afterEach(() => server.configure({}))

  const made = async (host: string, channelId: number, background: string) => {
    const video = await makeVideo(server.db, { channelId, remoteOrigin: `https://${host}` })
    const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background } })
      .jpeg()
      .toBuffer()
    server.remote.set(`https://${host}/pictures/${video.preview}`, picture)
    return { name: video.preview, path: `/lazy-static/previews/${video.preview}` }
  }
  const kept = async () => {
    const names: string[] = []
    for await (const { name } of server.remoteCache.list('previews')) names.push(name)
    return names
  }

  it('are cached up to a number, and the least recently used are evicted', async () => {
    for (const name of await kept()) await server.remoteCache.remove({ kind: 'previews', name })
    const { channelId, host } = await makeRemoteChannel(server.db)
    const [first, second, third] = [
      await made(host, channelId, '#100'),
      await made(host, channelId, '#200'),
      await made(host, channelId, '#300'),
    ]
    server.configure({ cache: { previews: { size: 2 } } })
    for (const { path } of [first, second, first, third]) expect((await get(path)).statusCode).toBe(200)
    await until(async () => (await kept()).length === 2)
    expect((await kept()).sort()).toEqual([first.name, third.name].sort())
    expect((await get(second.path)).statusCode).toBe(200)
    await until(async () => (await kept()).length === 2)
    expect(server.fetched.filter((url) => url.endsWith(second.name))).toHaveLength(2)
  })

  it('replace others when the disk is full', async () => {
    for (const name of await kept()) await server.remoteCache.remove({ kind: 'previews', name })
    const { channelId, host } = await makeRemoteChannel(server.db)
    const [first, second, third] = [
      await made(host, channelId, '#010'),
      await made(host, channelId, '#020'),
      await made(host, channelId, '#030'),
    ]
    const { put } = server.remoteCache
    /** The disk has room for two. */
    server.remoteCache.put = async (ref, from) => {
      if ((await kept()).length >= 2) throw new MediaError('disk-full', 'There is no space left on the disk.')
      return await put(ref, from)
    }
    try {
      for (const { path } of [first, second, first, third]) expect((await get(path)).statusCode).toBe(200)
      expect((await kept()).sort()).toEqual([first.name, third.name].sort())
    } finally {
      server.remoteCache.put = put
    }
  })

  it('of a host that does not answer are not fetched one after the other', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const [first, second] = [await made(host, channelId, '#400'), await made(host, channelId, '#500')]
    const address = `https://${host}/pictures/${first.name}`
    server.remote.set(address, new FetchError('timeout', address))
    for (const { path } of [first, second]) expect((await get(path)).statusCode).toBe(404)
    expect(server.fetched.filter((url) => url.startsWith(`https://${host}/`))).toEqual([address])
  })

  it('are removed when they are no longer shown', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const { name, path } = await made(host, channelId, '#600')
    expect((await get(path)).statusCode).toBe(200)
    await server.db.query('delete from thumbnail where filename = $1', [name])
    expect((await get(path)).statusCode).toBe(404)
  })

  it.each(['/internal', '/internal/'])('are sent by a web server in front (%s) once they are cached', async (location) => {
    server.configure({ vireo: { delivery: { x_accel_location: location } } })
    const { channelId, host } = await makeRemoteChannel(server.db)
    const { name, path } = await made(host, channelId, '#650')
    expect((await get(path)).headers).toMatchObject({ 'x-accel-redirect': `/internal/cache/previews/${name}` })
  })

  it('are fetched once for simultaneous requests, cached, and served', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const video = await makeVideo(server.db, { channelId, remoteOrigin: `https://${host}` })
    const address = `https://${host}/pictures/${video.preview}`
    const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#fff' } })
      .jpeg()
      .toBuffer()
    server.remote.set(address, picture)
    const path = `/lazy-static/previews/${video.preview}`
    const answers = await Promise.all([get(path), get(path), get(path)])
    for (const answer of answers) expect(answer.rawPayload.equals(picture)).toBe(true)
    expect(answers[0]?.headers['cache-control']).toBe('public, max-age=172800')
    expect(server.fetched.filter((url) => url === address)).toHaveLength(1)
  })

  it('are all served for a page with many of them, with limited fetches per host', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const pictures = await Promise.all(Array.from({ length: 30 }, () => made(host, channelId, '#700')))
    const hostsOwn = () => server.fetched.filter((url) => url.startsWith(`https://${host}/`))
    const [first] = pictures
    const address = `https://${host}/pictures/${first?.name}`
    const picture = server.remote.get(address)
    const { promise, resolve } = Promise.withResolvers<Buffer>()
    for (const { name } of pictures) server.remote.set(`https://${host}/pictures/${name}`, promise)
    const answers = Promise.all(pictures.map(({ path }) => get(path)))
    await until(() => hostsOwn().length === 8)
    if (picture instanceof Buffer) resolve(picture)
    expect((await answers).map(({ statusCode }) => statusCode)).toEqual(pictures.map(() => 200))
    expect(hostsOwn()).toHaveLength(30)
  })

  it('that are late are 404, nobody waits longer, and they are cached when they arrive', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const video = await makeVideo(server.db, { channelId, remoteOrigin: `https://${host}` })
    const address = `https://${host}/pictures/${video.preview}`
    const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#f00' } })
      .jpeg()
      .toBuffer()
    const { promise, resolve } = Promise.withResolvers<Buffer>()
    server.remote.set(address, promise)
    const path = `/lazy-static/previews/${video.preview}`
    const answers = await Promise.all([get(path), get(path)])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404])
    resolve(picture)
    await until(async () => (await get(path)).statusCode === 200)
    expect(server.fetched.filter((url) => url === address)).toHaveLength(1)
  })

  it('that are no images, or unavailable, are 404, and not fetched again at once', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const video = await makeVideo(server.db, { channelId, remoteOrigin: `https://${host}` })
    const address = `https://${host}/pictures/${video.thumbnail}`
    server.remote.set(address, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'))
    for (let time = 0; time < 3; time += 1) {
      expect((await get(`/lazy-static/thumbnails/${video.thumbnail}`)).statusCode).toBe(404)
    }
    expect((await get(`/lazy-static/previews/${video.preview}`)).statusCode).toBe(404)
    expect(server.fetched.filter((url) => url === address)).toHaveLength(1)
  })
})
