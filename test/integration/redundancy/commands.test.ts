// The life of a local copy: announced, extended, expired, and downloads of lost workers.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { makeRedundancies, type Redundancies } from '../../../src/actors/redundancy/index.ts'
import type { EventName } from '../../../src/actors/runtime/index.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { makeRemoteChannel, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
import { fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'

const DAY = 24 * 3_600_000
const clock = fakeClock()
let test: TestRuntime
let redundancies: Redundancies
let heard: EventName[]
let videoId: number

beforeAll(async () => {
  test = await makeTestRuntime({ clock })
  const { runtime, db } = test
  const [us] = await db.query<{ id: number }>(
    `insert into actor (type, preferred_username, url, inbox_url)
     values ('Application', 'peertube', $1, $1 || '/inbox') returning id`,
    [`${TEST_ORIGIN}/accounts/peertube`],
  )
  for (const type of ['video-redundancy', 'redundancy-removal']) {
    runtime.registry.job(type, { queue: 'io', run: async () => {} })
  }
  const config = testConfig({})
  redundancies = makeRedundancies({
    db,
    tell: runtime.tell,
    registry: runtime.registry,
    clock,
    logger: silentLogger,
    config: () => config,
    urls: makeUrls(TEST_ORIGIN),
    secrets: makeSecrets({ secret: 'a secret for tests' }),
    instanceActorId: async () => us?.id ?? 0,
  })
  for (const event of ['RedundancyStored', 'RedundancyRenewed', 'RedundancyRemoved'] as const) {
    runtime.registry.on(event, 'test', async () => void heard.push(event))
  }
})
afterAll(() => test?.stop())

beforeEach(async () => {
  heard = []
  const { channelId, host } = await makeRemoteChannel(test.db)
  const remoteOrigin = `https://${host}`
  const hls = { resolution: 240, playlistUrl: `${remoteOrigin}/master.m3u8` }
  videoId = (await makeVideo(test.db, { channelId, remoteOrigin, hls })).id
})

const copy = async () => {
  const [row] = await test.db.query<{ id: number; state: string; expires_on: Date | null; due_at: Date | null }>(
    'select id, state, expires_on, due_at from redundancy where video_id = $1',
    [videoId],
  )
  return row
}
const carriedOn = () => test.runtime.relay.drain()
const jobsOf = (type: string) =>
  test.db.query(
    "select 1 from job where type = $1 and state = 'waiting' and (data->>'redundancyId')::int in (select id from redundancy where video_id = $2)",
    [type, videoId],
  )

/** The state after a worker has stored it. */
async function stored(): Promise<number> {
  await redundancies.request({ videoId })
  const id = (await copy())?.id ?? 0
  await test.db.query(
    `update redundancy r set state = 'stored', due_at = $2, source_url = p.playlist_url
     from streaming_playlist p where r.id = $1 and p.id = r.streaming_playlist_id`,
    [id, clock.now()],
  )
  await test.runtime.sweeper.sweep()
  await carriedOn()
  return id
}

describe('a local copy', () => {
  it('that waits for a worker gets a new job when its job is lost', async () => {
    await redundancies.request({ videoId })
    expect(await jobsOf('video-redundancy')).toHaveLength(1)
    await test.db.query("delete from job where type = 'video-redundancy'")
    clock.pass(61_000)
    await test.runtime.sweeper.sweep()
    expect(await jobsOf('video-redundancy')).toHaveLength(1)
    expect(await copy()).toMatchObject({ state: 'wanted' })
  })

  it('with a silent worker waits for another one', async () => {
    await redundancies.request({ videoId })
    const id = (await copy())?.id
    await test.db.query("update redundancy set state = 'downloading', lease_owner = 'somebody', due_at = $2 where id = $1", [
      id,
      clock.now(),
    ])
    await test.runtime.sweeper.sweep()
    expect(await copy()).toMatchObject({ state: 'wanted' })
  })

  it('is announced once it is stored, and remains until it ends', async () => {
    await stored()
    expect(heard).toEqual(['RedundancyStored'])
    expect(await copy()).toMatchObject({ state: 'announced', expires_on: null, due_at: null })
  })

  it('that is extended sends an Update, and ends when it expires', async () => {
    const id = await stored()
    await redundancies.renew(id, DAY)
    await carriedOn()
    expect(heard).toEqual(['RedundancyStored', 'RedundancyRenewed'])
    expect(await copy()).toMatchObject({ expires_on: new Date(clock.now().getTime() + DAY) })
    clock.pass(DAY - 1000)
    await redundancies.renew(id, DAY)
    clock.pass(DAY - 1000)
    await test.runtime.sweeper.sweep()
    expect(await copy()).toMatchObject({ state: 'announced' })
    clock.pass(2000)
    await test.runtime.sweeper.sweep()
    await carriedOn()
    expect(heard).toEqual(['RedundancyStored', 'RedundancyRenewed', 'RedundancyRenewed', 'RedundancyRemoved'])
    expect(await copy()).toMatchObject({ state: 'expiring' })
    expect(await jobsOf('redundancy-removal')).toHaveLength(1)
  })

  it('of a video with new files is made again', async () => {
    await stored()
    await test.db.query("update streaming_playlist set playlist_url = playlist_url || '?new' where video_id = $1", [videoId])
    clock.pass(3_600_000)
    await test.runtime.sweeper.sweep()
    expect(await copy()).toMatchObject({ state: 'wanted' })
  })

  it('cannot be removed twice', async () => {
    const id = await stored()
    await redundancies.remove(id)
    await expect(redundancies.remove(id)).rejects.toMatchObject({ kind: 'not_found' })
    await expect(redundancies.renew(id, DAY)).rejects.toMatchObject({ kind: 'conflict' })
  })

  it('is requested once by many simultaneous requests', async () => {
    const requested = await Promise.allSettled(Array.from({ length: 5 }, () => redundancies.request({ videoId })))
    expect(requested.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await test.db.query('select 1 from redundancy where video_id = $1', [videoId])).toHaveLength(1)
  })
})
