// Moves of a video's files between the public and the private folder, with two concurrent movers.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { makeRegistry } from '../../../src/actors/runtime/registry.ts'
import { makePlaceFiles } from '../../../src/actors/video/files/place-files.ts'
import { type FileRef, MediaError, type Place, StorageOutage, type Store, webVideoFile } from '../../../src/media/index.ts'
import { insert, makeUser, makeVideo } from '../../support/builders.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'
import { until } from '../../support/until.ts'

let runtime: TestRuntime
beforeAll(async () => {
  runtime = await makeTestRuntime()
})
afterAll(async () => {
  await runtime?.stop()
})

/** A store of names only; `gate` opens before each move. */
function makeNames(first: FileRef, gate: () => Promise<void>) {
  const names = new Set([first.name])
  const home = {
    async *list() {},
    stat: async ({ name }: FileRef) => (names.has(name) ? { name, size: 1, modifiedAt: new Date(), etag: '"1"' } : undefined),
    async move({ name }: FileRef, to: string) {
      await gate()
      names.delete(name)
      names.add(to)
    },
  }
  const only = (place: Place) => (place === 'file-system' ? (home as Partial<Store> as Store) : undefined)
  return { names, home: home as Partial<Store> as Store, only }
}

const leases = { owner: 'somebody', isGone: (owner: string) => owner.startsWith('dead') }

it('no mover moves files back that a newer one has moved', async () => {
  const { db } = runtime
  const { channelId } = await makeUser(db)
  const video = await makeVideo(db, { channelId, columns: { privacy: 3 }, webVideo: { resolution: 240 } })
  const filename = video.webVideo?.filename ?? ''
  const [open, hidden] = [webVideoFile(filename, false), webVideoFile(filename, true)]
  const slow = Promise.withResolvers<void>()
  const isMoving = Promise.withResolvers<void>()
  const store = makeNames(open, async () => {
    isMoving.resolve()
    await slow.promise
  })
  const { registry } = runtime.runtime
  let looks = 0
  const counted: typeof db = {
    ...db,
    transaction: () => {
      throw new Error('A mover holds no connection.')
    },
    query: (text, values) => {
      if (text.includes('insert into video_placement')) looks += 1
      return db.query(text, values)
    },
  }
  const { now } = makePlaceFiles({ db: counted, registry, store, leases })

  const first = now(video.id)
  await isMoving.promise
  await db.query('update video set privacy = 1 where id = $1', [video.id])
  let isPlaced = false
  const second = now(video.id).then(() => {
    isPlaced = true
  })
  // One of the first, and two of the second mover, which waits.
  await until(() => isPlaced || looks >= 3, { what: 'the second one, done or in line' })
  expect(isPlaced).toBe(false)
  expect([...store.names]).toEqual([open.name])
  slow.resolve()
  await first
  await second
  expect([...store.names]).toEqual([open.name])
  expect(hidden.name).not.toBe(open.name)
})

it('moves replaced files too, as long as a transcoding may read them', async () => {
  const { db } = runtime
  const { channelId } = await makeUser(db)
  const video = await makeVideo(db, { channelId, columns: { privacy: 3 } })
  const transcodingId = await insert(db, 'transcoding', { video_id: video.id, state: 'running', context: '{}' })
  for (const hidden of [false, true]) {
    const { kind, name } = webVideoFile('old.mp4', hidden)
    await insert(db, 'pending_file', { kind, name, owner: `transcoding:${transcodingId}` })
  }
  const store = makeNames(webVideoFile('old.mp4', false), async () => undefined)
  await makePlaceFiles({ db, registry: makeRegistry(), store, leases }).now(video.id)
  expect([...store.names]).toEqual([webVideoFile('old.mp4', true).name])
})

describe('a mover that cannot continue', () => {
  const open = () => Promise.resolve()

  async function privateVideo() {
    const { db } = runtime
    const { channelId } = await makeUser(db)
    const video = await makeVideo(db, { channelId, columns: { privacy: 3 }, webVideo: { resolution: 240 } })
    const filename = video.webVideo?.filename ?? ''
    return { id: video.id, opened: webVideoFile(filename, false), hidden: webVideoFile(filename, true) }
  }
  const held = (videoId: number, owner: string, lasts: string) =>
    runtime.db.query(`insert into video_placement values ($1, $2, now() + $3::interval)`, [videoId, owner, lasts])

  it.each([
    { owner: 'dead process', lasts: '1 hour' },
    { owner: 'silent process', lasts: '-1 second' },
  ])('is followed by another at once when it is a $owner', async ({ owner, lasts }) => {
    const video = await privateVideo()
    await held(video.id, owner, lasts)
    const store = makeNames(video.opened, open)
    await makePlaceFiles({ ...runtime, registry: makeRegistry(), store, leases }).now(video.id)
    expect([...store.names]).toEqual([video.hidden.name])
    expect(await runtime.db.query('select 1 from video_placement')).toEqual([])
  })

  it('is waited for no longer than a client waits, and still completes', async () => {
    const video = await privateVideo()
    const slow = Promise.withResolvers<void>()
    const over = new AbortController()
    const store = makeNames(video.opened, async () => {
      over.abort()
      await slow.promise
    })
    const registry = makeRegistry()
    const { now } = makePlaceFiles({ ...runtime, registry, store, leases, patience: () => over.signal })
    await expect(now(video.id)).rejects.toMatchObject({ kind: 'busy' })
    const data = { videoId: video.id }
    const job = { id: 1, type: 'video-files-placement', data, signal: new AbortController().signal, progress: () => {} }
    const run = async () => registry.jobs.get('video-files-placement')?.run(job)
    await expect(run()).rejects.toMatchObject({ kind: 'busy' })
    slow.resolve()
    await until(() => store.names.has(video.hidden.name), { what: 'the file to be moved' })
    const isFree = async () => (await runtime.db.query('select 1 from video_placement')).length === 0
    await until(isFree, { what: 'the mover to end' })
    await run()
    expect([...store.names]).toEqual([video.hidden.name])
  })

  it('moves its late copies back when they are no longer wanted there', async () => {
    const video = await privateVideo()
    const store = makeNames(video.opened, async () => {
      // Considered dead, it does not know its successor.
      await runtime.db.query('update video set privacy = 1 where id = $1', [video.id])
    })
    await makePlaceFiles({ ...runtime, registry: makeRegistry(), store, leases }).now(video.id)
    expect([...store.names]).toEqual([video.opened.name])
  })

  it('reports files that the store does not find', async () => {
    const video = await privateVideo()
    const store = makeNames(video.opened, async () => {
      throw new MediaError('not-found', 'There is no such file.')
    })
    const placing = makePlaceFiles({ ...runtime, registry: makeRegistry(), store, leases }).now(video.id)
    await expect(placing).rejects.toMatchObject({ reason: 'not-found' })
  })

  it('makes files on disk private while object storage is unreachable, and reports it', async () => {
    const video = await privateVideo()
    const store = makeNames(video.opened, open)
    const out = async () => {
      throw new StorageOutage('out of reach')
    }
    const away = { ...store.home, stat: out, move: out } as Store
    const both = { only: (place: Place) => (place === 'file-system' ? store.home : away) }
    const placing = makePlaceFiles({ ...runtime, registry: makeRegistry(), store: both, leases }).now(video.id)
    await expect(placing).rejects.toBeInstanceOf(StorageOutage)
    expect([...store.names]).toEqual([video.hidden.name])
  })
})
