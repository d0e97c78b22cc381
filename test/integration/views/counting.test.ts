// From player reports to counters, statistics and activities, with a fake clock.

import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { MadeVideo } from '../../support/builders.ts'
import { startViewsHarness, type ViewsHarness } from './harness.ts'

let harness: ViewsHarness
beforeEach(async () => {
  await harness?.stop()
  harness = await startViewsHarness({ vireo: { views: { max_remote_viewers: 5, max_remote_views: 8 } } })
})
afterAll(async () => {
  await harness?.stop()
})

const SECOND = 1000
const MINUTE = 60 * SECOND

/** Reports of a viewer who plays from one second to another. */
async function plays(video: MadeVideo, session: string, from = 0, to = 12, views = harness.views): Promise<void> {
  for (const seconds of [from, to]) {
    await views.watch({
      videoId: video.id,
      watcher: { session, address: '192.0.2.1' },
      seconds,
      isSeek: seconds === from,
    })
  }
}
const watches = () =>
  harness.db.query<{ video_id: number; seconds: number; sections: number[][] }>('select video_id, seconds, sections from watch order by id')

describe('a local viewer', () => {
  it('counts once, and again after the interval', async () => {
    await plays(harness.ours, 'anna')
    await plays(harness.ours, 'anna', 20, 40)
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toEqual({ views: 1, viewers: 1 })
    harness.clock.pass(61 * MINUTE)
    await plays(harness.ours, 'anna')
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toEqual({ views: 2, viewers: 1 })
  })

  it('is identified by the session, or by the address without a valid one', async () => {
    const watch = (session: string | undefined, address: string) =>
      harness.views.watch({ videoId: harness.ours.id, watcher: { session, address }, seconds: 1, isSeek: false })
    await watch('anna', '192.0.2.1')
    await watch('bert', '192.0.2.1')
    await watch(undefined, '192.0.2.1')
    await watch(undefined, '192.0.2.2')
    await watch(undefined, '192.0.2.2')
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toMatchObject({ viewers: 4 })
  })

  it('is a viewer for two minutes after the last report', async () => {
    await plays(harness.ours, 'anna')
    await harness.views.process()
    harness.clock.pass(119 * SECOND)
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toMatchObject({ viewers: 1 })
    harness.clock.pass(2 * SECOND)
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toMatchObject({ viewers: 0 })
  })

  it('of a live counts like any other: once, as a current viewer, and in the statistics', async () => {
    await harness.db.query('update video set is_live = true, duration = 0 where id = $1', [harness.ours.id])
    await plays(harness.ours, 'anna', 7200, 7215)
    await plays(harness.ours, 'bert', 7200, 7209)
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toEqual({ views: 1, viewers: 2 })
    expect(await harness.takeEvents()).toMatchObject([{ event: 'ViewersCounted', payload: { videoId: harness.ours.id, viewers: 2 } }])
    harness.clock.pass(61 * MINUTE)
    await harness.views.process()
    expect((await watches()).map(({ seconds }) => seconds).toSorted((a, b) => b - a)).toEqual([15, 9])
  })

  it('is one viewer, in order, in any process', async () => {
    const other = harness.anotherProcess()
    await plays(harness.ours, 'anna', 0, 5)
    for (const [views, seconds] of [
      [other, 8],
      [harness.views, 11],
    ] as const) {
      await views.watch({
        videoId: harness.ours.id,
        watcher: { session: 'anna', address: '' },
        seconds,
        isSeek: false,
      })
    }
    await Promise.all([harness.views.process(), other.process()])
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toEqual({ views: 1, viewers: 1 })
    expect(await harness.db.query('select sections from viewer')).toEqual([{ sections: [[0, 11]] }])
  })

  it('becomes an anonymous row of the statistics an hour after the last report', async () => {
    await plays(harness.ours, 'anna', 10, 30)
    await plays(harness.ours, 'anna', 100, 105)
    await plays(harness.ours, 'nobody', 3, 3)
    await harness.views.process()
    expect(await watches()).toEqual([])
    harness.clock.pass(60 * MINUTE)
    await harness.views.process()
    expect(await watches()).toEqual([
      {
        video_id: harness.ours.id,
        seconds: 25,
        sections: [
          [10, 30],
          [100, 105],
        ],
      },
    ])
    harness.clock.pass(MINUTE)
    await harness.views.process()
    expect(await harness.db.query('select 1 from viewer')).toEqual([])
    expect(await watches()).toHaveLength(1)
  })

  it('leaves no address and no session in the database, and cannot be recognised after a day', async () => {
    await harness.views.watch({
      videoId: harness.ours.id,
      watcher: { session: 'my-session', address: '192.0.2.77' },
      seconds: 1,
      isSeek: false,
    })
    await harness.views.watch({
      videoId: harness.theirs.id,
      watcher: { session: 'my-session', address: '' },
      seconds: 1,
      isSeek: false,
    })
    const rows = await harness.db.query<{ viewer: string }>('select * from view_sign')
    expect(JSON.stringify(rows)).not.toMatch(/my-session|192\.0\.2\.77/)
    expect(new Set(rows.map(({ viewer }) => viewer)).size).toBe(2)
    expect(await harness.db.query('select 1 from viewer_salt')).toHaveLength(1)
  })

  it('is a new viewer on another day, when the old secret is gone', async () => {
    const hashes = async () => (await harness.db.query<{ viewer: string }>('select distinct viewer from view_sign order by 1')).length
    await plays(harness.ours, 'anna')
    harness.clock.pass(24 * 60 * MINUTE)
    await plays(harness.ours, 'anna')
    expect(await hashes()).toBe(2)
    expect(await harness.db.query('select 1 from viewer_salt')).toHaveLength(2)
    harness.clock.pass(24 * 60 * MINUTE)
    await harness.views.process()
    expect(await harness.db.query<{ day: string }>('select day::text as day from viewer_salt')).toEqual([{ day: '2026-11-21' }])
  })

  it('of another server is forgotten after a month, a local one never', async () => {
    await plays(harness.ours, 'anna')
    await plays(harness.theirs, 'anna')
    await harness.views.process()
    harness.clock.pass(60 * MINUTE)
    await harness.views.process()
    expect(await watches()).toHaveLength(2)
    harness.clock.pass(29 * 24 * 60 * MINUTE)
    await harness.tidy()
    expect(await watches()).toHaveLength(2)
    harness.clock.pass(24 * 60 * MINUTE)
    await harness.tidy()
    expect(await watches()).toMatchObject([{ video_id: harness.ours.id }])
  })

  it('of a removed video is forgotten', async () => {
    await plays(harness.ours, 'anna')
    await harness.db.query('delete from video where id = $1', [harness.ours.id])
    await plays(harness.theirs, 'bert')
    await harness.views.process()
    expect(await harness.shown(harness.theirs)).toMatchObject({ viewers: 1 })
    expect(await harness.db.query('select 1 from view_sign')).toEqual([])
  })
})

describe('activities', () => {
  it('of a local video are a periodic count, and one Update for all views of an interval', async () => {
    await plays(harness.ours, 'anna')
    await plays(harness.ours, 'bert')
    await harness.views.process()
    const expiresAt = harness.clock.now().getTime() + 2 * MINUTE
    expect(await harness.takeEvents()).toEqual([{ event: 'ViewersCounted', payload: { videoId: harness.ours.id, viewers: 2, expiresAt } }])
    await plays(harness.ours, 'carl')
    await harness.views.process()
    expect(await harness.takeEvents()).toEqual([])
    expect(await harness.db.query("select data from job where type = 'federate-video'")).toEqual([{ data: { videoId: harness.ours.id } }])
    const [job] = await harness.db.query<{ due_at: Date }>('select due_at from job')
    expect(job?.due_at).toEqual(new Date(harness.clock.now().getTime() + 30 * MINUTE))
  })

  it('of a remote video are its viewers, then its views and WatchActions', async () => {
    await plays(harness.theirs, 'anna')
    await plays(harness.theirs, 'bert')
    await harness.views.process()
    expect(await harness.takeEvents()).toMatchObject([{ event: 'ViewersCounted', payload: { viewers: 2 } }])
    // Its own server counts them.
    expect(await harness.shown(harness.theirs)).toEqual({ views: 0, viewers: 2 })
    harness.clock.pass(30 * SECOND)
    await harness.views.process()
    expect(await harness.takeEvents()).toMatchObject([{ event: 'ViewsCounted', payload: { videoId: harness.theirs.id, views: 2 } }])
    harness.clock.pass(30 * SECOND)
    await harness.views.process()
    expect(await harness.takeEvents()).toMatchObject([{ event: 'ViewersCounted', payload: { viewers: 2 } }])
    harness.clock.pass(60 * MINUTE)
    await harness.views.process()
    expect(await harness.takeEvents()).toMatchObject([{ event: 'WatchEnded' }, { event: 'WatchEnded' }])
  })
})

describe('activities of other servers', () => {
  const sent = (viewers: number, more: object = {}) => ({
    videoId: harness.ours.id,
    hostId: harness.hosts.away,
    viewer: 'https://away.example/viewers/1',
    viewers,
    expiresAt: new Date(harness.clock.now().getTime() + 2 * MINUTE),
    ...more,
  })

  it('about viewers are added to local ones, until they expire', async () => {
    await plays(harness.ours, 'anna')
    await harness.views.receiveViewers(sent(3))
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toMatchObject({ viewers: 4 })
    await harness.views.receiveViewers(sent(2))
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toMatchObject({ viewers: 3 })
    harness.clock.pass(121 * SECOND)
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toMatchObject({ viewers: 0 })
    expect(await harness.db.query('select 1 from remote_viewer')).toEqual([])
  })

  it('are limited: a flood counts up to the maximum, and one id once', async () => {
    for (let index = 0; index < 20; index += 1) {
      await harness.views.receiveViewers(sent(1, { viewer: `https://away.example/viewers/${index}` }))
      await harness.views.receiveViewers(sent(1))
    }
    await harness.views.receiveViewers(sent(1_000_000_000, { hostId: harness.hosts.home }))
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toMatchObject({ viewers: 5 + 5 })
    expect(await harness.db.query('select 1 from remote_viewer')).toHaveLength(6)
  })

  it('expire no later than a local count', async () => {
    await harness.views.receiveViewers(sent(1, { expiresAt: new Date('2099-01-01') }))
    harness.clock.pass(5 * MINUTE)
    await harness.views.process()
    expect(await harness.shown(harness.ours)).toMatchObject({ viewers: 0 })
  })

  it('about views count up to the hourly maximum', async () => {
    const tells = (views: number) =>
      harness.views.receiveViews({ videoId: harness.ours.id, hostId: harness.hosts.away, views, incomingId: null })
    await tells(1)
    await tells(3)
    expect(await harness.shown(harness.ours)).toMatchObject({ views: 4 })
    await Promise.all([tells(100), tells(100), tells(1)])
    expect(await harness.shown(harness.ours)).toMatchObject({ views: 8 })
    harness.clock.pass(60 * MINUTE)
    await tells(2)
    expect(await harness.shown(harness.ours)).toMatchObject({ views: 10 })
  })

  it('about watched segments are stored once, limited to the duration of the video', async () => {
    const watch = (more: object = {}) =>
      harness.views.receiveWatch({
        videoId: harness.ours.id,
        hostId: harness.hosts.away,
        url: 'https://away.example/watches/1',
        uuid: '11111111-1111-4111-8111-111111111111',
        country: 'FR',
        subdivision: null,
        startedAt: harness.clock.now(),
        endedAt: harness.clock.now(),
        sections: [
          [0, 10],
          [20, 5],
          [590, 9000],
        ],
        ...more,
      })
    await watch()
    await watch()
    expect(await watches()).toEqual([{ video_id: harness.ours.id, seconds: 10, sections: [[0, 10]] }])
    await expect(watch({ videoId: harness.theirs.id })).rejects.toThrow('another server')
    for (let index = 2; index < 20; index += 1) await watch({ url: `https://away.example/watches/${index}` })
    expect(await watches()).toHaveLength(8)
  })

  it('about a private video are refused', async () => {
    await harness.db.query('update video set privacy = 3 where id = $1', [harness.ours.id])
    await expect(harness.views.receiveViewers(sent(1))).rejects.toThrow('not public')
    await expect(
      harness.views.receiveViews({ videoId: harness.ours.id, hostId: harness.hosts.away, views: 1, incomingId: null }),
    ).rejects.toThrow('not public')
  })
})
