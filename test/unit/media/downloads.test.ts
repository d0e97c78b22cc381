// Downloads of imports: from whom, how much and how long; and nothing of what another site or a torrent may try.

import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import WebTorrent from 'webtorrent'
import { type DownloadSource, type Downloads, makeDownloads, readTorrent } from '../../../src/media/index.ts'
import { makeDial, makeGuardedFetch, openGuardedProxy } from '../../../src/platform/fetch/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { testConfig } from '../../support/config.ts'
import { until } from '../../support/until.ts'
import { installYtDlp, pageInfo, sending, startVideoOrigin, type VideoOrigin } from '../../support/video-origin.ts'

const VIDEO = Buffer.alloc(300_000, 'video')
const MAX_BYTES = 400_000
/** As if it were an address of the inside. */
const INSIDE = '127.0.0.2'
const NAMES: Record<string, string> = { 'site.test': '127.0.0.1', 'inside.test': INSIDE }

const isAllowed = (address: string): boolean => address !== INSIDE
const resolve = async (hostname: string) => [{ address: NAMES[hostname] ?? '127.0.0.1', family: 4 }]
const http = makeGuardedFetch({
  ...{ allowHttp: true, allowPrivateAddresses: false, isAllowedAddress: isAllowed, resolve, timeoutMs: 5000 },
  ...{ maxRedirects: 3, userAgent: 'test', logger: silentLogger },
})
let folders: string
let folder: string
let site: VideoOrigin
let inside: VideoOrigin
let downloads: Downloads
let withYtDlp: Downloads

beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'vireo-downloads-'))
  site = await startVideoOrigin()
  inside = await startVideoOrigin(INSIDE)
  inside.answer('/video.mp4', { type: 'video/mp4', bytes: VIDEO })
  await installYtDlp(join(folders, 'bin'))
  downloads = makeWith(join(folders, 'none'))
  withYtDlp = makeWith(join(folders, 'bin'))
})
afterAll(async () => {
  await http.close()
  await Promise.all([site.close(), inside.close()])
  await rm(folders, { recursive: true, force: true })
})
beforeEach(async () => {
  folder = await mkdtemp(join(folders, 'work-'))
})

function makeWith(bin: string): Downloads {
  const config = testConfig({
    storage: { bin },
    import: { videos: { http: { youtube_dl_release: { python_path: '/nowhere', name: 'yt-dlp' } } } },
    vireo: { imports: { silence_timeout: '500 ms', peer_timeout: '5 seconds' } },
  })
  const guard = { isAllowed, resolve }
  return makeDownloads({ http, guard, config: () => config, logger: silentLogger, ffmpegPath: 'ffmpeg' })
}

const at = (path: string, host = 'site.test', port = site.port): string => `http://${host}:${port}${path}`

function get(
  source: string | DownloadSource,
  options: { by?: Downloads; signal?: AbortSignal; maxBytes?: number } = {},
) {
  const { by = downloads, signal = new AbortController().signal, maxBytes = MAX_BYTES } = options
  const wanted = typeof source === 'string' ? ({ kind: 'url', url: source } as const) : source
  return by.download(wanted, { folder, maxBytes, signal, onProgress: () => {} })
}

describe('a file at an address', () => {
  it('is downloaded, also by a redirection', async () => {
    site.answer('/here.mp4', { type: 'video/mp4', bytes: VIDEO })
    site.answer('/moved', (_request, response) => response.writeHead(302, { location: '/here.mp4' }).end())
    const { path, fileName } = await get(at('/moved'))
    expect(fileName).toBe('here.mp4')
    expect((await readFile(path)).equals(VIDEO)).toBe(true)
  })

  it('gets the extension that its type has', async () => {
    site.answer('/watch', { type: 'video/webm', bytes: VIDEO })
    expect(await get(at('/watch?v=1'))).toMatchObject({ fileName: 'watch.webm' })
  })

  it.each([
    ['by its name', () => at('/video.mp4', 'inside.test', inside.port)],
    ['by its address', () => at('/video.mp4', INSIDE, inside.port)],
    ['by a redirection', () => at('/to-inside')],
  ])('is not taken from inside %s', async (_how, url) => {
    const location = at('/video.mp4', INSIDE, inside.port)
    site.answer('/to-inside', (_request, response) => response.writeHead(302, { location }).end())
    inside.asked.length = 0
    await expect(get(url())).rejects.toMatchObject({ reason: 'refused' })
    expect(inside.asked).toEqual([])
  })

  it('ends when more comes than may', async () => {
    site.answer('/endless.mp4', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' })
      const more = () => {
        while (!response.destroyed && response.write(VIDEO));
      }
      response.on('drain', more)
      more()
    })
    await expect(get(at('/endless.mp4'))).rejects.toMatchObject({ reason: 'too-large' })
  })

  it('is not begun when it says that it is too large', async () => {
    site.answer('/large.mp4', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': MAX_BYTES + 1 })
      response.write('a')
    })
    await expect(get(at('/large.mp4'))).rejects.toMatchObject({ reason: 'too-large' })
    expect(await readdir(folder)).toEqual([])
  })

  it('is given up when nothing comes any more', async () => {
    site.answer('/slow.mp4', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' }).write('a')
    })
    await expect(get(at('/slow.mp4'))).rejects.toMatchObject({ reason: 'time-out' })
  })

  it.each([
    ['that is not there', '/missing', { reason: 'no-program' }],
    ['that is a page', '/page', { reason: 'no-program' }],
    ['that is a playlist', '/list.m3u8', { reason: 'no-program' }],
    ['that breaks off', '/short.mp4', { reason: 'failed' }],
  ])('%s is told', async (_what, path, expected) => {
    site.answer('/page', { type: 'text/html', bytes: '<video>' })
    site.answer('/list.m3u8', { type: 'audio/x-mpegurl', bytes: '#EXTM3U' })
    site.answer('/short.mp4', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 1000 }).write('a')
      setImmediate(() => response.destroy())
    })
    await expect(get(at(path))).rejects.toMatchObject(path === '/missing' ? { reason: 'unusable' } : expected)
  })

  it('is gone on with where a process ended, unless it is another file now', async () => {
    const half = VIDEO.subarray(0, 150_000)
    site.answer('/half.mp4', sending('video/mp4', VIDEO))
    const url = at('/half.mp4')
    for (const etag of ['"the same"', '"another"']) {
      await writeFile(join(folder, 'direct.part'), etag === '"another"' ? Buffer.alloc(100) : half)
      await writeFile(join(folder, 'direct.json'), JSON.stringify({ url, etag }))
      expect((await readFile((await get(url)).path)).equals(VIDEO)).toBe(true)
    }
  })

  it('ends when nobody wants it any more', async () => {
    site.answer('/waiting.mp4', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' }).write('a')
    })
    const giveUp = new AbortController()
    const asked = site.asked.length
    const running = get(at('/waiting.mp4'), { signal: giveUp.signal })
    await until(() => site.asked.length > asked)
    giveUp.abort(new Error('not wanted'))
    await expect(running).rejects.toThrow('not wanted')
  })
})

describe('a page, by yt-dlp', () => {
  it('gives the video with all that is told of it', async () => {
    site.answer('/watch/1.json', { type: 'application/json', bytes: pageInfo() })
    site.answer('/watch/1.mp4', { type: 'video/mp4', bytes: VIDEO })
    site.answer('/watch/1.vtt', { type: 'text/vtt', bytes: 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n' })
    site.answer('/watch/1', { type: 'text/html', bytes: '<video>' })
    const found = await get(at('/watch/1'), { by: withYtDlp })
    expect((await readFile(found.path)).equals(VIDEO)).toBe(true)
    expect(found).toMatchObject({
      fileName: 'video.mp4',
      metadata: { title: 'A video of another site', ageLimit: 18, publishedAt: new Date('2020-01-02') },
      subtitles: [{ language: 'en-US' }],
    })
  })

  it.each([
    ['of a live stream', pageInfo({ is_live: true }), 'unusable'],
    ['of a list', pageInfo({ _type: 'playlist', entries: [] }), 'unusable'],
    ['of a video that is too large', pageInfo({ filesize: MAX_BYTES + 1 }), 'too-large'],
    ['that makes no sense', 'null', 'unusable'],
  ])('%s is refused', async (_what, told, reason) => {
    site.answer('/watch/2.json', { type: 'application/json', bytes: told })
    site.answer('/watch/2', { type: 'text/html', bytes: '<video>' })
    await expect(get(at('/watch/2'), { by: withYtDlp })).rejects.toMatchObject({ reason })
  })

  it('tells what the program says, without addresses', async () => {
    site.answer('/watch/3', { type: 'text/html', bytes: '<video>' })
    await expect(get(at('/watch/3'), { by: withYtDlp })).rejects.toThrow(
      /^The video cannot be downloaded: \[generic\] Unable to open\s+it was refused$/,
    )
  })

  it('ends with all programs that were started', async () => {
    site.answer('/hang', { type: 'text/html', bytes: '<video>' })
    const giveUp = new AbortController()
    const running = get(at('/hang'), { by: makeWith(join(folders, 'bin')), signal: giveUp.signal }).catch(
      (error: Error) => error,
    )
    const pids: number[] = await until(async () =>
      JSON.parse(await readFile(join(folder, 'pids.json'), 'utf8').catch(() => 'null')),
    )
    giveUp.abort(new Error('not wanted'))
    await running
    await until(async () => (await Promise.all(pids.map(isRunning))).every((runs) => !runs))
    expect(await readdir(folder)).toEqual(['pids.json'])
  })

  it('of a channel lists its videos', async () => {
    const entries = [
      { url: at('/a'), title: 'A', timestamp: 0 },
      { url: 'ftp://x' },
      { url: at('/b') },
      { url: at('/c') },
    ]
    site.answer('/channel.json', { type: 'application/json', bytes: JSON.stringify({ _type: 'playlist', entries }) })
    const signal = new AbortController().signal
    const listed = await withYtDlp.listRemoteVideos({ url: at('/channel'), limit: 2, folder, signal })
    expect(listed).toEqual([
      { url: at('/a'), title: 'A', publishedAt: new Date(0) },
      { url: at('/b'), title: null, publishedAt: null },
    ])
    await expect(downloads.listRemoteVideos({ url: at('/x'), limit: 2, folder, signal })).rejects.toMatchObject({
      reason: 'no-program',
    })
  })
})

describe('the proxy of a program', () => {
  const dial = makeDial({ isAllowed, resolve, timeoutMs: 2000 })
  const open = (maxBytes = MAX_BYTES) => openGuardedProxy({ dial, maxBytes, silenceMs: 2000, logger: silentLogger })

  function ask(proxy: string, target: string, options: { method?: string; credentials?: string } = {}) {
    const { username, password, hostname, port } = new URL(proxy)
    const credentials = Buffer.from(options.credentials ?? `${username}:${password}`).toString('base64')
    return new Promise<number | undefined>((done, failed) => {
      const sent = request({
        ...{ hostname, port, path: target, method: options.method ?? 'GET', agent: false },
        headers: { 'proxy-authorization': `Basic ${credentials}` },
      })
      sent.once('error', failed)
      sent.once('connect', (answer, socket) => {
        socket.destroy()
        done(answer.statusCode)
      })
      sent.once('response', (answer) => {
        answer.on('error', () => {}).resume()
        answer.once('close', () => done(answer.complete ? answer.statusCode : undefined))
      })
      sent.end()
    })
  }

  it('goes nowhere inside, and knows only who was given its password', async () => {
    site.answer('/plain', { type: 'text/plain', bytes: 'plain' })
    inside.asked.length = 0
    const { url, close } = await open()
    const connect = { method: 'CONNECT' }
    expect(await ask(url, at('/plain'))).toBe(200)
    expect(await ask(url, at('/plain'), { credentials: 'vireo:wrong' })).toBe(407)
    expect(await ask(url, `site.test:${site.port}`, connect)).toBe(200)
    expect(await ask(url, `site.test:${site.port}`, { ...connect, credentials: 'x:y' })).toBe(407)
    expect(await ask(url, at('/video.mp4', INSIDE, inside.port))).toBe(403)
    expect(await ask(url, at('/video.mp4', 'inside.test', inside.port))).toBe(403)
    expect(await ask(url, `${INSIDE}:${inside.port}`, connect)).toBe(403)
    expect(await ask(url, `inside.test:${inside.port}`, connect)).toBe(403)
    expect(await ask(url, 'ftp://site.test/')).toBe(403)
    await close()
    expect(inside.asked).toEqual([])
  })

  it('cuts what is larger than allowed', async () => {
    site.answer('/video.mp4', { type: 'video/mp4', bytes: VIDEO })
    const proxy = await open(VIDEO.length - 1)
    expect(await ask(proxy.url, at('/video.mp4'))).toBeUndefined()
    expect(proxy.isOver).toBe(true)
    await proxy.close()
  })

  it('goes through the proxy of the operator, and to the address that was looked at', async () => {
    site.answer('/behind.mp4', { type: 'video/mp4', bytes: VIDEO })
    const upstream = await open()
    const options = { isAllowed, resolve, timeoutMs: 2000, proxy: () => upstream.url }
    const socket = await makeDial(options)({ hostname: 'site.test', port: site.port })
    socket.destroy()
    await expect(makeDial(options)({ hostname: 'inside.test', port: inside.port })).rejects.toMatchObject({
      reason: 'refused-address',
    })
    const behind = makeGuardedFetch({
      ...{ allowHttp: true, allowPrivateAddresses: false, isAllowedAddress: isAllowed, resolve, timeoutMs: 5000 },
      ...{ maxRedirects: 3, userAgent: 'test', logger: silentLogger, proxy: () => upstream.url },
    })
    expect((await behind.fetch(at('/behind.mp4'))).body.equals(VIDEO)).toBe(true)
    await behind.close()
    await upstream.close()
  })
})

describe('a torrent', () => {
  const client = new WebTorrent({ dht: false, lsd: false, utp: false, natUpnp: false, natPmp: false, tracker: {} })
  afterAll(() => new Promise<void>((done) => client.destroy(() => done())))

  const seed = (content: Buffer | Buffer[], name: string) =>
    new Promise<{ bytes: Buffer; magnet: (host: string) => string }>((done) => {
      const named = Array.isArray(content)
        ? content.map((bytes, index) => Object.assign(bytes, { name: `${index}.mp4` }))
        : content
      client.seed(named, { name, announceList: [] }, ({ torrentFile, infoHash }) =>
        done({
          bytes: Buffer.from(torrentFile),
          magnet: (host) => `magnet:?xt=urn:btih:${infoHash}&x.pe=${host}:${client.torrentPort}`,
        }),
      )
    })

  it('by its magnet URI is got from a peer', async () => {
    const { magnet } = await seed(VIDEO, '../../from a peer.mp4')
    const { path, fileName } = await get({ kind: 'magnet', uri: magnet('127.0.0.1') })
    expect((await readFile(path)).equals(VIDEO)).toBe(true)
    expect(path.startsWith(folder)).toBe(true)
    expect(fileName).not.toContain('/')
  }, 20_000)

  it('by its file is got from a web seed, through the guard', async () => {
    site.answer('/seed.mp4', sending('video/mp4', VIDEO))
    const bytes = await withSeeds(await torrentOf(Buffer.from(VIDEO), 'seeded.mp4'), [at('/seed.mp4')])
    expect((await readFile((await get({ kind: 'torrent', bytes })).path)).equals(VIDEO)).toBe(true)
  }, 20_000)

  it('is got from nobody inside', async () => {
    inside.asked.length = 0
    const seeds = [at('/video.mp4', INSIDE, inside.port), at('/video.mp4', 'inside.test', inside.port)]
    const bytes = await withSeeds(await torrentOf(Buffer.alloc(1000, 'x'), 'inside.mp4'), seeds)
    await expect(get({ kind: 'torrent', bytes })).rejects.toMatchObject({ reason: 'time-out' })
    expect(inside.asked).toEqual([])
  }, 20_000)

  it.each([
    ['with several files', async () => (await seed([Buffer.alloc(10), Buffer.alloc(20)], 'several')).bytes, 'unusable'],
    ['that is too large', async () => (await seed(Buffer.alloc(MAX_BYTES + 1), 'large.mp4')).bytes, 'too-large'],
    ['that is none', async () => Buffer.from('no torrent'), 'unusable'],
  ])('%s is refused before anything is written', async (_what, make, reason) => {
    await expect(get({ kind: 'torrent', bytes: await make() })).rejects.toMatchObject({ reason })
    expect(await readdir(folder)).toEqual([])
  })

  it('that turns out too large is refused before anything is written', async () => {
    const { magnet } = await seed(Buffer.alloc(MAX_BYTES + 2), 'larger.mp4')
    await expect(get({ kind: 'magnet', uri: magnet('127.0.0.1') })).rejects.toMatchObject({ reason: 'too-large' })
    expect(await readdir(folder)).toEqual([])
  }, 20_000)

  it('is read without being downloaded', async () => {
    const { bytes } = await seed(Buffer.alloc(5000, 'z'), 'read.mp4')
    expect(await readTorrent(bytes)).toEqual({ name: 'read.mp4', files: 1, size: 5000 })
    expect(await readTorrent('magnet:?xt=urn:btih:nonsense')).toBeUndefined()
    expect(await readTorrent(Buffer.from('no torrent'))).toBeUndefined()
  })
})

async function torrentOf(content: Buffer, name: string): Promise<Buffer> {
  const { default: createTorrent } = await import('create-torrent')
  return await new Promise((done, failed) =>
    createTorrent(Object.assign(content, { name }), { name, announceList: [] }, (error, torrent) =>
      error ? failed(error) : done(Buffer.from(torrent)),
    ),
  )
}

/** With web seeds (BEP 19), which stand beside what is hashed. */
async function withSeeds(torrent: Buffer, seeds: string[]): Promise<Buffer> {
  const { default: bencode } = await import('bencode')
  return Buffer.from(bencode.encode({ ...bencode.decode(torrent), 'url-list': seeds }))
}

const isRunning = (pid: number): Promise<boolean> =>
  access(`/proc/${pid}`).then(
    () =>
      readFile(`/proc/${pid}/stat`, 'utf8').then(
        (stat) => !/\) Z /.test(stat),
        () => false,
      ),
    () => false,
  )
