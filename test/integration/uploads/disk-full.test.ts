// A full disk at each step from bytes to a video: a clear error, nothing left behind, and the work continues when there is space again.

import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { Values } from '../../../src/config/layers.ts'
import { type LimitedDisk, makeLimitedDisk } from '../../support/limited-disk.ts'
import { media } from '../../support/media.ts'
import { eventually } from '../../support/until.ts'
import { allFiles, createVideoOf, type Disk, makeDisk, NOTHING, rowCounts, startNode, type UploadNode, untilDrawn } from './node.ts'

const PATH = '/api/v1/videos/upload-resumable'
const LADDER = {
  '0p': false,
  '144p': true,
  '240p': true,
  '360p': false,
  '480p': false,
  '720p': false,
  '1080p': false,
  '1440p': false,
  '2160p': false,
}
const FULL = { status: 503, retryAfter: expect.stringMatching(/^\d+$/), type: expect.stringContaining('problem+json') }

let disk: Disk
let small: LimitedDisk
let node: UploadNode
let bytes: Buffer

beforeAll(async () => {
  disk = await makeDisk()
  small = await makeLimitedDisk(disk.folder, 4 * 1024 * 1024)
  bytes = await readFile(await media('small.mp4'))
})
afterAll(async () => {
  await small?.remove()
  await disk.remove()
})
afterEach(async () => {
  await small.free()
  for (const table of ['job', 'outbox', 'upload', 'video', 'pending_file']) await node.db.query(`delete from ${table}`)
  await node.stop()
  await disk.store.clear()
})

async function start(transcoding: Values = { enabled: false }, running = true, more: Values = {}): Promise<void> {
  node = await startNode(disk, { config: { transcoding, ...more }, wrapStore: small.wrap, running })
}

const authorization = () => `Bearer ${disk.users.admin.token}`

async function read(answer: Response) {
  const text = await answer.text()
  return {
    status: answer.status,
    range: answer.headers.get('range'),
    retryAfter: answer.headers.get('retry-after'),
    type: answer.headers.get('content-type'),
    body: text === '' ? null : JSON.parse(text),
  }
}

async function open(): Promise<string> {
  const answer = await fetch(node.base + PATH, {
    method: 'POST',
    headers: {
      authorization: authorization(),
      'content-type': 'application/json',
      'x-upload-content-length': String(bytes.length),
      'x-upload-content-type': 'video/mp4',
    },
    body: JSON.stringify({ name: 'A name', channelId: disk.users.admin.channelId, filename: 'small.mp4', privacy: 1 }),
  })
  await answer.arrayBuffer()
  return answer.headers.get('location')?.split('upload_id=')[1] ?? ''
}

const put = async (id: string, range: string, body?: Uint8Array) =>
  await read(
    await fetch(`${node.base}${PATH}?upload_id=${id}`, {
      method: 'PUT',
      redirect: 'manual',
      headers: {
        authorization: authorization(),
        'content-type': 'application/octet-stream',
        'content-range': `bytes ${range}/${bytes.length}`,
      },
      body: body ? new Uint8Array(body) : null,
    }),
  )
const chunk = (id: string, from: number, to: number) => put(id, `${from}-${to - 1}`, bytes.subarray(from, to))
const status = (id: string) => put(id, '*')

async function uploadWhole(picture?: Buffer) {
  const data = new FormData()
  data.append('name', 'A name')
  data.append('channelId', String(disk.users.admin.channelId))
  if (picture) data.append('previewfile', new Blob([new Uint8Array(picture)], { type: 'image/png' }), 'picture.png')
  data.append('videofile', new Blob([new Uint8Array(bytes)], { type: 'video/mp4' }), 'small.mp4')
  const headers = { authorization: authorization() }
  return await read(await fetch(`${node.base}/api/v1/videos/upload`, { method: 'POST', headers, body: data }))
}

/** Received bytes belong to a video or are removed: no form data or chunk is left. */
const expectNothingTemporary = () =>
  eventually(async () => {
    expect((await allFiles(disk)).filter((name) => /^(tmp|uploads|ballast)/.test(name))).toEqual([])
    expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0 })
  })

async function webVideo(): Promise<Buffer> {
  const [file] = await node.db.query<{ filename: string }>('select filename from video_file')
  return await disk.store.read(`web_videos/${file?.filename}`)
}

describe('a full disk', () => {
  /** Advances the clock to the end of the outage. */
  const makeDue = () => node.db.query("update job set due_at = now() - interval '1 second' where state = 'delayed'")

  it('refuses a chunk, keeps its earlier bytes, and the upload continues later', async () => {
    await start()
    const id = await open()
    expect(await chunk(id, 0, 10_000)).toMatchObject({ status: 308 })
    await small.fill()
    expect(await chunk(id, 10_000, bytes.length)).toMatchObject(FULL)
    const stands = await status(id)
    expect(stands).toMatchObject({ status: 308 })
    const offset = Number(stands.range?.split('-')[1]) + 1
    expect(offset).toBeGreaterThanOrEqual(10_000)
    expect(await chunk(id, offset, bytes.length)).toMatchObject(FULL)
    await small.free()
    expect(await chunk(id, offset, bytes.length)).toMatchObject({ status: 200 })
    expect((await webVideo()).equals(bytes)).toBe(true)
    await expectNothingTemporary()
  })

  it('refuses the end of an upload or defers its pictures, and both complete when there is space', async () => {
    await start()
    const id = await open()
    await chunk(id, 0, bytes.length - 1)
    await small.fill(1)
    // The last byte may fit into the last block.
    const last = await chunk(id, bytes.length - 1, bytes.length)
    if (last.status !== 200) {
      expect(last).toMatchObject(FULL)
      expect([308, 503]).toContain((await status(id)).status)
      expect(await rowCounts(node.db)).toMatchObject({ video: 0, upload: 1 })
    }
    await small.free()
    const after = await status(id)
    expect(after.status === 200 ? after : await chunk(id, bytes.length - 1, bytes.length)).toMatchObject({
      status: 200,
      body: { video: { id: expect.any(Number) } },
    })
    expect((await webVideo()).equals(bytes)).toBe(true)
    await makeDue()
    await untilDrawn(node.db)
    await expectNothingTemporary()
  })

  it.each([
    ['at its first byte', 0],
    ['in the middle of the file', 20_000],
    ['when the file is there and its pictures are made', 80_000],
  ])('refuses an upload in one request %s, and keeps nothing of it', async (_when, leave) => {
    await start()
    await small.fill(leave)
    const refused = await uploadWhole()
    // A store that only pretends to be full does not notice form data.
    if (refused.status !== 200) {
      expect(refused).toMatchObject(FULL)
      await small.free()
      await expectNothingTemporary()
      expect(await rowCounts(node.db)).toEqual(NOTHING)
      expect(await allFiles(disk)).toEqual([])
    }
    await small.free()
    expect(await uploadWhole()).toMatchObject({ status: 200 })
    await expectNothingTemporary()
  })

  it('is not mistaken for an invalid picture', async () => {
    await start()
    await small.fill()
    expect(await uploadWhole(await readFile(await media('picture.png')))).toMatchObject(FULL)
    await small.free()
    await expectNothingTemporary()
  })

  const create = () => createVideoOf(node, disk.users.admin)

  it('makes a transcoding wait with its reason, leaves nothing half-done, and it continues when there is space', async () => {
    await start({ enabled: true, resolutions: LADDER }, false)
    const { uuid } = await create()
    await small.fill(30_000)
    await node.runtime.runtime.start()
    const jobs = () => node.db.query("select state, failures, error from job where type = 'video-transcoding'")
    const waiting = [{ state: 'delayed', failures: 0, error: expect.stringMatching(/no space left/i) }]
    await eventually(async () => expect(await jobs()).toEqual(waiting))
    expect((await allFiles(disk)).filter((name) => name.startsWith('tmp/'))).toEqual([])
    // It still waits after another attempt.
    await node.db.query("update job set error = null where type = 'video-transcoding'")
    await makeDue()
    await eventually(async () => expect(await jobs()).toEqual(waiting))
    expect(await node.db.query("select 1 from transcoding where state = 'failed'")).toEqual([])
    await small.free()
    await makeDue()
    await eventually(async () => {
      expect(await node.db.query("select 1 from transcoding where state = 'done'")).toHaveLength(1)
      expect(await node.db.query('select state from video')).toEqual([{ state: 'published' }])
    })
    await expectNothingTemporary()
    expect((await allFiles(disk)).filter((name) => name.includes(uuid) && name.endsWith('.mp4'))).toHaveLength(2)
  })

  it('makes a storyboard wait, which is made when there is space', async () => {
    await start({ enabled: false }, false, { storyboards: { enabled: true } })
    await create()
    await small.fill()
    await node.runtime.runtime.start()
    await eventually(async () => {
      expect(await node.db.query("select state, failures from job where type = 'generate-video-storyboard'")).toEqual([
        { state: 'delayed', failures: 0 },
      ])
    })
    await small.free()
    await makeDue()
    await eventually(async () => {
      expect(await node.db.query('select 1 from storyboard')).toHaveLength(1)
    })
    await expectNothingTemporary()
  })
})
