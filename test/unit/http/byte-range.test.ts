import { describe, expect, it } from '@jest/globals'
import { parseRange, rangeCounts } from '../../../src/http/static/byte-range.ts'

describe('the Range header', () => {
  it.each([
    [undefined, 'whole'],
    ['', 'whole'],
    ['bytes=', 'whole'],
    ['bytes=-', 'whole'],
    ['items=0-1', 'whole'],
    ['bytes=5-2', 'whole'],
    ['bytes=0-1,3-4', 'whole'],
    ['bytes=a-b', 'whole'],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=0-0', { start: 0, end: 0 }],
    ['BYTES= 0 - 3', { start: 0, end: 3 }],
    ['bytes=9-999999999999', { start: 9, end: 9 }],
    ['bytes=9-99999999999999999999', { start: 9, end: 9 }],
    ['bytes=99999999999999999999-', 'unsatisfiable'],
    ['bytes=-99999999999999999999', { start: 0, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-30', { start: 0, end: 9 }],
  ])('%s of ten bytes is %j', (header, expected) => {
    expect(parseRange(header, 10)).toEqual(expected)
  })

  it('is unsatisfiable for an empty file', () => {
    expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable')
    expect(parseRange('bytes=-5', 0)).toBe('unsatisfiable')
    expect(parseRange(undefined, 0)).toBe('whole')
  })

  it('is ignored unless If-Range matches the version, and never matches a weak tag', () => {
    const version = { etag: '"a"', modifiedAt: new Date('2024-01-01T00:00:00.750Z') }
    expect(rangeCounts(undefined, version)).toBe(true)
    expect(rangeCounts('"a"', version)).toBe(true)
    expect(rangeCounts('"b"', version)).toBe(false)
    expect(rangeCounts('W/"a"', version)).toBe(false)
    expect(rangeCounts('Mon, 01 Jan 2024 00:00:00 GMT', version)).toBe(true)
    expect(rangeCounts('Mon, 01 Jan 2024 00:00:01 GMT', version)).toBe(false)
    expect(rangeCounts('nonsense', version)).toBe(false)
  })
})
