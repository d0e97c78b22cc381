// Which remote copies are accepted, and for how long.

import { describe, expect, it } from '@jest/globals'
import { assertMayMirror, lifetimeOf } from '../../../src/actors/redundancy/redundancy.policy.ts'

const holder = { type: 'Application', url: 'https://b.example/accounts/peertube', isFollowed: false }
const copy = { url: 'https://b.example/redundancy/1', fileUrl: 'https://b.example/static/1' }

describe('a remote copy', () => {
  it('is accepted as configured', () => {
    expect(() => assertMayMirror(holder, copy, 'anybody')).not.toThrow()
    expect(() => assertMayMirror(holder, copy, 'followings')).toThrow()
    expect(() => assertMayMirror({ ...holder, isFollowed: true }, copy, 'followings')).not.toThrow()
    expect(() => assertMayMirror({ ...holder, isFollowed: true }, copy, 'nobody')).toThrow()
  })

  it.each<[string, typeof holder, typeof copy]>([
    ['by an account', { ...holder, type: 'Person' }, copy],
    ['whose id is elsewhere', holder, { ...copy, url: 'https://c.example/1' }],
    ['whose files are elsewhere', holder, { ...copy, fileUrl: 'https://c.example/1' }],
    ['whose files are at another port', holder, { ...copy, fileUrl: 'https://b.example:8443/1' }],
    ['whose files are not encrypted on the way', holder, { ...copy, fileUrl: 'http://b.example/1' }],
  ])('%s is not', (_what, by, of) => {
    expect(() => assertMayMirror(by, of, 'anybody')).toThrow()
  })

  it('lasts as its server says, a year at most, or until it is undone', () => {
    const now = new Date('2026-01-01T00:00:00Z')
    const year = 365 * 24 * 3_600_000
    expect(lifetimeOf(null, now)).toBeNull()
    expect(lifetimeOf(new Date(now.getTime() + 1000), now)).toBe(1000)
    expect(lifetimeOf(new Date('9999-01-01T00:00:00Z'), now)).toBe(year)
    expect(lifetimeOf(new Date(now.getTime() - 1), now)).toBe(-1)
  })
})
