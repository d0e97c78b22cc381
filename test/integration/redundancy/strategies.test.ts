// Mirroring strategies: which videos they select, keep and evict, on two processes.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import {
  downloadRedundancies,
  makeRedundancies,
  mirrorByStrategy,
  type Redundancies,
  redundancyStats,
} from '../../../src/actors/redundancy/index.ts'
import { findCandidates } from '../../../src/actors/redundancy/mirror.queries.ts'
import type { JobContext } from '../../../src/actors/runtime/index.ts'
import { makePendingFiles } from '../../../src/actors/video/index.ts'
import type { Config } from '../../../src/config/index.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { type FileKind, fileKinds, MediaError, makeFileStore, type Store } from '../../../src/media/index.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import type { GuardedFetch } from '../../../src/platform/fetch/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { makeRemoteChannel, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
import { fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/media.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'

type Strategies = Config['redundancy']['videos']['strategies']

const HOUR = 3_600_000
/** Bytes of the playlist of a video made by `makeVideo`. */
const SIZE = 30_175
const clock = fakeClock()
let first: TestRuntime
let second: TestRuntime
let strategies: Strategies
let redundancies: Redundancies
let us: number
let channelId: number
let host: string
let folder: string
let isFull = false

beforeAll(async () => {
  first = await makeTestRuntime({ clock })
  second = await makeTestRuntime({ clock, url: first.url })
  us = await instance(TEST_ORIGIN)
  const base = testConfig({})
  const config = () => ({ ...base, redundancy: { videos: { ...base.redundancy.videos, strategies } } })
  folder = await temporaryFolder()
  const directories = Object.fromEntries(fileKinds.map((kind) => [kind, join(folder, kind)])) as Record<FileKind, string>
  const files = makeFileStore({ directories, tmp: join(folder, 'tmp') })
  const store: Store = {
    ...files,
    async put(ref, from) {
      const stored = await files.put(ref, from)
      if (isFull) throw new MediaError('disk-full', 'There is no space left on the disk.')
      return stored
    },
  }
  for (const { runtime, db } of [first, second]) {
    const deps = {
      db,
      tell: runtime.tell,
      registry: runtime.registry,
      clock,
      logger: silentLogger,
      config,
      urls: makeUrls(TEST_ORIGIN),
      secrets: makeSecrets({ secret: 'a secret for tests' }),
      instanceActorId: async () => us,
    }
    redundancies = makeRedundancies(deps)
    mirrorByStrategy({ ...deps, redundancies })
    const leases = { owner: 'a test', isGone: () => false }
    const pendingFiles = makePendingFiles({ db, store, clock, logger: silentLogger, leases })
    downloadRedundancies({ ...deps, redundancies, leases, pendingFiles, store, http: { stream } })
  }
})
afterAll(async () => {
  await second?.stop()
  await first?.stop()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  await first.db.query('delete from video')
  await first.db.query('delete from server_block')
  ;({ channelId, host } = await mirroredServer())
  clock.pass(HOUR)
})

const query = <Row extends object>(text: string, values: unknown[] = []) => first.db.query<Row>(text, values)

async function instance(origin: string, hostId: number | null = null): Promise<number> {
  const [row] = await query<{ id: number }>(
    `insert into actor (type, preferred_username, url, inbox_url, host_id)
     values ('Application', 'peertube', $1, $1 || '/inbox', $2) returning id`,
    [`${origin}/accounts/peertube`, hostId],
  )
  return row?.id ?? 0
}

/** A followed server whose videos may be copied. */
async function mirroredServer(options: { isAllowed?: boolean; state?: string } = {}) {
  const { isAllowed = true, state = 'accepted' } = options
  const made = await makeRemoteChannel(first.db)
  const [row] = await query<{ id: number }>('update remote_host set redundancy_allowed = $2 where host = $1 returning id', [
    made.host,
    isAllowed,
  ])
  const target = await instance(`https://${made.host}`, row?.id)
  await query('insert into follow (follower_id, target_id, state) values ($1, $2, $3)', [us, target, state])
  return made
}

async function video(columns: Record<string, unknown> = {}, of = { channelId, host }): Promise<number> {
  const remoteOrigin = `https://${of.host}`
  const hls = { resolution: 240, playlistUrl: `${remoteOrigin}/master.m3u8` }
  return (await makeVideo(first.db, { channelId: of.channelId, remoteOrigin, hls, columns })).id
}

/** The queries of a reader. */
async function statementOf(read: (db: Pick<Database, 'query'>) => Promise<unknown>): Promise<string> {
  let requested = ''
  await read({
    async query(text: string) {
      requested = text
      return []
    },
  })
  return requested
}

const strategy = (name: Strategies[number]['strategy'], more: Partial<Strategies[number]> = {}) => ({
  strategy: name,
  size: 10 * SIZE,
  min_lifetime: 10 * HOUR,
  ...more,
})
/** The files of every video, as served by its origin. */
const stream: GuardedFetch['stream'] = async (url) => ({
  url,
  status: 200,
  headers: {},
  body: Readable.from([url.endsWith('.m3u8') ? PLAYLIST : Buffer.alloc(SIZE)]),
})
const PLAYLIST = '#EXTM3U\n#EXTINF:3,\nall.mp4\n#EXT-X-ENDLIST\n'
/** Runs the newest job of a type, like a worker. */
const work = async (type: string) => {
  const [job] = await query<{ id: number; data: JobContext['data'] }>('select id, data from job where type = $1 order by id desc limit 1', [
    type,
  ])
  const handler = first.runtime.registry.jobs.get(type)
  if (!job || !handler) throw new Error('There is no job.')
  try {
    const { signal } = new AbortController()
    await handler.run({ ...job, type, signal, progress: () => {} })
  } catch (error) {
    await handler.failed?.(job, String(error))
  }
}
const download = () => work('video-redundancy')
const filesHere = () => readdir(join(folder, 'redundancy'), { recursive: true }).catch(() => [])
const check = () => first.runtime.sweeper.run(['mirror-checks'])
const mirrored = async () =>
  (await query<{ video_id: number }>("select video_id from redundancy where path is not null and state <> 'expiring' order by id")).map(
    (row) => row.video_id,
  )
const stored = () =>
  query(
    `update redundancy set state = 'announced', context = context || '{"told": true}',
       expires_on = $1::timestamptz + (context->>'lifetime')::float8 * interval '1 ms',
       due_at = $1::timestamptz + (context->>'lifetime')::float8 * interval '1 ms' where state = 'wanted'`,
    [clock.now()],
  )
const gone = () => query("delete from redundancy where state = 'expiring'")

describe('a strategy', () => {
  it.each<[Strategies[number]['strategy'], ...Record<string, unknown>[]]>([
    ['most-views', { views: 9 }, { views: 8, trending: 5 }, { views: 8 }],
    ['trending', { views: 1, trending: 9 }, { views: 9, trending: 8 }, { views: 8, trending: 8 }],
    ['recently-added', { published_at: '2026-01-03' }, { published_at: '2026-01-02', views: 5 }, { published_at: '2026-01-01' }],
  ])('%s copies in its order', async (name, ...columns) => {
    const ids: number[] = []
    for (const one of columns.toReversed()) ids.unshift(await video(one))
    // Ties are broken like in lists.
    const expected = name === 'most-views' ? [ids[0], ids[2], ids[1]] : ids
    strategies = [strategy(name)]
    await check()
    expect(await mirrored()).toEqual(expected)
    expect(await query('select strategy, size::int, state, expires_on from redundancy limit 1')).toEqual([
      { strategy: name, size: SIZE, state: 'wanted', expires_on: null },
    ])
  })

  it('copies nothing that is not public, or of servers that are not allowed', async () => {
    const id = await video({ views: 10 })
    const columns = [{ privacy: 2 }, { privacy: 3 }, { blocked: true }, { is_live: true }, { state: 'to-transcode' }]
    for (const one of [...columns, { views: 9 }]) await video({ views: 20, ...one })
    await video({ views: 20 }, await mirroredServer({ isAllowed: false }))
    await video({ views: 20 }, await mirroredServer({ state: 'pending' }))
    const blocked = await mirroredServer()
    await query('insert into server_block (host) values ($1)', [blocked.host])
    await video({ views: 20 }, blocked)
    strategies = [strategy('most-views', { min_views: 10 })]
    await check()
    expect(await mirrored()).toEqual([id])
  })

  it('skips a video that is too large, and copies web videos without a playlist', async () => {
    const large = await video({ views: 10 })
    await query('update video_file set size = $2 where video_id = $1', [large, 11 * SIZE])
    const remoteOrigin = `https://${host}`
    const web = await makeVideo(first.db, {
      channelId,
      remoteOrigin,
      webVideo: { resolution: 240, fileUrl: `${remoteOrigin}/240.mp4` },
    })
    const unknown = await video({ views: 10 })
    await query('update video_file set size = 0 where video_id = $1', [unknown])
    strategies = [strategy('most-views')]
    await check()
    expect(await mirrored()).toEqual([web.id])
    expect(await redundancyStats(first.db, strategies)).toEqual([
      { strategy: 'most-views', totalSize: 10 * SIZE, totalUsed: 0, totalVideos: 0, totalVideoFiles: 0 },
      { strategy: 'manual', totalSize: null, totalUsed: 0, totalVideos: 0, totalVideoFiles: 0 },
    ])
  })

  it('runs once per interval, in whichever process comes first', async () => {
    await video({ views: 1 })
    strategies = [strategy('most-views')]
    await Promise.all([first, second, first, second].map(({ runtime }) => runtime.sweeper.run(['mirror-checks'])))
    expect(await mirrored()).toHaveLength(1)
    const next = await video({ views: 2 })
    clock.pass(HOUR - 1000)
    await second.runtime.sweeper.run(['mirror-checks'])
    expect(await mirrored()).toHaveLength(1)
    clock.pass(1000)
    await second.runtime.sweeper.run(['mirror-checks'])
    expect((await mirrored()).at(-1)).toBe(next)
  })

  it('continues after the clock was set back, also after a full disk', async () => {
    strategies = [strategy('most-views')]
    const ahead = new Date(clock.now().getTime() + 365 * 24 * HOUR)
    await query('update redundancy_strategy set checked_at = $1, full_at = $1', [ahead])
    const id = await video({ views: 1 })
    await first.runtime.sweeper.run(['mirror-checks'])
    expect(await mirrored()).toEqual([id])
    await query('update redundancy_strategy set full_at = null')
  })

  it('checks no channel twice, however many servers are copied', async () => {
    const plan = await first.db.query<{ 'QUERY PLAN': string }>(
      `explain ${await statementOf((db) =>
        findCandidates(db, {
          instanceActorId: us,
          settings: strategy('most-views'),
          maxBytes: 1e9,
          limit: 50,
        }),
      )}`,
      [us, 0, 1e9, 50],
    )
    const lines = plan.map((row) => row['QUERY PLAN']).join('\n')
    expect(lines).toMatch(/channel_id = \(hashed SubPlan/)
  })

  it('evicts the lowest-ranked copy for a better one, once it has its minimum age', async () => {
    const [low, high] = [await video({ views: 1 }), await video({ views: 5 })]
    strategies = [strategy('most-views', { size: 2 * SIZE })]
    await check()
    await stored()
    const better = await video({ views: 3 })
    clock.pass(9 * HOUR)
    await check()
    expect(await mirrored()).toEqual([high, low])
    clock.pass(2 * HOUR)
    await check()
    expect(await mirrored()).toEqual([high])
    expect(await query('select 1 from redundancy where video_id = $1', [better])).toEqual([])
    await gone()
    clock.pass(10_000)
    await check()
    expect(await mirrored()).toEqual([high, better])
    await stored()
    expect((await redundancyStats(first.db, strategies))[0]).toEqual({
      strategy: 'most-views',
      totalSize: 2 * SIZE,
      totalUsed: 2 * SIZE,
      totalVideos: 2,
      totalVideoFiles: 2,
    })
  })

  it('extends copies that are still selected, and lets the others expire', async () => {
    const [kept, left] = [await video({ views: 5 }), await video({ views: 4 })]
    strategies = [strategy('most-views')]
    await check()
    await stored()
    strategies = [strategy('most-views', { min_views: 5 })]
    clock.pass(6 * HOUR)
    await check()
    const before = await query<{ video_id: number; expires_on: Date }>('select video_id, expires_on from redundancy order by id')
    expect(before).toEqual([
      { video_id: kept, expires_on: new Date(clock.now().getTime() + 10 * HOUR) },
      { video_id: left, expires_on: new Date(clock.now().getTime() + 4 * HOUR) },
    ])
    clock.pass(5 * HOUR)
    await first.runtime.sweeper.run(['redundancy'])
    expect(await mirrored()).toEqual([kept])
  })

  it('pauses after a full disk, and leaves nothing on it', async () => {
    await video({ views: 2 })
    const later = await video({ views: 1 })
    strategies = [strategy('most-views', { size: SIZE + 1000 })]
    await check()
    isFull = true
    await download()
    isFull = false
    expect(await query('select state from redundancy')).toEqual([{ state: 'failed' }])
    expect((await filesHere()).filter((name) => name.endsWith('.mp4'))).toEqual([])
    clock.pass(HOUR - 1)
    await check()
    expect(await mirrored()).toHaveLength(1)
    clock.pass(HOUR)
    await check()
    expect((await mirrored()).at(-1)).toBe(later)
    await download()
    expect(await query("select size::int, expires_on from redundancy where state <> 'failed'")).toEqual([
      { size: SIZE + PLAYLIST.length, expires_on: new Date(clock.now().getTime() + 10 * HOUR) },
    ])
  })

  it('limits a copy to the remaining space', async () => {
    await video({ views: 2 })
    strategies = [strategy('most-views', { size: SIZE })]
    await check()
    await download()
    expect(await query('select state from redundancy')).toEqual([{ state: 'failed' }])
    expect((await filesHere()).filter((name) => name.endsWith('.mp4'))).toEqual([])
  })

  it('ignores manual and failed copies, and refuses manual copies of its own ones', async () => {
    const [failed, manual, own] = [await video({ views: 3 }), await video({ views: 2 }), await video({ views: 1 })]
    strategies = [strategy('most-views')]
    await check()
    await query("update redundancy set strategy = 'manual' where video_id = $1", [manual])
    await query("update redundancy set state = 'failed' where video_id = $1", [failed])
    clock.pass(HOUR)
    await check()
    expect(await query('select video_id, strategy, state from redundancy order by id')).toEqual([
      { video_id: failed, strategy: 'most-views', state: 'failed' },
      { video_id: manual, strategy: 'manual', state: 'wanted' },
      { video_id: own, strategy: 'most-views', state: 'wanted' },
    ])
  })

  it('leaves failed copies to manual requests', async () => {
    const videoId = await video({ views: 3 })
    strategies = [strategy('most-views')]
    await check()
    await query("update redundancy set state = 'failed'")
    await redundancies.request({ videoId })
    expect(await query("select strategy, state, context->'lifetime' as lifetime from redundancy")).toEqual([
      { strategy: 'manual', state: 'wanted', lifetime: null },
    ])
  })

  it.each<[string, () => Promise<unknown>]>([
    ['is not public any more', () => query('update video set privacy = 2')],
    ['is blocked', () => query('update video set blocked = true')],
    ['is of a server that is not allowed any more', () => query('update remote_host set redundancy_allowed = false')],
    ['is of a server that is not followed any more', () => query("update follow set state = 'rejected'")],
    ['is of a server that is blocked', () => query('insert into server_block (host) values ($1)', [host])],
  ])('removes the copy of a video that %s within a minute, regardless of its minimum age', async (_what, happen) => {
    await video({ views: 3 })
    strategies = [strategy('most-views')]
    await check()
    await stored()
    clock.pass(60_000)
    await first.runtime.sweeper.run(['lost-mirrors'])
    expect(await mirrored()).toHaveLength(1)
    await happen()
    clock.pass(60_000)
    strategies = []
    await second.runtime.sweeper.run(['lost-mirrors'])
    expect(await mirrored()).toEqual([])
  })

  it.each([
    ['withdrawn', false],
    ['rejected', true],
  ])('removes its copies at once when the follow is %s, and manual ones', async (how, isStillAllowed) => {
    const [, manual] = [await video({ views: 3 }), await video({ views: 2 })]
    strategies = [strategy('most-views')]
    await check()
    await stored()
    await query("update redundancy set strategy = 'manual' where video_id = $1", [manual])
    const [follow] = await query<{ id: number; targetId: number }>(
      `update follow f set state = 'rejected' from actor t join remote_host h on h.id = t.host_id
       where t.id = f.target_id and h.host = $1 returning f.id, f.target_id as "targetId"`,
      [host],
    )
    const { id: followId = 0, targetId = 0 } = follow ?? {}
    await first.runtime.relay.drain()
    await first.runtime.tell.create(async (unit) => {
      const of = { aggregate: 'follow', id: followId } as const
      if (how === 'rejected') unit.emit(of, 'FollowRejected', { followId })
      else unit.emit(of, 'FollowWithdrawn', { followId, targetId, followerId: us, followUrl: '' })
    })
    await first.runtime.relay.drain()
    await work('redundancy-removal')
    expect(await mirrored()).toEqual([])
    expect(await query('select redundancy_allowed from remote_host where host = $1', [host])).toEqual([
      { redundancy_allowed: isStillAllowed },
    ])
  })
})
