// The schedule of checks for stale interactions.

import { describe, expect, it } from '@jest/globals'
import { firstRun, nextRun } from '../../../src/actors/interaction/schedule.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const weekly = { interval: 7 * DAY, hour: 5, minute: 30 }
/** In the server's own time zone. */
const at = (day: number, hour: number, minute = 0) => new Date(2026, 4, day, hour, minute)

describe('the first round', () => {
  it.each([
    ['today, before the hour', at(4, 3), 0, at(4, 5, 30)],
    ['tomorrow, when the hour is past', at(4, 5, 30), 0, at(5, 5, 30)],
    ['on the last day of the interval', at(4, 3), 6, at(10, 5, 30)],
    ['not later than an interval away', at(4, 6), 6, at(11, 5, 30)],
  ])('is %s', (_, now, drawn, due) => {
    expect(firstRun(now, weekly, () => drawn)).toEqual(due)
  })

  it('is on any day of the interval', () => {
    const below: number[] = []
    firstRun(at(4, 3), weekly, (number) => below.push(number) - 1)
    firstRun(at(4, 3), { ...weekly, interval: 36 * HOUR }, (number) => below.push(number) - 1)
    expect(below).toEqual([7, 1])
  })
})

describe('a later round', () => {
  it.each([
    ['is a week later', at(4, 5, 30), at(4, 5, 40), at(11, 5, 30)],
    ['is of the same day after weeks in which nobody was there', at(4, 5, 30), at(20, 12), at(25, 5, 30)],
    ['is after now, at the hour itself too', at(4, 5, 30), at(11, 5, 30), at(18, 5, 30)],
  ])('%s', (_, last, now, due) => {
    expect(nextRun(last, now, weekly)).toEqual(due)
  })

  it('is at the same hour across a DST change', () => {
    const days = Array.from({ length: 60 }, (_, week) => new Date(2026, 0, 1 + 7 * week, 5, 30))
    for (const [index, last] of days.entries()) {
      const next = days[index + 1]
      if (next) expect(nextRun(last, last, weekly)).toEqual(next)
    }
  })
})

it('an interval of less than a day has no fixed hour', () => {
  const hourly = { ...weekly, interval: HOUR }
  expect(firstRun(at(4, 3), hourly, () => 0)).toEqual(at(4, 4))
  expect(nextRun(at(4, 3), at(4, 3, 10), hourly)).toEqual(at(4, 4))
  expect(nextRun(at(4, 3), at(4, 9), hourly)).toEqual(at(4, 9))
})
