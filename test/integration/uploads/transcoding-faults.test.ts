// Faults of ffmpeg: each ends in a clear state with a reason, without remaining processes or files, and a retry works. After a full disk
// the job waits for space.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type Fault, type FaultyFfmpeg, faultyFfmpeg, isRunning } from '../../support/faulty-ffmpeg.ts'
import { copyOfMedia } from '../../support/media.ts'
import { eventually } from '../../support/until.ts'
import { allFiles, type Disk, makeDisk, rowCounts, startNode, type UploadNode } from './node.ts'

const LADDER = {
  '0p': false,
  '144p': false,
  '240p': true,
  '360p': false,
  '480p': false,
  '720p': false,
  '1080p': false,
  '1440p': false,
  '2160p': false,
}

let disk: Disk
let node: UploadNode
let faulty: FaultyFfmpeg
/** Timeout of a job, in ms. */
let ttl: number | null
beforeAll(async () => {
  disk = await makeDisk()
})
afterAll(() => disk.remove())
beforeEach(async () => {
  faulty = await faultyFfmpeg()
})
afterEach(async () => {
  await node.db.query('delete from job')
  await node.db.query('delete from video')
  await node.db.query('delete from pending_file')
  await node.stop()
  await disk.store.clear()
})

async function start(patch: { stall?: string; memory?: string; ttl?: number } = {}): Promise<void> {
  ttl = patch.ttl ?? null
  node = await startNode(disk, {
    ffmpeg: faulty.ffmpeg,
    config: {
      transcoding: { enabled: true, resolutions: LADDER },
      vireo: { media: { stall_timeout: patch.stall ?? '20 seconds', max_memory: patch.memory ?? '2GB' } },
    },
    settings: {
      jobs: {
        leaseMs: 3000,
        ttlMs: () => ttl,
        concurrency: () => 1,
        maxLostLeases: 2,
        attempts: () => 1,
      },
    },
  })
}

async function create(): Promise<{ id: number; uuid: string }> {
  return await node.createVideo.createFrom({
    userId: disk.users.owner.id,
    fields: {
      channelId: disk.users.owner.channelId,
      name: 'A name',
      privacy: 1,
      nsfw: false,
      tags: [],
      category: null,
      licence: null,
      language: null,
      description: null,
      support: null,
      waitTranscoding: true,
      commentsPolicy: 1,
      downloadEnabled: true,
      originallyPublishedAt: null,
      passwords: [],
      schedule: null,
    },
    inputFilename: 'small.mp4',
    path: await copyOfMedia('small.mp4'),
    pictures: {},
  })
}

async function states() {
  const [row] = await node.db.query<{ video: string; transcoding: string; error: string | null }>(
    `select v.state as video, t.state as transcoding, t.error from video v join transcoding t on t.video_id = v.id
     order by t.id desc limit 1`,
  )
  return row
}

const ends = (transcoding: string) => eventually(async () => expect((await states())?.transcoding).toBe(transcoding))

async function expectNothingRuns(): Promise<void> {
  await eventually(async () => {
    for (const pid of await faulty.pids()) expect([pid, await isRunning(pid)]).toEqual([pid, false])
  })
}

const jobs = () => node.db.query("select state, failures, error from job where type = 'video-transcoding' order by id")

/** Expects no process, and only the files of the upload. */
async function expectNothingLeft(): Promise<void> {
  await expectNothingRuns()
  await eventually(async () => {
    expect((await allFiles(disk)).map((name) => name.split('/')[0]).sort()).toEqual(['original_video_files', 'previews', 'thumbnails'])
    expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0, video_file: 0 })
  })
}

const askAgain = (id: number) =>
  fetch(`${node.base}/api/v1/videos/${id}/transcoding`, {
    method: 'POST',
    headers: { authorization: `Bearer ${disk.users.admin.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ transcodingType: 'hls' }),
  })

describe('an ffmpeg that', () => {
  it.each<[fault: Fault, patch: Parameters<typeof start>[0], reason: RegExp]>([
    ['hang', { stall: '1 second' }, /no progress/],
    ['deaf', { stall: '1 second' }, /no progress/],
    ['endless', { ttl: 6_000 }, /longer than a job may/],
    ['memory', { memory: '150MB' }, /more memory than allowed/],
    ['crash', {}, /code 139/],
    ['killed', {}, /SIGSEGV/],
    ['leave', {}, /Something went wrong/],
  ])('fails with %s leaves a reason and nothing else, and can be retried', async (fault, patch, reason) => {
    await faulty.become(fault)
    await start(patch)
    const { id } = await create()
    await ends('failed')
    expect(await states()).toEqual({
      video: 'transcoding-failed',
      transcoding: 'failed',
      error: expect.stringMatching(reason),
    })
    await eventually(async () => expect(await jobs()).toMatchObject([{ state: 'failed', error: expect.stringMatching(reason) }]))
    await expectNothingLeft()

    await faulty.become('none')
    // The duration of a successful run is not limited.
    ttl = null
    expect((await askAgain(id)).status).toBe(204)
    await ends('done')
    expect(await states()).toEqual({ video: 'published', transcoding: 'done', error: null })
    expect(await rowCounts(node.db)).toMatchObject({ video_file: 1 })
    await node.removeVideo.remove(id, { accountId: disk.users.owner.accountId, role: 2 })
    await eventually(async () => expect(await allFiles(disk)).toEqual([]))
  })

  it('finds the disk full leaves nothing, and is retried until there is space', async () => {
    await faulty.become('full')
    await start()
    await create()
    await eventually(async () =>
      expect(await jobs()).toEqual([{ state: 'delayed', failures: 0, error: expect.stringMatching(/no space left/i) }]),
    )
    expect(await states()).toEqual({ video: 'to-transcode', transcoding: 'running', error: null })
    await expectNothingLeft()

    await faulty.become('none')
    await node.db.query("update job set due_at = now() - interval '1 second' where state = 'delayed'")
    await ends('done')
    expect(await states()).toEqual({ video: 'published', transcoding: 'done', error: null })
    expect(await rowCounts(node.db)).toMatchObject({ video_file: 1 })
  })
})
