import { describe, expect, it } from '@jest/globals'
import { parseDuration, parseSize } from '../../../src/config/units.ts'

describe('durations', () => {
  it.each([
    ['1 day', 86_400_000],
    ['2 weeks', 1_209_600_000],
    ['10 seconds', 10_000],
    ['250 ms', 250],
    ['1 day 12 hours', 129_600_000],
    ['1 hour, 30 minutes', 5_400_000],
    ['6 months', 15_552_000_000],
    ['1.5 hours', 5_400_000],
    [' 5 Minutes ', 300_000],
    ['30s', 30_000],
    ['60000', 60_000],
    [60_000, 60_000],
    [0, 0],
  ])('reads %p as %d ms', (written, milliseconds) => {
    expect(parseDuration(written)).toBe(milliseconds)
  })

  it.each(['soon', '', '10 parsecs', '-5 minutes', -1, Number.NaN, true, null, [], '10 seconds ago', '9e999 days'])(
    'refuses %p',
    (written) => {
      expect(parseDuration(written)).toBeNull()
    },
  )
})

describe('sizes', () => {
  it.each([
    ['10GB', 10 * 2 ** 30],
    ['100MB', 100 * 2 ** 20],
    ['200 KB', 204_800],
    ['1TB 512MB', 2 ** 40 + 2 ** 29],
    ['12b', 12],
    ['4M', 4 * 2 ** 20],
    ['1 GiB', 2 ** 30],
    ['5368709120', 5_368_709_120],
    [4096, 4096],
  ])('reads %p as %d bytes', (written, bytes) => {
    expect(parseSize(written)).toBe(bytes)
  })

  it.each(['big', '', '10 XB', '-1', -1, null, {}, '99999999TB'])('refuses %p', (written) => {
    expect(parseSize(written)).toBeNull()
  })
})
