// From an uploaded file to a published video: the job, its machine, the files, and every kind of interruption.

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { EventName } from '../../../src/actors/runtime/index.ts'
import { leaseOwner, machineName } from '../../../src/actors/runtime/lease.ts'
import { makeStoreRenditions } from '../../../src/actors/transcoding/store-renditions.ts'
import type { NewVideoFields } from '../../../src/actors/video/index.ts'
import { type LadderFile, MediaError, type MediaProbe, probe, StorageOutage } from '../../../src/media/index.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { fakeClock } from '../../support/clock.ts'
import { faultyFfmpeg } from '../../support/faulty-ffmpeg.ts'
import { copyOfMedia, type MediaName } from '../../support/media.ts'
import { eventually } from '../../support/until.ts'
import { allFiles, type Disk, makeDisk, type NodeOptions, rowCounts, startNode, type UploadNode } from './node.ts'

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
const HLS = { transcoding: { enabled: true, resolutions: LADDER } }
const BOTH = { transcoding: { enabled: true, resolutions: LADDER, web_videos: { enabled: true } } }

let disk: Disk
let node: UploadNode
let emitted: { event: EventName; videoId: number }[]
beforeAll(async () => {
  disk = await makeDisk()
})
afterAll(() => disk.remove())
afterEach(async () => {
  await node.db.query('delete from job')
  await node.db.query('delete from outbox')
  await node.db.query('delete from video')
  await node.db.query('delete from pending_file')
  await node.stop()
  await disk.store.clear()
})

/** A node that records the events of its relay. */
async function start(options: NodeOptions = {}): Promise<void> {
  node = await startNode(disk, { config: HLS, ...options, running: false })
  emitted = []
  for (const event of ['VideoPublished', 'VideoUpdated'] as const) {
    node.runtime.runtime.registry.on(event, 'test', async ({ videoId }) => void emitted.push({ event, videoId }))
  }
  if (options.running !== false) await node.runtime.runtime.start()
}

async function create(name: MediaName = 'small.mp4', fields: Partial<NewVideoFields> = {}) {
  const path = await copyOfMedia(name)
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
    path,
    pictures: {},
  })
}

interface States {
  video: string
  transcoding: string
  error: string | null
}

async function states(): Promise<States | undefined> {
  const [row] = await node.db.query<States>(
    'select v.state as video, t.state as transcoding, t.error from video v join transcoding t on t.video_id = v.id',
  )
  return row
}

const ends = (transcoding: string) => eventually(async () => expect((await states())?.transcoding).toBe(transcoding))

/** Stored files by the names in the rows; there must be no others. */
async function expectFilesAsRowsSay(uuid: string, options: { hidden?: boolean } = {}): Promise<void> {
  const rows = await node.db.query<{ filename: string; playlist_filename: string | null }>(
    'select filename, playlist_filename from video_file',
  )
  const [playlist] = await node.db.query<{ playlist_filename: string; segments_sha256_filename: string }>(
    'select playlist_filename, segments_sha256_filename from streaming_playlist',
  )
  const [source] = await node.db.query<{ kept_filename: string | null }>('select kept_filename from video_source')
  const folder = `streaming_playlists/hls/${options.hidden ? 'private/' : ''}${uuid}`
  const expected = [
    ...rows.flatMap(({ filename, playlist_filename }) =>
      playlist_filename === null
        ? [`web_videos/${options.hidden ? 'private/' : ''}${filename}`]
        : [`${folder}/${filename}`, `${folder}/${playlist_filename}`],
    ),
    ...(playlist ? [`${folder}/${playlist.playlist_filename}`, `${folder}/${playlist.segments_sha256_filename}`] : []),
    ...(source?.kept_filename ? [`original_video_files/${source.kept_filename}`] : []),
  ]
  await eventually(async () => {
    const pictures = await node.db.query<{ name: string }>(
      `select case type when 1 then 'thumbnails/' else 'previews/' end || filename as name from thumbnail where on_disk`,
    )
    expect(await allFiles(disk)).toEqual([...expected, ...pictures.map(({ name }) => name)].sort())
    expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0 })
  })
}

async function master(uuid: string): Promise<string> {
  const [row] = await node.db.query<{ playlist_filename: string }>('select playlist_filename from streaming_playlist')
  return String(await disk.store.read(`streaming_playlists/hls/${uuid}/${row?.playlist_filename}`))
}

describe('transcoding', () => {
  it('publishes with the uploaded file, and announces the copied rendition and the others', async () => {
    await start()
    const { id, uuid } = await create()
    await ends('done')
    expect(await states()).toEqual({ video: 'published', transcoding: 'done', error: null })
    const files = await node.db.query('select resolution, width, height, fps, streams, format_flags from video_file order by resolution')
    expect(files).toEqual([
      { resolution: 144, width: 192, height: 144, fps: 25, streams: 3, format_flags: 2 },
      { resolution: 240, width: 320, height: 240, fps: 25, streams: 3, format_flags: 2 },
    ])
    expect((await master(uuid)).match(/RESOLUTION=\d+x\d+/g)).toEqual(['RESOLUTION=320x240', 'RESOLUTION=192x144'])
    await eventually(() =>
      expect(emitted).toEqual([
        { event: 'VideoPublished', videoId: id },
        { event: 'VideoUpdated', videoId: id },
        { event: 'VideoUpdated', videoId: id },
      ]),
    )
    await expectFilesAsRowsSay(uuid)
    await eventually(async () =>
      expect(await node.db.query('select type, state, progress from job order by type')).toEqual([
        { type: 'video-pictures', state: 'completed', progress: 100 },
        { type: 'video-transcoding', state: 'completed', progress: 100 },
      ]),
    )
  })

  it('publishes once, at the end, when publication waits for all renditions', async () => {
    await start()
    const { id, uuid } = await create('small.mp4', { waitTranscoding: true })
    await ends('done')
    expect(await states()).toMatchObject({ video: 'published' })
    await eventually(() => expect(emitted).toEqual([{ event: 'VideoPublished', videoId: id }]))
    await expectFilesAsRowsSay(uuid)
  })

  it('makes web videos beside HLS, and keeps the original if configured', async () => {
    await start({ config: { transcoding: { ...BOTH.transcoding, original_file: { keep: true } } } })
    const { uuid } = await create()
    await ends('done')
    expect(await rowCounts(node.db)).toMatchObject({ video_file: 4 })
    expect(await node.db.query('select kept_filename is not null as kept from video_source')).toEqual([{ kept: true }])
    await expectFilesAsRowsSay(uuid)
  })

  it('keeps the files of a private video in the private folder, and sends nothing', async () => {
    await start({ config: BOTH })
    const { uuid } = await create('small.mp4', { privacy: 3 })
    await ends('done')
    await expectFilesAsRowsSay(uuid, { hidden: true })
    expect(emitted).toEqual([])
  })

  it.each<[name: MediaName, resolutions: number[]]>([
    ['silent.mp4', [144, 240]],
    ['sound.mp3', [144, 240, 480]],
    ['cover.mp3', [144, 240, 480]],
    ['odd.mkv', [144, 240, 242]],
  ])('accepts %s', async (name, resolutions) => {
    await start()
    const { uuid } = await create(name)
    await ends('done')
    expect(await node.db.query('select resolution from video_file order by resolution')).toEqual(
      resolutions.map((resolution) => ({ resolution })),
    )
    await expectFilesAsRowsSay(uuid)
  })
})

describe('a transcoding that fails', () => {
  it('shows the reason, and keeps the original for a retry', async () => {
    await start({ running: false })
    const { uuid } = await create('small.mp4', { waitTranscoding: true })
    const [source] = await node.db.query<{ kept_filename: string }>('select kept_filename from video_source')
    await node.store.put({ kind: 'original_video_files', name: source?.kept_filename ?? '' }, Buffer.from('no video'))
    await node.runtime.runtime.start()
    await ends('failed')
    expect(await states()).toEqual({ video: 'transcoding-failed', transcoding: 'failed', error: expect.any(String) })
    expect(emitted).toEqual([])
    await expectFilesAsRowsSay(uuid)
    expect(await node.db.query("select state from job where type = 'video-transcoding'")).toEqual([{ state: 'failed' }])
  })

  it('does not count while another worker has it', async () => {
    await start({ running: false })
    await create('small.mp4', { waitTranscoding: true })
    const { failed } = node.runtime.runtime.registry.jobs.get('video-transcoding') ?? {}
    const [row] = await node.db.query<{ id: number }>('select id from transcoding')
    const fail = () => failed?.({ id: 1, data: { transcodingId: row?.id ?? 0 } }, 'The process was killed')
    await node.db.query("update transcoding set lease_owner = 'elsewhere|1|1|alive', due_at = now() + interval '1 hour'")
    await expect(fail()).rejects.toMatchObject({ kind: 'busy' })
    expect(await states()).toMatchObject({ video: 'to-transcode', transcoding: 'planned' })
    await node.db.query("update transcoding set due_at = now() - interval '1 second'")
    await fail()
    expect(await states()).toMatchObject({ transcoding: 'failed', error: 'The process was killed' })
  })

  it('keeps a video public that is playable already', async () => {
    await start()
    // Unreadable once the copied rendition is stored.
    const { put, withLocalPath } = node.store
    let source = ''
    node.store.withLocalPath = (ref, work, signal) => {
      const noted = (path: string) => {
        if (ref.kind === 'original_video_files') source = path
        return work(path)
      }
      return withLocalPath(ref, noted, signal)
    }
    node.store.put = async (ref, from) => {
      const stat = await put(ref, from)
      if (ref.name.endsWith('-master.m3u8')) await writeFile(source, 'no video')
      return stat
    }
    const { id } = await create()
    await ends('failed')
    expect(await states()).toMatchObject({ video: 'published' })
    await eventually(() =>
      expect(emitted).toEqual([
        { event: 'VideoPublished', videoId: id },
        { event: 'VideoUpdated', videoId: id },
      ]),
    )
  })

  it('keeps a video public that plays the uploaded file', async () => {
    await start({ running: false })
    const { uuid } = await create()
    const [source] = await node.db.query<{ kept_filename: string }>('select kept_filename from video_source')
    await node.store.put({ kind: 'original_video_files', name: source?.kept_filename ?? '' }, Buffer.from('no video'))
    await node.runtime.runtime.start()
    await ends('failed')
    expect(await states()).toMatchObject({ video: 'published', error: expect.any(String) })
    expect(await node.db.query('select provisional from video_file')).toEqual([{ provisional: true }])
    await expectFilesAsRowsSay(uuid)
  })
})

describe('a transcoding that is interrupted', () => {
  it('continues when its process was stopped', async () => {
    await start({ config: BOTH })
    const { id, uuid } = await create('copyable-1080p.mp4')
    await eventually(async () => expect((await rowCounts(node.db)).video_file).toBe(2))
    const before = await node.db.query<{ filename: string }>('select filename from video_file order by filename')
    await node.stop()
    const toldBefore = emitted
    await start({ config: BOTH })
    await ends('done')
    const after = await node.db.query<{ filename: string }>('select filename from video_file order by filename')
    expect(after.map(({ filename }) => filename)).toEqual(expect.arrayContaining(before.map(({ filename }) => filename)))
    expect(after).toHaveLength(6)
    await eventually(() =>
      expect([...toldBefore, ...emitted]).toEqual([
        { event: 'VideoPublished', videoId: id },
        { event: 'VideoUpdated', videoId: id },
        { event: 'VideoUpdated', videoId: id },
      ]),
    )
    await expectFilesAsRowsSay(uuid)
  })

  it('is done once by two workers at once, and by one after the other', async () => {
    await start({ running: false })
    const { id, uuid } = await create()
    const [row] = await node.db.query<{ id: number }>('select id from transcoding')
    const handler = node.runtime.runtime.registry.jobs.get('video-transcoding')
    const signal = new AbortController().signal
    const job = { id: 1, type: 'video-transcoding', data: { transcodingId: row?.id ?? 0 }, signal, progress: () => {} }
    await Promise.all([handler?.run(job), handler?.run(job)])
    await handler?.run(job)
    expect(await states()).toEqual({ video: 'published', transcoding: 'done', error: null })
    expect(await node.db.query('select event from outbox order by id')).toEqual([
      { event: 'VideoShown' },
      { event: 'VideoPublished' },
      { event: 'VideoUpdated' },
      { event: 'VideoUpdated' },
    ])
    expect(id).toBeGreaterThan(0)
    await expectFilesAsRowsSay(uuid)
  })

  /** Fails when the first file with this suffix is stored. */
  function failAt(end: string, fail: () => Promise<Error>): void {
    const put = node.store.put
    let isDone = false
    node.store.put = async (ref, from) => {
      if (isDone || !ref.name.endsWith(end)) return await put(ref, from)
      isDone = true
      throw await fail()
    }
  }
  const failAt144 = (fail: () => Promise<Error>): void => failAt('-144-fragmented.mp4', fail)

  const job = async () => {
    const [row] = await node.db.query<{ id: number }>('select id from transcoding')
    const handler = node.runtime.runtime.registry.jobs.get('video-transcoding')
    const data = { transcodingId: row?.id ?? 0 }
    const signal = new AbortController().signal
    return {
      run: async () => await handler?.run({ id: 1, type: 'video-transcoding', data, signal, progress: () => {} }),
      failed: async () => await handler?.failed?.({ id: 1, data }, 'It failed.'),
    }
  }

  it('encodes nothing twice when its files could not be stored', async () => {
    const counted = await faultyFfmpeg()
    await start({ running: false, ffmpeg: counted.ffmpeg })
    const { uuid } = await create()
    for (const end of ['-144-fragmented.mp4', '-master.m3u8', '-master.m3u8']) {
      failAt(end, async () => new StorageOutage('The store is away.'))
    }
    const { run } = await job()
    for (const _try of [1, 2]) await expect(run()).rejects.toThrow(StorageOutage)
    // With the same name, in either folder.
    const masters = "select count(*)::int from pending_file where name like '%-master.m3u8'"
    expect(await node.db.query(masters)).toEqual([{ count: 2 }])
    await expect(run()).rejects.toThrow(StorageOutage)
    const runs = (await counted.pids()).length
    expect(runs).toBe(2)
    await run()
    expect(await states()).toMatchObject({ transcoding: 'done' })
    expect(await counted.pids()).toHaveLength(runs)
    await expectFilesAsRowsSay(uuid)
  })

  it('starts over when the configuration wants other files by then', async () => {
    await start({ running: false })
    const { uuid } = await create()
    failAt144(async () => new StorageOutage('The store is away.'))
    await expect((await job()).run()).rejects.toThrow(StorageOutage)
    expect((await rowCounts(node.db)).video_file).toBe(2)
    // No worker was lost.
    await node.db.query(`update transcoding set context = context || '{"lost": 24}'`)
    await node.stop()
    await start({ running: false, config: BOTH })
    await (await job()).run()
    expect(await states()).toEqual({ video: 'published', transcoding: 'done', error: null })
    expect(await node.db.query('select resolution, format_flags from video_file order by 1, 2')).toEqual([
      ...[144, 240].flatMap((resolution) => [1, 2].map((flags) => ({ resolution, format_flags: flags }))),
    ])
    await expectFilesAsRowsSay(uuid)
  })

  it('encodes nothing when no format is enabled by then, and reports it', async () => {
    const { ffmpeg, pids } = await faultyFfmpeg()
    await start({ running: false, ffmpeg })
    await create('small.mp4', { waitTranscoding: true })
    await node.stop()
    const none = { enabled: false, hls: { enabled: false }, web_videos: { enabled: false } }
    await start({ config: { transcoding: none }, ffmpeg })
    await ends('failed')
    expect(await states()).toMatchObject({ video: 'transcoding-failed', error: expect.stringContaining('Neither HLS') })
    await expect(pids()).rejects.toThrow('ENOENT')
    expect((await rowCounts(node.db)).video_source).toBe(1)
  })

  it('is not failed by a worker that lost it to another, which keeps its folder', async () => {
    await start({ running: false })
    const { uuid } = await create()
    failAt144(async () => {
      await node.db.query("update transcoding set lease_owner = 'elsewhere|1-1|x', due_at = now() + interval '1 hour'")
      return new MediaError('failed', 'ffmpeg was ended.')
    })
    const { run, failed } = await job()
    await run()
    await expect(failed()).rejects.toMatchObject({ kind: 'busy' })
    expect(await states()).toMatchObject({ transcoding: 'running', error: null })
    expect((await allFiles(disk)).filter((name) => /^tmp\/transcoding-\d+\/try-/.test(name))).not.toEqual([])
    await node.db.query('update transcoding set lease_owner = null')
    await run()
    expect(await states()).toMatchObject({ transcoding: 'done' })
    await expectFilesAsRowsSay(uuid)
  })

  it('and other work that ended on another machine leave no folder on this one', async () => {
    await start({ running: false })
    const tmp = join(disk.folder, 'tmp')
    const kinds = ['channel', 'form', 'import', 'pictures', 'storyboard', 'studio', 'transcoding']
    const names = [...kinds.flatMap((kind) => [`${kind}-1`, `${kind}-2`]), 'transcoding-1-source', 'of-somebody-else']
    for (const name of names) await mkdir(join(tmp, name), { recursive: true })
    await writeFile(join(tmp, 'import-1', 'complete.json'), '{}')
    const wanted = names.filter((name) => name.endsWith('-2'))
    await node.pendingFiles.reserve(
      'elsewhere|1|1|alive',
      wanted.map((name) => ({ kind: 'tmp', name, folder: true })),
    )
    await node.runtime.runtime.registry.periodics.get('work-folders')?.run()
    const others = (await readdir(tmp)).filter((name) => name !== 'downloads')
    expect(others.toSorted()).toEqual([...wanted, 'of-somebody-else'].toSorted())
    await node.pendingFiles.discard(wanted.map((name) => ({ kind: 'tmp', name, folder: true })))
  })

  it('leaves no folder, nor its record, when the database is unreachable as the work ends', async () => {
    let isOut = false
    const wrapDatabase = (db: Database): Database => ({
      ...db,
      query: (text, ...more) =>
        isOut && text.includes('delete from pending_file') ? Promise.reject(new Error('out of reach')) : db.query(text, ...more),
    })
    await start({ running: false, wrapDatabase })
    const folder = { kind: 'tmp', name: 'pictures-1', folder: true } as const
    await node.pendingFiles.reserve(node.deps.leases.owner, [folder])
    await mkdir(join(disk.folder, 'tmp', folder.name), { recursive: true })
    isOut = true
    await expect(node.pendingFiles.discard([folder])).rejects.toThrow('out of reach')
    isOut = false
    await node.pendingFiles.collect()
    expect(await node.db.query('select name from pending_file where name = $1', [folder.name])).toEqual([])
  })

  it('is taken over from a silent worker', async () => {
    const clock = fakeClock()
    await start({ clock, running: false })
    const { uuid } = await create()
    await node.db.query("update transcoding set state = 'running', lease_owner = 'elsewhere|1-1|x', context = $1", [
      JSON.stringify({ total: 2, made: 0, lost: 0, error: null }),
    ])
    await node.db.query('delete from job')
    await node.runtime.runtime.start()
    clock.pass(61_000)
    await ends('done')
    await expectFilesAsRowsSay(uuid)
  })

  it('is planned again for a video that lost it', async () => {
    const clock = fakeClock()
    await start({ clock, running: false })
    const { uuid } = await create('small.mp4', { waitTranscoding: true })
    await node.db.query('delete from transcoding')
    await node.db.query('delete from job')
    await node.runtime.runtime.start()
    clock.pass(61_000)
    await ends('done')
    await expectFilesAsRowsSay(uuid)
  })

  it('completes although the queue loses everything', async () => {
    await start()
    node.runtime.queue.deaf = true
    const creating = await create()
    node.runtime.queue.deaf = false
    await ends('done')
    await expectFilesAsRowsSay(creating.uuid)
  })

  it('ends with its video, and leaves nothing', async () => {
    await start({ config: BOTH })
    const { id } = await create('copyable-1080p.mp4')
    await eventually(async () => expect((await rowCounts(node.db)).video_file).toBe(2))
    await node.removeVideo.remove(id, { accountId: disk.users.owner.accountId, role: 2 })
    await eventually(async () => {
      expect(await rowCounts(node.db)).toMatchObject({ video: 0, video_file: 0, transcoding: 0, pending_file: 0 })
      expect(await allFiles(disk)).toEqual([])
    })
    await eventually(async () =>
      expect(await node.db.query("select state, error from job where type = 'video-transcoding'")).toEqual([
        { state: 'completed', error: null },
      ]),
    )
  })

  it('keeps the rows of a removed video as long as a live worker may write, so that no file is orphaned', async () => {
    await start({ running: false })
    const { id } = await create()
    await node.removeVideo.remove(id, { accountId: disk.users.owner.accountId, role: 2 })
    await node.db.query('delete from outbox')
    const removal = node.runtime.runtime.registry.jobs.get('video-removal')
    const remove = async () =>
      removal?.run({
        id: 1,
        type: 'video-removal',
        data: { videoId: id },
        signal: new AbortController().signal,
        progress: () => {},
      })
    const isHeld = "update transcoding set lease_owner = $1, due_at = now() + interval '1 hour'"
    await node.db.query(isHeld, [leaseOwner()])
    await expect(remove()).rejects.toMatchObject({ kind: 'busy' })
    expect(await rowCounts(node.db)).toMatchObject({ video: 1, transcoding: 1 })
    // Killed: the transcoding knows what it wrote, and removes it.
    await node.store.put({ kind: 'web_videos', name: 'written.mp4' }, Buffer.from('a rendition'))
    const [transcoding] = await node.db.query<{ id: number }>('select id from transcoding')
    await node.pendingFiles.reserve(`transcoding:${transcoding?.id}`, [{ kind: 'web_videos', name: 'written.mp4' }])
    await node.db.query(isHeld, [`${machineName()}|1 long ago|0000`])
    await remove()
    await node.pendingFiles.collect()
    expect(await rowCounts(node.db)).toMatchObject({ video: 0, transcoding: 0, pending_file: 0 })
    expect(await allFiles(disk)).toEqual([])
  })

  it('follows the video from private to public', async () => {
    await start({ config: BOTH })
    const { id, uuid } = await create('copyable-1080p.mp4', { privacy: 3 })
    await eventually(async () => expect((await rowCounts(node.db)).video_file).toBe(2))
    await node.updateVideo.update(id, { accountId: disk.users.owner.accountId, role: 2 }, { privacy: 1 })
    await ends('done')
    await expectFilesAsRowsSay(uuid)
  })

  it.each([
    { from: 3, to: 1 },
    { from: 1, to: 3 },
  ])('leaves no playlist behind when the privacy changes from $from to $to while it is written', async ({ from, to }) => {
    await start()
    const put = node.store.put
    let changes = 0
    node.store.put = async (ref, content) => {
      if (ref.name.endsWith('-master.m3u8') && changes++ === 0) {
        const owner = { accountId: disk.users.owner.accountId, role: 2 } as const
        const [video] = await node.db.query<{ id: number }>('select id from video')
        await node.updateVideo.update(video?.id ?? 0, owner, { privacy: to })
      }
      return await put(ref, content)
    }
    const { uuid } = await create('small.mp4', { privacy: from })
    await ends('done')
    expect(changes).toBeGreaterThan(1)
    await expectFilesAsRowsSay(uuid, { hidden: to === 3 })
  })
})

describe('files stored by an attempt of a transcoding', () => {
  const worker = { id: 0, owner: 'a worker' }

  /** A finished rendition of 240p, in the form of the ladder, for the transcoding of `worker`. */
  async function finished() {
    const { id, uuid } = await create('small.mp4', { waitTranscoding: true })
    const names = { fragmented: `${newUuid()}-240-fragmented.mp4`, playlist: `${newUuid()}-240.m3u8` }
    const paths = { fragmented: join(disk.folder, names.fragmented), playlist: join(disk.folder, names.playlist) }
    for (const path of Object.values(paths)) await writeFile(path, 'bytes')
    const facts = {
      resolution: 240,
      width: 320,
      height: 240,
      hasVideo: true,
      hasAudio: true,
      filename: names.fragmented,
    }
    const metadata = { format: { duration: 3 }, streams: [], chapters: [] }
    const entry = { codecs: [], hashes: {}, bandwidth: 1, averageBandwidth: 1, frameRate: 25 }
    const file: LadderFile = {
      ...facts,
      type: 'hls',
      fps: 25,
      size: 5,
      path: paths.fragmented,
      metadata,
      hls: { entry: { ...facts, ...entry, playlistFilename: names.playlist }, playlistPath: paths.playlist },
    }
    const source: MediaProbe = await probe({ ffmpeg: node.deps.ffmpeg, path: await copyOfMedia('small.mp4') })
    const [row] = await node.db.query<{ id: number }>(
      "update transcoding set state = 'running', lease_owner = $1, context = $2 returning id",
      [worker.owner, JSON.stringify({ total: 2, made: 0, lost: 0, error: null })],
    )
    return { file, task: { ...worker, id: row?.id ?? 0, videoId: id, uuid, source } }
  }
  const setPrivacy = async (videoId: number, privacy: number) => {
    await node.db.query('update video set privacy = $2 where id = $1', [videoId, privacy])
    await node.deps.placeFiles.now(videoId)
  }
  const end = async (state: 'done' | 'cancelled') => {
    await node.db.query('update transcoding set state = $1, lease_owner = null', [state])
    await node.pendingFiles.collect()
  }

  it('remain when the next attempt stores them, whatever the privacy was at each', async () => {
    await start({ running: false })
    const { task, file } = await finished()
    const killed = makeStoreRenditions({ ...node.deps, tell: dying })
    await expect(killed(task, [file])).rejects.toThrow('killed')
    await setPrivacy(task.videoId, 3)
    await makeStoreRenditions(node.deps)(task, [file])
    await setPrivacy(task.videoId, 1)
    await end('done')
    await expectFilesAsRowsSay(task.uuid)
  })

  it('are moved when the privacy changed before anything moved them', async () => {
    await start({ running: false })
    const { task, file } = await finished()
    await expect(makeStoreRenditions({ ...node.deps, tell: dying })(task, [file])).rejects.toThrow('killed')
    await node.db.query('update video set privacy = 3')
    await makeStoreRenditions(node.deps)(task, [file])
    await end('done')
    await expectFilesAsRowsSay(task.uuid, { hidden: true })
  })

  it('remain when a worker that was considered dead records them again', async () => {
    await start({ running: false })
    const { task, file } = await finished()
    await makeStoreRenditions(node.deps)(task, [file])
    await expect(makeStoreRenditions(node.deps)({ ...task, owner: 'another' }, [file])).rejects.toThrow('Another worker')
    await end('done')
    await expectFilesAsRowsSay(task.uuid)
  })

  it('are removed when it was cancelled while they were written', async () => {
    const late = Promise.withResolvers<void>()
    await start({
      running: false,
      wrapStore: (store) => ({
        ...store,
        async put(ref, from) {
          if (ref.name.endsWith('-fragmented.mp4')) await late.promise
          return await store.put(ref, from)
        },
      }),
    })
    const { task, file } = await finished()
    const storing = makeStoreRenditions(node.deps)(task, [file])
    await eventually(async () => expect((await rowCounts(node.db)).pending_file).toBeGreaterThan(0))
    await end('cancelled')
    late.resolve()
    await expect(storing).rejects.toThrow('Another worker')
    await node.pendingFiles.collect()
    await expectFilesAsRowsSay(task.uuid)
  })

  const dying: UploadNode['deps']['tell'] = Object.assign(
    async () => {
      throw new Error('killed')
    },
    { create: async () => Promise.reject(new Error('killed')) },
  )
})

describe('files of a dead process', () => {
  it('are removed although others cannot be, and however many are still being written', async () => {
    await start({
      running: false,
      wrapStore: (store) => ({
        ...store,
        async remove(ref) {
          if (ref.name === 'stuck.jpg') throw new Error('This one cannot be removed.')
          await store.remove(ref)
        },
      }),
    })
    await node.db.query(`insert into pending_file (kind, name, folder, owner, created_at)
      select 'previews', 'p' || n, false, 'another machine|1-1|x', now() from generate_series(1, 501) n`)
    for (const name of ['stuck.jpg', 'free.jpg']) {
      await node.store.put({ kind: 'thumbnails', name }, Buffer.from('x'))
      await node.pendingFiles.reserve('nobody', [{ kind: 'thumbnails', name }])
    }
    expect(await node.pendingFiles.collect()).toBe(1)
    expect(await allFiles(disk)).toEqual(['thumbnails/stuck.jpg'])
    expect(await rowCounts(node.db)).toMatchObject({ pending_file: 502 })
  })

  it('are recorded again when they are written while they are removed', async () => {
    const ref = { kind: 'thumbnails', name: 'anew.jpg' } as const
    await start({
      running: false,
      wrapStore: (store) => ({
        ...store,
        async remove(file) {
          await store.remove(file)
          await node.pendingFiles.reserve('nobody', [ref])
          await store.put(ref, Buffer.from('x'))
        },
      }),
    })
    await node.db.query(`insert into pending_file (kind, name, owner, created_at)
      values ('thumbnails', 'anew.jpg', 'nobody', now() - interval '1 minute')`)
    expect(await node.pendingFiles.collect()).toBe(1)
    expect(await allFiles(disk)).toEqual(['thumbnails/anew.jpg'])
    expect(await rowCounts(node.db)).toMatchObject({ pending_file: 1 })
  })

  it('are removed at once, those of live ones remain', async () => {
    await start({ running: false })
    const put = async (name: string, owner: string) => {
      await node.pendingFiles.reserve(owner, [{ kind: 'thumbnails', name }])
      await node.store.put({ kind: 'thumbnails', name }, Buffer.from('x'))
    }
    await put('dead.jpg', `${machineName()}|999999999-0|x`)
    await put('elsewhere.jpg', 'another machine|1-1|x')
    expect(await node.pendingFiles.collect()).toBe(1)
    expect(await allFiles(disk)).toEqual(['thumbnails/elsewhere.jpg'])
  })
})
