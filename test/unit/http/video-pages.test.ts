// Reads of video lists by simultaneous requests, and the number of different statements.

import { describe, expect, it } from '@jest/globals'
import type { VideoListQuery } from '../../../src/actors/video/index.ts'
import { buildVideoList } from '../../../src/actors/video/lists/list-videos.ts'
import { makeVideoPages } from '../../../src/http/videos/video-pages.ts'
import type { JsonValue } from '../../../src/platform/bus/index.ts'
import { fakeClock } from '../../support/clock.ts'

const QUERY: VideoListQuery = {
  scope: { of: 'everybody' },
  internal: false,
  start: 0,
  count: 15,
  sort: { by: 'publishedAt', descending: true },
  skipCount: false,
  mutedFor: null,
}
const REQUEST = { session: null, headers: {} } as never

function pagesWith(): { ask: () => Promise<unknown>; texts: string[]; answer: () => void; changed: (payload: JsonValue) => void } {
  const texts: string[] = []
  let gate = Promise.withResolvers<void>()
  let changed: (payload: JsonValue) => void = () => undefined
  const query = async (text: string) => {
    texts.push(text)
    await gate.promise
    return [{ total: 0, ids: [], positions: null }]
  }
  const pages = makeVideoPages({
    db: { query } as never,
    config: () => ({ vireo: { caching: { routes: { videos: 5000 } } } }) as never,
    clock: fakeClock(),
    bus: {
      subscribe: (_topic, listener) => {
        changed = listener
        return () => undefined
      },
    },
    urls: {} as never,
    fileTokens: {} as never,
  })
  return {
    ask: () => pages(REQUEST, QUERY, 0),
    texts,
    answer() {
      gate.resolve()
      gate = Promise.withResolvers<void>()
    },
    changed: (payload) => changed(payload),
  }
}

describe('a page of videos', () => {
  it('is read once for simultaneous requests, and cached', async () => {
    const { ask, texts, answer } = pagesWith()
    const requested = Array.from({ length: 20 }, ask)
    answer()
    expect(new Set((await Promise.all(requested)).map((page) => JSON.stringify(page)))).toEqual(new Set(['{"total":0,"data":[]}']))
    await ask()
    expect(texts).toHaveLength(1)
  })

  it('is read again for requests after a change, also during a read', async () => {
    const { ask, texts, answer, changed } = pagesWith()
    const before = ask()
    changed({ what: 'video', videoId: 1 })
    const after = ask()
    answer()
    await Promise.all([before, after])
    expect(texts).toHaveLength(2)
    changed({ what: 'counts', videoId: 1 })
    await ask()
    expect(texts).toHaveLength(2)
  })

  it('has one of few statement texts, for any offset and length', () => {
    const texts = new Set<string>()
    for (let start = 0; start < 400; start += 1) {
      for (const count of [1, 15, 20, 100]) texts.add(buildVideoList({ ...QUERY, start, count }).text)
    }
    expect(texts.size).toBeLessThanOrEqual(6)
  })
})
