// Limits on repeated items of an archive.

import { describe, expect, it } from '@jest/globals'
import { type ImportedPart, partOf } from '../../../src/actors/user-archive/index.ts'
import { archivedVideo } from '../../support/archive.ts'

const named = (videoFile: string | null, captions: Record<string, string> = {}) =>
  archivedVideo('channel', { archiveFiles: { videoFile, thumbnail: '../files/same.jpg', captions } })

function taken(part: ImportedPart, items: unknown[]): boolean[] {
  const isTooMuch = partOf(part).bound?.() ?? (() => false)
  return items.map((item) => !isTooMuch(item))
}

describe('items of an archive', () => {
  it('are all accepted in an honest one', () => {
    const videos = [archivedVideo('a'), archivedVideo('a'), named(null), named(null, { en: '../files/1.vtt' })]
    expect(taken('videos', videos)).not.toContain(false)
    const likes = [{ videoUrl: 'https://a.example/1' }, { videoUrl: 'https://a.example/1' }]
    expect(taken('likes', likes)).not.toContain(false)
    const follows = Array.from({ length: 500 }, (_, n) => ({ targetHandle: `c${n}@a.example` }))
    expect(taken('following', follows)).not.toContain(false)
  })

  it('of videos have different files', () => {
    const videos = [
      named('../files/a.mp4'),
      named('../files/a.mp4'),
      named('../files/./x/../a.mp4'),
      named('../files/b.mp4', { en: '../files/en.vtt' }),
      named('../files/c.mp4', { fr: '../files/en.vtt' }),
      named('../files/d.mp4', { en: '../files/d.vtt', fr: '../files/d.vtt' }),
      named('../files/e.mp4', { en: '../files/e.mp4' }),
      named('../files/f.mp4'),
    ]
    expect(taken('videos', videos)).toEqual([true, false, false, true, false, false, false, true])
  })

  it('cause limited requests to one server, and to all of them', () => {
    const ofOne = Array.from({ length: 600 }, (_, n) => ({
      targetHandle: `c${n}@${n % 2 ? 'Victim' : 'victim'}.example`,
    }))
    const after = taken('following', [...ofOne, { targetHandle: 'c@other.example' }])
    expect(after.filter(Boolean)).toHaveLength(501)
    expect(after.at(-1)).toBe(true)
    const ofAll = Array.from({ length: 6000 }, (_, n) => ({ targetHandle: `c@h${n}.example` }))
    expect(taken('following', ofAll).filter(Boolean)).toHaveLength(5000)
  })
})
