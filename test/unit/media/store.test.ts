// What every store promises, on the file system, on object storage and on both: whole files, safe names, uploads that survive a crash.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { objectSettings } from '../../../src/connections.ts'
import {
  type FileKind,
  type FileStore,
  fileKinds,
  makeFileStore,
  makePlacedStore,
  makeS3Store,
  needsPathStyle,
  type ObjectSettings,
  objectAddress,
  StorageOutage,
  type Store,
} from '../../../src/media/index.ts'
import { asStoreError } from '../../../src/media/store/s3-client.ts'
import { coverOf } from '../../../src/media/store/s3-uploads.ts'
import { testConfig } from '../../support/config.ts'
import { startCpuTime } from '../../support/cpu-time.ts'
import { everythingIn, startS3, type TestS3 } from '../../support/s3.ts'
import { until } from '../../support/until.ts'

let s3: TestS3
let settings: ObjectSettings
beforeAll(async () => {
  s3 = await startS3()
  const found = objectSettings(testConfig(everythingIn(s3.endpoint)))
  if (!found) throw new Error('The test has no object storage.')
  settings = found
})
afterAll(() => s3.stop())

let root: string
const fileStore = (): FileStore => {
  const directories = Object.fromEntries(fileKinds.map((kind) => [kind, join(root, kind)])) as Record<FileKind, string>
  return makeFileStore({ directories, tmp: join(root, 'tmp') })
}
const objectStore = (some: Partial<ObjectSettings> = {}) => makeS3Store({ settings: { ...settings, ...some }, tmp: join(root, 'tmp') })
const placed = (preferred: 'file-system' | 'object-storage') => makePlacedStore({ files: fileStore(), objects: objectStore(), preferred })
const onlyObjects = (): Store => {
  const store = placed('object-storage').only('object-storage', 'web_videos')
  if (!store) throw new Error('There is no bucket.')
  return store
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'vireo-store-'))
})
afterEach(async () => {
  s3.break(undefined)
  s3.cut(undefined)
  for (const kind of fileKinds) {
    if (kind === 'tmp') continue
    for await (const { name } of objectStore().list(kind)) await objectStore().remove({ kind, name })
  }
  await rm(root, { recursive: true, force: true })
})

const video = (name: string) => ({ kind: 'web_videos', name }) as const

async function namesIn(store: Store, kind: FileKind, folder?: string) {
  const names: string[] = []
  for await (const { name } of store.list(kind, folder)) names.push(name)
  return names.sort()
}

describe.each([
  ['the file system', fileStore],
  ['object storage', onlyObjects],
  ['both, with new files on the file system', () => placed('file-system')],
  ['both, with new files in object storage', () => placed('object-storage')],
])('the store on %s', (_of, make: () => Store) => {
  let store: Store
  beforeEach(() => {
    store = make()
  })
  const contentOf = async (name: string) => text((await store.open(video(name))).stream)
  const namesOf = (kind: FileKind, folder?: string) => namesIn(store, kind, folder)

  describe('storing a file', () => {
    it('accepts a stream, bytes, or a local file that it moves or copies', async () => {
      await writeFile(join(root, 'moved'), 'three')
      await writeFile(join(root, 'kept'), 'four')
      await store.put(video('1.mp4'), Readable.from(['o', 'ne']))
      await store.put(video('2.mp4'), Buffer.from('two'))
      await store.put(video('private/3.mp4'), { path: join(root, 'moved') })
      await store.put(video('4.mp4'), { path: join(root, 'kept'), keep: true })
      expect(await namesOf('web_videos')).toEqual(['1.mp4', '2.mp4', '4.mp4', 'private/3.mp4'])
      expect(await Promise.all(['1.mp4', '2.mp4', 'private/3.mp4', '4.mp4'].map(contentOf))).toEqual(['one', 'two', 'three', 'four'])
      expect((await readdir(root)).filter((name) => ['moved', 'kept'].includes(name))).toEqual(['kept'])
    })

    it('leaves the old file and no partial one when the stream fails', async () => {
      await store.put(video('a.mp4'), Buffer.from('old'))
      const broken = Readable.from(
        (async function* () {
          yield 'new'
          throw new Error('connection lost')
        })(),
      )
      await expect(store.put(video('a.mp4'), broken)).rejects.toThrow('connection lost')
      expect(await contentOf('a.mp4')).toBe('old')
      expect(await namesOf('web_videos')).toEqual(['a.mp4'])
    })

    it('fails with not-found for a missing local file', async () => {
      await expect(store.put(video('a.mp4'), { path: join(root, 'nothing') })).rejects.toMatchObject({
        reason: 'not-found',
      })
    })

    it('changes the ETag with the content', async () => {
      const first = await store.put(video('a.mp4'), Buffer.from('one'))
      const second = await store.put(video('a.mp4'), Buffer.from('three'))
      expect(first.etag).toMatch(/^"[0-9a-f-]+"$/)
      expect(second.etag).not.toBe(first.etag)
      expect(second.size).toBe(5)
    })
  })

  describe('reading a file', () => {
    it('returns the bytes of a range, up to the end', async () => {
      await store.put(video('a.mp4'), Buffer.from('0123456789'))
      expect(await text((await store.open(video('a.mp4'), { start: 2, end: 4 })).stream)).toBe('234')
      const { stat, stream } = await store.open(video('a.mp4'), { start: 8, end: 500 })
      expect([stat.size, await text(stream)]).toEqual([10, '89'])
    })

    it('fails with not-found for a missing file and for a folder', async () => {
      await store.put(video('private/a.mp4'), Buffer.from('x'))
      for (const name of ['missing.mp4', 'private', 'private/a.mp4/b']) {
        await expect(store.open(video(name))).rejects.toMatchObject({ reason: 'not-found' })
        expect(await store.stat(video(name))).toBeUndefined()
      }
    })

    it('provides a local path for tools', async () => {
      await store.put(video('a.mp4'), Buffer.from('abc'))
      expect(await store.withLocalPath(video('a.mp4'), (path) => readFile(path, 'utf8'))).toBe('abc')
      await expect(store.withLocalPath(video('b.mp4'), async () => 0)).rejects.toMatchObject({ reason: 'not-found' })
    })
  })

  describe('names', () => {
    const bad = ['../a', 'a/../../b', '/etc/passwd', 'a\\b', 'a\0b', '', '.', 'a//b', 'a/', '.hidden', 'a/.incoming/b', 'a\nb']
    it.each([...bad, 'x'.repeat(201), 'x/'.repeat(400)])('are refused when they are like %j', async (name) => {
      const ref = video(name)
      const refused = { reason: 'invalid-name' }
      await expect(store.put(ref, Buffer.from('x'))).rejects.toMatchObject(refused)
      await expect(store.open(ref)).rejects.toMatchObject(refused)
      await expect(store.stat(ref)).rejects.toMatchObject(refused)
      await expect(store.remove(ref)).rejects.toMatchObject(refused)
      await expect(store.removeFolder(ref)).rejects.toMatchObject(refused)
      await expect(store.move(video('a'), name)).rejects.toMatchObject(refused)
      await expect(store.openAppend(name, 0)).rejects.toMatchObject(refused)
      await expect(store.workFolder(name)).rejects.toMatchObject(refused)
    })
  })

  describe('moving and removing', () => {
    it('copies a file to another kind, and the copy survives changes of the original', async () => {
      const original = { kind: 'original_video_files', name: 'a.mp4' } as const
      await store.put(original, Buffer.from('one'))
      await store.copy(original, video('private/a.mp4'))
      await store.copy(original, video('private/a.mp4'))
      await store.put(original, Buffer.from('another'))
      await store.remove(original)
      expect(await contentOf('private/a.mp4')).toBe('one')
      await expect(store.copy(original, video('b.mp4'))).rejects.toMatchObject({ reason: 'not-found' })
    })

    it('moves a file between public and private, idempotently', async () => {
      await store.put(video('a.mp4'), Buffer.from('x'))
      await store.move(video('a.mp4'), 'private/a.mp4')
      await store.move(video('a.mp4'), 'private/a.mp4')
      expect(await namesOf('web_videos')).toEqual(['private/a.mp4'])
      await expect(store.move(video('none.mp4'), 'private/none.mp4')).rejects.toMatchObject({ reason: 'not-found' })
    })

    it('moves a whole playlist folder', async () => {
      const kind = 'streaming_playlists'
      await store.put({ kind, name: 'hls/v1/a.m3u8' }, Buffer.from('x'))
      await store.put({ kind, name: 'hls/v1/b.mp4' }, Buffer.from('y'))
      await store.moveFolder({ kind, name: 'hls/v1' }, 'hls/private/v1')
      await store.moveFolder({ kind, name: 'hls/v1' }, 'hls/private/v1')
      expect(await namesOf(kind)).toEqual(['hls/private/v1/a.m3u8', 'hls/private/v1/b.mp4'])
      expect(await namesOf(kind, 'hls/private')).toHaveLength(2)
    })

    it('removes files and folders, also missing ones', async () => {
      await store.put(video('private/a.mp4'), Buffer.from('x'))
      await store.remove(video('private/a.mp4'))
      await store.remove(video('private/a.mp4'))
      await store.put(video('private/b.mp4'), Buffer.from('x'))
      await store.removeFolder(video('private'))
      await store.removeFolder(video('private'))
      expect(await namesOf('web_videos')).toEqual([])
    })
  })

  describe('an incomplete upload', () => {
    const write = async (offset: number, bytes: string) => {
      const appender = await store.openAppend('u1', offset)
      await appender.write(Buffer.from(bytes))
      const safe = await appender.sync()
      await appender.close()
      return safe
    }
    const content = async () => text((await store.open({ kind: 'uploads', name: 'u1' })).stream)

    it('grows by chunks, and has a durable offset', async () => {
      expect(await write(0, 'abc')).toBe(3)
      expect(await write(3, 'def')).toBe(6)
      expect(await content()).toBe('abcdef')
    })

    it('truncates bytes that were written but never acknowledged', async () => {
      await write(0, 'abcXYZ')
      expect(await write(3, 'd')).toBe(4)
      expect(await content()).toBe('abcd')
    })

    it('refuses to leave a gap', async () => {
      await write(0, 'abc')
      await expect(store.openAppend('u1', 4)).rejects.toMatchObject({ reason: 'offset' })
      expect(await content()).toBe('abc')
    })

    it('may be closed twice', async () => {
      const appender = await store.openAppend('u1', 0)
      await appender.close()
      await expect(appender.close()).resolves.toBeUndefined()
    })
  })

  describe('housekeeping', () => {
    it('creates, keeps and removes work folders', async () => {
      const folder = await store.workFolder('transcoding/1')
      await writeFile(join(folder, 'a'), 'x')
      expect(await store.workFolder('transcoding/1')).toBe(folder)
      expect(await readdir(folder)).toEqual(['a'])
      await store.removeWorkFolder('transcoding/1')
      await store.removeWorkFolder('transcoding/1')
      expect(await readdir(join(root, 'tmp', 'transcoding'))).toEqual([])
    })
  })
})

describe('object storage', () => {
  const bytes = (size: number) => Buffer.alloc(size, 'abcdefghij')

  it('accepts large files in parts, and leaves nothing of a failed one', async () => {
    const store = objectStore({ maxPart: 5 * 2 ** 20 })
    const size = 11 * 2 ** 20
    await store.put(video('large.mp4'), Readable.from([bytes(size)]))
    expect(s3.requests.filter((request) => request.includes('partNumber'))).toHaveLength(3)
    const { stream, stat } = await store.open(video('large.mp4'), { start: size - 4, end: size })
    expect([stat.size, await text(stream)]).toEqual([size, bytes(size).subarray(-4).toString()])
    await store.remove(video('large.mp4'))
    let parts = 0
    s3.break(({ path }) => path.includes('partNumber') && ++parts >= 2)
    await expect(store.put(video('large.mp4'), Readable.from([bytes(size)]))).rejects.toBeInstanceOf(StorageOutage)
    expect(s3.requests).toContainEqual(expect.stringMatching(/^DELETE .*large\.mp4\?.*uploadId=/))
    expect(await namesIn(onlyObjects(), 'web_videos')).toEqual([])
  })

  it('distinguishes an outage from a repeated refusal, and from a failing source', async () => {
    const refused = { $metadata: { httpStatusCode: 400 }, name: 'InvalidArgument', message: 'no' }
    const outages = [
      ...[403, 429, 500, 503].map((httpStatusCode) => ({ ...refused, $metadata: { httpStatusCode } })),
      { ...refused, $metadata: { httpStatusCode: 404 }, name: 'NoSuchBucket' },
      { ...refused, name: 'RequestTimeout' },
    ]
    for (const outage of outages) expect(asStoreError(outage)).toBeInstanceOf(StorageOutage)
    expect(asStoreError({ ...refused, $metadata: { httpStatusCode: 404 } })).toMatchObject({ reason: 'not-found' })
    for (const status of [400, 405, 411, 413, 416]) {
      const error = asStoreError({ ...refused, $metadata: { httpStatusCode: status } })
      expect(error).not.toBeInstanceOf(StorageOutage)
      expect(error).toMatchObject({ message: expect.stringContaining(`InvalidArgument, status ${status}, no`) })
    }
    const left = new PassThrough()
    left.write('some')
    const putting = objectStore().put(video('left.mp4'), left)
    left.destroy()
    await expect(putting).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' })
  })

  it('reports a connection that is lost during the bytes as an outage', async () => {
    const store = objectStore()
    await store.put(video('cut.mp4'), bytes(2 ** 20))
    s3.cut(({ method, path }) => method === 'GET' && path.includes('cut.mp4'))
    await expect(text((await store.open(video('cut.mp4'))).stream)).rejects.toBeInstanceOf(StorageOutage)
    s3.cut(undefined)
    const { stream } = await store.open(video('cut.mp4'))
    const closed = once(stream, 'close')
    stream.destroy()
    await closed
    await store.remove(video('cut.mp4'))
  })

  describe('with connections that are lost repeatedly', () => {
    const name = 'cut.mp4'
    const content = randomBytes(3 * 2 ** 20)
    const gets = () => s3.requests.flatMap((line, index) => (/^GET .*cut\.mp4/.test(line) ? [s3.headers[index]] : []))
    const cutReads = (after: number, whenRead: (time: number) => void = () => undefined) => {
      let time = 0
      s3.cut(({ method, path }) => {
        const isRead = method === 'GET' && path.includes(name)
        if (isRead) whenRead(++time)
        return isRead
      }, after)
    }

    it('returns every byte once, and requests the rest of the same object', async () => {
      const store = objectStore()
      const { etag } = await store.put(video(name), content)
      cutReads(2 ** 20)
      const before = gets().length
      expect((await buffer((await store.open(video(name))).stream)).equals(content)).toBe(true)
      const requested = gets()
        .slice(before)
        .map((headers) => [headers?.range, headers?.['if-match']])
      const rest = (from: number) => [`bytes=${from}-${content.length - 1}`, etag]
      expect(requested).toEqual([[undefined, undefined], rest(2 ** 20), rest(2 ** 21)])
      const { stream, stat } = await store.open(video(name), { start: 5, end: 2 ** 21 })
      expect(stat.size).toBe(content.length)
      expect((await buffer(stream)).equals(content.subarray(5, 2 ** 21 + 1))).toBe(true)
    })

    it('returns no byte of a replacement, and fails when the object was removed', async () => {
      const store = objectStore()
      const other = async () => void (await objectStore().put(video(name), randomBytes(content.length)))
      const gone = async () => await objectStore().remove(video(name))
      for (const [change, failure] of [
        [other, { name: 'StorageOutage', message: expect.stringContaining('was replaced') }],
        [gone, { name: 'MediaError', reason: 'not-found' }],
      ] as const) {
        await store.put(video(name), content)
        cutReads(2 ** 20)
        const { stream } = await store.open(video(name))
        s3.break(({ method, path }) => method === 'GET' && path.includes(name))
        let bytes = Buffer.alloc(0)
        const reading = (async () => {
          for await (const piece of stream) {
            bytes = Buffer.concat([bytes, piece as Buffer])
            if (bytes.length < 2 ** 20) continue
            await change()
            s3.break(undefined)
          }
        })()
        await expect(reading).rejects.toMatchObject(failure)
        expect(bytes.equals(content.subarray(0, 2 ** 20))).toBe(true)
      }
    })

    it('ends when the reader stops', async () => {
      const store = objectStore()
      await store.put(video(name), content)
      const leaving = new AbortController()
      cutReads(1, (time) => time === 2 && leaving.abort())
      const reading = store.withLocalPath(video(name), async () => 'read', leaving.signal)
      await expect(reading).rejects.toMatchObject({ reason: 'aborted' })
      expect(await readdir(join(root, 'tmp', 'downloads'))).toEqual([])
    })

    it('returns an upload in parts, and truncates one at its gap', async () => {
      const store = objectStore()
      const upload = await store.openAppend(name, 0)
      await upload.write(content)
      await upload.sync()
      await upload.write(content)
      await upload.sync()
      cutReads(2 ** 20)
      const ref = { kind: 'uploads', name } as const
      expect((await buffer((await store.open(ref)).stream)).equals(Buffer.concat([content, content]))).toBe(true)
      const torn = content.length + 2 ** 21
      await store.openAppend(name, torn)
      expect((await store.stat(ref))?.size).toBe(torn)
      const left = await buffer((await store.open(ref)).stream)
      expect(left.equals(Buffer.concat([content, content]).subarray(0, torn))).toBe(true)
    })
  })

  it('sets content types, and an ACL only if one is configured', async () => {
    await objectStore().put(video('a.mp4'), Buffer.from('x'))
    expect(s3.headers.at(-2)).toMatchObject({ 'content-type': 'video/mp4' })
    expect(s3.headers.at(-2)).not.toHaveProperty('x-amz-acl')
    const guarded = objectStore({ acl: { public: 'public-read', private: 'private' } })
    await guarded.put(video('a.mp4'), Buffer.from('x'))
    expect(s3.headers.at(-2)).toMatchObject({ 'x-amz-acl': 'public-read' })
    await guarded.move(video('a.mp4'), 'private/a.mp4')
    expect(s3.headers.at(-2)).toMatchObject({ 'x-amz-acl': 'private', 'x-amz-copy-source': 'web-videos/a.mp4' })
    await guarded.put({ kind: 'thumbnails', name: 'a.jpg' }, Buffer.from('x'))
    expect(s3.headers.at(-2)).toMatchObject({ 'x-amz-acl': 'private' })
  })

  it('has an address for everybody, or one that holds for a while', async () => {
    const store = objectStore()
    for (const name of ['a.mp4', 'private/a.mp4']) await store.put(video(name), Buffer.from('abc'))
    const [open, shut] = [video('a.mp4'), video('private/a.mp4')]
    expect(await store.publicAddress(open)).toBe(`${s3.endpoint}/web-videos/a.mp4`)
    expect(await store.signedAddress(open)).toBeUndefined()
    expect(await store.publicAddress(shut)).toBeUndefined()
    expect(await store.publicAddress(video('none.mp4'))).toBeUndefined()
    const signed = await store.signedAddress(shut)
    expect(new URL(signed ?? '').searchParams.get('X-Amz-Expires')).toBe('3600')
    expect(await (await fetch(signed ?? '')).text()).toBe('abc')
    expect(await objectStore({ openBuckets: false }).publicAddress(open)).toBeUndefined()
    expect(await objectStore({ openBuckets: false }).signedAddress(open)).toMatch(/X-Amz-Signature/)
  })

  it('removes what it downloaded for local tools, whatever they do', async () => {
    const store = objectStore()
    await store.put(video('a.mp4'), Buffer.from('abc'))
    const failing = store.withLocalPath(video('a.mp4'), async (path) => {
      expect([path.endsWith('.mp4'), await readFile(path, 'utf8')]).toEqual([true, 'abc'])
      throw new Error('a tool failed')
    })
    await expect(failing).rejects.toThrow('a tool failed')
    expect(await readdir(join(root, 'tmp', 'downloads'))).toEqual([])
  })

  it('downloads nothing for local tools that nobody waits for any more', async () => {
    const store = objectStore()
    await store.put(video('a.mp4'), Buffer.from('abc'))
    let worked = 0
    const fetched = (leaving: AbortController) => store.withLocalPath(video('a.mp4'), async () => (worked += 1), leaving.signal)
    const leaving = new AbortController()
    s3.break(({ method }) => {
      if (method === 'GET') leaving.abort()
      return false
    })
    await expect(fetched(leaving)).rejects.toMatchObject({ reason: 'aborted' })
    const requested = s3.requests.length
    await expect(fetched(leaving)).rejects.toMatchObject({ reason: 'aborted' })
    expect([s3.requests.length - requested, worked]).toEqual([0, 0])
    expect(await readdir(join(root, 'tmp', 'downloads')).catch(() => [])).toEqual([])
  })

  it('signs a download under its name, unless the bucket is for everybody at another address', async () => {
    const store = objectStore()
    for (const name of ['a.mp4', 'private/a.mp4']) await store.put(video(name), Buffer.from('abc'))
    const saved = { disposition: 'attachment; filename="A sound.m4a"', type: 'audio/mp4' }
    for (const one of ['a.mp4', 'private/a.mp4']) {
      const answer = await fetch((await store.downloadAddress(video(one), saved)) ?? '')
      const { headers } = answer
      expect([await answer.text(), headers.get('content-disposition'), headers.get('content-type')]).toEqual([
        'abc',
        saved.disposition,
        saved.type,
      ])
    }
    expect(await store.downloadAddress(video('none.mp4'), saved)).toBeUndefined()
    const web_videos = { name: 'web-videos', prefix: '', baseUrl: 'https://cdn.example' }
    const behindCdn = objectStore({ buckets: { web_videos } })
    expect(await behindCdn.downloadAddress(video('a.mp4'), saved)).toBeUndefined()
    expect(await behindCdn.downloadAddress(video('private/a.mp4'), saved)).toMatch(/X-Amz-Signature/)
  })

  it('is left alone for a while when it does not answer, and what lies elsewhere is read at once', async () => {
    const files = fileStore()
    await files.put(video('a.mp4'), Buffer.from('abc'))
    const objects = makeS3Store({
      settings: { ...settings, attempts: 1 },
      tmp: join(root, 'tmp'),
      patience: { answer: 200, rest: 5_000 },
    })
    const store = makePlacedStore({ files, objects, preferred: 'object-storage' })
    await store.put(video('b.mp4'), Buffer.from('def'))
    s3.silence(true)
    try {
      expect(await store.stat(video('a.mp4'))).toMatchObject({ size: 3 })
      const requested = s3.requests.length
      for (let time = 0; time < 5; time += 1) {
        expect(await text((await store.open(video('a.mp4'))).stream)).toBe('abc')
        expect(await store.publicAddress(video('a.mp4'))).toBeUndefined()
        await expect(store.stat(video('b.mp4'))).rejects.toBeInstanceOf(StorageOutage)
      }
      expect(s3.requests.length - requested).toBe(0)
    } finally {
      s3.silence(false)
    }
    await until(async () => (await store.stat(video('b.mp4')).catch(() => undefined)) !== undefined)
    await objects.close()
  })

  it('lists a folder of several pages whole, which the S3 server of the tests cannot answer', async () => {
    const page = (keys: string[], next: string) =>
      `<ListBucketResult><IsTruncated>${next !== ''}</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>
        ${keys.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('')}</ListBucketResult>`
    const pages = createServer((request, answer) => {
      answer.writeHead(200, { 'content-type': 'application/xml' })
      answer.end(request.url?.includes('continuation-token') ? page(['c.mp4'], '') : page(['a.mp4', 'b.mp4'], 'more'))
    })
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
    const { port } = pages.address() as AddressInfo
    const store = objectStore({ endpoint: `http://127.0.0.1:${port}` })
    const names: string[] = []
    for await (const { name } of store.list('web_videos')) names.push(name)
    expect(names).toEqual(['a.mp4', 'b.mp4', 'c.mp4'])
    await store.close()
    await new Promise((resolve) => pages.close(resolve))
  })

  it('reads an upload as one file of which slow writers stored stretches twice', async () => {
    const store = objectStore()
    const [slow, quick] = [await store.openAppend('u', 0), await store.openAppend('u', 0)]
    await quick.write(Buffer.from('0123'))
    await quick.sync()
    const next = await store.openAppend('u', 4)
    await next.write(Buffer.from('456789'))
    await next.sync()
    await slow.write(Buffer.from('01234567'))
    await slow.sync()
    const ref = { kind: 'uploads', name: 'u' } as const
    expect(await text((await store.open(ref)).stream)).toBe('0123456789')
    expect(await text((await store.open(ref, { start: 3, end: 8 })).stream)).toBe('345678')
    expect(await store.stat(ref)).toMatchObject({ name: 'u', size: 10 })
    expect(await namesIn(onlyObjects(), 'uploads')).toEqual(['u'])
    await store.openAppend('u', 5)
    expect(await text((await store.open(ref)).stream)).toBe('01234')
    await store.remove(ref)
    expect(await s3.keys('others')).toEqual([])
  })

  it('puts an upload of very many small pieces together, some of them stored twice', () => {
    const pieces = Array.from({ length: 60_000 }, (_, index) => ({ start: index, size: index % 100 === 0 ? 3 : 1 }))
    const spent = startCpuTime()
    const cover = coverOf(pieces.toReversed())
    expect(spent()).toBeLessThan(2000)
    expect(cover.map(({ start }) => start)).toEqual(pieces.map(({ start }) => start).filter((at) => ![1, 2].includes(at % 100)))
    expect(cover.at(-1)).toEqual({ piece: { start: 59_999, size: 1 }, start: 59_999, end: 60_000 })
    expect(coverOf([{ start: 1, size: 5 }])).toEqual([])
    expect(
      coverOf([
        { start: 0, size: 2 },
        { start: 3, size: 1 },
      ]).at(-1)?.end,
    ).toBe(2)
  })

  it('says in one line what is wrong with its buckets, and reads local files all the same', async () => {
    expect(await objectStore().complaints()).toEqual([])
    const gone = objectStore({ buckets: { web_videos: { name: 'nowhere', prefix: '', baseUrl: '' } } })
    expect(await gone.complaints()).toEqual([expect.stringMatching(/^bucket nowhere at http.*NoSuchBucket, status 404/)])
    const dead = objectStore({ endpoint: 'http://127.0.0.1:1' })
    expect((await dead.complaints()).every((line) => /ECONNREFUSED[^\n]*$/.test(line))).toBe(true)
    const files = fileStore()
    await files.put(video('a.mp4'), Buffer.from('abc'))
    const store = makePlacedStore({ files, objects: dead, preferred: 'object-storage' })
    expect(await text((await store.open(video('a.mp4'))).stream)).toBe('abc')
    expect(await store.publicAddress(video('a.mp4'))).toBeUndefined()
    await expect(store.stat(video('b.mp4'))).rejects.toBeInstanceOf(StorageOutage)
    await expect(store.put(video('b.mp4'), Buffer.from('x'))).rejects.toBeInstanceOf(StorageOutage)
  })
})

describe('a server that was switched over', () => {
  it('finds old files where they lie, and puts new ones where they belong', async () => {
    await placed('file-system').put(video('old.mp4'), Buffer.from('old'))
    const store = placed('object-storage')
    await store.put(video('new.mp4'), Buffer.from('new'))
    expect(await s3.keys('web-videos')).toEqual(['new.mp4'])
    expect(await namesIn(store, 'web_videos')).toEqual(['new.mp4', 'old.mp4'])
    expect(await store.placeOf(video('old.mp4'))).toBe('file-system')
    expect(await store.placeOf(video('new.mp4'))).toBe('object-storage')
    await store.move(video('old.mp4'), 'private/old.mp4')
    expect(await store.placeOf(video('private/old.mp4'))).toBe('file-system')
    for (const name of ['private/old.mp4', 'new.mp4']) await store.remove(video(name))
    expect(await namesIn(store, 'web_videos')).toEqual([])
  })

  it('moves what it can reach while object storage is out of reach, and says that there may be more', async () => {
    const files = fileStore()
    await files.put(video('a.mp4'), Buffer.from('abc'))
    const objects = objectStore({ endpoint: 'http://127.0.0.1:1' })
    for (const preferred of ['object-storage', 'file-system'] as const) {
      const store = makePlacedStore({ files, objects, preferred })
      await expect(store.move(video('a.mp4'), 'private/a.mp4')).rejects.toBeInstanceOf(StorageOutage)
      expect(await namesIn(files, 'web_videos')).toEqual(['private/a.mp4'])
    }
  })

  it('goes on with an upload where it was begun', async () => {
    const before = await placed('object-storage').openAppend('u', 0)
    await before.write(Buffer.from('abc'))
    await before.sync()
    const store = placed('file-system')
    const after = await store.openAppend('u', 3)
    await after.write(Buffer.from('def'))
    expect(await after.sync()).toBe(6)
    expect(await text((await store.open({ kind: 'uploads', name: 'u' })).stream)).toBe('abcdef')
  })
})

describe('copies inside object storage', () => {
  const sizes = { largest: 20_000, part: 10_000 }
  const moving = () => makeS3Store({ settings, tmp: join(root, 'tmp'), copySizes: sizes })
  const copies = (from: number) => s3.requests.slice(from).filter((line) => /PUT .*uploadId=/.test(line))
  const started = (from: number) => s3.requests.slice(from).filter((line) => /POST .*\?uploads/.test(line))

  it.each([
    { size: 0, parts: 0 },
    { size: 20_000, parts: 0 },
    { size: 20_001, parts: 3 },
    { size: 30_000, parts: 3 },
    { size: 54_321, parts: 6 },
  ])('of $size bytes take $parts parts above the limit of one request, and are the same bytes', async ({ size, parts }) => {
    const store = moving()
    const bytes = randomBytes(size)
    await store.put(video('a bü.mp4'), Buffer.from(bytes))
    const from = s3.requests.length
    await store.move(video('a bü.mp4'), 'private/a.mp4')
    expect(copies(from)).toHaveLength(parts)
    expect(started(from)).toHaveLength(parts > 0 ? 1 : 0)
    const { stream, stat } = await store.open(video('private/a.mp4'))
    expect((await buffer(stream)).equals(bytes)).toBe(true)
    expect(stat).toMatchObject({ name: 'private/a.mp4', size })
    expect(await store.stat(video('a bü.mp4'))).toBeUndefined()
    expect(await s3.parts('web-videos')).toEqual([])
    await store.close()
  })

  it('keep the type of what they copy', async () => {
    const store = moving()
    await store.put(video('a.mp4'), randomBytes(25_000))
    await store.move(video('a.mp4'), 'moved')
    const answer = await fetch(`${s3.endpoint}/web-videos/moved`, { method: 'HEAD' })
    expect(answer.headers.get('content-type')).toBe('video/mp4')
    await store.close()
  })

  it.each([
    ['the second part', /PUT .*partNumber=2/],
    ['the end', /POST .*uploadId=/],
  ])('that fail at %s leave no parts and what there was, and can be done again', async (_what, broken) => {
    const store = moving()
    const bytes = randomBytes(25_000)
    await store.put(video('a.mp4'), Buffer.from(bytes))
    s3.break(({ method, path }) => broken.test(`${method} ${path}`))
    const from = s3.requests.length
    await expect(store.move(video('a.mp4'), 'b.mp4')).rejects.toBeInstanceOf(Error)
    expect(copies(from).length).toBeGreaterThan(1)
    expect(await s3.parts('web-videos')).toEqual([])
    expect(await store.stat(video('b.mp4'))).toBeUndefined()
    expect(await store.stat(video('a.mp4'))).toMatchObject({ size: 25_000 })
    s3.break(undefined)
    await store.move(video('a.mp4'), 'b.mp4')
    expect((await buffer((await store.open(video('b.mp4'))).stream)).equals(bytes)).toBe(true)
    await store.close()
  })
})

describe('addresses of objects', () => {
  const at = (some: Partial<ObjectSettings>, name = 'a b.mp4') => objectAddress({ ...settings, ...some }, video(name))
  const bucket = { name: 'media', prefix: 'web/', baseUrl: '' }

  it('stand at the bucket, below the endpoint, or at the base URL', () => {
    const endpoint = 'https://s3.example'
    expect(at({ endpoint, pathStyle: false, buckets: { web_videos: bucket } })).toBe('https://media.s3.example/web/a%20b.mp4')
    expect(at({ endpoint, pathStyle: true, buckets: { web_videos: bucket } })).toBe('https://s3.example/media/web/a%20b.mp4')
    const cdn = { ...bucket, baseUrl: 'https://cdn.example' }
    expect(at({ buckets: { web_videos: cdn } })).toBe('https://cdn.example/web/a%20b.mp4')
    expect(at({ buckets: { web_videos: cdn } }, 'private/a.mp4')).toBeUndefined()
  })

  it('need the bucket in the path where the host takes none', () => {
    const hosts = ['http://127.0.0.1:9000', 'http://[::1]:9000', 'http://minio:9000', 'https://s3.example']
    expect(hosts.map(needsPathStyle)).toEqual([true, true, true, false])
  })

  it('are refused where two kinds would mix', () => {
    const shared = (prefix: string) => ({
      object_storage: {
        enabled: true,
        endpoint: 'x.example',
        web_videos: { bucket_name: 'one', prefix },
        captions: { bucket_name: 'one', prefix: 'c/' },
      },
    })
    expect(() => objectSettings(testConfig(shared('')))).toThrow('web_videos and captions share the bucket one')
    expect(objectSettings(testConfig(shared('w/')))?.endpoint).toBe('https://x.example')
  })
})
