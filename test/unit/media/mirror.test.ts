// Copies of HLS videos of possibly hostile servers.

import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type FileKind, type FileStore, fileKinds, makeFileStore, mirrorHls } from '../../../src/media/index.ts'
import { readRemotePlaylist } from '../../../src/media/mirror/playlist.ts'
import { type GuardedFetch, makeGuardedFetch } from '../../../src/platform/fetch/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { temporaryFolder } from '../../support/media.ts'

type Answer = string | Buffer | ((request: IncomingMessage, response: ServerResponse) => void)

const MASTER = '#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-STREAM-INF:BANDWIDTH=1\n240.m3u8\n'
const MEDIA = [
  '#EXTM3U',
  '#EXT-X-TARGETDURATION:4',
  '#EXT-X-MAP:URI="240.mp4",BYTERANGE="4@0"',
  '#EXTINF:4,',
  '#EXT-X-BYTERANGE:3@4',
  '240.mp4',
  '#EXTINF:4,',
  '#EXT-X-BYTERANGE:3@7',
  '240.mp4',
  '#EXT-X-ENDLIST',
  '',
].join('\n')
const FILE = '0123456789'

let root: string
let store: FileStore
let base: string
let http: GuardedFetch
let answers: Record<string, Answer>
let requested: string[]
let close: () => void

beforeEach(async () => {
  root = await temporaryFolder()
  const directories = Object.fromEntries(fileKinds.map((kind) => [kind, join(root, kind)])) as Record<FileKind, string>
  store = makeFileStore({ directories, tmp: join(root, 'tmp') })
  requested = []
  answers = { '/v/master.m3u8': MASTER, '/v/240.m3u8': MEDIA, '/v/240.mp4': FILE }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requested.push(path)
    const answer = answers[path]
    if (answer === undefined) response.writeHead(404).end()
    else if (typeof answer === 'function') answer(request, response)
    else response.end(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  http = makeGuardedFetch({
    allowHttp: true,
    allowPrivateAddresses: false,
    timeoutMs: 5000,
    maxRedirects: 5,
    // This loopback address stands for a public one.
    isAllowedAddress: (found) => found === '127.0.0.1',
    userAgent: 'vireo-test',
    logger: silentLogger,
  })
  close = () => {
    server.closeAllConnections()
    server.close()
  }
})
afterEach(async () => {
  await http.close()
  close()
  await rm(root, { recursive: true, force: true })
})

const folder = { kind: 'redundancy', name: 'hls/x' } as const
const mirror = (more: Partial<Parameters<typeof mirrorHls>[0]> = {}) =>
  mirrorHls({
    store,
    http,
    folder,
    masterUrl: `${base}/v/master.m3u8`,
    silenceMs: 5000,
    sizes: new Map([[`${base}/v/240.mp4`, FILE.length]]),
    limits: { maxBytes: 10_000, maxPlaylists: 5, maxFiles: 10 },
    signal: new AbortController().signal,
    onProgress: () => {},
    ...more,
  })
const stored = async () => {
  const names: string[] = []
  for await (const { name } of store.list('redundancy')) names.push(name)
  return names.sort()
}
const textOf = (name: string) => readFile(join(root, 'redundancy', 'hls', 'x', name), 'utf8')

describe('a copy of an HLS video', () => {
  it('has the original playlists, and each file once', async () => {
    expect(await mirror()).toBe(MASTER.length + MEDIA.length + FILE.length)
    expect(await stored()).toEqual(['hls/x/240.m3u8', 'hls/x/240.mp4', 'hls/x/master.m3u8'])
    expect([await textOf('master.m3u8'), await textOf('240.m3u8'), await textOf('240.mp4')]).toEqual([MASTER, MEDIA, FILE])
    expect(requested).toEqual(['/v/master.m3u8', '/v/240.m3u8', '/v/240.mp4'])
  })

  it('uses relative file names where the playlists have absolute URLs or unusual names', async () => {
    answers['/v/master.m3u8'] = MASTER.replace('240.m3u8', `${base}/elsewhere/240.m3u8?a=1`)
    answers['/elsewhere/240.m3u8?a=1'] = MEDIA.replaceAll('240.mp4', '/v/%2e%2e%2f240')
    answers['/v/%2e%2e%2f240'] = FILE
    await mirror({ sizes: new Map() })
    expect(await textOf('master.m3u8')).toBe(MASTER)
    const [, file, , ...others] = await stored()
    expect(others).toEqual([])
    const name = String(file).split('/').at(-1)
    expect(name).toMatch(/^file-\d+\.bin$/)
    expect(await textOf('240.m3u8')).toBe(MEDIA.replaceAll('240.mp4', String(name)))
  })

  it('that was interrupted resumes after the complete files, and removes obsolete ones', async () => {
    await store.put({ kind: 'redundancy', name: 'hls/x/240.mp4' }, Buffer.from(FILE))
    await store.put({ kind: 'redundancy', name: 'hls/x/480.mp4' }, Buffer.from('of before'))
    await mirror()
    expect(requested).not.toContain('/v/240.mp4')
    expect(await stored()).toEqual(['hls/x/240.m3u8', 'hls/x/240.mp4', 'hls/x/master.m3u8'])
  })

  it('stops when it is cancelled', async () => {
    const over = new AbortController()
    answers['/v/240.mp4'] = (_request, response) => {
      response.write('0')
      over.abort(new Error('not wanted'))
    }
    await expect(mirror({ signal: over.signal })).rejects.toThrow()
    expect(await stored()).toEqual([])
  })
})

describe('a hostile server', () => {
  const endless = (_request: IncomingMessage, response: ServerResponse) => {
    const more = () => {
      while (response.write(Buffer.alloc(64 * 1024)));
    }
    response.on('drain', more)
    more()
  }
  const encrypted = MEDIA.replace('#EXTINF', '#EXT-X-KEY:METHOD=AES-128,URI="key"\n#EXTINF')

  it.each<[string, RegExp, () => Record<string, Answer>]>([
    [
      'with a segment at a private address',
      /refused-address/,
      () => ({ '/v/240.m3u8': MEDIA.replaceAll('240.mp4', 'http://127.0.0.2/240.mp4') }),
    ],
    [
      'with a segment at a number that is one',
      /refused-address/,
      () => ({ '/v/240.m3u8': MEDIA.replaceAll('240.mp4', 'http://2130706434/240.mp4') }),
    ],
    [
      'with a rendition at a private address',
      /refused-address/,
      () => ({ '/v/master.m3u8': MASTER.replace('240.m3u8', 'http://10.0.0.1/240.m3u8') }),
    ],
    [
      'that leads to a private address by a redirection',
      /refused-address/,
      () => ({
        '/v/240.mp4': (_request, response) => void response.writeHead(302, { location: 'http://127.0.0.2/' }).end(),
      }),
    ],
    ['with a segment in a file', /no http address/, () => ({ '/v/240.m3u8': MEDIA.replaceAll('240.mp4', 'file:///etc/passwd') })],
    ['with data in the playlist', /no http address/, () => ({ '/v/240.m3u8': MEDIA.replaceAll('240.mp4', 'data:,x') })],
    ['with credentials in an address', /no http address/, () => ({ '/v/240.m3u8': MEDIA.replaceAll('240.mp4', 'http://a:b@127.0.0.1/') })],
    ['with an endless segment', /more than/, () => ({ '/v/240.mp4': endless })],
    ['with an endless playlist', /more than/, () => ({ '/v/master.m3u8': endless })],
    ['with a file that is too short', /in place of/, () => ({ '/v/240.mp4': FILE.slice(1) })],
    ['with a file that is too long', /more than/, () => ({ '/v/240.mp4': `${FILE}0` })],
    ['without the file', /404/, () => ({ '/v/240.mp4': (_request, response) => void response.writeHead(404).end() })],
    ['with a playlist that still grows', /growing/, () => ({ '/v/240.m3u8': MEDIA.replace('#EXT-X-ENDLIST', '') })],
    ['with an encrypted playlist', /encrypted/, () => ({ '/v/240.m3u8': encrypted })],
    ['with a page in place of a playlist', /no playlist/, () => ({ '/v/master.m3u8': '<html>' })],
    ['with masters in masters', /no media playlist/, () => ({ '/v/240.m3u8': MASTER })],
    ['with a playlist of nothing', /no files/, () => ({ '/v/240.m3u8': '#EXTM3U\n#EXT-X-ENDLIST\n' })],
    [
      'with more files than a video has',
      /too many files/,
      () => ({
        '/v/240.m3u8': MEDIA.replace('#EXT-X-ENDLIST', `${Array.from({ length: 11 }, (_, n) => `${n}.ts`).join('\n')}\n#EXT-X-ENDLIST`),
      }),
    ],
    [
      'with more renditions than a video has',
      /too many renditions/,
      () => ({ '/v/master.m3u8': `${MASTER}${Array.from({ length: 8 }, (_, n) => `${n}.m3u8`).join('\n')}\n` }),
    ],
  ])('%s has no effect', async (_what, message, make) => {
    Object.assign(answers, make())
    await expect(mirror()).rejects.toThrow(message)
    expect((await stored()).filter((name) => name.endsWith('master.m3u8'))).toEqual([])
  })

  it('with many files may not exceed the declared total size', async () => {
    answers['/v/240.m3u8'] = MEDIA.replaceAll('240.mp4', 'other.mp4')
    answers['/v/other.mp4'] = endless
    await expect(mirror()).rejects.toThrow(/more than/)
  })

  it('that falls silent times out', async () => {
    answers['/v/240.mp4'] = (_request, response) => void response.write('0')
    await expect(mirror({ silenceMs: 300 })).rejects.toThrow(/too long/)
    answers['/v/240.mp4'] = () => {}
    await expect(mirror({ silenceMs: 300 })).rejects.toThrow(/too long/)
  })

  it('with a declared size over the limit gets no requests for files', async () => {
    await expect(mirror({ sizes: new Map([[`${base}/v/240.mp4`, 20_000]]) })).rejects.toThrow(/larger/)
    expect(requested).not.toContain('/v/240.mp4')
  })
})

it('a playlist with carriage returns keeps them', () => {
  const text = '#EXTM3U\r\n#EXTINF:1,\r\nhttps://a.example/x/1.ts\r\n#EXT-X-ENDLIST\r\n'
  const playlist = readRemotePlaylist(text, 'https://a.example/x/y.m3u8', { maxUrls: 5 })
  expect(playlist.urls).toEqual(['https://a.example/x/1.ts'])
  expect(playlist.withNames(() => '1.ts')).toBe('#EXTM3U\r\n#EXTINF:1,\r\n1.ts\r\n#EXT-X-ENDLIST\r\n')
})
