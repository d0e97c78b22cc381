// Downloads over HTTP: permissions, file names, and video and audio that are muxed on the fly.

import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { get as httpGet, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { hlsFile, probe, webVideoFile } from '../../../src/media/index.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { type MadeVideo, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { media, serverFfmpeg, temporaryFolder } from '../../support/media.ts'
import { PRIVATE_FILE } from '../../support/private-file-headers.ts'
import { inObjectStorage } from '../../support/test-store.ts'
import { until } from '../../support/until.ts'
import { startVideoServer, type VideoServer } from './server.ts'

const run = promisify(execFile)
const PASSWORD = 'a password'

interface Downloadable extends MadeVideo {
  name: string
  web: { id: number; path: string }
  hls240: { id: number; path: string }
  /** Ids of two renditions without audio, and of the audio file. */
  split: { picture: number; small: number; sound: number }
  kept: string
  torrent: string
}

let server: VideoServer
let folder: string
let open: Downloadable
let hidden: Downloadable
let locked: Downloadable
const parts = { whole: '', picture: '', sound: '' }

beforeAll(async () => {
  server = await startVideoServer({ vireo: { delivery: { muxes: 1 } } })
  folder = await temporaryFolder()
  const { ffmpegPath } = await serverFfmpeg()
  parts.whole = await media('journey.mp4')
  for (const [part, without] of [
    ['picture', '-an'],
    ['sound', '-vn'],
  ] as const) {
    parts[part] = join(folder, `${part}.mp4`)
    await run(ffmpegPath, ['-v', 'error', '-i', parts.whole, without, '-c', 'copy', parts[part]])
  }
  open = await makeDownloadable('An “open” video', 1)
  hidden = await makeDownloadable('hidden', 3)
  locked = await makeDownloadable('locked', 5, [PASSWORD])
})
afterEach(() => server.configure({}))
afterAll(async () => {
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function makeDownloadable(name: string, privacy: number, passwords: string[] = []): Promise<Downloadable> {
  const { db, store } = server
  const video = await makeVideo(db, {
    channelId: server.users.user.channelId,
    passwords,
    columns: { privacy, name },
    webVideo: { resolution: 240 },
    hls: { resolution: 240 },
  })
  const { webVideo, hls, uuid } = video
  if (!webVideo || !hls) throw new Error('The video has no files.')
  const isHidden = privacy > 2
  await store.put(webVideoFile(webVideo.filename, isHidden), { path: parts.whole, keep: true })
  await store.put(hlsFile(uuid, hls.fragmented, isHidden), { path: parts.whole, keep: true })
  const [row] = await db.query<{ id: number }>('select id from video_file where filename = $1', [hls.fragmented])
  const another = async (resolution: number, streams: number, part: string) => {
    const filename = `${newUuid()}-${resolution}-fragmented.mp4`
    await store.put(hlsFile(uuid, filename, isHidden), { path: part, keep: true })
    const [made] = await db.query<{ id: number }>(
      `insert into video_file (video_id, streaming_playlist_id, resolution, size, extname, filename, streams)
       values ($1, $2, $3, 1, '.mp4', $4, $5) returning id`,
      [video.id, hls.id, resolution, filename, streams],
    )
    return made?.id ?? 0
  }
  const split = {
    picture: await another(360, 1, parts.picture),
    small: await another(144, 1, parts.picture),
    sound: await another(0, 2, parts.sound),
  }
  const [kept, torrent] = [`${newUuid()}.mov`, `${newUuid()}.torrent`]
  await store.put({ kind: 'original_video_files', name: kept }, Buffer.from('what was uploaded'))
  await store.put({ kind: 'torrents', name: torrent }, Buffer.from('d4:infode'))
  await db.query("insert into video_source (video_id, input_filename, kept_filename, size) values ($1, 'my film.mov', $2, 17)", [
    video.id,
    kept,
  ])
  await db.query('update video_file set torrent_filename = $2 where id = $1', [row?.id, torrent])
  return {
    ...video,
    name,
    split,
    kept,
    torrent,
    web: { id: webVideo.id, path: `/download/web-videos/${uuid}-240.mp4` },
    hls240: { id: row?.id ?? 0, path: `/download/streaming-playlists/hls/videos/${uuid}-240-fragmented.mp4` },
  }
}

const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  server.app.inject({ method, url, headers })
/** The file name after redirects. */
async function save(url: string, headers: Record<string, string> = {}) {
  const answer = await get(url, headers)
  if (answer.statusCode !== 302) return { status: answer.statusCode, headers: answer.headers, bytes: answer.rawPayload }
  const sent = await fetch(String(answer.headers.location), { headers })
  return {
    status: sent.status,
    bytes: Buffer.from(await sent.arrayBuffer()),
    headers: { ...Object.fromEntries(sent.headers), 'cache-control': answer.headers['cache-control'] },
  }
}
const statusOf = async (url: string, headers: Record<string, string> = {}) => (await get(url, headers)).statusCode
const generate = ({ uuid }: MadeVideo, ...ids: unknown[]) =>
  `/download/videos/generate/${uuid}?${ids.map((id) => `videoFileIds=${id}`).join('&')}`
async function tokenOf({ uuid }: MadeVideo, who: 'user' | 'moderator'): Promise<string> {
  const url = `/api/v1/videos/${uuid}/token`
  const answer = await server.app.inject({ method: 'POST', url, headers: server.as(who) })
  return answer.json<{ files: { token: string } }>().files.token
}

it('a file token is valid for the configured time', async () => {
  server.configure({ vireo: { lifetimes: { video_file_token: '90 minutes' } } })
  const url = `/api/v1/videos/${hidden.uuid}/token`
  const answer = await server.app.inject({ method: 'POST', url, headers: server.as('user') })
  server.configure({})
  const minutes = (Date.parse(answer.json<{ files: { expires: string } }>().files.expires) - Date.now()) / 60_000
  expect(Math.round(minutes)).toBe(90)
})

describe('the download of a stored file', () => {
  it('is the file, with the name of its video', async () => {
    const whole = await readFile(parts.whole)
    for (const [path, name] of [
      [open.web.path, 'An _open_ video-240p.mp4'],
      [open.hls240.path, 'An _open_ video-240p-hls.mp4'],
    ] as const) {
      const answer = await save(path)
      expect(answer.status).toBe(200)
      expect(answer.bytes.equals(whole)).toBe(true)
      expect(answer.headers).toMatchObject({
        'content-type': 'video/mp4',
        'cache-control': inObjectStorage ? 'private, no-store' : 'public, max-age=0',
      })
      expect(answer.headers['content-disposition']).toBe(
        `attachment; filename="${name}"; filename*=UTF-8''${encodeURIComponent(name.replace('_open_', '“open”'))}`,
      )
      const part = await save(path, { range: 'bytes=10-19' })
      expect([part.status, part.headers['content-range']]).toEqual([206, `bytes 10-19/${whole.length}`])
      expect(part.bytes.equals(whole.subarray(10, 20))).toBe(true)
      expect((await get(path, {}, 'HEAD')).headers['content-length']).toBe(String(whole.length))
    }
  })

  it('of a private video is for authorized users', async () => {
    const token = await tokenOf(hidden, 'user')
    const foreign = await tokenOf(locked, 'user')
    for (const path of [hidden.web.path, hidden.hls240.path, generate(hidden, hidden.web.id)]) {
      const query = (value: string) => `${path}${path.includes('?') ? '&' : '?'}videoFileToken=${value}`
      expect(await statusOf(path)).toBe(403)
      expect(await statusOf(path, server.as('other'))).toBe(403)
      expect(await statusOf(path, server.as('user'))).toBe(200)
      expect(await statusOf(path, server.as('moderator'))).toBe(200)
      expect(await statusOf(query(token))).toBe(200)
      expect(await statusOf(query(foreign))).toBe(403)
      expect(await statusOf(query('bad'), server.as('user'))).toBe(403)
      expect((await get(path, server.as('user'))).headers).toMatchObject(PRIVATE_FILE)
    }
  })

  it('of a protected video needs its password', async () => {
    for (const path of [locked.web.path, generate(locked, locked.web.id)]) {
      expect(await statusOf(path, { 'x-peertube-video-password': PASSWORD })).toBe(200)
      const refusal = await get(path, { 'x-peertube-video-password': 'another' })
      expect([refusal.statusCode, refusal.json<{ code: string }>().code]).toEqual([403, 'incorrect_video_password'])
    }
  })

  it('is refused where the owner disabled it, for those who may see the video', async () => {
    const change = (enabled: boolean) =>
      server.db.query('update video set download_enabled = $1 where id = any($2)', [enabled, [open.id, hidden.id]])
    const unseen = (await get(hidden.web.path)).body
    await change(false)
    for (const path of [open.web.path, open.hls240.path, generate(open, open.web.id)]) {
      expect(await statusOf(path)).toBe(403)
    }
    expect((await get(hidden.web.path)).body).toBe(unseen)
    expect(await statusOf(hidden.web.path, server.as('user'))).toBe(403)
    await change(true)
  })

  it('is 404 with another name', async () => {
    for (const path of [
      `web-videos/${newUuid()}-240.mp4`,
      `web-videos/${open.uuid}-480.mp4`,
      `web-videos/${open.uuid}-240.webm`,
      `web-videos/${open.uuid}-240-fragmented.mp4`,
      `streaming-playlists/hls/videos/${open.uuid}-240.mp4`,
      `original-video-files/${newUuid()}.mp4`,
      'torrents/unknown.torrent',
    ]) {
      expect([path, await statusOf(`/download/${path}`, server.as('admin'))]).toEqual([path, 404])
    }
  })

  it('is a page for a name without a file, like any unknown URL', async () => {
    for (const path of ['web-videos/unknown.mp4', 'streaming-playlists/hls/videos/unknown.mp4']) {
      const answer = await get(`/download/${path}`)
      expect([path, answer.statusCode, answer.headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8'])
    }
  })

  it('of a remote video is on its own server', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const remoteOrigin = `https://${host}`
    const fileUrl = `${remoteOrigin}/static/web-videos/1.mp4`
    const video = await makeVideo(server.db, { channelId, remoteOrigin, webVideo: { resolution: 240, fileUrl } })
    expect(await statusOf(`/download/web-videos/${video.uuid}-240.mp4`)).toBe(404)
    expect(await statusOf(generate(video, video.webVideo?.id))).toBe(404)
  })
})

describe('the download of the original file', () => {
  it('is for its owner and the staff, with its original name', async () => {
    const path = `/download/original-video-files/${open.kept}`
    const token = await tokenOf(hidden, 'user')
    expect(await statusOf(path)).toBe(403)
    expect(await statusOf(path, server.as('other'))).toBe(403)
    expect(await statusOf(path, server.as('moderator'))).toBe(200)
    expect(await statusOf(`/download/original-video-files/${hidden.kept}?videoFileToken=${token}`)).toBe(200)
    const answer = await get(path, server.as('user'))
    expect(answer.payload).toBe('what was uploaded')
    expect(answer.headers).toMatchObject({
      'content-disposition': 'attachment; filename="my film.mov"',
      'content-type': 'video/quicktime',
      ...PRIVATE_FILE,
    })
  })

  it("does not open with the video's password", async () => {
    const path = `/download/original-video-files/${locked.kept}`
    expect(await statusOf(path, { 'x-peertube-video-password': PASSWORD })).toBe(403)
    const url = `/api/v1/videos/${locked.uuid}/token`
    const headers = { 'x-peertube-video-password': PASSWORD }
    const { files } = (await server.app.inject({ method: 'POST', url, headers })).json<{ files: { token: string } }>()
    expect(await statusOf(`${locked.web.path}?videoFileToken=${files.token}`)).toBe(200)
    expect(await statusOf(`${path}?videoFileToken=${files.token}`)).toBe(403)
  })
})

describe('the download of a torrent', () => {
  const addresses = () => ['download', 'lazy-static'].map((folder) => `/${folder}/torrents/${hidden.torrent}`)
  const statusesFor = async (who: 'other' | 'moderator' | undefined) =>
    await Promise.all(addresses().map((address) => statusOf(address, who ? server.as(who) : {})))

  it('of a private video is for its owner and the staff', async () => {
    const answer = await get(`/download/torrents/${hidden.torrent}`, server.as('user'))
    expect(answer.payload).toBe('d4:infode')
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-bittorrent',
      'content-disposition': 'attachment; filename="hidden-240p-hls.torrent"',
      ...PRIVATE_FILE,
    })
    expect(await statusesFor('moderator')).toEqual([200, 200])
    expect(await statusesFor('other')).toEqual([403, 403])
    expect(await statusesFor(undefined)).toEqual([401, 401])
  })

  it('is public exactly as long as the video is public and not blocked', async () => {
    const change = (column: string, value: unknown) => server.db.query(`update video set ${column} = $2 where id = $1`, [hidden.id, value])
    await change('privacy', 1)
    expect(await statusesFor(undefined)).toEqual([200, 200])
    await change('blocked', true)
    expect(await statusesFor(undefined)).toEqual([401, 401])
    expect(await statusesFor('moderator')).toEqual([200, 200])
    await change('blocked', false)
    await change('privacy', 3)
    expect(await statusesFor(undefined)).toEqual([401, 401])
  })
})

describe('a generated download', () => {
  it('has one video stream, one audio stream and the whole duration', async () => {
    const answer = await get(generate(open, open.split.picture, open.split.sound))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({ 'content-type': 'video/mp4', 'cache-control': 'no-store' })
    expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="An _open_ video\.mp4"; filename\*=/)
    const path = join(folder, 'generated.mp4')
    await writeFile(path, answer.rawPayload)
    const ffmpeg = await serverFfmpeg()
    const { stdout } = await run(ffmpeg.ffprobePath, ['-v', 'error', '-show_entries', 'stream=codec_name', '-of', 'csv=p=0', path])
    expect(stdout.trim().split('\n')).toEqual(['h264', 'aac'])
    expect((await probe({ ffmpeg, path })).duration).toBeCloseTo(4, 0)
  })

  it('is streamed while it is made, also from object storage, of which no file is fetched first', async () => {
    const { ffmpegPath } = await serverFfmpeg()
    const SECONDS = 8
    const lavfi = (source: string) => ['-v', 'error', '-y', '-f', 'lavfi', '-i', `${source}:duration=${SECONDS}`]
    const [picture, sound] = [join(folder, 'long-picture.mp4'), join(folder, 'long-sound.mp4')]
    const encoding = ['-vf', 'noise=alls=100:allf=t', '-c:v', 'mpeg4', '-q:v', '1', '-g', '25']
    const first = ['-movflags', '+faststart']
    await run(ffmpegPath, [...lavfi('testsrc2=size=320x180:rate=25'), ...encoding, ...first, picture])
    await run(ffmpegPath, [...lavfi('sine=frequency=440'), '-c:a', 'aac', ...first, sound])
    const add = async (resolution: number, streams: number, path: string): Promise<number> => {
      const filename = `${newUuid()}-${resolution}-fragmented.mp4`
      await server.store.put(hlsFile(open.uuid, filename, false), { path, keep: true })
      const [made] = await server.db.query<{ id: number }>(
        `insert into video_file (video_id, streaming_playlist_id, resolution, size, extname, filename, streams)
         values ($1, $2, $3, 1, '.mp4', $4, $5) returning id`,
        [open.id, open.hls?.id, resolution, filename, streams],
      )
      return made?.id ?? 0
    }
    const url = generate(open, await add(720, 1, picture), await add(1, 2, sound))
    // Every connection that reads a large file is lost repeatedly.
    if (inObjectStorage) server.s3?.cut(({ method, path }) => method === 'GET' && path.includes('fragmented'), 2 ** 20)
    const { withLocalPath } = server.store
    let fetched = 0
    server.store.withLocalPath = async (...ask) => {
      fetched += 1
      return await withLocalPath(...ask)
    }
    try {
      const answer = await get(url)
      expect(answer.statusCode).toBe(200)
      expect(fetched).toBe(inObjectStorage ? 0 : 2)
      const path = join(folder, 'long.mp4')
      await writeFile(path, answer.rawPayload)
      const { stdout } = await run((await serverFfmpeg()).ffprobePath, [
        '-v',
        'error',
        '-count_packets',
        '-show_entries',
        'stream=codec_type,nb_read_packets',
        '-of',
        'csv=p=0',
        path,
      ])
      expect(stdout).toContain(`video,${25 * SECONDS}`)
      expect((await probe({ ffmpeg: await serverFfmpeg(), path })).duration).toBeCloseTo(SECONDS, 0)
    } finally {
      server.s3?.cut(undefined)
      server.store.withLocalPath = withLocalPath
    }
    expect(await processes()).toEqual([])
  })

  it('accepts ids as lists too, and answers HEAD without work', async () => {
    const { picture, sound } = open.split
    const listed = `/download/videos/generate/${open.uuid}?videoFileIds[]=${picture}&videoFileIds[]=${sound}`
    const answer = await get(listed, {}, 'HEAD')
    expect([answer.statusCode, answer.headers['content-type'], answer.rawPayload.length]).toEqual([200, 'video/mp4', 0])
    expect(await processes()).toEqual([])
  })

  it('of one file is that file', async () => {
    const whole = await save(generate(open, open.web.id, open.web.id), { range: 'bytes=0-9' })
    expect([whole.status, whole.bytes.length]).toEqual([206, 10])
    const sound = await get(generate(hidden, hidden.split.sound), server.as('user'))
    expect(sound.rawPayload.equals(await readFile(parts.sound))).toBe(true)
    expect(sound.headers).toMatchObject({
      'content-disposition': 'attachment; filename="hidden.m4a"',
      'content-type': 'audio/mp4',
    })
  })

  it('refuses invalid requests with the recorded responses', async () => {
    for (const [query, value] of [
      ['', []],
      ['?videoFileIds=abc', [null]],
    ]) {
      const answer = await get(`/download/videos/generate/${open.uuid}${query}`)
      expect([answer.statusCode, answer.json()]).toMatchObject([
        400,
        {
          type: 'about:blank',
          detail: 'Incorrect request parameters: videoFileIds',
          'invalid-params': { videoFileIds: { type: 'field', path: 'videoFileIds', location: 'query', value } },
        },
      ])
    }
    for (const [ids, status] of [
      [[424242], 404],
      [[hidden.web.id], 404],
      [[open.web.id, 424242], 404],
      [[0], 400],
      [['1.5'], 400],
      [[1, 2, 3], 400],
      [[open.split.small, open.split.picture], 400],
      [[open.web.id, open.split.picture], 400],
      [[open.split.picture, 424242], 404],
    ] as const) {
      expect([ids, await statusOf(generate(open, ...ids))]).toEqual([ids, status])
    }
    expect(await statusOf(`/download/videos/generate/424242?videoFileIds=${open.web.id}`)).toBe(404)
    expect(await statusOf(`/download/videos/generate/nonsense%20?videoFileIds=${open.web.id}`)).toBe(400)
  })

  it('fails before its first byte where a file is missing or broken', async () => {
    const [row] = await server.db.query<{ filename: string }>('select filename from video_file where id = $1', [locked.split.sound])
    const url = generate(locked, locked.split.picture, locked.split.sound)
    const ref = hlsFile(locked.uuid, row?.filename ?? '', true)
    await server.store.put(ref, Buffer.from('this is no media file'))
    const broken = await get(url, server.as('user'))
    expect([broken.statusCode, broken.headers['content-disposition']]).toEqual([422, undefined])
    await server.store.remove(ref)
    expect(await statusOf(url, server.as('user'))).toBe(404)
  })

  it('stops when its client disconnects, and its concurrency is limited', async () => {
    const { ffmpegPath } = await serverFfmpeg()
    const [second, big] = [join(folder, 'second.mp4'), join(folder, 'big.mp4')]
    const noise = ['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=25:duration=1', '-vf', 'noise=alls=100:allf=t']
    await run(ffmpegPath, ['-v', 'error', '-y', ...noise, '-c:v', 'mpeg4', '-q:v', '1', second])
    await run(ffmpegPath, ['-v', 'error', '-y', '-stream_loop', '3', '-i', second, '-c', 'copy', big])
    const [row] = await server.db.query<{ filename: string }>('select filename from video_file where id = $1', [open.split.small])
    await server.store.put(hlsFile(open.uuid, row?.filename ?? '', false), { path: big })
    await server.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = server.app.server.address() as AddressInfo
    const url = generate(open, open.split.small, open.split.sound)

    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      httpGet({ host: '127.0.0.1', port, path: url }, resolve).on('error', reject)
    })
    expect(answer.statusCode).toBe(200)
    await new Promise((resolve) => answer.once('readable', resolve))
    expect(await processes()).toHaveLength(1)
    const busy = await get(url)
    expect([busy.statusCode, busy.headers['retry-after'], busy.headers['content-disposition']]).toEqual([503, '10', undefined])
    answer.on('error', () => undefined).destroy()
    await until(async () => (await processes()).length === 0)
    await until(async () => (await statusOf(generate(open, open.split.picture, open.split.sound))) === 200)
    expect(await processes()).toEqual([])
  })
})

/** Command lines of programs that read the server's files. */
async function processes(): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(server.folder) && line.includes('ffmpeg'))
}
