import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { machineName } from '../../../src/actors/runtime/lease.ts'
import type { NewVideoFields } from '../../../src/actors/video/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import type { Store } from '../../../src/media/index.ts'
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
const ON = { storyboards: { enabled: true }, video_file: { update: { enabled: true } } }
const AS_IT_IS = { ...ON, transcoding: { enabled: false } }
const HLS = { ...ON, transcoding: { enabled: true, resolutions: LADDER } }
const OFF = { ...AS_IT_IS, storyboards: { enabled: false } }

let disk: Disk
let node: UploadNode
let emitted: string[]
beforeAll(async () => {
  disk = await makeDisk()
})
afterAll(() => disk.remove())
afterEach(async () => {
  for (const table of ['job', 'outbox', 'upload', 'video', 'pending_file']) await node.db.query(`delete from ${table}`)
  await node.stop()
  await disk.store.clear()
})

async function start(config: Values = AS_IT_IS, options: NodeOptions = {}): Promise<void> {
  node = await startNode(disk, { ...options, config, running: false })
  emitted = []
  for (const event of ['VideoPublished', 'VideoUpdated'] as const) {
    node.runtime.runtime.registry.on(event, 'test', async () => void emitted.push(event))
  }
  if (options.running !== false) await node.runtime.runtime.start()
}

async function create(name: MediaName = 'small.mp4', fields: Partial<NewVideoFields> = {}) {
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

const by = () => ({ accountId: disk.users.owner.accountId, role: 2 }) as const

/** Replaces the video's file, and runs what the upload would run. */
async function replace(videoId: number, name: MediaName): Promise<void> {
  const path = await copyOfMedia(name)
  const draft = await node.replaceSource.inspect({ videoId, inputFilename: name, path })
  await node.pendingFiles.reserve('a test', [draft.place])
  await node.createVideo.place(draft, path)
  await node.runtime.runtime.tell({ aggregate: 'video', id: videoId }, (unit) =>
    node.replaceSource.replace(unit, { videoId, by: by(), draft }),
  )
}

interface Board {
  filename: string
  total_width: number
  total_height: number
  sprite_width: number
  sprite_height: number
  sprite_duration: number
}
const boards = () =>
  node.db.query<Board>(`select filename, total_width, total_height, sprite_width, sprite_height, sprite_duration from storyboard`)
const sizes = async () => (await boards()).map(({ filename: _filename, ...rest }) => rest)
const jobs = () =>
  node.db.query<{ state: string; error: string | null }>(
    "select state, error from job where type = 'generate-video-storyboard' order by id",
  )
const untilJobsEnd = (count: number) =>
  eventually(async () => expect(await jobs()).toEqual(Array(count).fill({ state: 'completed', error: null })))
const run = (videoId: number, signal = new AbortController().signal) => {
  const handler = node.runtime.runtime.registry.jobs.get('generate-video-storyboard')
  if (!handler) throw new Error('Nobody makes storyboards.')
  return handler.run({ id: 1, type: 'generate-video-storyboard', data: { videoId }, signal, progress: () => undefined })
}

/** Checks that the folders of storyboards and work contain exactly the files of rows, and that nothing is pending. */
async function expectFilesAsRowsSay(): Promise<void> {
  await eventually(async () => {
    await node.pendingFiles.collect()
    const names = (await boards()).map(({ filename }) => `storyboards/${filename}`)
    const files = (await allFiles(disk)).filter((name) => /^(storyboards|tmp)\//.test(name))
    expect(files).toEqual(names.sort())
    expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0 })
  })
}

const OF_SMALL = {
  total_width: 384,
  total_height: 144,
  sprite_width: 192,
  sprite_height: 144,
  sprite_duration: 1,
}
const OF_JOURNEY = {
  total_width: 768,
  total_height: 108,
  sprite_width: 192,
  sprite_height: 108,
  sprite_duration: 1,
}

describe('the storyboard of a video', () => {
  it('is made of the uploaded file, and sends an Update once it exists', async () => {
    await start()
    await create()
    await untilJobsEnd(1)
    expect(await sizes()).toEqual([OF_SMALL])
    const [board] = await boards()
    const { width, height, format } = await sharp(await disk.store.read(`storyboards/${board?.filename}`)).metadata()
    expect({ width, height, format }).toEqual({ width: 384, height: 144, format: 'jpeg' })
    await expectFilesAsRowsSay()
    await eventually(() => expect(emitted).toEqual(['VideoPublished', 'VideoUpdated']))
  })

  it('of an hour is made within its limits', async () => {
    await start()
    await create('hour.mp4')
    await untilJobsEnd(1)
    expect(await sizes()).toEqual([{ total_width: 2112, total_height: 1188, sprite_width: 192, sprite_height: 108, sprite_duration: 30 }])
  })

  it('is made after the transcoding, when the original may be gone', async () => {
    await start(HLS)
    await create('small.mp4', { waitTranscoding: true })
    await untilJobsEnd(1)
    expect(await sizes()).toEqual([OF_SMALL])
    expect((await allFiles(disk)).filter((name) => name.startsWith('original_video_files'))).toEqual([])
    await expectFilesAsRowsSay()
    await eventually(() => expect(emitted).toEqual(['VideoPublished', 'VideoUpdated']))
  })

  it.each([3, 4, 5])('of a video with privacy %d is made of its private file, and sent to nobody', async (privacy) => {
    await start()
    await create('small.mp4', { privacy, passwords: privacy === 5 ? ['a password'] : [] })
    await untilJobsEnd(1)
    expect(await sizes()).toEqual([OF_SMALL])
    await expectFilesAsRowsSay()
    const waiting = await node.db.query('select 1 from outbox')
    expect([waiting, emitted]).toEqual([[], []])
  })

  it.each([AS_IT_IS, HLS])('is made again when the file is replaced', async (config) => {
    await start(config)
    const { id } = await create()
    await untilJobsEnd(1)
    const [before] = await boards()
    await replace(id, 'journey.mp4')
    await untilJobsEnd(2)
    expect(await sizes()).toEqual([OF_JOURNEY])
    expect((await boards())[0]?.filename).not.toBe(before?.filename)
    await expectFilesAsRowsSay()
  })

  it('is removed with the video', async () => {
    await start()
    const { id } = await create()
    await untilJobsEnd(1)
    await node.removeVideo.remove(id, by())
    await eventually(async () => expect(await rowCounts(node.db)).toMatchObject({ video: 0 }))
    expect(await boards()).toEqual([])
    await expectFilesAsRowsSay()
  })

  it('of audio only shows the still picture', async () => {
    await start(HLS)
    await create('sound.mp3')
    await untilJobsEnd(1)
    expect(await sizes()).toEqual([{ ...OF_JOURNEY, total_width: 576 }])
    await expectFilesAsRowsSay()
  })

  it('is neither requested nor made where storyboards are disabled', async () => {
    await start(OFF)
    const { id } = await create()
    expect(await jobs()).toEqual([])
    await run(id)
    expect(await boards()).toEqual([])
  })
})

describe('the storyboard job', () => {
  it('does nothing the second time, and two at once store one', async () => {
    await start(AS_IT_IS, { running: false })
    const { id } = await create()
    await Promise.all([run(id), run(id)])
    const [board] = await boards()
    expect(await sizes()).toEqual([OF_SMALL])
    await run(id)
    expect(await boards()).toEqual([board])
    await expectFilesAsRowsSay()
    const updates = await node.db.query("select 1 from outbox where event = 'VideoUpdated'")
    expect(updates).toHaveLength(1)
  })

  it('does nothing for a removed or remote video', async () => {
    await start(AS_IT_IS, { running: false })
    const { id } = await create()
    await run(id + 1000)
    await node.db.query('update video set remote = true where id = $1', [id])
    await run(id)
    await node.db.query("update video set remote = false, state = 'removed' where id = $1", [id])
    await run(id)
    expect(await boards()).toEqual([])
  })

  /** A node whose store does something else the first time a storyboard is written. */
  async function startDisturbed(disturb: () => Promise<void>, config: Values = AS_IT_IS): Promise<void> {
    let isFirst = true
    const wrapStore = (store: Store): Store => ({
      ...store,
      async put(ref, from) {
        const stored = await store.put(ref, from)
        if (ref.kind !== 'storyboards' || !isFirst) return stored
        isFirst = false
        await disturb()
        return stored
      },
    })
    await start(config, { running: false, wrapStore })
  }

  it('starts over when the file is replaced while it runs', async () => {
    let id = 0
    await startDisturbed(() => replace(id, 'journey.mp4'))
    id = (await create()).id
    await run(id)
    expect(await sizes()).toEqual([OF_JOURNEY])
    await expectFilesAsRowsSay()
  })

  it('stores nothing of a file that is replaced by one that is not transcoded yet', async () => {
    let id = 0
    await startDisturbed(() => replace(id, 'journey.mp4'))
    id = (await create('small.mp4', { waitTranscoding: true })).id
    await node.stop()
    await startDisturbed(() => replace(id, 'journey.mp4'), HLS)
    await run(id)
    expect(await boards()).toEqual([])
    expect((await allFiles(disk)).filter((name) => name.startsWith('storyboards'))).toEqual([])
  })

  it('leaves nothing when the video goes while it works', async () => {
    let id = 0
    await startDisturbed(() => node.removeVideo.remove(id, by()))
    id = (await create()).id
    await run(id)
    expect(await boards()).toEqual([])
    expect((await allFiles(disk)).filter((name) => /^(storyboards|tmp)\//.test(name))).toEqual([])
  })

  it('finds the file that goes into another folder with the privacy', async () => {
    await start(AS_IT_IS, { running: false })
    const { id } = await create()
    // The row says so already, the file is moved later.
    await node.db.query('update video set privacy = 3 where id = $1', [id])
    await run(id)
    expect(await sizes()).toEqual([OF_SMALL])
  })

  it('fails with what ffmpeg says, and leaves nothing', async () => {
    await start(AS_IT_IS, { running: false })
    await create()
    const [file] = (await allFiles(disk)).filter((name) => name.startsWith('web_videos'))
    await disk.store.remove(file ?? '')
    await node.store.put({ kind: 'web_videos', name: file?.split('/')[1] ?? '' }, Buffer.from('no video'))
    await node.runtime.runtime.start()
    await eventually(async () => expect(await jobs()).toMatchObject([{ state: 'failed' }]))
    expect(await boards()).toEqual([])
    await expectFilesAsRowsSay()
  })

  it('that is killed before its row was stored leaves files which are collected, and makes the storyboard again', async () => {
    let kill = (): void => undefined
    const killed = new Promise<void>((resolve) => {
      kill = resolve
    })
    await startDisturbed(() => new Promise(() => kill()))
    const { id } = await create()
    void run(id)
    await killed
    const left = (await allFiles(disk)).filter((name) => name.startsWith('storyboards'))
    expect(left).toHaveLength(1)
    // The process that wrote it is dead, as its name says.
    await node.db.query("update pending_file set owner = $1 where kind = 'storyboards'", [`${machineName()}|0:0|dead`])
    await node.stop()
    await start(AS_IT_IS)
    await untilJobsEnd(1)
    expect(await sizes()).toEqual([OF_SMALL])
    await expectFilesAsRowsSay()
    expect(await allFiles(disk)).not.toContain(left[0])
  })
})
