// Statistics of a video, computed from watched segments.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { findOverallStatistics, findRetention, findTimeserie } from '../../../src/actors/view/index.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { startViewsHarness, type ViewsHarness } from './harness.ts'

let harness: ViewsHarness
beforeAll(async () => {
  harness = await startViewsHarness()
  await harness.db.query('update video set duration = 9 where id = $1', [harness.ours.id])
  await watched('12:00:00', '12:10:00', [[0, 4]], 'FR', 'Bretagne')
  await watched('12:05:00', '12:20:00', [[0, 9]], 'FR', null)
  await watched(
    '12:10:00',
    '12:11:00',
    [
      [0, 2],
      [1, 3],
    ],
    'DE',
    null,
  )
  await watched('14:00:00', '14:01:00', [[8, 9]], null, null)
})
afterAll(async () => {
  await harness?.stop()
})

const at = (time: string) => new Date(`2026-11-20T${time}Z`)
async function watched(
  from: string,
  to: string,
  sections: [number, number][],
  country: string | null,
  subdivision: string | null,
): Promise<void> {
  const seconds = sections.reduce((sum, [start, end]) => sum + end - start, 0)
  await harness.db.query(
    `insert into watch (uuid, video_id, url, started_at, ended_at, seconds, sections, country, subdivision)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      newUuid(),
      harness.ours.id,
      `https://a.example/${newUuid()}`,
      at(from),
      at(to),
      seconds,
      JSON.stringify(sections),
      country,
      subdivision,
    ],
  )
}

describe('in total', () => {
  it('are the viewers, their watch time, the peak, and known countries', async () => {
    expect(await findOverallStatistics(harness.db, harness.ours.id, { from: null, to: null })).toEqual({
      totalWatchTime: 18,
      averageWatchTime: 5,
      totalViewers: 4,
      viewersPeak: 3,
      viewersPeakDate: at('12:10:00'),
      countries: [
        { isoCode: 'FR', viewers: 2 },
        { isoCode: 'DE', viewers: 1 },
      ],
      subdivisions: [{ name: 'Bretagne', viewers: 1 }],
    })
  })

  it('contain viewers who started in the period', async () => {
    const period = { from: at('12:01:00'), to: at('12:10:00') }
    expect(await findOverallStatistics(harness.db, harness.ours.id, period)).toMatchObject({
      totalViewers: 2,
      viewersPeak: 2,
    })
  })

  it('are empty without viewers', async () => {
    const nothing = { totalWatchTime: 0, averageWatchTime: 0, totalViewers: 0, viewersPeak: 0, viewersPeakDate: null }
    const period = { from: at('15:00:00'), to: null }
    expect(await findOverallStatistics(harness.db, harness.ours.id, period)).toEqual({
      ...nothing,
      countries: [],
      subdivisions: [],
    })
    expect(await findOverallStatistics(harness.db, harness.theirs.id, { from: null, to: null })).toMatchObject(nothing)
  })
})

it('the retention counts a viewer once per second', async () => {
  const data = await findRetention(harness.db, harness.ours.id)
  expect(data.map(({ second }) => second)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(data.map(({ retentionPercent }) => retentionPercent)).toEqual([75, 75, 75, 75, 50, 25, 25, 25, 50, 50])
  const [first] = await findRetention(harness.db, harness.theirs.id)
  expect(first).toEqual({ second: 0, retentionPercent: 0 })
})

describe('over time', () => {
  const serie = (metric: 'viewers' | 'aggregateWatchTime', from: Date, to: Date) =>
    findTimeserie(harness.db, harness.ours.id, metric, { from, to })

  it('are values for each step of the period', async () => {
    const { groupInterval, data } = await serie('viewers', at('11:55:00'), at('14:05:00'))
    expect(groupInterval).toBe('10 minutes')
    expect(data[0]).toEqual({ date: at('11:50:00'), value: 0 })
    expect(data.filter(({ value }) => value > 0)).toEqual([
      { date: at('12:00:00'), value: 2 },
      { date: at('12:10:00'), value: 1 },
      { date: at('14:00:00'), value: 1 },
    ])
    const time = await serie('aggregateWatchTime', at('11:55:00'), at('14:05:00'))
    expect(time.data.filter(({ value }) => value > 0).map(({ value }) => value)).toEqual([13, 4, 1])
  })

  it.each([
    ['2026-11-20T11:30:00Z', '2026-11-20T12:20:00Z', '1 minute', 51],
    ['2026-11-20T00:00:00Z', '2026-11-22T00:00:00Z', '1 hour', 49],
    ['2026-11-01T00:00:00Z', '2026-11-30T00:00:00Z', '1 day', 30],
    ['2025-02-15T00:00:00Z', '2026-11-30T00:00:00Z', '1 month', 22],
  ])('from %s to %s have steps of %s', async (from, to, groupInterval, points) => {
    const found = await serie('viewers', new Date(from), new Date(to))
    expect(found.groupInterval).toBe(groupInterval)
    expect(found.data).toHaveLength(points)
    expect(found.data.reduce((sum, { value }) => sum + value, 0)).toBe(groupInterval === '1 minute' ? 3 : 4)
  })
})
