// Moves between the file system and object storage, killed at every store call for each kind of file, with concurrent operations. Each
// video is always readable where its rows say, ends in the target, and nothing is left behind.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { ActorDeps } from '../../../src/actors/runtime/index.ts'
import { makeStorageMoves, type StorageMoves } from '../../../src/actors/storage-move/index.ts'
import { makePendingFiles, makePlaceFiles, makeRemoveVideo } from '../../../src/actors/video/index.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import {
  type FileKind,
  type FileRef,
  fileKinds,
  hlsFile,
  makeFileStore,
  makePlacedStore,
  type ObjectStore,
  type Place,
  type Store,
  webVideoFile,
} from '../../../src/media/index.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { type MadeVideo, makeUser, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
import { testConfig } from '../../support/config.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'

const JOBS = { 'object-storage': 'move-to-object-storage', 'file-system': 'move-to-file-system' } as const
const PLACES: Place[] = ['file-system', 'object-storage']
const otherOf = (place: Place): Place => (place === 'file-system' ? 'object-storage' : 'file-system')

interface Server {
  store: Store
  moves: StorageMoves
  /** Runs a job like its worker. */
  run(type: string, data: Record<string, string | number>): Promise<void>
  failed(type: string, data: Record<string, string | number>): Promise<void>
}

let database: TestRuntime
let root: string
let channelId: number
let owner: { accountId: number; role: 2 }
/** Called before and after each call of either store. */
let onCall: (when: 'before' | 'after', ref: FileRef) => void | Promise<void> = () => undefined
const runtimes: TestRuntime[] = []

beforeAll(async () => {
  database = await makeTestRuntime()
  root = await mkdtemp(join(tmpdir(), 'vireo-moves-'))
  const user = await makeUser(database.db, { username: 'mover' })
  channelId = user.channelId
  owner = { accountId: user.accountId, role: 2 }
})
afterAll(async () => {
  for (const runtime of runtimes) await runtime.stop()
  await database.stop()
  await rm(root, { recursive: true, force: true })
})
afterEach(async () => {
  onCall = () => undefined
  for (const table of ['spare_copy', 'storage_move', 'outbox', 'job', 'video']) await database.db.query(`delete from ${table}`)
})

function fileStore(name: string) {
  const directories = Object.fromEntries(fileKinds.map((kind) => [kind, join(root, name, kind)]))
  const store = makeFileStore({ directories: directories as Record<FileKind, string>, tmp: join(root, 'tmp') })
  const watched =
    <A extends [FileRef, ...unknown[]], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await onCall('before', args[0])
      const result = await work(...args)
      try {
        await onCall('after', args[0])
      } catch (error) {
        if (typeof result === 'object' && result !== null && 'stream' in result) (result.stream as Readable).destroy()
        throw error
      }
      return result
    }
  const { put, open, stat, remove } = store
  const all = { put: watched(put), open: watched(open), stat: watched(stat), remove: watched(remove) }
  return { ...store, ...all, only: (place: Place) => (place === 'file-system' ? { ...store, ...all } : undefined) }
}

/** A process of the server with `preferred` as its store for new files. A second file system stands for the buckets. */
async function serve(
  preferred: Place,
): Promise<Server & { remove(videoId: number): Promise<void>; place(videoId: number): Promise<void>; collect(): Promise<number> }> {
  const runtime = await makeTestRuntime({ url: database.url })
  runtimes.push(runtime)
  const buckets = fileStore('object-storage')
  const objects: ObjectStore = {
    ...buckets,
    placeOf: async (ref) => ((await buckets.stat(ref)) ? 'object-storage' : undefined),
    has: (kind) => kind !== 'uploads' && kind !== 'tmp',
    complaints: async () => [],
    close: async () => undefined,
    sweep: async () => 0,
  }
  const store = makePlacedStore({ files: fileStore('file-system'), objects, preferred })
  const { registry, tell } = runtime.runtime
  const config = testConfig()
  const deps: ActorDeps = {
    db: runtime.db,
    registry,
    tell,
    clock: systemClock,
    logger: silentLogger,
    config: () => config,
    secrets: makeSecrets({ secret: 'a secret for tests' }),
    urls: makeUrls(TEST_ORIGIN),
  }
  const leases = { owner: 'somebody', isGone: () => false }
  const pendingFiles = makePendingFiles({ ...deps, store, leases })
  const { remove } = makeRemoveVideo({ ...deps, store, pendingFiles, leases })
  const { now } = makePlaceFiles({ ...deps, store, leases })
  const handlerOf = (type: string) => {
    const handler = registry.jobs.get(type)
    if (!handler) throw new Error(`Nothing handles ${type}.`)
    return handler
  }
  return {
    store,
    moves: makeStorageMoves({ ...deps, store, preferred }),
    run: (type, data) => handlerOf(type).run({ id: 1, type, data, signal: new AbortController().signal, progress: () => undefined }),
    failed: async (type, data) => await handlerOf(type).failed?.({ id: 1, data }, 'the reason'),
    remove: (videoId) => remove(videoId, owner),
    place: now,
    collect: pendingFiles.collect,
  }
}

const original = (video: MadeVideo): FileRef => ({ kind: 'original_video_files', name: `${video.uuid}.mp4` })

function filesOf(video: MadeVideo, isPrivate = false): FileRef[] {
  const { hls, webVideo, uuid } = video
  const names = [hls?.fragmented, hls?.playlist, hls?.master, hls?.sha256].filter((name) => name !== undefined)
  return [webVideoFile(webVideo?.filename ?? '', isPrivate), ...names.map((name) => hlsFile(uuid, name, isPrivate)), original(video)]
}

/** A published video with all its files in that store. */
async function made({ store }: Server, place: Place): Promise<MadeVideo> {
  const video = await makeVideo(database.db, { channelId, webVideo: { resolution: 240 }, hls: { resolution: 240 } })
  const storage = place === 'object-storage' ? 1 : 0
  await database.db.query('update video_file set storage = $2 where video_id = $1', [video.id, storage])
  await database.db.query('update streaming_playlist set storage = $2 where video_id = $1', [video.id, storage])
  await database.db.query(
    "insert into video_source (video_id, input_filename, kept_filename, size, created_at) values ($1, 'a.mp4', $2, 1, now())",
    [video.id, original(video).name],
  )
  for (const ref of filesOf(video)) await store.only(place, ref.kind)?.put(ref, Buffer.from(`content of ${ref.name}`))
  return video
}

async function placesOf({ store }: Server, ref: FileRef): Promise<Place[]> {
  const found: Place[] = []
  for (const place of PLACES) if (await store.only(place, ref.kind)?.stat(ref)) found.push(place)
  return found
}

async function rowsOf(video: MadeVideo) {
  const [row] = await database.db.query<{ state: string; storages: number[]; spares: number; moves: number }>(
    `select v.state, array(select storage from video_file where video_id = $1
         union select storage from streaming_playlist where video_id = $1)::int[] as storages,
       (select count(*)::int from spare_copy) as spares, (select count(*)::int from storage_move) as moves
     from video v where v.id = $1`,
    [video.id],
  )
  return row
}

/** Checks that every file is readable, and where the rows say. */
async function expectReadable(server: Server, video: MadeVideo): Promise<void> {
  const [storage] = (await rowsOf(video))?.storages ?? []
  for (const ref of filesOf(video)) {
    expect(await text((await server.store.open(ref)).stream)).toBe(`content of ${ref.name}`)
    expect(await placesOf(server, ref)).toContain(storage === 1 ? 'object-storage' : 'file-system')
  }
}

async function expectMoved(server: Server, video: MadeVideo, target: Place, isPrivate = false): Promise<void> {
  for (const ref of filesOf(video, isPrivate)) expect([ref.name, await placesOf(server, ref)]).toEqual([ref.name, [target]])
  const storages = [target === 'object-storage' ? 1 : 0]
  expect(await rowsOf(video)).toEqual({ state: 'published', storages, spares: 0, moves: 0 })
}

const quietly = (work: Promise<unknown>) => work.catch(() => undefined)

describe.each(PLACES)('a move to the %s', (target) => {
  const source = otherOf(target)
  let server: Awaited<ReturnType<typeof serve>>
  beforeAll(async () => {
    server = await serve(target)
  })
  const ask = async (video: MadeVideo) => (await server.moves.moveStorage({ to: target, videoIds: [video.id] })).videos
  const move = (video: MadeVideo) => server.run(JOBS[target], { videoId: video.id })

  it('moves all files, and sends an Update to other servers', async () => {
    const video = await made(server, source)
    expect(await ask(video)).toBe(1)
    await database.db.query('delete from outbox')
    await move(video)
    await expectMoved(server, video, target)
    await expectReadable(server, video)
    expect(await database.db.query('select event from outbox')).toEqual([{ event: 'VideoUpdated' }])
    await move(video)
    await expectMoved(server, video, target)
  })

  // Before a call equals after the previous one: testing each in one direction takes half as long.
  const moment = target === 'object-storage' ? 'after' : 'before'
  // One file of an HLS playlist stands for its four.
  const isMoment = (when: string, { name }: FileRef) => when === moment && !/\.(?:m3u8|json)$/.test(name)
  it(`is resumed when it was killed ${moment} any call of the store`, async () => {
    for (let fatal = 1, isOver = false; !isOver; fatal += 1) {
      const video = await made(server, source)
      await ask(video)
      let calls = 0
      onCall = (when, ref) => {
        if (isMoment(when, ref) && ++calls === fatal) throw new Error('killed')
      }
      await quietly(move(video))
      onCall = () => undefined
      isOver = calls < fatal
      await expectReadable(server, video)
      await move(video)
      await expectMoved(server, video, target)
    }
  })

  /** The privacies in turn, two store calls apart, and after how many more calls its files are moved. */
  it.each([
    { changes: 'is made private, and whose files follow later', privacies: [3], placedAfter: 1 },
    { changes: 'is made private and open again', privacies: [3, 1], placedAfter: 0 },
  ])('loses nothing of a video that $changes at any moment', async ({ privacies, placedAfter }) => {
    for (let first = 1, isOver = false; !isOver; first += 1) {
      const video = await made(server, source)
      await ask(video)
      let calls = 0
      let isPlacing = false
      onCall = async (when, ref) => {
        if (isPlacing || !isMoment(when, ref)) return
        calls += 1
        const privacy = privacies[(calls - first) / 2]
        if (privacy !== undefined) await database.db.query('update video set privacy = $2 where id = $1', [video.id, privacy])
        if (privacies[(calls - first - placedAfter) / 2] === undefined) return
        isPlacing = true
        await server.place(video.id)
        isPlacing = false
      }
      await quietly(move(video))
      isOver = calls < first
      onCall = () => undefined
      const isPrivate = !isOver && privacies.at(-1) === 3
      await database.db.query('update video set privacy = $2 where id = $1', [video.id, isPrivate ? 3 : 1])
      await server.place(video.id)
      await move(video)
      await expectMoved(server, video, target, isPrivate)
      for (const [index, ref] of filesOf(video, isPrivate).entries())
        expect(await text((await server.store.open(ref)).stream)).toBe(`content of ${filesOf(video)[index]?.name}`)
    }
  })

  it('ends with a video that was removed meanwhile, and leaves nothing of it', async () => {
    for (const fatal of [1, 8, 15, 22, 30]) {
      const video = await made(server, source)
      await ask(video)
      let calls = 0
      const removal = () => server.run('video-removal', { videoId: video.id })
      onCall = async () => {
        if (++calls !== fatal) return
        await server.remove(video.id)
        await database.db.query('delete from outbox')
        await quietly(removal())
      }
      await quietly(move(video))
      onCall = () => undefined
      await move(video)
      await removal()
      for (const ref of filesOf(video)) expect(await placesOf(server, ref)).toEqual([])
      expect(await database.db.query('select 1 from spare_copy union select 1 from storage_move')).toEqual([])
    }
  })

  it('leaves nothing of a file that was removed meanwhile', async () => {
    const video = await made(server, source)
    await ask(video)
    let calls = 0
    const ref = webVideoFile(video.webVideo?.filename ?? '', false)
    onCall = async () => {
      if (++calls !== 6) return
      await database.db.query('delete from video_file where video_id = $1 and streaming_playlist_id is null', [video.id])
      await server.store.remove(ref)
    }
    await quietly(move(video))
    onCall = () => undefined
    await move(video)
    expect(await placesOf(server, ref)).toEqual([])
    expect(await rowsOf(video)).toMatchObject({ state: 'published', spares: 0, moves: 0 })
  })

  it('waits for a transcoding, and locks the files while it ends', async () => {
    const video = await made(server, source)
    await ask(video)
    const open = "insert into transcoding (video_id, state, created_at, updated_at) values ($1, 'running', now(), now())"
    await database.db.query(open, [video.id])
    await expect(move(video)).rejects.toMatchObject({ kind: 'busy' })
    expect(await rowsOf(video)).toMatchObject({ state: 'published', spares: 0 })
    await database.db.query('delete from transcoding where video_id = $1', [video.id])
    const seen = new Set<string | undefined>()
    onCall = async () => void seen.add((await rowsOf(video))?.state)
    await move(video)
    expect([...seen]).toEqual(
      ['published', target === 'object-storage' ? 'to-move-to-external-storage' : 'to-move-to-file-system', 'published'].slice(0, 2),
    )
    await expectMoved(server, video, target)
  })

  it('is cancelled without a trace, and can be requested again or reverted', async () => {
    const video = await made(server, source)
    await ask(video)
    let calls = 0
    onCall = async (when) => {
      if (when === 'after' && ++calls > 4 && (await rowsOf(video))?.state !== 'published') throw new Error('broken')
    }
    await quietly(move(video))
    onCall = () => undefined
    await server.failed(JOBS[target], { videoId: video.id })
    const moving = target === 'object-storage' ? 'to-move-to-external-storage' : 'to-move-to-file-system'
    expect(await rowsOf(video)).toMatchObject({ state: `${moving}-failed`, spares: 0, moves: 0 })
    for (const ref of filesOf(video)) expect(await placesOf(server, ref)).toEqual([source])
    const back = await serve(source)
    expect(await back.moves.moveStorage({ to: source, videoIds: [video.id] })).toEqual({ videos: 1, left: [] })
    await back.run(JOBS[source], { videoId: video.id })
    await expectMoved(back, video, source)
    expect(await ask(video)).toBe(1)
    await move(video)
    await expectMoved(server, video, target)
  })

  it('is refused when new files go elsewhere, and skips files that are already there', async () => {
    await expect(server.moves.moveStorage({ to: source })).rejects.toMatchObject({ kind: 'invalid' })
    const video = await made(server, source)
    await ask(video)
    const elsewhere = await serve(source)
    await expect(elsewhere.run(JOBS[target], { videoId: video.id })).rejects.toMatchObject({ kind: 'busy' })
    await move(video)
    await database.db.query('delete from video_source')
    expect(await ask(video)).toBe(0)
  })

  it('does not block the removal of a video, or run forever, when its target is no longer configured', async () => {
    const elsewhere = await serve(source)
    const removed = await made(server, source)
    await ask(removed)
    await server.remove(removed.id)
    await elsewhere.run(JOBS[target], { videoId: removed.id })
    await database.db.query('delete from outbox')
    await elsewhere.run('video-removal', { videoId: removed.id })
    expect(await rowsOf(removed)).toBeUndefined()
    const video = await made(server, source)
    await ask(video)
    // It waited long, and only now notices that its target is not configured.
    await database.db.query("update storage_move set created_at = now() - interval '2 hours'")
    await expect(elsewhere.run(JOBS[target], { videoId: video.id })).rejects.toMatchObject({ kind: 'busy' })
    // Another process may still see it in between.
    await database.db.query("update storage_move set unwanted_since = now() - interval '2 hours'")
    await database.db.query("update video set state = 'to-transcode' where id = $1", [video.id])
    await expect(move(video)).rejects.toMatchObject({ kind: 'busy' })
    await expect(elsewhere.run(JOBS[target], { videoId: video.id })).rejects.toMatchObject({ kind: 'busy' })
    await database.db.query("update video set state = 'published' where id = $1", [video.id])
    await database.db.query("update storage_move set unwanted_since = now() - interval '2 hours'")
    await elsewhere.run(JOBS[target], { videoId: video.id })
    expect(await rowsOf(video)).toMatchObject({ state: 'published', spares: 0, moves: 0 })
    await expectReadable(server, video)
  })

  it('leaves no public copy of a video that becomes private while it is copied, or between its end and the last removal', async () => {
    for (const moment of ['first copy', 'end']) {
      const video = await made(server, source)
      const file = webVideoFile(video.webVideo?.filename ?? '', false)
      await ask(video)
      let [isHidden, isLooking] = [false, false]
      onCall = async () => {
        if (isHidden || isLooking) return
        isLooking = true
        isHidden = moment === 'end' ? (await rowsOf(video))?.moves === 0 : (await placesOf(server, file)).includes(target)
        if (isHidden) await database.db.query('update video set privacy = 3 where id = $1', [video.id])
        // While a file is copied, the mover checks sooner than the job that places the files.
        if (isHidden && moment === 'end') await server.place(video.id)
        isLooking = false
      }
      await quietly(move(video))
      onCall = () => undefined
      expect(await placesOf(server, file)).toEqual(moment === 'end' ? [] : [source])
      await server.place(video.id)
      await move(video)
      await expectMoved(server, video, target, true)
    }
  })

  it('waits for videos that are being created', async () => {
    const video = await made(server, source)
    await database.db.query("update video set state = 'to-transcode' where id = $1", [video.id])
    expect(await ask(video)).toBe(1)
    await expect(move(video)).rejects.toMatchObject({ kind: 'busy' })
    await database.db.query("update video set state = 'published' where id = $1", [video.id])
    await move(video)
    await expectMoved(server, video, target)
  })

  it('moves files that belong to no video by their kind', async () => {
    const ref = { kind: 'avatars', name: `${target}.jpg` } as const
    await server.store.only(source, ref.kind)?.put(ref, Buffer.from('a picture'))
    await server.moves.moveStorage({ to: target })
    const requested = await database.db.query<{ kind: string }>("select data->>'kind' as kind from job where type = $1 and data ? 'kind'", [
      JOBS[target],
    ])
    expect(requested).toHaveLength(8)
    for (let fatal = 1; fatal < 12; fatal += 1) {
      let calls = 0
      onCall = (when) => {
        if (when === 'after' && ++calls === fatal) throw new Error('killed')
      }
      await quietly(server.run(JOBS[target], { kind: 'avatars' }))
      onCall = () => undefined
      expect(await text((await server.store.open(ref)).stream)).toBe('a picture')
    }
    await server.run(JOBS[target], { kind: 'avatars' })
    expect(await placesOf(server, ref)).toEqual([target])
    expect(await database.db.query('select 1 from spare_copy')).toEqual([])
  })
})
