import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { EventName } from '../../../src/actors/runtime/index.ts'
import { probe } from '../../../src/media/index.ts'
import { copyOfMedia, type MediaName, serverFfmpeg } from '../../support/media.ts'
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
const WEB = {
  transcoding: { enabled: true, resolutions: LADDER, hls: { enabled: false }, web_videos: { enabled: true } },
}
const BOTH = { transcoding: { enabled: true, resolutions: LADDER, web_videos: { enabled: true } } }
const SPLIT = { transcoding: { enabled: true, resolutions: LADDER, hls: { split_audio_and_video: true } } }
const OFF = { transcoding: { enabled: false } }

let disk: Disk
let node: UploadNode
let emitted: { event: EventName; videoId: number }[]
beforeAll(async () => {
  disk = await makeDisk()
})
afterAll(() => disk.remove())
afterEach(async () => {
  for (const table of ['job', 'outbox', 'video', 'pending_file']) await node.db.query(`delete from ${table}`)
  await node.stop()
  await disk.store.clear()
})

async function start(config: NodeOptions['config'], options: NodeOptions = {}): Promise<void> {
  node = await startNode(disk, { ...options, ...(config ? { config } : {}), running: false })
  emitted = []
  for (const event of ['VideoPublished', 'VideoUpdated'] as const) {
    node.runtime.runtime.registry.on(event, 'test', async ({ videoId }) => void emitted.push({ event, videoId }))
  }
  if (options.running !== false) await node.runtime.runtime.start()
}

async function restart(config: NodeOptions['config'], options: NodeOptions = {}): Promise<void> {
  await node.stop()
  await start(config, options)
}

async function create(name: MediaName = 'small.mp4', privacy = 1, waitTranscoding = false) {
  return await node.createVideo.createFrom({
    userId: disk.users.owner.id,
    fields: {
      channelId: disk.users.owner.channelId,
      name: 'A name',
      privacy,
      category: null,
      licence: null,
      language: null,
      nsfw: false,
      description: null,
      support: null,
      waitTranscoding,
      commentsPolicy: 1,
      downloadEnabled: true,
      tags: [],
      originallyPublishedAt: null,
      passwords: [],
      schedule: null,
    },
    inputFilename: name,
    path: await copyOfMedia(name),
    pictures: {},
  })
}

/** A published video with all configured files. */
async function createdWith(config: NodeOptions['config'], name: MediaName = 'small.mp4', privacy = 1) {
  await start(config)
  const made = await create(name, privacy)
  if (config !== OFF) await done(1)
  await settled()
  emitted.length = 0
  return made
}

const done = (count: number) =>
  eventually(async () => {
    expect(await node.db.query("select error from transcoding where state = 'failed'")).toEqual([])
    expect(await node.db.query("select 1 from transcoding where state = 'done'")).toHaveLength(count)
  })

const settled = () =>
  eventually(async () => {
    expect(await node.db.query('select 1 from outbox')).toEqual([])
    expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0 })
  })

interface FileRow {
  id: number
  hls: boolean
  resolution: number
  streams: number
  filename: string
}
const rows = (where = 'true') =>
  node.db.query<FileRow>(
    `select id, streaming_playlist_id is not null as hls, resolution, streams, filename from video_file where ${where}
     order by hls, resolution desc`,
  )
const shapes = async () => (await rows()).map(({ hls, resolution }) => `${hls ? 'hls' : 'web'} ${resolution}`)

const video = async () => (await node.db.query('select state, context from video'))[0]

async function send(method: string, path: string, body?: object, token = disk.users.admin.token) {
  const answer = await fetch(`${node.base}/api/v1/videos/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as { code?: string } | null }
}
const remove = async (path: string) => (await send('DELETE', path)).status
const transcode = (uuid: string, transcodingType: string, forceTranscoding?: boolean) =>
  send('POST', `${uuid}/transcoding`, { transcodingType, ...(forceTranscoding ? { forceTranscoding } : {}) })

interface Playlist {
  master: string
  hashes: string
}
const playlist = async () =>
  (await node.db.query<Playlist>('select playlist_filename as master, segments_sha256_filename as hashes from streaming_playlist'))[0]

async function readPlaylist(uuid: string, hidden = false) {
  const names = await playlist()
  const read = async (name = '') => String(await disk.store.read(`streaming_playlists/hls/${hidden ? 'private/' : ''}${uuid}/${name}`))
  const [master, hashes] = [await read(names?.master), await read(names?.hashes)]
  return {
    resolutions: [...master.matchAll(/RESOLUTION=\d+x(\d+)/g)].map(([, height]) => Number(height)),
    master,
    hashed: Object.keys(JSON.parse(hashes) as object).sort(),
  }
}

/** Expects the store to contain the files of rows, and no others of videos. */
async function expectFilesAsRowsSay(uuid: string, hidden = false): Promise<void> {
  await settled()
  const files = await node.db.query<{ filename: string; playlist_filename: string | null }>(
    'select filename, playlist_filename from video_file',
  )
  const folder = `streaming_playlists/hls/${hidden ? 'private/' : ''}${uuid}`
  const names = await playlist()
  const expected = files.flatMap(({ filename, playlist_filename: list }) =>
    list === null ? [`web_videos/${hidden ? 'private/' : ''}${filename}`] : [`${folder}/${filename}`, `${folder}/${list}`],
  )
  if (names) expected.push(`${folder}/${names.master}`, `${folder}/${names.hashes}`)
  const kept = await node.db.query<{ name: string }>('select kept_filename as name from video_source where kept_filename is not null')
  expected.push(...kept.map(({ name }) => `original_video_files/${name}`))
  const isPicture = (name: string) => /^(thumbnails|previews|storyboards)\//.test(name)
  await eventually(async () => expect((await allFiles(disk)).filter((name) => !isPicture(name))).toEqual(expected.sort()))
  if (!names) return
  const { hashed } = await readPlaylist(uuid, hidden)
  expect(hashed).toEqual((await rows('streaming_playlist_id is not null')).map(({ filename }) => filename).sort())
}

describe('removal of files', () => {
  it('deletes their bytes, updates the playlist, and sends an Update', async () => {
    const { id, uuid } = await createdWith(BOTH)
    const before = await playlist()
    const [large] = await rows('streaming_playlist_id is not null and resolution = 240')
    expect(await remove(`${uuid}/hls/${large?.id}`)).toBe(204)
    expect(await shapes()).toEqual(['web 240', 'web 144', 'hls 144'])
    expect((await readPlaylist(uuid)).resolutions).toEqual([144])
    expect((await playlist())?.master).not.toBe(before?.master)
    await expectFilesAsRowsSay(uuid)
    await eventually(() => expect(emitted).toEqual([{ event: 'VideoUpdated', videoId: id }]))

    const [small] = await rows('streaming_playlist_id is not null')
    expect(await remove(`${uuid}/hls/${small?.id}`)).toBe(204)
    expect(await shapes()).toEqual(['web 240', 'web 144'])
    expect(await playlist()).toBeUndefined()
    await expectFilesAsRowsSay(uuid)

    expect(await remove(`${uuid}/web-videos`)).toBe(400)
    const [web] = await rows()
    expect(await remove(`${uuid}/web-videos/${web?.id}`)).toBe(204)
    const [last] = await rows()
    expect(await remove(`${uuid}/web-videos/${last?.id}`)).toBe(400)
    expect(await shapes()).toEqual(['web 144'])
    await expectFilesAsRowsSay(uuid)
  })

  it('removes a whole format at once, also of a private video, without an Update', async () => {
    const { uuid } = await createdWith(BOTH, 'small.mp4', 3)
    expect(await remove(`${uuid}/web-videos`)).toBe(204)
    expect(await shapes()).toEqual(['hls 240', 'hls 144'])
    await expectFilesAsRowsSay(uuid, true)
    expect(await remove(`${uuid}/hls`)).toBe(400)
    const [large] = await rows('resolution = 240')
    expect(await remove(`${uuid}/hls/${large?.id}`)).toBe(204)
    expect((await readPlaylist(uuid, true)).resolutions).toEqual([144])
    await expectFilesAsRowsSay(uuid, true)
    expect(emitted).toEqual([])
  })

  it('is refused for audio that other files need', async () => {
    const { uuid } = await createdWith(SPLIT)
    expect(await shapes()).toEqual(['hls 240', 'hls 144', 'hls 0'])
    const [sound] = await rows('resolution = 0')
    expect(await remove(`${uuid}/hls/${sound?.id}`)).toBe(400)
    const [small] = await rows('resolution = 144')
    expect(await remove(`${uuid}/hls/${small?.id}`)).toBe(204)
    expect((await readPlaylist(uuid)).master).toContain('TYPE=AUDIO')
    await expectFilesAsRowsSay(uuid)
    const [large] = await rows('resolution = 240')
    expect(await remove(`${uuid}/hls/${large?.id}`)).toBe(400)
  })

  it('happens in sequence for simultaneous requests, and the last file remains', async () => {
    const { uuid } = await createdWith(HLS)
    const files = await rows()
    const answers = await Promise.all(files.map(({ id }) => remove(`${uuid}/hls/${id}`)))
    expect(answers.sort()).toEqual([204, 400])
    expect(await rows()).toHaveLength(1)
    await expectFilesAsRowsSay(uuid)
  })

  it('leaves nothing when the process dies before or after the rows are deleted', async () => {
    const { uuid } = await createdWith(BOTH)
    // Files written before the change of the rows belong to a dead process.
    await node.db.query("insert into pending_file (kind, name, folder, owner, created_at) values ($1, $2, false, 'nobody', now())", [
      'streaming_playlists',
      `hls/${uuid}/left-master.m3u8`,
    ])
    await node.store.put({ kind: 'streaming_playlists', name: `hls/${uuid}/left-master.m3u8` }, Buffer.from('#EXTM3U'))
    const removeBytes = node.store.remove
    node.store.remove = () => Promise.reject(new Error('killed here'))
    expect(await remove(`${uuid}/web-videos`)).toBe(204)
    node.store.remove = removeBytes
    expect(await shapes()).toEqual(['hls 240', 'hls 144'])
    await node.pendingFiles.collect()
    await expectFilesAsRowsSay(uuid)
  })

  it('is refused to everybody but administrators, and without the video', async () => {
    const { uuid } = await createdWith(BOTH)
    const [file] = await rows()
    for (const path of [`${uuid}/hls`, `${uuid}/web-videos`, `${uuid}/web-videos/${file?.id}`]) {
      expect((await send('DELETE', path, undefined, disk.users.owner.token)).status).toBe(403)
      expect((await send('DELETE', path, undefined, 'wrong')).status).toBe(401)
    }
    expect(await remove('424242/hls')).toBe(404)
    expect(await remove(`${uuid}/hls/424242`)).toBe(404)
    expect(await remove(`${uuid}/web-videos/${file?.id}x`)).toBe(400)
    expect(await shapes()).toHaveLength(4)
  })
})

describe('requested renditions', () => {
  it('are made of the web video without an original, and the video stays published', async () => {
    const { id, uuid } = await createdWith(OFF)
    await restart(HLS, { running: false })
    expect(await transcode(uuid, 'hls')).toEqual({ status: 204, body: null })
    expect(await transcode(uuid, 'hls')).toMatchObject({
      status: 409,
      body: { code: 'video_already_being_transcoded' },
    })
    expect(await video()).toMatchObject({ state: 'published' })
    const masters = new Set<string>()
    const { put } = node.store
    node.store.put = (ref, from) => {
      if (ref.name.endsWith('-master.m3u8')) masters.add(ref.name)
      return put(ref, from)
    }
    await node.runtime.runtime.start()
    await done(1)
    expect(await shapes()).toEqual(['web 240', 'hls 240', 'hls 144'])
    expect([...masters]).toEqual([`hls/${uuid}/${(await playlist())?.master}`])
    expect((await readPlaylist(uuid)).resolutions).toEqual([240, 144])
    expect(await video()).toMatchObject({ state: 'published', context: { renditions: 2, error: null } })
    await expectFilesAsRowsSay(uuid)
    await eventually(() => expect(emitted.at(-1)).toEqual({ event: 'VideoUpdated', videoId: id }))
    expect(emitted.filter(({ event }) => event === 'VideoPublished')).toEqual([])
  })

  it('replace the old ones, which remain until then', async () => {
    const { uuid } = await createdWith(BOTH)
    const before = await rows()
    const oldPlaylist = await playlist()
    await restart(HLS, { running: false })
    expect((await transcode(uuid, 'hls')).status).toBe(204)
    expect(await rows()).toEqual(before)
    await node.runtime.runtime.start()
    await done(2)
    const after = await rows()
    expect(after.map(({ hls, resolution }) => [hls, resolution])).toEqual(before.map(({ hls, resolution }) => [hls, resolution]))
    const namesOf = (files: FileRow[], hls: boolean) => files.filter((file) => file.hls === hls).map(({ filename }) => filename)
    expect(namesOf(after, false)).toEqual(namesOf(before, false))
    for (const name of namesOf(before, true)) expect(namesOf(after, true)).not.toContain(name)
    expect((await playlist())?.master).not.toBe(oldPlaylist?.master)
    await expectFilesAsRowsSay(uuid)
  })

  it('of another format leave the playlist unchanged', async () => {
    const { uuid } = await createdWith(HLS)
    const [before, text] = [await playlist(), (await readPlaylist(uuid)).master]
    await restart(HLS)
    expect((await transcode(uuid, 'web-video')).status).toBe(204)
    await done(2)
    expect(await shapes()).toEqual(['web 240', 'web 144', 'hls 240', 'hls 144'])
    expect(await playlist()).toEqual(before)
    expect((await readPlaylist(uuid)).master).toBe(text)
    await expectFilesAsRowsSay(uuid)
  })

  it('may replace the file that they are made of, in a format that is disabled for new videos', async () => {
    const { uuid } = await createdWith(OFF, 'copyable-1080p.mp4')
    const [source] = await rows()
    await restart({ transcoding: { ...HLS.transcoding, always_transcode_original_resolution: false } })
    expect((await transcode(uuid, 'web-video')).status).toBe(204)
    await done(1)
    expect(await shapes()).toEqual(['web 1080', 'web 240', 'web 144'])
    expect((await rows()).map(({ filename }) => filename)).not.toContain(source?.filename)
    await expectFilesAsRowsSay(uuid)
  })

  it('have video and audio when those are in two files', async () => {
    const { uuid } = await createdWith(SPLIT)
    await restart(WEB)
    expect((await transcode(uuid, 'web-video')).status).toBe(204)
    await done(2)
    expect(await shapes()).toEqual(['web 240', 'web 144', 'hls 240', 'hls 144', 'hls 0'])
    for (const { filename } of await rows('streaming_playlist_id is null')) {
      const found = await probe({ ffmpeg: await serverFfmpeg(), path: await disk.store.local(`web_videos/${filename}`) })
      expect(found.audio?.codec).toBe('aac')
      expect(found.duration).toBeCloseTo(2, 0)
    }
    await expectFilesAsRowsSay(uuid)
  })

  it.each([
    { from: SPLIT, to: HLS, streams: [3, 3] },
    { from: HLS, to: SPLIT, streams: [1, 1, 2] },
  ])('replace those with separate audio ($streams)', async ({ from, to, streams }) => {
    const { uuid } = await createdWith(from)
    await restart(to)
    expect((await transcode(uuid, 'hls')).status).toBe(204)
    await done(2)
    expect((await rows()).map((file) => file.streams)).toEqual(streams)
    expect((await readPlaylist(uuid)).resolutions).toEqual([240, 144])
    await expectFilesAsRowsSay(uuid)
  })

  it('keep an original that was kept, whatever applies to new videos', async () => {
    const { uuid } = await createdWith({ transcoding: { ...HLS.transcoding, original_file: { keep: true } } })
    await restart(HLS)
    expect((await transcode(uuid, 'web-video')).status).toBe(204)
    await done(2)
    expect(await node.db.query('select kept_filename is not null as kept from video_source')).toEqual([{ kept: true }])
    await expectFilesAsRowsSay(uuid)
  })

  it('start over with force, together with running ones', async () => {
    await start(HLS, { running: false })
    const { uuid } = await create('small.mp4', 1, true)
    expect((await transcode(uuid, 'web-video')).status).toBe(409)
    expect((await transcode(uuid, 'web-video', true)).status).toBe(204)
    expect(await node.db.query('select state, outputs from transcoding order by id')).toEqual([
      { state: 'cancelled', outputs: null },
      { state: 'planned', outputs: 'both' },
    ])
    expect(await video()).toMatchObject({ state: 'to-transcode' })
    await node.runtime.runtime.start()
    await done(1)
    expect(await shapes()).toEqual(['web 240', 'web 144', 'hls 240', 'hls 144'])
    await expectFilesAsRowsSay(uuid)
    expect(emitted.filter(({ event }) => event === 'VideoPublished')).toHaveLength(1)
  })

  it('repair a video whose transcoding failed', async () => {
    await start(HLS, { running: false })
    const { uuid } = await create('small.mp4', 1, true)
    const [source] = await node.db.query<{ name: string }>('select kept_filename as name from video_source')
    const original = { kind: 'original_video_files', name: source?.name ?? '' } as const
    const bytes = await disk.store.read(`${original.kind}/${original.name}`)
    await node.store.put(original, Buffer.from('no video'))
    await node.runtime.runtime.start()
    await eventually(async () => expect(await video()).toMatchObject({ state: 'transcoding-failed' }))
    await node.store.put(original, bytes)
    expect((await transcode(uuid, 'hls')).status).toBe(204)
    await eventually(async () => expect(await video()).toMatchObject({ state: 'published' }))
    await eventually(async () =>
      expect(await node.db.query('select state from transcoding order by id')).toEqual([{ state: 'cancelled' }, { state: 'done' }]),
    )
    expect(await shapes()).toEqual(['hls 240', 'hls 144'])
    await expectFilesAsRowsSay(uuid)
  })

  it('that fail leave the video unchanged', async () => {
    const { uuid } = await createdWith(OFF)
    const [file] = await rows()
    await restart(HLS, { running: false })
    await node.store.put({ kind: 'web_videos', name: file?.filename ?? '' }, Buffer.from('no video'))
    expect((await transcode(uuid, 'hls')).status).toBe(204)
    await node.runtime.runtime.start()
    await eventually(async () => expect(await node.db.query('select state from transcoding')).toEqual([{ state: 'failed' }]))
    expect(await video()).toMatchObject({ state: 'published', context: { error: expect.any(String) } })
    expect(await shapes()).toEqual(['web 240'])
    await expectFilesAsRowsSay(uuid)
  })

  it('continue after a stop of their process, when their source file was removed', async () => {
    const { uuid } = await createdWith(OFF, 'copyable-1080p.mp4')
    const [source] = await rows()
    await restart(HLS)
    expect((await transcode(uuid, 'web-video')).status).toBe(204)
    await eventually(async () => expect((await rows()).map(({ filename }) => filename)).not.toContain(source?.filename))
    expect(await allFiles(disk)).toContain(`web_videos/${source?.filename}`)
    await restart(HLS)
    await done(1)
    expect(await shapes()).toEqual(['web 1080', 'web 240', 'web 144'])
    await expectFilesAsRowsSay(uuid)
  })

  it.each([
    { from: 3, to: 1 },
    { from: 1, to: 3 },
  ])('follow the video from privacy $from to $to, with their source file', async ({ from, to }) => {
    const { id, uuid } = await createdWith(HLS, 'copyable-1080p.mp4', from)
    const before = (await rows()).map(({ filename }) => filename)
    await restart(BOTH)
    expect((await transcode(uuid, 'hls')).status).toBe(204)
    await eventually(async () => expect((await rows()).map(({ filename }) => filename)).not.toEqual(before))
    await node.updateVideo.update(id, { accountId: disk.users.owner.accountId, role: 2 }, { privacy: to })
    await done(2)
    expect(await shapes()).toEqual(['hls 1080', 'hls 240', 'hls 144'])
    await expectFilesAsRowsSay(uuid, to === 3)
  })

  it('are refused while transcoding is disabled, and for a video without a source', async () => {
    const { id, uuid } = await createdWith(OFF)
    expect((await transcode(uuid, 'hls')).status).toBe(400)
    await restart(HLS)
    expect((await transcode(uuid, 'ogg')).status).toBe(400)
    expect((await transcode('424242', 'hls')).status).toBe(404)
    expect((await send('POST', `${uuid}/transcoding`, { transcodingType: 'hls' }, disk.users.owner.token)).status).toBe(403)
    await node.db.query('update video set is_live = true where id = $1', [id])
    expect((await transcode(uuid, 'hls')).status).toBe(400)
    await node.db.query('update video set is_live = false where id = $1', [id])
    await node.db.query('delete from video_file')
    expect((await transcode(uuid, 'hls')).status).toBe(400)
    expect(await rowCounts(node.db)).toMatchObject({ transcoding: 0 })
  })
})
