// Work after the response to an upload: pictures, drawn by a job or for the first request, and a torrent.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import bencode from 'bencode'
import sharp from 'sharp'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { faultyFfmpeg } from '../../support/faulty-ffmpeg.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { run } from '../../support/postgres.ts'
import { eventually, until } from '../../support/until.ts'
import { allFiles, createVideoOf, type Disk, makeDisk, type NodeOptions, rowCounts, startNode, type UploadNode } from './node.ts'

interface ShownVideo {
  id: number
  uuid: string
  thumbnailPath: string
  previewPath: string
  files: { fileUrl: string; torrentUrl: string | null; magnetUri: string | null }[]
}

describe('when an upload is answered', () => {
  let node: TestNode
  let root: Client
  let channelId: number
  beforeAll(async () => {
    node = await startTestNode({ config: { transcoding: { enabled: false }, tracker: { enabled: true } } })
    root = await login(node.base, node.username, node.password)
    const me = await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
    channelId = me.videoChannels[0]?.id ?? 0
  })
  afterAll(() => node?.stop())

  async function upload(): Promise<ShownVideo> {
    const form = new FormData()
    for (const [field, value] of Object.entries({ channelId, name: 'A video', privacy: 1 })) form.set(field, `${value}`)
    form.set('videofile', new File([new Uint8Array(await readFile(await media('small.mp4')))], 'small.mp4'))
    const { video } = await root.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', form)
    return await root.get(`/api/v1/videos/${video.uuid}`)
  }

  async function picture(path: string) {
    const answer = await fetch(`${node.base}${path}`)
    const { width, height } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata()
    return { status: answer.status, type: answer.headers.get('content-type'), width, height }
  }
  const PICTURE = { status: 200, type: 'image/jpeg' }

  it('its pictures are available', async () => {
    const { thumbnailPath, previewPath } = await upload()
    expect(await Promise.all([thumbnailPath, thumbnailPath, previewPath].map(picture))).toEqual([
      { ...PICTURE, width: 280, height: 157 },
      { ...PICTURE, width: 280, height: 157 },
      { ...PICTURE, width: 850, height: 480 },
    ])
  })

  it('other servers get the names and sizes of its pictures, and no torrent yet', async () => {
    await root.send('POST', '/api/v1/jobs/pause')
    try {
      const { uuid, thumbnailPath, previewPath, files } = await upload()
      const document = await root.get<{
        icon: object[]
        url: { mediaType?: string; tag?: { mediaType?: string }[] }[]
      }>(`/videos/watch/${uuid}`, { accept: 'application/activity+json' })
      expect(document.icon).toEqual([
        expect.objectContaining({ url: `${node.base}${thumbnailPath}`, width: 280, height: 157 }),
        expect.objectContaining({ url: `${node.base}${previewPath}`, width: 850, height: 480 }),
      ])
      expect(JSON.stringify(document.url)).not.toContain('bittorrent')
      expect(files).toMatchObject([{ torrentUrl: null, magnetUri: null }])
      // The request draws it, since no job runs.
      expect(await picture(thumbnailPath)).toEqual({ ...PICTURE, width: 280, height: 157 })
    } finally {
      await root.send('POST', '/api/v1/jobs/resume')
    }
  })

  it('its torrent follows, with an Update', async () => {
    const { uuid } = await upload()
    const file = await until(
      async () => {
        const [shown] = (await root.get<ShownVideo>(`/api/v1/videos/${uuid}`)).files
        return shown?.torrentUrl ? shown : undefined
      },
      { what: 'the torrent' },
    )
    const { info } = bencode.decode(new Uint8Array(await (await fetch(file.torrentUrl ?? '')).arrayBuffer()))
    expect(file.magnetUri).toContain(`xt=urn:btih:${createHash('sha1').update(bencode.encode(info)).digest('hex')}&`)
    const size = (await readFile(await media('small.mp4'))).length
    expect({ ...info, pieces: info.pieces.length }).toMatchObject({
      length: size,
      pieces: 20 * Math.ceil(size / info['piece length']),
    })
    const document = await root.get<object>(`/videos/watch/${uuid}`, { accept: 'application/activity+json' })
    expect(JSON.stringify(document)).toContain(JSON.stringify(file.torrentUrl))
  })
})

describe('the drawing job', () => {
  let disk: Disk
  let node: UploadNode | undefined
  beforeAll(async () => {
    disk = await makeDisk()
  })
  afterEach(async () => {
    if (!node) return
    for (const table of ['job', 'video', 'pending_file']) await node.db.query(`delete from ${table}`)
    await node.stop()
    node = undefined
    await disk.store.clear()
  })
  afterAll(() => disk.remove())

  async function start(options: NodeOptions = {}): Promise<UploadNode> {
    node = await startNode(disk, options)
    return node
  }

  const create = (from: UploadNode) => createVideoOf(from, disk.users.owner)

  const pictures = async (): Promise<string[]> => (await allFiles(disk)).filter((name) => /^(thumbnails|previews)\//.test(name))
  const rows = ({ db }: UploadNode) =>
    db.query<{ type: number; filename: string; onDisk: boolean }>(
      'select type, filename, on_disk as "onDisk" from thumbnail order by type desc',
    )
  const namesOf = (all: Awaited<ReturnType<typeof rows>>): string[] =>
    all.map(({ type, filename }) => `${type === 1 ? 'thumbnails' : 'previews'}/${filename}`)

  const untilDrawn = (from: UploadNode, names: string[]) =>
    eventually(async () => {
      const drawn = await rows(from)
      expect(drawn.map(({ onDisk }) => onDisk)).toEqual([true, true])
      expect(namesOf(drawn)).toEqual(names)
      expect(await pictures()).toEqual(names)
      expect(await rowCounts(from.db)).toMatchObject({ pending_file: 0 })
    })

  it('uses the names that were returned', async () => {
    const first = await start({ running: false })
    await create(first)
    const awaited = await rows(first)
    expect(awaited.map(({ onDisk }) => onDisk)).toEqual([false, false])
    expect(await pictures()).toEqual([])
    await first.runtime.runtime.start()
    await untilDrawn(first, namesOf(awaited))
  })

  it('is created again when it was lost', async () => {
    const first = await start({ running: false })
    await create(first)
    await first.db.query('delete from job')
    const names = namesOf(await rows(first))
    const look = first.runtime.runtime.registry.periodics.get('video-pictures')
    await look?.run()
    await look?.run()
    expect(await first.db.query("select 1 from job where type = 'video-pictures'")).toHaveLength(1)
    await first.runtime.runtime.start()
    await untilDrawn(first, names)
  })

  it('draws once for two requests, and nothing of a video that is removed meanwhile', async () => {
    const first = await start({ running: false })
    const { id } = await create(first)
    const { run: draw } = first.runtime.runtime.registry.jobs.get('video-pictures') ?? {}
    const context = { id: 1, type: 'video-pictures', data: { videoId: id }, signal: new AbortController().signal }
    const ask = () => draw?.({ ...context, progress: () => undefined })
    const names = namesOf(await rows(first))
    await Promise.all([ask(), ask()])
    await untilDrawn(first, names)
    const next = await create(first)
    const late = draw?.({ ...context, data: { videoId: next.id }, progress: () => undefined })
    await first.removeVideo.remove(next.id, { accountId: disk.users.owner.accountId, role: 2 })
    await late
    await first.runtime.runtime.start()
    await untilDrawn(first, names)
  })

  it('leaves no file of a video that was removed, with its files, before the picture was stored', async () => {
    let before: (() => Promise<unknown>) | undefined
    const wrapStore: NodeOptions['wrapStore'] = (store) => ({
      ...store,
      async put(ref, bytes) {
        const meanwhile = before
        before = undefined
        await meanwhile?.()
        return await store.put(ref, bytes)
      },
    })
    const first = await start({ running: false, wrapStore })
    const { id } = await create(first)
    const work = (type: string) =>
      first.runtime.runtime.registry.jobs
        .get(type)
        ?.run({ id: 1, type, data: { videoId: id }, signal: new AbortController().signal, progress: () => undefined })
    before = async () => {
      await first.removeVideo.remove(id, { accountId: disk.users.owner.accountId, role: 2 })
      await first.db.query('delete from outbox')
      await work('video-removal')
    }
    await work('video-pictures')
    expect(before).toBeUndefined()
    expect(await pictures()).toEqual([])
    expect(await rowCounts(first.db)).toMatchObject({ pending_file: 0 })
  })

  it('keeps a picture that a user uploaded before it was drawn', async () => {
    const first = await start({ running: false })
    const { id } = await create(first)
    const [preview] = namesOf(await rows(first))
    const thumbnail = await first.createVideo.fitPicture('thumbnail', await media('picture.png'))
    const by = { accountId: disk.users.owner.accountId, role: 2 } as const
    await first.updateVideo.update(id, by, {}, { thumbnail })
    const [, given] = await rows(first)
    expect(given?.onDisk).toBe(true)
    await first.runtime.runtime.start()
    await untilDrawn(first, [preview ?? '', `thumbnails/${given?.filename}`])
    expect(await disk.store.read(`thumbnails/${given?.filename}`)).toEqual(thumbnail.bytes)
  })

  it.each(['crash', 'hang'] as const)('makes plain pictures when ffmpeg fails (%s)', async (fault) => {
    const faulty = await faultyFfmpeg({ when: '-f image2' })
    await faulty.become(fault)
    const config = { transcoding: { enabled: false }, vireo: { media: { stall_timeout: '500 milliseconds' } } }
    const first = await start({ ffmpeg: faulty.ffmpeg, config })
    await create(first)
    const names = namesOf(await rows(first))
    await untilDrawn(first, names)
    for (const name of names) {
      const { channels } = await sharp(await disk.store.read(name)).stats()
      expect(Math.max(...channels.map(({ stdev }) => stdev))).toBe(0)
    }
  })

  it('waits for disk space', async () => {
    const faulty = await faultyFfmpeg({ when: '-f image2' })
    await faulty.become('full')
    const first = await start({ ffmpeg: faulty.ffmpeg })
    await create(first)
    const names = namesOf(await rows(first))
    const job = () => first.db.query("select state, failures from job where type = 'video-pictures'")
    await eventually(async () => expect(await job()).toEqual([{ state: 'delayed', failures: 0 }]))
    expect(await pictures()).toEqual([])
    await faulty.become('none')
    await run(disk.database.url, "update job set due_at = now() - interval '1 second' where state = 'delayed'")
    await untilDrawn(first, names)
  })

  it('adds the picture to audio with a still, whichever job runs first', async () => {
    const resolutions = { '0p': false, '144p': true, '240p': false, '360p': false, '480p': false, '720p': false }
    const config = { transcoding: { enabled: true, allow_audio_files: true, resolutions } }
    const first = await start({ config, running: false })
    await createVideoOf(first, disk.users.owner, { file: 'sound.mp3', waitTranscoding: true })
    const names = namesOf(await rows(first))
    await first.db.query("delete from job where type = 'video-pictures'")
    await first.runtime.runtime.start()
    await untilDrawn(first, names)
    await eventually(async () => expect(await first.db.query('select state from transcoding')).toEqual([{ state: 'done' }]))
  })
})
