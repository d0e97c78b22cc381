// Replacing the file of a video: what remains, what is generated again, when old files are removed, and permissions.

import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { EventName } from '../../../src/actors/runtime/index.ts'
import type { NewVideoFields } from '../../../src/actors/video/index.ts'
import { type MediaName, media } from '../../support/media.ts'
import { eventually } from '../../support/until.ts'
import {
  allFiles,
  createVideoOf,
  type Disk,
  makeDisk,
  type NodeOptions,
  rowCounts,
  startNode,
  type UploadNode,
  untilDrawn,
} from './node.ts'

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
const ENABLED = { video_file: { update: { enabled: true } } }
const AS_IT_IS = { ...ENABLED, transcoding: { enabled: false } }
const HLS = { ...ENABLED, transcoding: { enabled: true, resolutions: LADDER } }

let disk: Disk
let node: UploadNode
let emitted: { event: EventName; videoId: number }[]
beforeAll(async () => {
  disk = await makeDisk()
})
afterAll(() => disk.remove())
afterEach(async () => {
  for (const table of ['job', 'outbox', 'upload', 'video', 'pending_file']) await node.db.query(`delete from ${table}`)
  await node.db.query('update users set video_quota = -1, video_quota_daily = -1')
  await node.stop()
  await disk.store.clear()
})

async function start(config: NodeOptions['config'], options: NodeOptions = {}): Promise<void> {
  node = await startNode(disk, { ...options, ...(config ? { config } : {}), running: false })
  emitted = []
  for (const event of ['VideoPublished', 'VideoUpdated', 'VideoRemoved'] as const) {
    node.runtime.runtime.registry.on(event, 'test', async ({ videoId }) => void emitted.push({ event, videoId }))
  }
  if (options.running !== false) await node.runtime.runtime.start()
}

const create = (fields: Partial<NewVideoFields> = {}) => createVideoOf(node, disk.users.owner, fields)

const owner = () => disk.users.owner.token
const at = (uuid: string) => `${node.base}/api/v1/videos/${uuid}/source`

async function open(uuid: string, filename: MediaName, token = owner(), size?: number) {
  const bytes = await readFile(await media(filename))
  const answer = await fetch(`${at(uuid)}/replace-resumable`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-upload-content-length': String(size ?? bytes.length),
      'x-upload-content-type': 'video/mp4',
    },
    body: JSON.stringify({ filename }),
  })
  return { status: answer.status, id: answer.headers.get('location')?.split('upload_id=')[1] ?? '', bytes }
}

async function put(uuid: string, { id, bytes }: { id: string; bytes: Buffer }, token = owner(), from = 0) {
  const answer = await fetch(`${at(uuid)}/replace-resumable?upload_id=${id}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/octet-stream',
      'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
    },
    body: new Uint8Array(bytes.subarray(from)),
  })
  return {
    status: answer.status,
    body: answer.status === 308 ? null : ((await answer.json()) as Record<string, unknown>),
  }
}

/** The whole replacement of a file. */
const replace = async (uuid: string, filename: MediaName = 'journey.mp4') => put(uuid, await open(uuid, filename))

interface Stored {
  state: string
  duration: number
  published_at: Date
  input_file_updated_at: Date | null
}
async function stored(id: number): Promise<Stored> {
  const [row] = await node.db.query<Stored>('select state, duration, published_at, input_file_updated_at from video where id = $1', [id])
  if (!row) throw new Error('The video is gone.')
  return row
}
const done = (id: number, count: number) =>
  eventually(async () => {
    const rows = await node.db.query("select 1 from transcoding where video_id = $1 and state = 'done'", [id])
    expect(rows).toHaveLength(count)
  })
const failed = (id: number) =>
  eventually(async () => {
    const rows = await node.db.query("select 1 from transcoding where video_id = $1 and state = 'failed'", [id])
    expect(rows).toHaveLength(1)
  })
const files = async (folder: string) => (await allFiles(disk)).filter((name) => name.startsWith(folder))

describe('a replaced file', () => {
  it('replaces the old one, and the video keeps its URL and its date', async () => {
    await start(AS_IT_IS)
    const { id, uuid } = await create()
    await untilDrawn(node.db)
    const before = await stored(id)
    const [old] = await files('web_videos')
    const pictures = [...(await files('thumbnails')), ...(await files('previews'))]
    const answer = await replace(uuid)
    expect(answer).toMatchObject({
      status: 200,
      body: { inputFilename: 'journey.mp4', width: 640, height: 360, resolution: { id: 360 }, fileUrl: null },
    })
    const after = await stored(id)
    expect(after).toMatchObject({ state: 'published', duration: 4, published_at: before.published_at })
    expect(after.input_file_updated_at).toBeInstanceOf(Date)
    await eventually(async () => {
      const now = await files('web_videos')
      expect(now).toHaveLength(1)
      expect(now).not.toContain(old)
      expect(await files('uploads')).toEqual([])
      for (const picture of pictures) expect(await allFiles(disk)).not.toContain(picture)
      expect(await rowCounts(node.db)).toMatchObject({
        video: 1,
        video_source: 1,
        video_file: 1,
        thumbnail: 2,
        pending_file: 0,
      })
    })
    await eventually(() =>
      expect(emitted).toEqual([
        { event: 'VideoPublished', videoId: id },
        { event: 'VideoUpdated', videoId: id },
      ]),
    )
  })

  it('needs approval where new videos do; other servers keep the old state', async () => {
    const waits = { auto_blacklist: { videos: { of_users: { enabled: true } } } }
    await start({ ...AS_IT_IS, ...waits })
    const { id, uuid } = await create()
    const blocks = () =>
      node.db.query(`select b.type, b.unfederated, v.blocked from video_block b join video v on v.id = b.video_id where v.id = $1`, [id])
    expect(await blocks()).toEqual([{ type: 2, unfederated: true, blocked: true }])
    await node.db.query('with gone as (delete from video_block) update video set blocked = false')
    expect((await replace(uuid)).status).toBe(200)
    expect(await blocks()).toEqual([{ type: 2, unfederated: false, blocked: true }])
    await eventually(async () => {
      const rows = await node.db.query<{ filename: string }>('select filename from video_file where video_id = $1', [id])
      expect(await files('web_videos')).toEqual(rows.map(({ filename }) => `web_videos/private/${filename}`))
    })
    expect(emitted.filter(({ event }) => event === 'VideoPublished')).toEqual([])
  })

  it('keeps uploaded pictures', async () => {
    await start(AS_IT_IS)
    const { uuid } = await create()
    await untilDrawn(node.db)
    await node.db.query('update thumbnail set automatically_generated = false where type = 1')
    const [chosen] = await files('thumbnails')
    await replace(uuid)
    await eventually(async () => {
      expect(await files('thumbnails')).toEqual([chosen])
      expect(await files('previews')).toHaveLength(1)
    })
  })

  it('is transcoded; the old files remain until the first new one exists, and are never mixed with it', async () => {
    await start(HLS)
    const { id, uuid } = await create({ waitTranscoding: true })
    await done(id, 1)
    const before = await stored(id)
    const old = await files('streaming_playlists')
    expect(old).toHaveLength(6)
    await eventually(() => expect(emitted).toContainEqual({ event: 'VideoPublished', videoId: id }))
    await node.stop()

    await start(HLS, { running: false })
    expect((await replace(uuid)).status).toBe(200)
    const { published_at, duration } = before
    expect(await stored(id)).toMatchObject({ state: 'published', published_at, duration })
    expect(await files('streaming_playlists')).toEqual(old)
    await node.stop()

    await start(HLS)
    await done(id, 2)
    const after = await stored(id)
    expect(after).toMatchObject({ state: 'published', duration: 4, published_at: before.published_at })
    await eventually(async () => {
      const now = await files('streaming_playlists')
      expect(now).toHaveLength(8)
      for (const name of old) expect(now).not.toContain(name)
      expect(await files('original_video_files')).toEqual([])
      expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0, video_file: 3 })
    })
    await eventually(() => expect(new Set(emitted.map(({ event }) => event))).toEqual(new Set(['VideoUpdated'])))
  })

  it('is in place with its playlist, whenever the process dies', async () => {
    await start(HLS)
    const { id, uuid } = await create()
    await done(id, 1)
    await node.stop()
    let masters = 0
    await start(HLS, {
      wrapStore: (store) => ({
        ...store,
        async put(ref, from) {
          if (ref.name.endsWith('-master.m3u8')) masters += 1
          if (masters > 1) throw new Error('died')
          return await store.put(ref, from)
        },
      }),
    })
    await replace(uuid)
    await eventually(() => expect(masters).toBeGreaterThan(1))
    const [playlist] = await node.db.query<{ name: string }>('select playlist_filename as name from streaming_playlist')
    expect(await files('streaming_playlists')).toContain(`streaming_playlists/hls/${uuid}/${playlist?.name}`)
    expect(await stored(id)).toMatchObject({ state: 'published', duration: 4 })
    await node.stop()

    await start(HLS)
    await done(id, 2)
    await eventually(async () => expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0, video_file: 3 }))
    expect(await files('streaming_playlists')).toHaveLength(8)
  })

  it('that fails to transcode leaves the old files in place', async () => {
    await start(HLS)
    const { id, uuid } = await create({ waitTranscoding: true })
    await done(id, 1)
    const [before, old] = [await stored(id), await files('streaming_playlists')]
    await node.stop()
    await start(HLS, { running: false })
    await replace(uuid)
    for (const name of await files('original_video_files')) await disk.store.write(name, 'no video')
    await node.runtime.runtime.start()
    await failed(id)
    expect(await stored(id)).toMatchObject({ state: 'published', duration: before.duration })
    expect(await files('streaming_playlists')).toEqual(old)

    expect((await replace(uuid)).status).toBe(200)
    await done(id, 2)
    expect(await stored(id)).toMatchObject({ state: 'published', duration: 4 })
  })

  it('repairs a video whose transcoding failed, which is new then', async () => {
    await start(HLS, { running: false })
    const { id, uuid } = await create({ waitTranscoding: true })
    for (const name of await files('original_video_files')) await disk.store.write(name, 'no video')
    await node.runtime.runtime.start()
    await failed(id)
    expect(await stored(id)).toMatchObject({ state: 'transcoding-failed' })
    expect((await open(uuid, 'journey.mp4', disk.users.other.token)).status).toBe(403)

    expect((await replace(uuid)).status).toBe(200)
    await done(id, 1)
    expect(await stored(id)).toMatchObject({ state: 'published', duration: 4 })
    await eventually(() => expect(emitted[0]).toEqual({ event: 'VideoPublished', videoId: id }))
    expect(emitted.filter(({ event }) => event === 'VideoPublished')).toHaveLength(1)
    await eventually(async () => {
      expect(await files('original_video_files')).toEqual([])
      expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0 })
    })
  })

  it('of a video that becomes private meanwhile sends a Delete', async () => {
    await start(HLS)
    const { id, uuid } = await create({ waitTranscoding: true })
    await done(id, 1)
    await eventually(async () => expect(await node.db.query('select 1 from outbox')).toEqual([]))
    await node.stop()
    await start(HLS, { running: false })
    await replace(uuid)
    const by = { accountId: disk.users.owner.accountId, role: 2 } as const
    await node.updateVideo.update(id, by, { name: 'Another name' })
    await node.updateVideo.update(id, by, { privacy: 3 })
    const events = await node.db.query<{ event: string }>('select event from outbox order by id')
    expect(events.map(({ event }) => event)).toEqual(['VideoUpdated', 'VideoRemoved'])
  })

  it('ends a running transcoding of the old one', async () => {
    await start(HLS, { running: false })
    const { id, uuid } = await create()
    await node.db.query("update video set state = 'published' where id = $1", [id])
    await replace(uuid)
    const rows = await node.db.query<{ state: string }>('select state from transcoding order by id')
    expect(rows).toEqual([{ state: 'cancelled' }, { state: 'planned' }])
    expect(await files('original_video_files')).toHaveLength(1)
  })

  it('that is unreadable leaves the video unchanged, and no bytes', async () => {
    await start(AS_IT_IS)
    const { id, uuid } = await create()
    await untilDrawn(node.db)
    const [before, filesBefore] = [await stored(id), await allFiles(disk)]
    expect((await replace(uuid, 'text.mp4')).status).toBe(422)
    expect(await stored(id)).toMatchObject({ duration: before.duration, input_file_updated_at: null })
    await eventually(async () => expect(await allFiles(disk)).toEqual(filesBefore))
  })

  it('that was complete when the process died is put in place by the next request', async () => {
    await start(AS_IT_IS, {
      wrapStore: (store) => ({
        ...store,
        put: (ref, from) => (ref.kind === 'web_videos' && isDying ? Promise.reject(new Error('died')) : store.put(ref, from)),
      }),
    })
    const { id, uuid } = await create()
    const upload = await open(uuid, 'journey.mp4')
    isDying = true
    expect((await put(uuid, upload)).status).toBe(500)
    isDying = false
    expect((await put(uuid, upload)).status).toBe(200)
    expect(await stored(id)).toMatchObject({ duration: 4 })
    expect(await files('web_videos')).toHaveLength(1)
  })
})
let isDying = false

describe('replacing a file is refused', () => {
  it('where it is disabled', async () => {
    await start({ transcoding: { enabled: false } })
    const { uuid } = await create()
    expect((await open(uuid, 'journey.mp4')).status).toBe(403)
  })

  it('for others, over the quota, with invalid files, and while the video is processed', async () => {
    await start(AS_IT_IS)
    const { id, uuid } = await create()
    expect((await open(uuid, 'journey.mp4', disk.users.other.token)).status).toBe(403)
    expect((await open(uuid, 'journey.mp4', 'nobody')).status).toBe(401)
    expect((await open('424242', 'journey.mp4')).status).toBe(404)
    await node.db.query('update users set video_quota = 40000 where id = $1', [disk.users.owner.id])
    expect((await open(uuid, 'journey.mp4', owner(), 30_000)).status).toBe(413)
    await node.db.query('update users set video_quota = -1')
    await node.db.query("update video set state = 'to-transcode' where id = $1", [id])
    expect((await open(uuid, 'journey.mp4')).status).toBe(409)
  })

  it('over the daily quota, which includes files replaced that day', async () => {
    await start(AS_IT_IS)
    const { uuid } = await create()
    const before = "now() - interval '25 hours'"
    await node.db.query(`update video set created_at = ${before}`)
    await node.db.query(`update video_source set created_at = ${before}`)
    await node.db.query('update users set video_quota_daily = 10000000 where id = $1', [disk.users.owner.id])
    expect((await put(uuid, await open(uuid, 'journey.mp4'))).status).toBe(200)
    const [file] = await node.db.query<{ size: number }>('select size from video_file where not outdated')
    const left = 10_000_000 - (file?.size ?? 0)
    expect((await open(uuid, 'journey.mp4', owner(), left)).status).toBe(201)
    expect((await open(uuid, 'small.mp4', owner(), left + 1)).status).toBe(413)
  })

  it('at the URL of another video, or of a new upload', async () => {
    await start(AS_IT_IS)
    const [one, two] = [await create(), await create({ name: 'Another' })]
    const upload = await open(one.uuid, 'journey.mp4')
    expect((await put(two.uuid, upload)).status).toBe(403)
    expect((await put(one.uuid, upload, disk.users.other.token)).status).toBe(403)
    const answer = await fetch(`${node.base}/api/v1/videos/upload-resumable?upload_id=${upload.id}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${owner()}`, 'content-type': 'application/octet-stream' },
    })
    expect(answer.status).toBe(403)
    expect((await put(one.uuid, upload)).status).toBe(200)
  })

  it('once the video is removed, and nothing of the file remains', async () => {
    await start(AS_IT_IS)
    const { id, uuid } = await create()
    const upload = await open(uuid, 'journey.mp4')
    await node.removeVideo.remove(id, { accountId: disk.users.owner.accountId, role: 2 })
    expect((await put(uuid, upload)).status).toBe(404)
  })
})

describe('the original file of a video', () => {
  it('is removed where it was kept, but not while it is in use', async () => {
    await start({ ...HLS, transcoding: { ...HLS.transcoding, original_file: { keep: true } } }, { running: false })
    const { id } = await create()
    await expect(node.replaceSource.removeRetained(id)).rejects.toMatchObject({ kind: 'conflict' })
    await node.runtime.runtime.start()
    await done(id, 1)
    expect(await files('original_video_files')).toHaveLength(1)
    await node.replaceSource.removeRetained(id)
    await node.replaceSource.removeRetained(id)
    await node.pendingFiles.collect()
    expect(await files('original_video_files')).toEqual([])
  })
})
