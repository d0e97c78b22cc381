// CacheFile documents: both forms, and invalid ones.

import { describe, expect, it } from '@jest/globals'
import { buildCacheFile, type CacheFileDocument, readCacheFile } from '../../../src/federation/wire/index.ts'
import { oracleProblems } from '../../support/peertube-oracle.ts'

const playlist: CacheFileDocument = {
  id: 'https://b.example/redundancy/streaming-playlists/hls/00000000-0000-4000-8000-000000000001',
  to: ['https://a.example/accounts/alice'],
  cc: [],
  video: 'https://a.example/videos/watch/00000000-0000-4000-8000-000000000001',
  expiresAt: null,
  copy: { kind: 'playlist', url: 'https://b.example/static/redundancy/hls/00000000-0000-4000-8000-000000000001' },
}
const file: CacheFileDocument = {
  ...playlist,
  id: 'https://b.example/redundancy/videos/00000000-0000-4000-8000-000000000001/240-20',
  expiresAt: new Date('2027-01-01T00:00:00.000Z'),
  copy: {
    kind: 'file',
    url: 'https://b.example/static/redundancy/x-240.mp4',
    mediaType: 'video/mp4',
    resolution: 240,
    sizeBytes: 94_466,
    fps: 20,
  },
}

it.each([
  ['a playlist', playlist],
  ['a web video', file],
])('a copy of %s survives a round trip, and the reference accepts it', (_what, document) => {
  const built = buildCacheFile(document)
  expect(readCacheFile(built)).toEqual({ ok: true, value: document })
  expect(oracleProblems(built)).toEqual([])
})

it('a copy of a web video has its size and numbers', () => {
  expect(buildCacheFile(file).url).toEqual({
    type: 'Link',
    mediaType: 'video/mp4',
    href: 'https://b.example/static/redundancy/x-240.mp4',
    height: 240,
    size: 94_466,
    fps: 20,
  })
})

it('older names and lists are read', () => {
  const { url, ...rest } = buildCacheFile(playlist)
  const { mediaType, ...link } = url as Record<string, unknown>
  expect(readCacheFile({ ...rest, url: [{ ...link, mimeType: mediaType }] })).toEqual({ ok: true, value: playlist })
})

describe('an invalid copy', () => {
  const link = buildCacheFile(file).url as Record<string, unknown>
  it.each([
    ['without a video', { object: undefined }],
    ['without an address', { url: undefined }],
    ['whose address is no link', { url: 'https://b.example/x' }],
    ['at an address that is not http', { url: { ...link, href: 'file:///etc/passwd' } }],
    ['without a height', { url: { ...link, height: undefined } }],
    ['without a size', { url: { ...link, size: undefined } }],
    ['with a negative size', { url: { ...link, size: -1 } }],
    ['of a picture', { url: { ...link, mediaType: 'image/png' } }],
    ['of another type', { type: 'Video' }],
  ])('one %s', (_what, more) => {
    expect(readCacheFile({ ...buildCacheFile(file), ...more })).toMatchObject({ ok: false })
  })
})
