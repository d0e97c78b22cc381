// Resumable uploads: chunks, lost connections, restarts, conflicts, cancellation, expiry.

import { readFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { machineName } from '../../../src/actors/runtime/lease.ts'
import type { Store } from '../../../src/media/index.ts'
import { fakeClock } from '../../support/clock.ts'
import { type MediaName, media } from '../../support/media.ts'
import { eventually } from '../../support/until.ts'
import { allFiles, type Disk, makeDisk, NOTHING, rowCounts, startNode, type UploadNode } from './node.ts'

const PATH = '/api/v1/videos/upload-resumable'
const DAY = 86_400_000

let disk: Disk
let node: UploadNode
let bytes: Buffer
beforeAll(async () => {
  disk = await makeDisk()
  bytes = await readFile(await media('small.mp4'))
})
afterAll(() => disk.remove())
beforeEach(async () => {
  node = await startNode(disk, { wrapStore: noting })
})
afterEach(async () => {
  await node.db.query('delete from upload')
  await node.db.query('delete from video')
  await node.db.query('delete from pending_file')
  await node.db.query('update users set video_quota = -1, video_quota_daily = -1')
  await node.stop()
  await disk.store.clear()
})

const auth = (token = disk.users.owner.token) => ({ authorization: `Bearer ${token}` })

async function open(fields: Record<string, unknown> = {}, headers: Record<string, string> = {}, size = bytes.length) {
  const answer = await fetch(node.base + PATH, {
    method: 'POST',
    headers: {
      ...auth(),
      'content-type': 'application/json',
      'x-upload-content-length': String(size),
      'x-upload-content-type': 'video/mp4',
      ...headers,
    },
    body: JSON.stringify({
      name: 'A name',
      channelId: disk.users.owner.channelId,
      filename: 'small.mp4',
      privacy: 1,
      ...fields,
    }),
  })
  const text = await answer.text()
  const location = answer.headers.get('location')
  return {
    status: answer.status,
    location,
    id: location?.split('upload_id=')[1] ?? '',
    body: text === '' ? null : JSON.parse(text),
  }
}

async function put(id: string, range: string, body?: Uint8Array, token?: string) {
  const answer = await fetch(`${node.base}${PATH}?upload_id=${id}`, {
    method: 'PUT',
    headers: { ...auth(token), 'content-type': 'application/octet-stream', 'content-range': range },
    body: body ? new Uint8Array(body) : null,
    redirect: 'manual',
  })
  const text = await answer.text()
  const { status, headers } = answer
  return {
    status,
    range: headers.get('range'),
    retryAfter: headers.get('retry-after'),
    type: headers.get('content-type'),
    body: text === '' ? null : JSON.parse(text),
  }
}

const chunk = (id: string, from: number, to: number, options: { data?: Buffer; token?: string } = {}) => {
  const data = options.data ?? bytes
  return put(id, `bytes ${from}-${to - 1}/${data.length}`, data.subarray(from, to), options.token)
}
const status = (id: string, size = bytes.length) => put(id, `bytes */${size}`)

async function cancel(id: string, token?: string): Promise<number> {
  const answer = await fetch(`${node.base}${PATH}?upload_id=${id}`, { method: 'DELETE', headers: auth(token) })
  await answer.arrayBuffer()
  return answer.status
}

/** Sends the headers and some bytes of a chunk, and leaves the connection open. */
function halfChunk(id: string, from: number, to: number, sent: number) {
  const { hostname, port } = new URL(node.base)
  const request = httpRequest({
    hostname,
    port,
    method: 'PUT',
    path: `${PATH}?upload_id=${id}`,
    agent: false,
    headers: {
      ...auth(),
      'content-type': 'application/octet-stream',
      'content-range': `bytes ${from}-${to - 1}/${bytes.length}`,
      'content-length': to - from,
    },
  })
  request.on('error', () => undefined)
  request.write(bytes.subarray(from, from + sent))
  return request
}

/** Runs before a complete file is read. */
let whileFinishing: (() => Promise<void>) | undefined

/** Written offsets of uploads, also where object storage buffers the last bytes until a flush. */
const written = new Map<string, number>()
const noting = (store: Store): Store => ({
  ...store,
  async withLocalPath(ref, work) {
    await whileFinishing?.()
    return await store.withLocalPath(ref, work)
  },
  async openAppend(name, offset) {
    const file = await store.openAppend(name, offset)
    const write = async (chunk: Uint8Array) => {
      await file.write(chunk)
      written.set(name, file.size)
    }
    return {
      get size() {
        return file.size
      },
      write,
      sync: () => file.sync(),
      close: () => file.close(),
    }
  },
})

const onDisk = async (id: string): Promise<number> => (await node.store.stat({ kind: 'uploads', name: id }))?.size ?? 0

async function expectNothingLeft(): Promise<void> {
  await eventually(async () => {
    expect(await rowCounts(node.db)).toEqual(NOTHING)
    expect(await allFiles(disk)).toEqual([])
  })
}

describe('a resumable upload', () => {
  it('is opened, filled chunk by chunk, and answered with its video', async () => {
    const opened = await open()
    expect(opened).toMatchObject({
      status: 201,
      location: `//localhost:9000${PATH}?upload_id=${opened.id}`,
      body: null,
    })
    expect(await status(opened.id)).toMatchObject({ status: 308, range: 'bytes=0--1' })
    expect(await chunk(opened.id, 0, 10_000)).toMatchObject({ status: 308, range: 'bytes=0-9999', body: null })
    expect(await status(opened.id)).toMatchObject({ status: 308, range: 'bytes=0-9999' })
    const last = await chunk(opened.id, 10_000, bytes.length)
    expect(last).toMatchObject({
      status: 200,
      body: { video: { id: expect.any(Number), uuid: expect.any(String), shortUUID: expect.any(String) } },
    })
    const [file] = await node.db.query<{ filename: string }>('select filename from video_file')
    expect(await disk.store.read(`web_videos/${file?.filename}`)).toEqual(bytes)
    await eventually(async () => {
      expect(await rowCounts(node.db)).toMatchObject({ video: 1, upload: 1, pending_file: 0 })
      expect((await allFiles(disk)).filter((name) => /^(uploads|tmp)/.test(name))).toEqual([])
    })

    // A client that lost the response may query it; a chunk is refused.
    expect(await status(opened.id)).toMatchObject({ status: 200, body: last.body })
    expect(await chunk(opened.id, 10_000, bytes.length)).toMatchObject({ status: 404 })
    expect(await cancel(opened.id)).toBe(204)
    expect(await rowCounts(node.db)).toMatchObject({ video: 1 })
  })

  it('is the same while it is open with the same metadata, and a new one afterwards', async () => {
    const first = await open()
    expect(await open()).toMatchObject({ status: 201, id: first.id })
    expect((await open({ name: 'Another' })).id).not.toBe(first.id)
    expect(await chunk(first.id, 0, bytes.length)).toMatchObject({ status: 200 })
    expect((await open()).id).not.toBe(first.id)
  })

  it('takes other details of the same file, and tells files apart, if the client names the file', async () => {
    const first = await open({ fileId: 'one', privacy: 1 })
    await chunk(first.id, 0, 10_000)
    expect((await open({ fileId: 'other' })).id).not.toBe(first.id)
    expect(await open({ fileId: 'one', name: 'A second name', privacy: 3 })).toMatchObject({ status: 201, id: first.id })
    expect(await chunk(first.id, 10_000, bytes.length)).toMatchObject({ status: 200 })
    expect(await node.db.query('select name, privacy from video')).toEqual([{ name: 'A second name', privacy: 3 }])
  })

  it('ends with details that came while it was being finished', async () => {
    const { id } = await open({ fileId: 'one' })
    whileFinishing = async () => {
      whileFinishing = undefined
      await open({ fileId: 'one', name: 'A second name', privacy: 3 })
    }
    expect(await chunk(id, 0, bytes.length)).toMatchObject({ status: 503 })
    expect(await status(id)).toMatchObject({ status: 200 })
    expect(await node.db.query('select name, privacy from video')).toEqual([{ name: 'A second name', privacy: 3 }])
  })

  it('keeps the bytes received before a lost connection, and reports them', async () => {
    const { id } = await open()
    await chunk(id, 0, 5000)
    const request = halfChunk(id, 5000, bytes.length, 20_000)
    await eventually(() => expect(written.get(id)).toBe(25_000))
    request.destroy()
    await eventually(async () => expect(await status(id)).toMatchObject({ status: 308, range: 'bytes=0-24999' }))
    expect(await chunk(id, 25_000, bytes.length)).toMatchObject({ status: 200 })
  })

  it('continues after a restart of the server', async () => {
    const { id } = await open()
    await chunk(id, 0, 30_000)
    await node.stop()
    node = await startNode(disk)
    expect(await status(id)).toMatchObject({ status: 308, range: 'bytes=0-29999' })
    expect(await chunk(id, 30_000, bytes.length)).toMatchObject({ status: 200 })
  })

  it('truncates bytes that were written but never acknowledged', async () => {
    const { id } = await open()
    await chunk(id, 0, 10_000)
    const file = await node.store.openAppend(id, 10_000)
    await file.write(Buffer.alloc(7777, 'x'))
    await file.close()
    expect(await status(id)).toMatchObject({ range: 'bytes=0-9999' })
    expect(await chunk(id, 10_000, bytes.length)).toMatchObject({ status: 200 })
    const [file_] = await node.db.query<{ filename: string }>('select filename from video_file')
    expect(await disk.store.read(`web_videos/${file_?.filename}`)).toEqual(bytes)
  })

  it('restarts when the disk lost bytes', async () => {
    const { id } = await open()
    await chunk(id, 0, 10_000)
    const file = await node.store.openAppend(id, 500)
    await file.close()
    expect(await chunk(id, 10_000, 20_000)).toMatchObject({ status: 404 })
    await expectNothingLeft()
  })

  it('is completed by any request, when the process died before', async () => {
    const { id } = await open()
    await chunk(id, 0, 10_000)
    const file = await node.store.openAppend(id, 10_000)
    await file.write(bytes.subarray(10_000))
    await file.sync()
    await file.close()
    await node.db.query(
      `update upload set state = 'assembled', received = size, lease_owner = $1, lease_until = now() + interval '1 hour'`,
      [`${machineName()}|999999999-0|dead#x`],
    )
    expect(await status(id)).toMatchObject({ status: 200, body: { video: { id: expect.any(Number) } } })
  })

  it('finds its file when the move was interrupted', async () => {
    const { id } = await open()
    await chunk(id, 0, bytes.length - 1)
    const file = await node.store.openAppend(id, bytes.length - 1)
    await file.write(bytes.subarray(-1))
    await file.sync()
    await file.close()
    const place = { kind: 'web_videos', name: '00000000-0000-4000-8000-000000000000-240.mp4' } as const
    await node.store.put(place, bytes)
    await node.store.remove({ kind: 'uploads', name: id })
    await node.db.query(`update upload set state = 'assembled', received = size, place = $1`, [JSON.stringify(place)])
    expect(await status(id)).toMatchObject({ status: 200 })
    expect(await allFiles(disk)).toContain(`web_videos/${place.name}`)
    await eventually(async () => expect(await allFiles(disk)).toHaveLength(3))
  })

  it('accepts pictures with its metadata', async () => {
    const data = new FormData()
    const fields = {
      name: 'A name',
      channelId: String(disk.users.owner.channelId),
      filename: 'small.mp4',
      privacy: '1',
    }
    for (const [name, value] of Object.entries(fields)) data.append(name, value)
    const picture = new Blob([new Uint8Array(await readFile(await media('picture.png')))], { type: 'image/png' })
    data.append('previewfile', picture, 'picture.png')
    const answer = await fetch(node.base + PATH, {
      method: 'POST',
      headers: { ...auth(), 'x-upload-content-length': String(bytes.length), 'x-upload-content-type': 'video/mp4' },
      body: data,
    })
    expect(answer.status).toBe(201)
    const id = answer.headers.get('location')?.split('upload_id=')[1] ?? ''
    expect(await chunk(id, 0, bytes.length)).toMatchObject({ status: 200 })
    expect(await node.db.query('select type, automatically_generated from thumbnail order by type')).toEqual([
      { type: 1, automatically_generated: true },
      { type: 2, automatically_generated: false },
    ])
    expect((await allFiles(disk)).filter((name) => name.startsWith('uploads'))).toEqual([])
  })
})

describe('the offset of a resumable upload', () => {
  it('does not move for a chunk after a gap, nor for an earlier one', async () => {
    const { id } = await open()
    await chunk(id, 0, 10_000)
    expect(await chunk(id, 20_000, 30_000)).toMatchObject({ status: 308, range: 'bytes=0-9999' })
    expect(await chunk(id, 0, 10_000)).toMatchObject({ status: 308, range: 'bytes=0-9999' })
    expect(await chunk(id, 5000, 15_000)).toMatchObject({ status: 308, range: 'bytes=0-9999' })
    expect(await chunk(id, 30_000, bytes.length)).toMatchObject({ status: 308, range: 'bytes=0-9999' })
    expect(await onDisk(id)).toBe(10_000)
  })

  it('is returned for an invalid range', async () => {
    const { id } = await open()
    await chunk(id, 0, 10_000)
    for (const range of ['hello', 'bytes 10000-', 'bytes -5/10', 'items 0-1/2']) {
      expect(await put(id, range, bytes.subarray(0, 10))).toMatchObject({ status: 308, range: 'bytes=0-9999' })
    }
  })

  it('does not move for another total, or a range beyond the end', async () => {
    const { id } = await open()
    expect(await put(id, 'bytes 0-9/10', bytes.subarray(0, 10))).toMatchObject({ status: 409, range: 'bytes=0--1' })
    const beyond = `bytes 0-${bytes.length}/${bytes.length}`
    expect(await put(id, beyond, Buffer.concat([bytes, Buffer.from('x')]))).toMatchObject({ status: 409 })
    expect(await put(id, `bytes 5-2/${bytes.length}`, bytes.subarray(0, 5))).toMatchObject({ status: 308 })
    expect(await onDisk(id)).toBe(0)
  })

  it('is leased by one request at a time', async () => {
    const { id } = await open()
    const request = halfChunk(id, 0, bytes.length, 10_000)
    await eventually(() => expect(written.get(id)).toBe(10_000))
    const second = await chunk(id, 0, bytes.length)
    expect(second).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) })
    expect(second.type).toContain('problem+json')
    const answered = new Promise<number | undefined>((resolve) => request.on('response', (r) => resolve(r.statusCode)))
    request.end(bytes.subarray(10_000))
    expect(await answered).toBe(200)
    expect(await rowCounts(node.db)).toMatchObject({ video: 1 })
  })

  it('makes one video when several requests send the last chunk', async () => {
    const { id } = await open()
    await chunk(id, 0, 10_000)
    const answers = await Promise.all([1, 2, 3, 4].map(() => chunk(id, 10_000, bytes.length)))
    expect(answers.filter((one) => one.status === 200)).toHaveLength(1)
    for (const { status: code } of answers) expect([200, 308, 404, 503]).toContain(code)
    await eventually(async () => {
      expect(await rowCounts(node.db)).toMatchObject({ video: 1, thumbnail: 2, pending_file: 0 })
      expect(await allFiles(disk)).toHaveLength(3)
    })
  })
})

describe('a resumable upload is refused', () => {
  it('at its start: size, type, extension, fields, channel, quota', async () => {
    expect(await open({}, {}, 0)).toMatchObject({ status: 400 })
    expect(await open({}, { 'x-upload-content-length': 'abc' })).toMatchObject({ status: 400 })
    expect(await open({}, {}, 100_000_000_000_000)).toMatchObject({ status: 413 })
    expect(await open({}, { 'x-upload-content-type': 'text/plain' })).toMatchObject({ status: 415 })
    expect(await open({ filename: 'a.txt' })).toMatchObject({ status: 415 })
    const missing = await open({ filename: undefined, channelId: undefined })
    expect(Object.keys(missing.body['invalid-params']).sort()).toEqual(['channelId', 'filename'])
    expect(await open({ nsfw: 'hello' })).toMatchObject({ status: 400 })
    expect(await open({ channelId: disk.users.other.channelId })).toMatchObject({ status: 400 })
    await node.db.query('update users set video_quota = 1000')
    expect(await open()).toMatchObject({ status: 413, body: { code: 'quota_reached' } })
    await expectNothingLeft()
  })

  it('when incomplete uploads would exceed the limit together', async () => {
    await node.stop()
    node = await startNode(disk, {
      config: {
        transcoding: { enabled: false },
        vireo: { uploads: { max_partial_per_user: Math.floor(bytes.length * 1.5) } },
      },
    })
    const { id } = await open()
    expect(await open({ name: 'Another' })).toMatchObject({ status: 413, body: { code: 'max_file_size_reached' } })
    await cancel(id)
    expect(await open({ name: 'Another' })).toMatchObject({ status: 201 })
  })

  it('for other users, and for an unknown or a missing id', async () => {
    const { id } = await open()
    await chunk(id, 0, 10)
    const { token } = disk.users.other
    expect(await chunk(id, 10, 20, { token })).toMatchObject({ status: 403 })
    expect(await cancel(id, token)).toBe(403)
    expect(await chunk('unknown', 0, 10)).toMatchObject({ status: 403 })
    expect(await chunk('', 0, 10)).toMatchObject({ status: 403 })
    expect(await onDisk(id)).toBe(10)
  })

  it.each<[name: MediaName]>([['text.mp4'], ['playlist.mp4'], ['truncated.mp4']])('at the end for %s', async (name) => {
    const data = await readFile(await media(name))
    const { id } = await open({}, {}, data.length)
    expect(await chunk(id, 0, data.length, { data })).toMatchObject({ status: 422 })
    await expectNothingLeft()
    expect(await status(id, data.length)).toMatchObject({ status: 403 })
  })

  it('at the end when the quota was used meanwhile', async () => {
    const { id } = await open()
    await node.db.query('update users set video_quota = 1000')
    expect(await chunk(id, 0, bytes.length)).toMatchObject({ status: 413, body: { code: 'quota_reached' } })
    await expectNothingLeft()
  })
})

describe('the end of a resumable upload', () => {
  it('is requested by an idempotent cancellation', async () => {
    const { id } = await open()
    await chunk(id, 0, 10_000)
    expect(await cancel(id)).toBe(204)
    expect(await cancel(id)).toBe(204)
    expect(await chunk(id, 10_000, 20_000)).toMatchObject({ status: 404 })
    expect(await status(id)).toMatchObject({ status: 404 })
    expect(await allFiles(disk)).toEqual([])
  })

  it('happens even if a file of another upload cannot be removed', async () => {
    await node.db.query("insert into pending_file (kind, name, owner) values ('previews', '../elsewhere.jpg', 'nobody')")
    const { id } = await open()
    await chunk(id, 0, 10_000)
    expect(await cancel(id)).toBe(204)
    expect(await chunk((await open()).id, 0, bytes.length)).toMatchObject({ status: 200 })
    const left = () => node.db.query('select name from pending_file')
    await eventually(async () => expect(await left()).toEqual([{ name: '../elsewhere.jpg' }]))
    await node.db.query('delete from pending_file')
  })

  it('happens during a chunk', async () => {
    const { id } = await open()
    const request = halfChunk(id, 0, bytes.length, 10_000)
    await eventually(() => expect(written.get(id)).toBe(10_000))
    expect(await cancel(id)).toBe(204)
    const answered = new Promise<number | undefined>((resolve) => request.on('response', (r) => resolve(r.statusCode)))
    request.end(bytes.subarray(10_000))
    expect(await answered).toBe(404)
    expect(await allFiles(disk)).toEqual([])
  })

  it('happens by itself after a day of silence, and leaves nothing', async () => {
    await node.stop()
    const clock = fakeClock()
    node = await startNode(disk, { clock })
    const { id } = await open()
    await chunk(id, 0, 10_000)
    clock.pass(DAY - 1000)
    await chunk(id, 10_000, 20_000)
    clock.pass(DAY - 1000)
    await node.runtime.runtime.sweeper.sweep()
    expect(await status(id)).toMatchObject({ status: 308, range: 'bytes=0-19999' })
    clock.pass(DAY)
    await node.runtime.runtime.sweeper.sweep()
    await expectNothingLeft()
    expect(await status(id)).toMatchObject({ status: 403 })
  })

  it('is forgotten some time later', async () => {
    await node.stop()
    const clock = fakeClock()
    node = await startNode(disk, { clock })
    const { id } = await open()
    await cancel(id)
    clock.pass(3 * DAY)
    await node.runtime.runtime.sweeper.sweep()
    await expectNothingLeft()
  })
})
