// The videos that a strategy copies, and the copies that it evicts.

import { describe, expect, it } from '@jest/globals'
import {
  type Candidate,
  lifetimeFor,
  type MirroredVideo,
  type MirrorPlan,
  planMirrors,
} from '../../../src/actors/redundancy/mirror-plan.ts'

const HOUR = 3_600_000
const now = new Date('2026-01-10T00:00:00Z')
const settings = { strategy: 'most-views', size: 100, min_lifetime: 10 * HOUR } as const
const nothing: MirrorPlan = { add: [], evict: [], extend: [], isWaiting: false }
const ago = (hours: number) => new Date(now.getTime() - hours * HOUR)

const video = (videoId: number, size: number, views: number): Candidate => ({
  videoId,
  size,
  merit: [views, -videoId],
})
/** Stored a day ago, and valid for another one. */
const copy = (videoId: number, size: number, views: number, more: Partial<MirroredVideo> = {}): MirroredVideo => ({
  ...video(videoId, size, views),
  phase: 'here',
  isDeserving: true,
  createdAt: ago(24),
  expiresOn: ago(-24),
  ...more,
})
const plan = (copies: MirroredVideo[], candidates: Candidate[], size: number = settings.size) =>
  planMirrors({ settings: { ...settings, size }, checkInterval: HOUR, now, held: copies, candidates })

describe('a strategy', () => {
  it('copies the best first, as many as fit', () => {
    expect(plan([], [video(1, 60, 9), video(2, 40, 8), video(3, 1, 7)])).toEqual({ ...nothing, add: [1, 2] })
  })

  it('skips a video that is too large for the remaining space', () => {
    expect(plan([], [video(1, 60, 9), video(2, 50, 8), video(3, 500, 8), video(4, 40, 7)])).toEqual({
      ...nothing,
      add: [1, 4],
    })
  })

  it('counts running copies, and limits their number', () => {
    expect(plan([copy(1, 90, 1, { phase: 'coming' })], [video(2, 20, 9)])).toEqual(nothing)
    const many = Array.from({ length: 9 }, (_, index) => video(index + 1, 1, 9))
    expect(plan([copy(90, 1, 1, { phase: 'coming' })], many).add).toEqual([1, 2, 3])
  })

  it('evicts the lowest-ranked copies that are old enough, and copies the better one when they are gone', () => {
    const copies = [copy(1, 50, 5), copy(2, 30, 3), copy(3, 20, 1, { createdAt: ago(9) })]
    expect(plan(copies, [video(4, 30, 4)])).toEqual({ ...nothing, evict: [2], isWaiting: true })
    const gone = copies.map((one) => (one.videoId === 2 ? { ...one, phase: 'leaving' as const } : one))
    expect(plan(gone, [video(4, 30, 4)])).toEqual({ ...nothing, isWaiting: true })
    expect(plan([copy(1, 50, 5), copy(3, 20, 1)], [video(4, 30, 4)])).toEqual({ ...nothing, add: [4] })
  })

  it('evicts nothing for a lower-ranked video, or one that would not fit anyway', () => {
    expect(plan([copy(1, 100, 5)], [video(2, 10, 4)])).toEqual(nothing)
    expect(plan([copy(1, 50, 5), copy(2, 50, 1)], [video(3, 60, 4)])).toEqual(nothing)
    expect(plan([copy(1, 100, 5)], [video(2, 10, 5)])).toEqual(nothing)
  })

  it('evicts no more than necessary', () => {
    const copies = [copy(1, 10, 1), copy(2, 90, 3)]
    expect(plan(copies, [video(3, 90, 9)])).toEqual({ ...nothing, evict: [2], isWaiting: true })
    expect(plan(copies, [video(3, 100, 9)])).toEqual({ ...nothing, evict: [1, 2], isWaiting: true })
    expect(plan([copy(1, 10, 1), copy(2, 20, 2), copy(3, 70, 3)], [], 70)).toEqual({ ...nothing, evict: [1, 2] })
  })

  it('evicts copies that it no longer selects first, and does not extend them', () => {
    const copies = [copy(1, 50, 1), copy(2, 50, 99, { isDeserving: false, expiresOn: ago(-1) })]
    expect(plan(copies, [video(3, 50, 0)])).toEqual({ ...nothing, evict: [2], isWaiting: true })
    expect(plan(copies, [])).toEqual(nothing)
  })

  it('extends copies that it still selects, before they expire', () => {
    const lifetime = lifetimeFor(settings, HOUR)
    expect(lifetime).toBe(10 * HOUR)
    expect(plan([copy(1, 10, 1, { expiresOn: ago(-4) }), copy(2, 10, 1, { expiresOn: ago(-6) })], [])).toEqual({
      ...nothing,
      extend: [1],
    })
    expect(plan([copy(1, 10, 1, { expiresOn: ago(-4), phase: 'coming' })], [])).toEqual(nothing)
  })

  it('evicts the lowest-ranked copies when its limit was lowered', () => {
    const copies = [copy(1, 40, 5), copy(2, 40, 3), copy(3, 20, 1, { createdAt: ago(1) })]
    expect(plan(copies, [video(4, 1, 0)], 60)).toEqual({ ...nothing, evict: [2] })
    expect(plan(copies, [video(4, 1, 9)], 10)).toEqual({ ...nothing, evict: [2, 1] })
  })

  it('announces copies for longer than its interval', () => {
    expect(lifetimeFor({ ...settings, min_lifetime: 1 }, HOUR)).toBe(3 * HOUR)
  })
})
