// The history without HTTP: retention, order, and concurrent changes.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type History, makeHistory } from '../../../src/actors/history/index.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { type MadeUser, type MadeVideo, makeUser, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
import { fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { makeTestRuntime } from '../../support/runtime.ts'

const DAY = 24 * 3_600_000
const clock = fakeClock(new Date('2026-11-20T12:00:00.000Z'))
let maxAge: string | -1 = -1
let db: Database
let history: History
let tidy: () => Promise<void>
let stop: () => Promise<void>
let user: MadeUser
let cats: MadeVideo
let dogs: MadeVideo

beforeAll(async () => {
  const made = await makeTestRuntime({ clock })
  ;({ db, stop } = made)
  await db.migrate()
  const { tell, registry } = made.runtime
  history = makeHistory({
    db,
    clock,
    tell,
    registry,
    logger: silentLogger,
    urls: makeUrls(TEST_ORIGIN),
    config: () => testConfig({ history: { videos: { max_age: maxAge } } }),
    secrets: makeSecrets({ secret: 'a secret for tests' }),
  })
  tidy = async () => void (await registry.periodics.get('remove-old-history')?.run())
  user = await makeUser(db)
  cats = await makeVideo(db, { channelId: user.channelId })
  dogs = await makeVideo(db, { channelId: user.channelId })
})
afterAll(() => stop?.())
beforeEach(async () => {
  await db.query('delete from history')
})

const see = (video: MadeVideo, seconds: number) => history.remember({ accountId: user.accountId, videoId: video.id, seconds })
const kept = () =>
  db.query<{ videoId: number; seconds: number }>('select video_id as "videoId", seconds from history order by watched_at, video_id')

describe('the history', () => {
  it('is kept for the configured time, and without a limit forever', async () => {
    await see(cats, 1)
    clock.pass(30 * DAY)
    await see(dogs, 2)
    maxAge = -1
    await tidy()
    expect(await kept()).toHaveLength(2)
    maxAge = '30 days'
    await tidy()
    expect(await kept()).toEqual([{ videoId: dogs.id, seconds: 2 }])
    clock.pass(30 * DAY - 1)
    await see(cats, 3)
    await tidy()
    expect(await kept()).toHaveLength(2)
  })

  it('keeps the newest position when an older one arrives late from another process', async () => {
    await see(cats, 50)
    clock.pass(-5000)
    await see(cats, 40)
    expect(await kept()).toEqual([{ videoId: cats.id, seconds: 50 }])
    clock.pass(6000)
    await see(cats, 60)
    expect(await kept()).toEqual([{ videoId: cats.id, seconds: 60 }])
  })

  it('stores many positions in few statements', async () => {
    const before = db.statements()
    await Promise.all(Array.from({ length: 200 }, (_, at) => see(at % 2 ? cats : dogs, at)))
    expect(db.statements() - before).toBeLessThanOrEqual(2)
    expect(await kept()).toEqual([
      { videoId: cats.id, seconds: 199 },
      { videoId: dogs.id, seconds: 198 },
    ])
  })

  it('ignores removed videos and accounts', async () => {
    const gone = await makeVideo(db, { channelId: user.channelId })
    const leaving = await makeVideo(db, { channelId: user.channelId })
    await Promise.all([see(gone, 1), see(leaving, 1), see(cats, 1)])
    await db.query('delete from video where id = $1', [gone.id])
    await db.query("update video set state = 'removed' where id = $1", [leaving.id])
    await db.query('delete from history where video_id = $1', [leaving.id])
    await Promise.all([see(gone, 2), see(leaving, 2), see(cats, 2), history.remember({ accountId: 424242, videoId: cats.id, seconds: 9 })])
    expect(await kept()).toEqual([{ videoId: cats.id, seconds: 2 }])
  })

  it('is removed with its account', async () => {
    const leaver = await makeUser(db)
    await history.remember({ accountId: leaver.accountId, videoId: cats.id, seconds: 1 })
    await db.query('delete from channel where account_id = $1', [leaver.accountId])
    await db.query('delete from account where id = $1', [leaver.accountId])
    expect(await kept()).toEqual([])
  })

  it('is removed and written concurrently without a deadlock', async () => {
    await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        at % 3 === 0 ? history.forgetAll(user.accountId) : Promise.all([see(cats, at), see(dogs, at)]),
      ),
    )
    await history.forgetAll(user.accountId)
    expect(await kept()).toEqual([])
  })
})
