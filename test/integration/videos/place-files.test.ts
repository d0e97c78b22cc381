// The files of a video on their way between the open and the private folder, when two move them at once.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { makeRegistry } from '../../../src/actors/runtime/registry.ts'
import { makePlaceFiles } from '../../../src/actors/video/place-files.ts'
import { type FileRef, type Place, type Store, webVideoFile } from '../../../src/media/index.ts'
import { insert, makeUser, makeVideo } from '../../support/builders.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'
import { until } from '../../support/until.ts'

let runtime: TestRuntime
beforeAll(async () => {
  runtime = await makeTestRuntime()
}, 60_000)
afterAll(async () => {
  await runtime?.stop()
})

/** A store that knows names alone; `gate` opens before each move. */
function makeNames(first: FileRef, gate: () => Promise<void>) {
  const names = new Set([first.name])
  const home = {
    async *list() {},
    stat: async ({ name }: FileRef) =>
      names.has(name) ? { name, size: 1, modifiedAt: new Date(), etag: '"1"' } : undefined,
    async move({ name }: FileRef, to: string) {
      await gate()
      names.delete(name)
      names.add(to)
    },
  }
  return { names, only: (place: Place) => (place === 'file-system' ? (home as Partial<Store> as Store) : undefined) }
}

const leases = { owner: 'somebody', isGone: (owner: string) => owner.startsWith('dead') }

it('no mover puts them back where another one, who knows better, has taken them from', async () => {
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
  // The first one's, and two of the second one, which waits.
  await until(() => isPlaced || looks >= 3, { what: 'the second one, done or in line' })
  expect(isPlaced).toBe(false)
  expect([...store.names]).toEqual([open.name])
  slow.resolve()
  await first
  await second
  expect([...store.names]).toEqual([open.name])
  expect(hidden.name).not.toBe(open.name)
})

it('takes along what was replaced, as long as a transcoding may read it', async () => {
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
