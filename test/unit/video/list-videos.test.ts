import { expect, it } from '@jest/globals'
import { listVideoIds, type VideoListQuery } from '../../../src/actors/video/index.ts'

const query: VideoListQuery = {
  scope: { of: 'everybody' },
  internal: false,
  start: 0,
  count: 15,
  sort: { by: 'publishedAt', descending: true },
  skipCount: false,
}

it.each<[string, Partial<VideoListQuery>, boolean]>([
  ['the newest', {}, true],
  ['the most viewed local ones that everybody may watch', { nsfw: false, isLocal: true, sort: { by: 'views', descending: true } }, true],
  ['an order that few ask for', { sort: { by: 'duration', descending: false } }, false],
  ['lives', { isLive: true }, false],
  ['those with HLS files', { hasHlsFiles: true }, false],
  ['those with web videos', { hasWebVideoFiles: false }, false],
  ['those of a category, whose best plan depends on it', { categoryOneOf: [1] }, false],
])('prepares statements that many use alone: %s', async (_name, filters, expected) => {
  const asked: unknown[] = []
  const fake = async (_text: string, _values?: readonly unknown[], options?: { prepared?: boolean }) => {
    asked.push(options?.prepared)
    return []
  }
  await listVideoIds({ query: fake }, { ...query, ...filters })
  expect(asked).toEqual([expected])
})
