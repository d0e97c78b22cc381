// Editions of videos over HTTP: each task and combinations, checked pixel by pixel; permissions and refusals; captions and chapters that
// move; and interruptions of the job.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import type { EventName } from '../../../src/actors/runtime/index.ts'
import type { NewVideoFields } from '../../../src/actors/video/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import { probe, type Store } from '../../../src/media/index.ts'
import { faultyFfmpeg } from '../../support/faulty-ffmpeg.ts'
import { copyOfMedia, type MediaName, media, serverFfmpeg } from '../../support/media.ts'
import { eventually, latch } from '../../support/until.ts'
import { allFiles, type Disk, makeDisk, type NodeOptions, rowCounts, startNode, type UploadNode, untilDrawn } from './node.ts'

const LADDER = {
  '0p': false,
  '144p': true,
  '240p': false,
  '360p': false,
  '480p': false,
  '720p': false,
  '1080p': false,
  '1440p': false,
  '2160p': false,
}
const ON = { video_studio: { enabled: true }, video_file: { update: { enabled: true } } }
const AS_IT_IS = { ...ON, transcoding: { enabled: false } }
const HLS = { ...ON, transcoding: { enabled: true, resolutions: LADDER } }

let disk: Disk
let node: UploadNode
let emitted: { event: EventName; videoId: number }[]
let white: Buffer
beforeAll(async () => {
  disk = await makeDisk()
  white = await sharp({ create: { width: 40, height: 20, channels: 3, background: 'white' } })
    .png()
    .toBuffer()
})
afterAll(() => disk.remove())
afterEach(async () => {
  for (const table of ['job', 'outbox', 'video', 'pending_file']) await node.db.query(`delete from ${table}`)
  await node.db.query('update users set video_quota = -1, video_quota_daily = -1')
  await node.stop()
  await disk.store.clear()
})

async function start(config: Values = AS_IT_IS, options: NodeOptions = {}): Promise<void> {
  node = await startNode(disk, { ...options, config, running: false })
  emitted = []
  for (const event of ['VideoPublished', 'VideoUpdated', 'VideoRemoved'] as const) {
    node.runtime.runtime.registry.on(event, 'test', async ({ videoId }) => void emitted.push({ event, videoId }))
  }
  if (options.running !== false) await node.runtime.runtime.start()
}

async function create(name: MediaName = 'blue.mp4', fields: Partial<NewVideoFields> = {}) {
  return await node.createVideo.createFrom({
    userId: disk.users.owner.id,
    fields: {
      channelId: disk.users.owner.channelId,
      name: 'A name',
      privacy: 1,
      category: null,
      licence: null,
      language: null,
      nsfw: false,
      description: null,
      support: null,
      waitTranscoding: false,
      commentsPolicy: 1,
      downloadEnabled: true,
      tags: [],
      originallyPublishedAt: null,
      passwords: [],
      schedule: null,
      ...fields,
    },
    inputFilename: name,
    path: await copyOfMedia(name),
    pictures: {},
  })
}

type Task = ['cut', { start?: number; end?: number }] | [string, MediaName | Buffer, string?]

/** A form in the format of API clients. */
async function formOf(tasks: Task[]): Promise<FormData> {
  const form = new FormData()
  for (const [index, [name, what, filename]] of tasks.entries()) {
    form.set(`tasks[${index}][name]`, name)
    if (typeof what === 'string' || Buffer.isBuffer(what)) {
      const bytes = Buffer.isBuffer(what) ? what : await readFile(await media(what))
      const sentAs = filename ?? (Buffer.isBuffer(what) ? 'white.png' : what)
      form.set(`tasks[${index}][options][file]`, new Blob([new Uint8Array(bytes)]), sentAs)
    } else {
      for (const [key, value] of Object.entries(what ?? {})) form.set(`tasks[${index}][options][${key}]`, String(value))
    }
  }
  return form
}

async function send(uuid: string, body: FormData | object, token: string | null = disk.users.owner.token) {
  const isForm = body instanceof FormData
  const answer = await fetch(`${node.base}/api/v1/videos/${uuid}/studio/edit`, {
    method: 'POST',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    body: isForm ? body : JSON.stringify(body),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as { 'invalid-params'?: object }) }
}

const ask = async (uuid: string, tasks: Task[], token?: string) => await send(uuid, await formOf(tasks), token)
const CUT: Task[] = [['cut', { start: 1 }]]

const stateOf = async (id: number) => {
  const [row] = await node.db.query<{ state: string; error: string | null; duration: number; published: Date }>(
    "select state, context->>'error' as error, duration, published_at as published from video where id = $1",
    [id],
  )
  return row
}
const isEdited = (id: number) =>
  eventually(async () => {
    expect(await node.db.query('select 1 from video_edition')).toEqual([])
    expect(await stateOf(id)).toMatchObject({ state: 'published', error: null })
  })
const isFailed = (id: number, error: RegExp) =>
  eventually(async () => expect(await stateOf(id)).toMatchObject({ state: 'published', error: expect.stringMatching(error) }), 30_000)
const files = async (folder: string): Promise<string[]> => {
  try {
    return (await allFiles(disk)).filter((name) => name.startsWith(folder))
  } catch {
    // A work folder vanished while it was read.
    return await files(folder)
  }
}

/** Expects nothing left of the edition, and a file for each row. */
const isTidy = (uploads = 0) =>
  eventually(async () => {
    expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0, upload: 0 })
    expect(await files('uploads')).toHaveLength(uploads)
    expect(await files('tmp')).toEqual([])
    const rows = await node.db.query<{ name: string }>(
      `select 'web_videos/' || filename as name from video_file where streaming_playlist_id is null
       union all select 'thumbnails/' || filename from thumbnail where type = 1 and on_disk
       union all select 'previews/' || filename from thumbnail where type = 2 and on_disk
       union all select 'captions/' || filename from video_caption order by 1`,
    )
    const kept = ['web_videos', 'thumbnails', 'previews', 'captions']
    const there = (await allFiles(disk)).filter((name) => kept.some((folder) => name.startsWith(`${folder}/`)))
    expect(there.sort()).toEqual(rows.map(({ name }) => name).sort())
  })

const run = promisify(execFile)

/** The named colour nearest to a pixel (relative position) at a time. */
async function colourAt(path: string, seconds: number, x: number, y: number): Promise<string> {
  const { ffmpegPath } = await serverFfmpeg()
  const frame = ['-v', 'error', '-ss', String(seconds), '-i', path, '-frames:v', '1', '-f', 'image2', '-c:v', 'png', '-']
  const { stdout } = await run(ffmpegPath, frame, { encoding: 'buffer', maxBuffer: 10_000_000 })
  const { data, info } = await sharp(stdout).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const at = (Math.floor(info.height * y) * info.width + Math.floor(info.width * x)) * 3
  const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3)
  const bits = [red, green, blue].map((value) => (value > 128 ? '1' : '0')).join('')
  return { '000': 'black', '100': 'red', '010': 'green', '001': 'blue', '111': 'white' }[bits] ?? bits
}

/** The only web video of a server that does not transcode. */
async function result(): Promise<{ path: string; seconds: number; size: string; sound: boolean }> {
  const [file] = await node.db.query<{ filename: string }>('select filename from video_file')
  const path = await disk.store.local(`web_videos/${file?.filename}`)
  const found = await probe({ ffmpeg: await serverFfmpeg(), path })
  return {
    path,
    seconds: found.duration,
    sound: found.audio !== undefined,
    size: `${found.video?.width}x${found.video?.height}`,
  }
}

describe('an edition', () => {
  it.each<[string, Task[], number]>([
    ['a start', [['cut', { start: 0.5 }]], 1.5],
    ['an end', [['cut', { end: 1.2 }]], 1.2],
    ['both', [['cut', { start: 0.5, end: 1.5 }]], 1],
  ])('cuts: %s', async (_what, tasks, seconds) => {
    await start()
    const { id, uuid } = await create()
    const before = await stateOf(id)
    expect(await ask(uuid, tasks)).toEqual({ status: 204, body: null })
    await isEdited(id)
    const made = await result()
    expect(made).toMatchObject({ size: '160x90', sound: true })
    expect(Math.abs(made.seconds - seconds)).toBeLessThan(0.2)
    expect(await stateOf(id)).toMatchObject({ duration: Math.round(made.seconds), published: before?.published })
    await isTidy()
    await eventually(() =>
      expect(emitted).toEqual([
        { event: 'VideoPublished', videoId: id },
        { event: 'VideoUpdated', videoId: id },
      ]),
    )
  })

  it('adds intro, outro and watermark in order, scaled to the shape of the video', async () => {
    await start()
    const { id, uuid } = await create()
    await untilDrawn(node.db)
    const pictures = [...(await files('thumbnails')), ...(await files('previews'))]
    await ask(uuid, [
      ['add-intro', 'red.mp4'],
      ['add-watermark', white],
      ['add-outro', 'green.mp4'],
    ])
    await isEdited(id)
    const { path, ...made } = await result()
    expect(made).toMatchObject({ size: '160x90', sound: true })
    expect(Math.abs(made.seconds - 4)).toBeLessThan(0.2)
    const corner = { x: (160 - 4.5 - 9) / 160, y: (4.5 + 4.5) / 90 }
    const seen = (at: number, x: number, y: number) => colourAt(path, at, x, y)
    expect(await seen(0.5, 0.5, 0.5)).toBe('red')
    expect(await seen(0.5, 0.05, 0.5)).toBe('black')
    expect(await seen(0.5, corner.x, corner.y)).toBe('white')
    expect(await seen(2, 0.5, 0.5)).toBe('blue')
    expect(await seen(2, corner.x, corner.y)).toBe('white')
    expect(await seen(2, 1 - corner.x, corner.y)).toBe('blue')
    expect(await seen(2, corner.x, 1 - corner.y)).toBe('blue')
    expect(await seen(3.5, 0.5, 0.5)).toBe('green')
    expect(await seen(3.5, corner.x, corner.y)).toBe('black')
    await isTidy()
    for (const picture of pictures) expect(await allFiles(disk)).not.toContain(picture)
  })

  it.each<[string, MediaName, Task[], { size: string; sound: boolean; seconds: number }]>([
    ['an upright video, an intro across', 'green.mp4', [['add-intro', 'blue.mp4']], { size: '90x160', sound: true, seconds: 3 }],
    ['silent video and intro', 'red.mp4', [['add-intro', 'red.mp4']], { size: '64x64', sound: false, seconds: 2 }],
    ['silent video, outro with sound', 'red.mp4', [['add-outro', 'green.mp4']], { size: '64x64', sound: true, seconds: 2 }],
    [
      'what an intro begins with is cut off',
      'blue.mp4',
      [
        ['add-intro', 'green.mp4'],
        ['cut', { start: 0.5, end: 2 }],
      ],
      { size: '160x90', sound: true, seconds: 1.5 },
    ],
  ])('combines inputs with different properties: %s', async (_what, video, tasks, expected) => {
    await start()
    const { id, uuid } = await create(video)
    expect((await ask(uuid, tasks)).status).toBe(204)
    await isEdited(id)
    const { seconds, ...made } = await result()
    expect(made).toMatchObject({ size: expected.size, sound: expected.sound })
    expect(Math.abs(seconds - expected.seconds)).toBeLessThan(0.2)
  })

  it('moves captions and chapters with their content', async () => {
    await start()
    const { id, uuid } = await create()
    await node.store.put({ kind: 'captions', name: 'a-fr.vtt' }, Buffer.from(CAPTION))
    await node.db.query("insert into video_caption (video_id, language, filename) values ($1, 'fr', 'a-fr.vtt')", [id])
    await node.db.query("insert into video_chapter (video_id, timecode, title) values ($1, 0, 'one'), ($1, 1, 'two')", [id])
    await ask(uuid, [
      ['cut', { start: 1 }],
      ['add-intro', 'red.mp4'],
    ])
    await isEdited(id)
    const [caption] = await node.db.query<{ filename: string }>('select filename from video_caption')
    const text = String(await disk.store.read(`captions/${caption?.filename}`))
    expect(text).toBe('WEBVTT\n\n00:00:01.500 --> 00:00:02.000\nin the second half\n')
    expect(await node.db.query('select timecode, title from video_chapter')).toEqual([{ timecode: 1, title: 'two' }])
    await isTidy()
  })

  it('is transcoded; old files, times and pictures remain until the first new file exists', async () => {
    await start(HLS)
    const { id, uuid } = await create('blue.mp4', { waitTranscoding: true })
    await eventually(async () => expect(await stateOf(id)).toMatchObject({ state: 'published' }))
    await eventually(async () => expect(await node.db.query("select 1 from transcoding where state = 'done'")).toHaveLength(1))
    await node.db.query("insert into video_chapter (video_id, timecode, title) values ($1, 1, 'two')", [id])
    await untilDrawn(node.db)
    const pictures = [...(await files('thumbnails')), ...(await files('previews'))]
    const before = await stateOf(id)
    // Its publication is announced before the next one starts.
    await eventually(async () => expect(await node.db.query('select 1 from outbox')).toEqual([]))
    await node.stop()

    // Its file is edited without transcoding.
    await start({ ...HLS, vireo: { jobs: { types: { 'video-transcoding': { concurrency: 1 } } } } }, { running: false })
    const { registry } = node.runtime.runtime
    const transcode = registry.jobs.get('video-transcoding')
    const gate = latch()
    if (transcode) {
      const { run: work } = transcode
      transcode.run = async (job) => {
        await gate.opened
        await work(job)
      }
    }
    await node.runtime.runtime.start()
    expect((await ask(uuid, CUT)).status).toBe(204)
    await isEdited(id)
    expect(await stateOf(id)).toMatchObject({ duration: before?.duration, published: before?.published })
    expect(await node.db.query('select timecode from video_chapter')).toEqual([{ timecode: 1 }])
    for (const picture of pictures) expect(await allFiles(disk)).toContain(picture)
    expect((await ask(uuid, CUT)).status).toBe(409)
    gate.open()
    await eventually(async () => expect(await stateOf(id)).toMatchObject({ duration: 1 }))
    expect(await node.db.query('select timecode from video_chapter')).toEqual([{ timecode: 0 }])
    await eventually(async () => {
      for (const picture of pictures) expect(await allFiles(disk)).not.toContain(picture)
      expect(await files('original_video_files')).toEqual([])
    })
    await isTidy()
    expect(emitted.some(({ event }) => event === 'VideoPublished')).toBe(false)
  })
})

const CAPTION = `WEBVTT

00:00:00.000 --> 00:00:00.900
in the first half

00:00:01.500 --> 00:00:02.000
in the second half
`

describe('an edition is refused', () => {
  it('where the studio is disabled, with the recorded response', async () => {
    await start({ transcoding: { enabled: false } })
    const { uuid } = await create()
    expect(await send(uuid, { tasks: [{ name: 'cut', options: { start: 1 } }] })).toMatchObject({
      status: 400,
      body: { detail: 'Video studio is disabled on this instance', type: 'about:blank' },
    })
    expect((await send(uuid, { tasks: [] }, null)).status).toBe(401)
  })

  it('for other users, for lives, and while the video is processed', async () => {
    await start(AS_IT_IS, { running: false })
    const { id, uuid } = await create()
    expect((await ask(uuid, CUT, disk.users.other.token)).status).toBe(403)
    expect((await ask('424242', CUT)).status).toBe(404)
    await node.db.query('update video set is_live = true')
    expect((await ask(uuid, CUT)).status).toBe(400)
    await node.db.query("update video set is_live = false, state = 'to-transcode'")
    expect((await ask(uuid, CUT)).status).toBe(409)
    await node.db.query("update video set state = 'published'")
    expect((await ask(uuid, CUT, disk.users.admin.token)).status).toBe(204)
    expect(await stateOf(id)).toMatchObject({ state: 'to-edit' })
    expect((await ask(uuid, CUT)).status).toBe(409)
    expect(await node.db.query('select name, start_at from video_edition_task')).toEqual([{ name: 'cut', start_at: 1 }])
  })

  it('with every invalid field, and nothing is left of it', async () => {
    await start(AS_IT_IS, { running: false })
    const { uuid } = await create()
    const before = await allFiles(disk)
    const bad: [FormData | object, string[]][] = [
      [{}, ['tasks']],
      [{ tasks: [] }, ['tasks']],
      [{ tasks: Array.from({ length: 11 }, () => ({ name: 'cut', options: { start: 1 } })) }, ['tasks']],
      [{ tasks: [{ name: 'turn' }] }, ['tasks']],
      [{ tasks: [{ name: 'cut', options: {} }] }, ['tasks']],
      [{ tasks: [{ name: 'cut', options: { start: -1 } }] }, ['tasks']],
      [{ tasks: [{ name: 'cut', options: { start: 'soon' } }] }, ['tasks']],
      [{ tasks: [{ name: 'cut', options: { start: 2, end: 1 } }] }, ['tasks']],
      [{ tasks: [{ name: 'cut', options: { start: 30 } }] }, ['tasks']],
      [{ tasks: [{ name: 'add-intro', options: { file: 'intro.mp4' } }] }, ['tasks[0][options][file]']],
      [
        await formOf([
          ['cut', { start: 1 }],
          ['add-intro', 'text.mp4'],
        ]),
        ['tasks[1][options][file]'],
      ],
      [
        await formOf([
          ['add-outro', 'sound.mp3', 'sound.mp4'],
          ['add-watermark', 'red.mp4', 'red.png'],
        ]),
        ['tasks[0][options][file]', 'tasks[1][options][file]'],
      ],
      [await formOf([['add-watermark', white, 'white.svg']]), ['tasks[0][options][file]']],
      [await formOf([['add-watermark', Buffer.concat([white, Buffer.alloc(5_000_000)])]]), ['tasks[0][options][file]']],
      [await formOf([['add-intro', 'red.mp4', 'red.exe']]), ['tasks[0][options][file]']],
      [await formOf([['add-intro', 'playlist.mp4']]), ['tasks[0][options][file]']],
    ]
    for (const [body, names] of bad) {
      const answer = await send(uuid, body)
      expect([answer.status, Object.keys(answer.body?.['invalid-params'] ?? {})]).toEqual([400, names])
    }
    expect(await allFiles(disk)).toEqual(before)
    expect(await node.db.query('select state from video')).toEqual([{ state: 'published' }])
    expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0 })
  })

  it('over the quota, also during the upload of files, and at the end', async () => {
    await start(AS_IT_IS, { running: false })
    const { id, uuid } = await create()
    const [used] = await node.db.query<{ bytes: number }>('select sum(size)::int as bytes from video_file')
    await node.db.query('update users set video_quota = $1', [used?.bytes])
    const before = await allFiles(disk)
    for (const intro of ['green.mp4', 'hour.mp4'] as const) {
      const answer = await ask(uuid, [['add-intro', intro]])
      expect(answer).toMatchObject({ status: 413, body: { code: 'quota_reached' } })
    }
    expect(await allFiles(disk)).toEqual(before)
    expect((await ask(uuid, CUT)).status).toBe(204)
    // Makes the old file almost empty.
    await node.db.query('update users set video_quota = 1')
    await node.db.query('update video_file set size = 1')
    await node.runtime.runtime.start()
    await isFailed(id, /quota/)
    await isTidy()
  })
})

describe('the job of an edition', () => {
  const failing = (what: (ref: { kind: string; name: string }) => boolean, error = 'died') => ({
    wrapStore: (store: Store): Store => ({
      ...store,
      put: (ref, from) => (isDying && what(ref) ? Promise.reject(new Error(error)) : store.put(ref, from)),
    }),
  })

  it('that fails leaves the video unchanged, with a reason', async () => {
    await start(AS_IT_IS, { running: false })
    const { id, uuid } = await create()
    const kept = async () => [...(await files('web_videos')), ...(await node.db.query('select filename from thumbnail order by type'))]
    const before = await kept()
    await ask(uuid, [['add-intro', 'red.mp4']])
    const [intro = ''] = await files('uploads')
    await disk.store.write(intro, 'no video at all, and not empty either')
    await node.runtime.runtime.start()
    await isFailed(id, /not a video|cannot be read/)
    expect(await kept()).toEqual(before)
    await eventually(async () => {
      const jobs = await node.db.query("select state, error from job where type = 'video-studio-edition'")
      expect(jobs).toEqual([{ state: 'failed', error: expect.stringMatching(/not a video|cannot be read/) }])
    })
    await isTidy()
    await eventually(() => expect(emitted.at(-1)).toEqual({ event: 'VideoUpdated', videoId: id }))
    expect((await ask(uuid, CUT)).status).toBe(204)
    await isEdited(id)
  })

  it('that hangs is stopped, with a reason', async () => {
    const faulty = await faultyFfmpeg({ when: 'unfinished.mp4' })
    await faulty.become('hang')
    const config = { ...AS_IT_IS, vireo: { media: { stall_timeout: '1 second' } } }
    await start(config, { settings: ONCE, ffmpeg: faulty.ffmpeg })
    const { id, uuid } = await create()
    await ask(uuid, CUT)
    await isFailed(id, /no progress/)
    await isTidy()
  })

  it('that exceeds its memory limit is stopped, with a reason', async () => {
    const faulty = await faultyFfmpeg({ when: 'unfinished.mp4' })
    await faulty.become('memory')
    await start({ ...AS_IT_IS, vireo: { media: { max_memory: '150MB' } } }, { settings: ONCE, ffmpeg: faulty.ffmpeg })
    const { id, uuid } = await create()
    await ask(uuid, CUT)
    await isFailed(id, /more memory than allowed/)
    await isTidy()
  })

  it('that failed does not end an edition of another worker', async () => {
    await start(AS_IT_IS, { running: false })
    const { id, uuid } = await create()
    await ask(uuid, CUT)
    const { failed } = node.runtime.runtime.registry.jobs.get('video-studio-edition') ?? {}
    const [edition] = await node.db.query<{ id: number }>('select id from video_edition')
    const fail = () => failed?.({ id: 1, data: { editionId: edition?.id ?? 0 } }, 'The process was killed')
    const hold = (until: string) =>
      node.db.query("update video_edition set lease_owner = 'elsewhere|1|1|alive', lease_until = now() + $1::interval", [until])
    await hold('1 hour')
    await expect(fail()).rejects.toMatchObject({ kind: 'busy' })
    expect((await stateOf(id))?.state).toBe('to-edit')
    await hold('-1 second')
    await fail()
    await isFailed(id, /was killed/)
    await node.db.query('delete from job')
    await isTidy()
  })

  it('that finds no disk space leaves the video unchanged', async () => {
    isDying = false
    await start(AS_IT_IS, { ...failing((ref) => ref.kind === 'web_videos', 'No space left'), settings: ONCE })
    const { id, uuid } = await create()
    const before = await files('web_videos')
    isDying = true
    await ask(uuid, CUT)
    await isFailed(id, /No space left/)
    expect(await files('web_videos')).toEqual(before)
    await isTidy()
  })

  it('ends when the video is removed meanwhile, and nothing is left', async () => {
    await start(AS_IT_IS, { running: false })
    const { id, uuid } = await create()
    await ask(uuid, [['add-intro', 'red.mp4']])
    const by = { accountId: disk.users.owner.accountId, role: 2 } as const
    await node.removeVideo.remove(id, by)
    await node.runtime.runtime.start()
    await eventually(async () => {
      await node.pendingFiles.collect()
      expect(await rowCounts(node.db)).toMatchObject({ video: 0, pending_file: 0 })
      expect(await allFiles(disk)).toEqual([])
    })
  })

  it('ends with its process, also while a file is being stored', async () => {
    let isOnItsWay = false
    const withLocalPath: Store['withLocalPath'] = (_ref, _work, signal) =>
      new Promise((_done, failed) => {
        isOnItsWay = true
        signal?.addEventListener('abort', () => failed(signal.reason))
      })
    await start(AS_IT_IS, { running: false, wrapStore: (store) => ({ ...store, withLocalPath }) })
    const { uuid } = await create()
    await ask(uuid, CUT)
    const [edition] = await node.db.query<{ id: number }>('select id from video_edition')
    const ending = new AbortController()
    const run = node.runtime.runtime.registry.jobs.get('video-studio-edition')?.run({
      id: 1,
      type: 'video-studio-edition',
      data: { editionId: edition?.id ?? 0 },
      signal: ending.signal,
      progress: () => {},
    })
    await eventually(() => expect(isOnItsWay).toBe(true))
    ending.abort(new Error('the process is ending'))
    await expect(run).rejects.toThrow('the process is ending')
  })

  it('run twice and by two workers at once makes one result', async () => {
    await start(AS_IT_IS, { running: false })
    const { id, uuid } = await create()
    await ask(uuid, CUT)
    const handler = node.runtime.runtime.registry.jobs.get('video-studio-edition')
    const [edition] = await node.db.query<{ id: number }>('select id from video_edition')
    const job = () =>
      handler?.run({
        id: 1,
        type: 'video-studio-edition',
        data: { editionId: edition?.id ?? 0 },
        signal: new AbortController().signal,
        progress: () => {},
      })
    await Promise.all([job(), job()])
    await job()
    await isEdited(id)
    expect(await files('web_videos')).toHaveLength(1)
    await node.runtime.runtime.start()
    await isTidy()
  })

  it('is created again when it was lost', async () => {
    await start(AS_IT_IS, { running: false })
    const { id, uuid } = await create()
    await ask(uuid, CUT)
    await node.db.query('delete from job')
    await node.db.query("update video set due_at = now() - interval '1 minute'")
    await node.runtime.runtime.start()
    await isEdited(id)
    expect((await result()).seconds).toBeLessThan(1.2)
  })

  it('lets the video become private meanwhile: others get its Delete, and the file is in the private folder', async () => {
    await start(AS_IT_IS, { running: false })
    const { id, uuid } = await create()
    await node.db.query('delete from outbox')
    await ask(uuid, CUT)
    const by = { accountId: disk.users.owner.accountId, role: 2 } as const
    await node.updateVideo.update(id, by, { privacy: 3 })
    const events = await node.db.query<{ event: string }>('select event from outbox order by id')
    expect(events.map(({ event }) => event)).toEqual(['VideoRemoved'])
    await node.db.query('delete from outbox')
    await node.runtime.runtime.start()
    await isEdited(id)
    await eventually(async () => {
      expect(await files('web_videos/private/')).toHaveLength(1)
      expect(await files('web_videos')).toHaveLength(1)
    })
  })
})

let isDying = false

/** One attempt, like the configuration's. */
const ONCE = {
  jobs: { leaseMs: 3000, ttlMs: () => null, concurrency: () => 2, maxLostLeases: 2, attempts: () => 1 },
}
