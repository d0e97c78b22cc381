// Downloads of imports: allowed sources, limits of size and time, and attacks by sites and torrents.

import { spawn } from 'node:child_process'
import { pbkdf2 } from 'node:crypto'
import { access, appendFile, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import WebTorrent from 'webtorrent'
import { flatStore } from '../../../src/media/downloads/torrent/flat-store.ts'
import { locateYtDlp } from '../../../src/media/downloads/yt-dlp/find.ts'
import { runYtDlp } from '../../../src/media/downloads/yt-dlp/run.ts'
import { findSandbox } from '../../../src/media/downloads/yt-dlp/sandbox.ts'
import { type DownloadSource, type Downloads, makeDownloads, probe, readTorrent } from '../../../src/media/index.ts'
import { makeDial, makeGuardedFetch, openGuardedProxy } from '../../../src/platform/fetch/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { testConfig, YT_DLP } from '../../support/config.ts'
import { media, testFfmpeg } from '../../support/media.ts'
import { until } from '../../support/until.ts'
import { installYtDlp, pageInfo, sending, startVideoOrigin, type VideoOrigin } from '../../support/video-origin.ts'

const VIDEO = Buffer.alloc(300_000, 'video')
const MAX_BYTES = 400_000
/** Stands for a private address. */
const INSIDE = '127.0.0.2'
const NAMES: Record<string, string> = { 'site.test': '127.0.0.1', 'inside.test': INSIDE }

const isAllowed = (address: string): boolean => address !== INSIDE
const resolve = async (hostname: string) => [{ address: NAMES[hostname] ?? '127.0.0.1', family: 4 }]
const http = makeGuardedFetch({
  allowHttp: true,
  allowPrivateAddresses: false,
  isAllowedAddress: isAllowed,
  resolve,
  timeoutMs: 5000,
  maxRedirects: 3,
  userAgent: 'test',
  logger: silentLogger,
})
const ffmpeg = await testFfmpeg()
// Some containers permit no namespaces, and yt-dlp may be missing.
const inSandbox = (await findSandbox({ pythonPath: '/nowhere' })) ? it : it.skip
const real = await locateYtDlp({ folder: '/nowhere', name: 'yt-dlp', pythonPath: '/nowhere' })
const withRealProgram = real ? inSandbox : it.skip
let folders: string
let folder: string
let site: VideoOrigin
let inside: VideoOrigin
let downloads: Downloads
let withYtDlp: Downloads
/** Timeout of silent servers. */
let impatient: Downloads

beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'vireo-downloads-'))
  site = await startVideoOrigin()
  inside = await startVideoOrigin(INSIDE)
  inside.answer('/video.mp4', { type: 'video/mp4', bytes: VIDEO })
  await installYtDlp(join(folders, 'bin'))
  downloads = makeWith(join(folders, 'none'))
  impatient = makeWith(join(folders, 'none'), { silence: '500 ms', peers: '5 seconds' })
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

/** A program takes a while for its first output on a busy machine. */
function makeWith(
  bin: string,
  options: { memory?: string; silence?: string; peers?: string; name?: string; isSafe?: (version: string) => boolean } = {},
): Downloads {
  const { memory = '1GB', silence = '1 minute', peers = '1 minute', name = YT_DLP, isSafe } = options
  const config = testConfig({
    storage: { bin },
    import: { videos: { http: { youtube_dl_release: { name } } } },
    vireo: {
      imports: { silence_timeout: silence, peer_timeout: peers },
      media: { max_memory: memory },
    },
  })
  const guard = { isAllowed, resolve }
  return makeDownloads({ http, guard, config: () => config, logger: silentLogger, ffmpeg, ...(isSafe && { isSafe }) })
}

const at = (path: string, host = 'site.test', port = site.port): string => `http://${host}:${port}${path}`

/** Like a process that ends during a download. */
async function leaveBehind(url: string, etag: string, bytes: Uint8Array): Promise<string> {
  await rm(join(folder, 'complete.json'), { force: true })
  const path = join(folder, 'direct-1a2b.part')
  await writeFile(path, bytes)
  await writeFile(join(folder, 'direct.json'), JSON.stringify({ url, etag, part: 'direct-1a2b.part' }))
  return path
}

function get(
  source: string | DownloadSource,
  options: {
    by?: Downloads
    signal?: AbortSignal
    maxBytes?: number
    bringBack?: (path: string) => Promise<void>
  } = {},
) {
  const { by = downloads, signal = new AbortController().signal, maxBytes = MAX_BYTES, ...more } = options
  const wanted = typeof source === 'string' ? ({ kind: 'url', url: source } as const) : source
  return by.download(wanted, { ...more, folder, maxBytes, signal, onProgress: () => {} })
}

describe('a file at a URL', () => {
  it('is downloaded, also after a redirect', async () => {
    site.answer('/here.mp4', { type: 'video/mp4', bytes: VIDEO })
    site.answer('/moved', (_request, response) => response.writeHead(302, { location: '/here.mp4' }).end())
    const { path, fileName } = await get(at('/moved'))
    expect(fileName).toBe('here.mp4')
    expect((await readFile(path)).equals(VIDEO)).toBe(true)
  })

  it('gets the extension of its content type', async () => {
    site.answer('/watch', { type: 'video/webm', bytes: VIDEO })
    expect(await get(at('/watch?v=1'))).toMatchObject({ fileName: 'watch.webm' })
  })

  it.each([
    ['by its name', () => at('/video.mp4', 'inside.test', inside.port)],
    ['by its address', () => at('/video.mp4', INSIDE, inside.port)],
    ['by a redirection', () => at('/to-inside')],
  ])('is refused at a private address %s', async (_how, url) => {
    const location = at('/video.mp4', INSIDE, inside.port)
    site.answer('/to-inside', (_request, response) => response.writeHead(302, { location }).end())
    inside.requested.length = 0
    await expect(get(url())).rejects.toMatchObject({ reason: 'refused' })
    expect(inside.requested).toEqual([])
  })

  it('is aborted when it exceeds the limit', async () => {
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

  it('is not started when its declared size exceeds the limit', async () => {
    site.answer('/large.mp4', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': MAX_BYTES + 1 })
      response.write('a')
    })
    await expect(get(at('/large.mp4'))).rejects.toMatchObject({ reason: 'too-large' })
    expect(await readdir(folder)).toEqual([])
  })

  it('is aborted when the server falls silent', async () => {
    site.answer('/slow.mp4', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' }).write('a')
    })
    await expect(get(at('/slow.mp4'), { by: impatient })).rejects.toMatchObject({ reason: 'time-out' })
  })

  it.each([
    ['that is not there', '/missing', { reason: 'no-program' }],
    ['that is a page', '/page', { reason: 'no-program' }],
    ['that is a playlist', '/list.m3u8', { reason: 'no-program' }],
    ['that breaks off', '/short.mp4', { reason: 'failed' }],
  ])('%s is reported', async (_what, path, expected) => {
    site.answer('/page', { type: 'text/html', bytes: '<video>' })
    site.answer('/list.m3u8', { type: 'audio/x-mpegurl', bytes: '#EXTM3U' })
    site.answer('/short.mp4', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 1000 }).write('a')
      setImmediate(() => response.destroy())
    })
    await expect(get(at(path))).rejects.toMatchObject(path === '/missing' ? { reason: 'unusable' } : expected)
  })

  it('is resumed after a process ended, unless the file has changed', async () => {
    const half = VIDEO.subarray(0, 150_000)
    site.answer('/half.mp4', sending('video/mp4', VIDEO))
    const url = at('/half.mp4')
    for (const etag of ['"the same"', '"another"']) {
      const requests = site.requested.length
      await leaveBehind(url, etag, etag === '"another"' ? Buffer.alloc(100) : half)
      expect((await readFile((await get(url)).path)).equals(VIDEO)).toBe(true)
      expect((await readdir(folder)).toSorted()).toEqual([expect.stringMatching(/^complete-\w+$/), 'complete.json'])
      expect(site.requested.length - requests).toBe(1)
    }
  })

  it('is kept for a retry once it is complete, also when it was moved out of the folder', async () => {
    site.answer('/whole.mp4', { type: 'video/mp4', bytes: VIDEO })
    const url = at('/whole.mp4')
    const first = await get(url)
    const requests = site.requested.length
    expect(await get(url)).toMatchObject({ path: first.path, fileName: 'whole.mp4', metadata: {} })
    const elsewhere = join(folder, 'elsewhere')
    await rename(first.path, elsewhere)
    expect(await get(url, { bringBack: (path) => rename(elsewhere, path) })).toMatchObject({ path: first.path })
    await expect(get(url, { maxBytes: VIDEO.length - 1 })).rejects.toMatchObject({ reason: 'too-large' })
    expect(site.requested.length).toBe(requests)

    await appendFile(first.path, 'more')
    const again = await get(url)
    expect((await readFile(again.path)).equals(VIDEO)).toBe(true)
    expect(again.path).not.toBe(first.path)
    expect(await readdir(folder)).toHaveLength(2)
    site.answer('/other.mp4', { type: 'video/mp4', bytes: VIDEO })
    expect(await get(at('/other.mp4'))).toMatchObject({ fileName: 'other.mp4' })
    expect(site.requested.length).toBe(requests + 2)
  })

  it('is requested again when another range arrives than the missing one', async () => {
    let closed = 0
    site.answer('/other-part.mp4', (request, response) => {
      if (request.headers.range === undefined) return sending('video/mp4', VIDEO)(request, response)
      response.once('close', () => {
        closed += 1
      })
      response.writeHead(206, { 'content-type': 'video/mp4', 'content-range': `bytes 7-299999/300000` }).write('a')
    })
    const url = at('/other-part.mp4')
    await leaveBehind(url, '"the same"', VIDEO.subarray(0, 1000))
    expect((await readFile((await get(url)).path)).equals(VIDEO)).toBe(true)
    await until(() => closed === 1)
  })

  it('is refused when an attempt considered dead wrote into it too', async () => {
    const url = at('/woken.mp4')
    const half = VIDEO.subarray(0, 150_000)
    const part = await leaveBehind(url, '"the same"', half)
    site.answer('/woken.mp4', async (request, response) => {
      // The writer that holds it open does not see its new name.
      await appendFile(part, VIDEO)
      sending('video/mp4', VIDEO)(request, response)
    })
    await expect(get(url)).rejects.toMatchObject({ reason: 'failed' })
    expect((await readdir(folder)).filter((name) => name.startsWith('complete'))).toEqual([])
  })

  it('is aborted when it is cancelled', async () => {
    site.answer('/waiting.mp4', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' }).write('a')
    })
    const giveUp = new AbortController()
    const requests = site.requested.length
    const running = get(at('/waiting.mp4'), { signal: giveUp.signal })
    await until(() => site.requested.length > requests)
    giveUp.abort(new Error('not wanted'))
    await expect(running).rejects.toThrow('not wanted')
  })
})

describe('a page, by yt-dlp', () => {
  it('provides the video with all of its metadata', async () => {
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
    const requests = site.requested.length
    for (const { subtitles } of [found, await get(at('/watch/1'), { by: withYtDlp })]) {
      expect(String(await subtitles?.[0]?.read())).toMatch(/^WEBVTT/)
    }
    const again = await get(at('/watch/1'), { by: withYtDlp })
    expect(again).toMatchObject({ path: found.path, metadata: found.metadata, fileName: 'video.mp4' })
    expect(site.requested.length).toBe(requests)
  })

  it('is fetched over HTTP only, and without other programs', async () => {
    site.answer('/watch/4.json', { type: 'application/json', bytes: pageInfo() })
    site.answer('/watch/4.mp4', { type: 'video/mp4', bytes: VIDEO })
    await get(at('/watch/4'), { by: withYtDlp })
    const runs: { args: string[]; path: string }[] = (await readFile(join(folder, 'runs.json'), 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    expect(runs).toHaveLength(3)
    for (const { args, path } of runs) {
      expect(args.join(' ')).toContain('--fixup never --ffmpeg-location no-ffmpeg --downloader native')
      expect(path).toBe(join(folder, 'programs'))
      // For a playlist it would otherwise visit each video.
      expect(args.includes('--flat-playlist')).toBe(args.includes('--dump-single-json'))
      const formats = args.includes('--format') ? args[args.indexOf('--format') + 1] : undefined
      for (const format of formats?.split(/[/+]/) ?? []) expect(format).toContain("[protocol~='^(https?|")
    }
    const names = await readdir(join(folder, 'programs'))
    expect(names.filter((name) => !['python', 'python3', 'deno'].includes(name))).toEqual([])
  })

  it('succeeds without its subtitles', async () => {
    site.answer('/watch/5.json', { type: 'application/json', bytes: pageInfo() })
    site.answer('/watch/5.mp4', { type: 'video/mp4', bytes: VIDEO })
    const found = await get(at('/watch/5'), { by: withYtDlp })
    expect(site.requested).toContain('/watch/5.vtt')
    expect(found).toMatchObject({ fileName: 'video.mp4', subtitles: [] })
  })

  it('has its thumbnail in any format', async () => {
    const gif = 'GIF89a'
    site.answer('/watch/10.json', { type: 'application/json', bytes: pageInfo({ subtitles: {} }) })
    site.answer('/watch/10.mp4', { type: 'video/mp4', bytes: VIDEO })
    site.answer('/watch/10.gif', { type: 'image/gif', bytes: gif })
    const { path, picturePath = '' } = await get(at('/watch/10'), { by: withYtDlp })
    expect((await readFile(path)).equals(VIDEO)).toBe(true)
    expect(await readFile(picturePath, 'utf8')).toBe(gif)
  })

  it('with separate video and audio becomes one file', async () => {
    const [picture, sound] = [await media('silent.mp4'), await media('sound.mp3')]
    site.answer('/watch/6.json', { type: 'application/json', bytes: pageInfo() })
    site.answer('/watch/6.f1.mp4', { type: 'video/mp4', bytes: await readFile(picture) })
    site.answer('/watch/6.f2.m4a', { type: 'audio/mp4', bytes: await readFile(sound) })
    const { path, fileName } = await get(at('/watch/6'), { by: withYtDlp })
    expect(fileName).toBe('video.mp4')
    expect(await probe({ ffmpeg, path })).toMatchObject({ video: { codec: 'h264' }, audio: { codec: 'mp3' } })
  })

  it('opens no local file instead of the video', async () => {
    const inner = join(folders, 'inner.ts')
    await writeFile(inner, await readFile(await media('transport.ts')))
    const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${pathToFileURL(inner)}\n#EXT-X-ENDLIST\n`
    site.answer('/watch/7.json', { type: 'application/json', bytes: pageInfo() })
    site.answer('/watch/7.f1.mp4', { type: 'video/mp4', bytes: playlist })
    site.answer('/watch/7.f2.m4a', { type: 'audio/mp4', bytes: await readFile(await media('sound.mp3')) })
    await expect(get(at('/watch/7'), { by: withYtDlp })).rejects.toMatchObject({ reason: 'failed' })
  })

  it('is not mistaken for the file of an earlier attempt in another format', async () => {
    site.answer('/watch/8.json', { type: 'application/json', bytes: pageInfo({ subtitles: {} }) })
    site.answer('/watch/8.mp4', { type: 'video/mp4', bytes: VIDEO })
    for (const name of ['video.avi', 'video.f7.mp4', 'video.de.vtt']) await writeFile(join(folder, name), 'cut off')
    await writeFile(join(folder, 'yt-dlp.format'), '2')
    const { path, subtitles } = await get(at('/watch/8'), { by: withYtDlp })
    expect((await readFile(path)).equals(VIDEO)).toBe(true)
    expect(subtitles).toEqual([])
  })

  it.each([
    ['of a live stream', pageInfo({ is_live: true }), 'unusable'],
    ['of a list', pageInfo({ _type: 'playlist', entries: [] }), 'unusable'],
    ['of a video that is too large', pageInfo({ filesize: MAX_BYTES + 1 }), 'too-large'],
    ['that makes no sense', 'null', 'unusable'],
    ['that does not end', pageInfo({ title: 'x'.repeat(9_000_000) }), 'unusable'],
  ])('%s is refused', async (_what, told, reason) => {
    site.answer('/watch/2.json', { type: 'application/json', bytes: told })
    site.answer('/watch/2', { type: 'text/html', bytes: '<video>' })
    await expect(get(at('/watch/2'), { by: withYtDlp })).rejects.toMatchObject({ reason })
  })

  it('has the error message of the program, without URLs', async () => {
    site.answer('/watch/3', { type: 'text/html', bytes: '<video>' })
    await expect(get(at('/watch/3'), { by: withYtDlp })).rejects.toThrow(
      /^The video cannot be downloaded: \[generic\] Unable to open\s+it was refused$/,
    )
  })

  it('ends with all programs that were started', async () => {
    site.answer('/hang', { type: 'text/html', bytes: '<video>' })
    const giveUp = new AbortController()
    const running = get(at('/hang'), { by: makeWith(join(folders, 'bin')), signal: giveUp.signal }).catch((error: Error) => error)
    const pids: number[] = await until(async () => JSON.parse(await readFile(join(folder, 'pids.json'), 'utf8').catch(() => 'null')))
    giveUp.abort(new Error('not wanted'))
    await running
    await until(async () => (await Promise.all(pids.map(isRunning))).every((runs) => !runs))
    expect(await readdir(folder)).toEqual(['pids.json', 'programs'])
  })

  it('ends the muxing that a dead worker left running', async () => {
    site.answer('/watch/9.json', { type: 'application/json', bytes: pageInfo() })
    site.answer('/watch/9.mp4', { type: 'video/mp4', bytes: VIDEO })
    const args = ['-e', 'setInterval(() => {}, 1000)', join(folder, 'video.f1.mp4')]
    const { pid = 0 } = spawn(process.execPath, args, { detached: true, stdio: 'ignore' })
    await writeFile(join(folder, 'join.pid'), String(pid))
    await until(async () => (await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes(folder))
    await get(at('/watch/9'), { by: withYtDlp })
    expect(await isRunning(pid)).toBe(false)
  })

  inSandbox('leaves no bridge to the proxy when the worker and the program are gone', async () => {
    site.answer('/hang', { type: 'text/html', bytes: '<video>' })
    const giveUp = new AbortController()
    const running = get(at('/hang'), { by: withYtDlp, signal: giveUp.signal }).catch((error: Error) => error)
    const [pid = 0]: number[] = await until(async () => JSON.parse(await readFile(join(folder, 'pids.json'), 'utf8').catch(() => 'null')))
    const group = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number)
    const commands = await Promise.all(group.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8')))
    const bridge = group.filter((_child, index) => commands[index]?.includes('sandbox.py'))
    expect(bridge).toHaveLength(1)
    // Not its process group, which ends all of it while the worker lives.
    process.kill(pid, 'SIGKILL')
    await until(async () => (await Promise.all(bridge.map(isRunning))).every((runs) => !runs))
    giveUp.abort(new Error('not wanted'))
    await running
  })

  it.each([
    ['2023.03.04', false],
    ['2023.11.14', false],
    ['2024.07.01', true],
    ['2024.7.2', true],
    ['2026.02.21.232737', true],
    ['2021.12.17-3+deb', false],
    ['v9', false],
  ])('with version %s is run: %s', async (version, isRun) => {
    const bin = await mkdtemp(join(folders, 'bin-'))
    const ran = join(bin, 'ran')
    const program = `#!/bin/sh\ncase "$*" in *--version*) echo ${version} ;; *) echo > ${ran}; echo null ;; esac\n`
    await writeFile(join(bin, YT_DLP), program, { mode: 0o755 })
    site.answer('/watch/11', { type: 'text/html', bytes: '<video>' })
    const by = makeWith(bin)
    const expected = isRun ? { reason: 'unusable' } : { reason: 'no-program', message: expect.stringMatching(/safe/) }
    await expect(get(at('/watch/11'), { by })).rejects.toMatchObject(expected)
    const listing = by.listRemoteVideos({ url: at('/c'), limit: 2, folder, signal: new AbortController().signal })
    await expect(listing).rejects.toMatchObject(expected)
    expect(await readFile(ran, 'utf8').catch(() => undefined)).toBe(isRun ? '\n' : undefined)
  })

  it('checks the version of the program once, and again when the file has changed', async () => {
    const bin = await mkdtemp(join(folders, 'bin-'))
    const requests = join(bin, 'asked')
    const install = (version: string) => {
      const answer = `*--version*) echo x >> ${requests}; echo ${version} ;; *) echo null ;;`
      return writeFile(join(bin, YT_DLP), `#!/bin/sh\ncase "$*" in ${answer} esac\n`, { mode: 0o755 })
    }
    const by = makeWith(bin)
    site.answer('/watch/12', { type: 'text/html', bytes: '<video>' })
    await install('2025.01.01')
    for (const reason of ['unusable', 'unusable']) {
      await expect(get(at('/watch/12'), { by })).rejects.toMatchObject({ reason })
    }
    expect(await readFile(requests, 'utf8')).toBe('x\n')
    await install('2023.1.1')
    await expect(get(at('/watch/12'), { by })).rejects.toMatchObject({ reason: 'no-program' })
  })

  it('reports errors however early the program ends', async () => {
    // Nothing on the disk responds before that.
    const busy = Array.from({ length: 8 }, () => new Promise((done) => pbkdf2('a', 'b', 40_000, 64, 'sha512', done)))
    const program = { command: '/bin/false', args: [], searchPath: '' }
    const run = runYtDlp({
      program,
      folder,
      args: [],
      url: at('/'),
      proxy: 'http://x',
      maxOutputBytes: 1000,
      limits: { silenceMs: 5000, maxMemoryBytes: 1e9 },
      signal: new AbortController().signal,
    })
    await expect(run).rejects.toMatchObject({ reason: 'failed' })
    await Promise.all(busy)
  })

  it('is aborted when the program exceeds its memory limit', async () => {
    site.answer('/hang-2/hang', { type: 'text/html', bytes: '<video>' })
    const by = makeWith(join(folders, 'bin'), { memory: '10MB' })
    await expect(get(at('/hang-2/hang'), { by })).rejects.toThrow(/more memory than this server allows/)
  })

  inSandbox('is reached by the proxy alone, whatever the program does', async () => {
    const targets = [at('/inside', INSIDE, inside.port), at('/inside', '127.0.0.1')]
    site.answer('/astray.json', { type: 'application/json', bytes: JSON.stringify({ targets }) })
    site.answer('/astray', { type: 'text/html', bytes: '<video>' })
    const requests = inside.requested.length
    await expect(get(at('/astray'), { by: withYtDlp })).rejects.toThrow('nothing there')
    expect(site.requested).toContain('/astray.json')
    expect([...inside.requested.slice(requests), ...site.requested].filter((path) => path === '/inside')).toEqual([])
  })

  withRealProgram('does not get the program to leave its proxy by headers in a fragment', async () => {
    const by = makeWith(join(folders, 'none'), { name: 'yt-dlp', isSafe: () => true })
    const headers = JSON.stringify({ http_headers: { 'Ytdl-request-proxy': '__noproxy__' } })
    const smuggled = `http://${INSIDE}:${inside.port}/secret.mp4#__youtubedl_smuggle=${encodeURIComponent(headers)}`
    inside.answer('/secret.mp4', { type: 'video/mp4', bytes: VIDEO })
    site.answer('/refresh', {
      type: 'text/html',
      bytes: `<meta http-equiv="refresh" content="0; URL='${smuggled}'">`,
    })
    site.answer('/redirect', (_request, response) => response.writeHead(302, { location: smuggled }).end())
    site.answer('/embed', {
      type: 'text/html',
      bytes: `<video src="${smuggled}"></video><iframe src="${smuggled}"></iframe>`,
    })
    const requests = inside.requested.length
    const direct = `${at('/embed')}#${smuggled.split('#')[1]}`
    for (const url of [at('/refresh'), at('/redirect'), at('/embed'), direct, smuggled]) {
      await expect(get(url, { by })).rejects.toMatchObject({ name: 'DownloadError' })
    }
    expect(site.requested).toContain('/refresh')
    expect(inside.requested.slice(requests)).toEqual([])
  })

  it('of a channel lists its videos', async () => {
    const entries = [
      { url: at('/a#__youtubedl_smuggle=%7B%7D'), title: 'A', timestamp: 0 },
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

  it('of a channel with tabs lists the newest videos of each', async () => {
    const video = (name: string) => ({ _type: 'url', url: at(`/${name}`) })
    const tab = (url: string, ...entries: object[]) => ({ _type: 'playlist', webpage_url: at(url), entries })
    const deep = [1, 2, 3, 4, 5].reduce((inner: object) => tab('/deep', inner), video('deep'))
    const entries = [
      tab('/@c/videos', video('a'), video('b'), video('c'), video('d')),
      tab('/@c/shorts', video('s'), video('a')),
      { _type: 'playlist', url: at('/@c/empty') },
      deep,
    ]
    site.answer('/@c.json', { type: 'application/json', bytes: JSON.stringify({ _type: 'playlist', entries }) })
    const signal = new AbortController().signal
    const listed = await withYtDlp.listRemoteVideos({ url: at('/@c'), limit: 4, folder, signal })
    expect(listed.map(({ url }) => url)).toEqual([at('/a'), at('/s'), at('/b'), at('/c')])
  })
})

describe('the proxy of yt-dlp', () => {
  const dial = makeDial({ isAllowed, resolve, timeoutMs: 2000 })
  const open = (maxBytes = MAX_BYTES) => openGuardedProxy({ dial, maxBytes, silenceMs: 2000, logger: silentLogger })

  function ask(proxy: string, target: string, options: { method?: string; credentials?: string } = {}) {
    const { username, password, hostname, port } = new URL(proxy)
    const credentials = Buffer.from(options.credentials ?? `${username}:${password}`).toString('base64')
    return new Promise<number | undefined>((done, failed) => {
      const sent = request({
        hostname,
        port,
        path: target,
        method: options.method ?? 'GET',
        agent: false,
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

  it('connects to no private address, and requires its password', async () => {
    site.answer('/plain', { type: 'text/plain', bytes: 'plain' })
    inside.requested.length = 0
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
    expect(inside.requested).toEqual([])
  })

  it('connects to the requested port, and to no invalid one', async () => {
    const dialled: object[] = []
    const noted = async (target: object): Promise<never> => {
      dialled.push(target)
      throw new Error('Nobody is there.')
    }
    const proxy = await openGuardedProxy({ dial: noted, maxBytes: 1, silenceMs: 2000, logger: silentLogger })
    const connect = { method: 'CONNECT' }
    for (const port of [80, 443, 8080]) expect(await ask(proxy.url, `a.test:${port}`, connect)).toBe(502)
    expect(await ask(proxy.url, '[::1]:80', connect)).toBe(502)
    expect(await ask(proxy.url, 'a.test', connect)).toBe(403)
    await proxy.close()
    const ports = [80, 443, 8080].map((port) => ({ hostname: 'a.test', port }))
    expect(dialled).toEqual([...ports, { hostname: '[::1]', port: 80 }])
  })

  it('aborts responses that exceed the limit', async () => {
    site.answer('/video.mp4', { type: 'video/mp4', bytes: VIDEO })
    const proxy = await open(VIDEO.length - 1)
    expect(await ask(proxy.url, at('/video.mp4'))).toBeUndefined()
    expect(proxy.isOver).toBe(true)
    await proxy.close()
  })

  it("uses the operator's proxy, with the checked address", async () => {
    site.answer('/behind.mp4', { type: 'video/mp4', bytes: VIDEO })
    const upstream = await open()
    const options = { isAllowed, resolve, timeoutMs: 2000, proxy: () => upstream.url }
    const socket = await makeDial(options)({ hostname: 'site.test', port: site.port })
    socket.destroy()
    await expect(makeDial(options)({ hostname: 'inside.test', port: inside.port })).rejects.toMatchObject({
      reason: 'refused-address',
    })
    const behind = makeGuardedFetch({
      allowHttp: true,
      allowPrivateAddresses: false,
      isAllowedAddress: isAllowed,
      resolve,
      timeoutMs: 5000,
      maxRedirects: 3,
      userAgent: 'test',
      logger: silentLogger,
      proxy: () => upstream.url,
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
      const named = Array.isArray(content) ? content.map((bytes, index) => Object.assign(bytes, { name: `${index}.mp4` })) : content
      client.seed(named, { name, announceList: [] }, ({ torrentFile, infoHash }) =>
        done({
          bytes: Buffer.from(torrentFile),
          magnet: (host) => `magnet:?xt=urn:btih:${infoHash}&x.pe=${host}:${client.torrentPort}`,
        }),
      )
    })

  it('with a magnet URI is downloaded from a peer', async () => {
    const { magnet } = await seed(VIDEO, '../../from a peer.mp4')
    const { path, fileName } = await get({ kind: 'magnet', uri: magnet('127.0.0.1') })
    expect((await readFile(path)).equals(VIDEO)).toBe(true)
    expect(path.startsWith(folder)).toBe(true)
    expect(fileName).not.toContain('/')
  })

  it('with a file is downloaded from a web seed, through the guard', async () => {
    site.answer('/seed.mp4', sending('video/mp4', VIDEO))
    const bytes = await withSeeds(await torrentOf(Buffer.from(VIDEO), 'seeded.mp4'), [at('/seed.mp4')])
    expect((await readFile((await get({ kind: 'torrent', bytes })).path)).equals(VIDEO)).toBe(true)
  })

  it('is aborted when a web seed repeatedly sends wrong data', async () => {
    site.answer('/other.mp4', sending('video/mp4', Buffer.alloc(VIDEO.length, 'other')))
    const bytes = await withSeeds(await torrentOf(Buffer.from(VIDEO), 'other.mp4'), [at('/other.mp4')])
    site.requested.length = 0
    await expect(get({ kind: 'torrent', bytes })).rejects.toMatchObject({ reason: 'unusable' })
    expect(site.requested.length).toBeLessThan(50)
  })

  it('is not downloaded from private addresses', async () => {
    inside.requested.length = 0
    const seeds = [at('/video.mp4', INSIDE, inside.port), at('/video.mp4', 'inside.test', inside.port)]
    const bytes = await withSeeds(await torrentOf(Buffer.alloc(1000, 'x'), 'inside.mp4'), seeds)
    await expect(get({ kind: 'torrent', bytes }, { by: impatient })).rejects.toMatchObject({ reason: 'time-out' })
    expect(inside.requested).toEqual([])
  })

  it.each([
    ['with several files', async () => (await seed([Buffer.alloc(10), Buffer.alloc(20)], 'several')).bytes, 'unusable'],
    ['that is too large', async () => (await seed(Buffer.alloc(MAX_BYTES + 1), 'large.mp4')).bytes, 'too-large'],
    ['that is none', async () => Buffer.from('no torrent'), 'unusable'],
    ['with more pieces than its file has', () => torrentWith({ length: 16_384, pieces: 60 }), 'unusable'],
    ['with fewer', () => torrentWith({ length: 16_385, pieces: 1 }), 'unusable'],
    ['of nothing', () => torrentWith({ length: 0, pieces: 1 }), 'unusable'],
    ['with a negative length', () => torrentWith({ length: -1, pieces: 1 }), 'unusable'],
    ['with pieces that nothing could hold', () => torrentWith({ length: 1, pieces: 1, pieceLength: 2 ** 27 }), 'unusable'],
  ])('%s is refused before anything is written', async (_what, make, reason) => {
    await expect(get({ kind: 'torrent', bytes: await make() })).rejects.toMatchObject({ reason })
    expect(await readdir(folder)).toEqual([])
  })

  it('that turns out too large is refused before anything is written', async () => {
    const { magnet } = await seed(Buffer.alloc(MAX_BYTES + 2), 'larger.mp4')
    await expect(get({ kind: 'magnet', uri: magnet('127.0.0.1') })).rejects.toMatchObject({ reason: 'too-large' })
    expect(await readdir(folder)).toEqual([])
  })

  it('never writes more to the disk than allowed', async () => {
    const path = join(folder, 'torrent.data')
    const store = new (flatStore(path, 1500))(1000)
    const put = (index: number, bytes: number) =>
      new Promise<string | undefined>((done) => store.put(index, Buffer.alloc(bytes), (error) => done(error?.message)))
    expect(await put(1, 1000)).toBe('This piece is beyond the end.')
    expect(await put(1, 500)).toBeUndefined()
    await new Promise<unknown>((done) => store.close(done))
    expect((await readFile(path)).length).toBe(1500)
  })

  it('is aborted when its process exceeds the memory limit', async () => {
    const { magnet } = await seed(Buffer.alloc(1001, 'm'), 'memory.mp4')
    const by = makeWith(join(folders, 'none'), { memory: '10MB' })
    const source = { kind: 'magnet', uri: magnet('127.0.0.1') } as const
    await expect(get(source, { by })).rejects.toThrow('This torrent needs too much memory.')
  })

  it('ends with the server, however that ends', async () => {
    const server = spawn(process.execPath, ['--input-type=module', '-e', serverOfTorrent(folder)], { stdio: 'inherit' })
    const pid = Number(await until(() => readFile(join(folder, 'torrent.pid'), 'utf8').catch(() => '')))
    expect(await isRunning(pid)).toBe(true)
    server.kill('SIGKILL')
    await until(async () => !(await isRunning(pid)))
  })

  it('is read without a download', async () => {
    const { bytes } = await seed(Buffer.alloc(5000, 'z'), 'read.mp4')
    expect(await readTorrent(bytes)).toEqual({ name: 'read.mp4', files: 1, size: 5000 })
    expect(await readTorrent('magnet:?xt=urn:btih:nonsense')).toBeUndefined()
    expect(await readTorrent(`magnet:?xt=urn:btih:${'z'.repeat(40)}`)).toBeUndefined()
    expect(await readTorrent(`magnet:?xt=urn:btih:${'a'.repeat(32)}&dn=b`)).toMatchObject({ name: 'b' })
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

/** A malicious torrent. */
async function torrentWith(told: { length: number; pieces: number; pieceLength?: number }): Promise<Buffer> {
  const { default: bencode } = await import('bencode')
  const { length, pieces, pieceLength = 16_384 } = told
  const info = { length, name: 'bent.mp4', 'piece length': pieceLength, pieces: Buffer.alloc(20 * pieces) }
  return Buffer.from(bencode.encode({ info }))
}

/** A program that waits for a torrent without peers. */
function serverOfTorrent(work: string): string {
  const from = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href)
  const config = {
    imports: { peer_timeout: 60_000, torrent_dht: false },
    media: { max_memory: 1e9 },
    federation: { allow_private_addresses: false },
  }
  return `
    import { makeDownloadTorrent } from ${from('media/downloads/torrent/torrent-downloads.ts')}
    const guard = { isAllowed: () => false, resolve: async () => [] }
    const config = () => ({ vireo: ${JSON.stringify(config)} })
    const download = makeDownloadTorrent({ http: {}, guard, config, logger: console })
    const options = { folder: ${JSON.stringify(work)}, maxBytes: 1000, signal: new AbortController().signal, onProgress() {} }
    await download('magnet:?xt=urn:btih:${'a'.repeat(40)}', options)
  `
}

/** With web seeds (BEP 19), which are outside the hashed part. */
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
