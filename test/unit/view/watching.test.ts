// When a view is counted, and which segments a viewer watched.

import { describe, expect, it } from '@jest/globals'
import { newViewer, type Sign, type Viewer, type WatchRules, watched, watchedSeconds } from '../../../src/actors/view/watching.ts'

const START = new Date('2026-11-20T12:00:00.000Z')
const RULES: WatchRules = { duration: 600, countAfterMs: 10_000, expirationMs: 3_600_000, maxSections: 100 }
const later = (seconds: number) => new Date(START.getTime() + seconds * 1000)
const sign = (at: number, seconds: number, isSeek = false): Sign => ({ seconds, isSeek, at: later(at) })

function play(signs: Sign[], rules: Partial<WatchRules> = {}, from: Viewer = newViewer(START)) {
  let views = 0
  let viewer = from
  for (const one of signs) {
    const next = watched(viewer, one, { ...RULES, ...rules })
    viewer = next.viewer
    if (next.isView) views += 1
  }
  return { viewer, views }
}

describe('watched segments', () => {
  it.each<[string, Sign[], [number, number][]]>([
    ['playing on', [sign(0, 0), sign(5, 5), sign(10, 10)], [[0, 10]]],
    [
      'a jump ahead',
      [sign(0, 0), sign(5, 5), sign(6, 60, true), sign(11, 65)],
      [
        [0, 5],
        [60, 65],
      ],
    ],
    [
      'a jump back that nobody told of',
      [sign(0, 50), sign(5, 55), sign(10, 3), sign(15, 8)],
      [
        [50, 55],
        [3, 8],
      ],
    ],
    ['jumps before anything was played', [sign(0, 0), sign(1, 20, true), sign(2, 40, true), sign(5, 43)], [[40, 43]]],
    ['standing still', [sign(0, 7), sign(5, 7), sign(10, 7)], [[7, 7]]],
  ])('%s', (_what, signs, sections) => {
    expect(play(signs).viewer.sections).toEqual(sections)
  })

  it('are limited in number', () => {
    const jumping = Array.from({ length: 50 }, (_, index) => [sign(index, index * 10, true), sign(index, index * 10 + 1)])
    const { viewer } = play(jumping.flat(), { maxSections: 5 })
    expect(viewer.sections.filter(([start, end]) => end > start)).toHaveLength(5)
    expect(watchedSeconds(viewer.sections)).toBe(5)
  })

  it('have a start and a last report', () => {
    const { viewer } = play([sign(3, 0), sign(8, 5)])
    expect(viewer).toMatchObject({ startedAt: later(3), seenAt: later(8) })
    expect(watchedSeconds(viewer.sections)).toBe(5)
  })
})

describe('a view', () => {
  it('is counted after enough watch time, and not before', () => {
    expect(play([sign(0, 0), sign(5, 5), sign(9, 9)]).views).toBe(0)
    expect(play([sign(0, 0), sign(5, 5), sign(10, 10)]).views).toBe(1)
  })

  it('is counted from all segments together, without seeks', () => {
    expect(play([sign(0, 0), sign(5, 5), sign(6, 100, true), sign(11, 105)]).views).toBe(1)
    expect(play([sign(0, 0), sign(1, 100, true), sign(2, 200, true), sign(3, 300, true)]).views).toBe(0)
  })

  it('is counted once for a viewer, and again after the interval', () => {
    const first = play([sign(0, 0), sign(10, 10), sign(20, 20), sign(3000, 30)])
    expect(first.views).toBe(1)
    expect(play([sign(3700, 40)], {}, first.viewer).views).toBe(1)
  })

  it('of a shorter video is counted at its end', () => {
    expect(play([sign(0, 0), sign(3, 3)], { duration: 5 }).views).toBe(0)
    expect(play([sign(0, 0), sign(4, 4)], { duration: 5 }).views).toBe(1)
    expect(play([sign(0, 0)], { duration: 1 }).views).toBe(0)
  })

  it('of a live depends on the time alone', () => {
    expect(play([sign(0, 0), sign(5, 5)], { duration: null }).views).toBe(0)
    expect(play([sign(0, 0), sign(10, 10)], { duration: null }).views).toBe(1)
  })
})
