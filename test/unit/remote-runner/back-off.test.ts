// The back-off of a failing runner, and of its failed jobs.

import { beforeEach, expect, it } from '@jest/globals'
import { type BackOff, makeBackOff } from '../../../src/remote-runner/back-off.ts'

let now: number
let backOff: BackOff
beforeEach(() => {
  now = 0
  backOff = makeBackOff({ now: () => now, firstRest: 2_000 })
})

it('waits longer after each consecutive failure, up to a minute', () => {
  const rests = [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]
  for (const [job, rest] of rests.entries()) {
    backOff.failed(`${job}`)
    now += rest - 1
    expect(backOff.isResting()).toBe(true)
    now += 1
    expect(backOff.isResting()).toBe(false)
  }
  backOff.done('another')
  backOff.failed('8')
  now += 2_000
  expect(backOff.isResting()).toBe(false)
})

it('leaves a failed job to others, longer each time, until it succeeds', () => {
  for (const left of [15_000, 30_000, 60_000, 120_000, 240_000, 300_000]) {
    backOff.failed('a')
    now += left - 1
    expect([backOff.isLeft('a'), backOff.isLeft('b')]).toEqual([true, false])
    now += 1
    expect(backOff.isLeft('a')).toBe(false)
  }
  backOff.done('a')
  backOff.failed('a')
  now += 15_000
  expect(backOff.isLeft('a')).toBe(false)
})
