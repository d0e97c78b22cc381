// Playlists and elements of other servers, and local collection pages.

import { describe, expect, it } from '@jest/globals'
import { buildPlaylist, type JsonObject, readPlaylist, readPlaylistElement } from '../../../src/federation/wire/index.ts'

const UUID = '00000000-0000-4000-8000-000000000001'
const URL = `https://a.example/video-playlists/${UUID}`
const CHANNEL = 'https://a.example/video-channels/b'

const playlist = (more: JsonObject = {}): JsonObject => ({
  id: URL,
  type: 'Playlist',
  name: 'A name',
  uuid: UUID,
  totalItems: 0,
  attributedTo: [CHANNEL],
  published: '2026-02-01T00:00:00.000Z',
  ...more,
})

describe('a remote playlist', () => {
  it.each<[string, JsonObject]>([
    ['no name', { name: '' }],
    ['a UUID that is none', { uuid: 'abc' }],
    ['no number of items', { totalItems: 'one' }],
    ['fewer than no items', { totalItems: -1 }],
    ['nobody that it is attributed to', { attributedTo: [] }],
    ['something else than an address there', { attributedTo: ['javascript:alert(1)'] }],
    ['an id that is no address', { id: 'urn:uuid:1' }],
    ['no date', { published: 'yesterday' }],
    ['another type', { type: 'Video' }],
  ])('with %s is refused', (_what, more) => {
    expect(readPlaylist(playlist(more)).ok).toBe(false)
  })

  it('is truncated where it is too long, and loses unreadable parts', () => {
    const hostile = {
      name: 'n'.repeat(5000),
      content: 'c\u0000'.repeat(5000),
      to: Array(5000).fill(CHANNEL),
      cc: 'x',
      icon: [{ url: 'ftp://a.example/1.jpg' }],
      first: { id: `${URL}?page=1` },
      updated: 'never',
    }
    const read = readPlaylist(playlist(hostile))
    expect(read).toMatchObject({
      ok: true,
      value: { cc: [], thumbnail: null, first: null, attributedTo: [{ id: CHANNEL, type: null }] },
    })
    if (!read.ok) return
    expect(read.value.name).toHaveLength(120)
    expect(read.value.description).toBe('c'.repeat(1000))
    expect(read.value.to).toHaveLength(500)
    expect(read.value.updatedAt).toEqual(read.value.publishedAt)
  })

  it('has owners as ids or embedded objects', () => {
    for (const attributedTo of [CHANNEL, { type: 'Group', id: CHANNEL }, [{ id: CHANNEL }, 'https://a.example/c']]) {
      const read = readPlaylist(playlist({ attributedTo, audience: CHANNEL }))
      expect(read).toMatchObject({ ok: true, value: { audience: [CHANNEL] } })
      expect(read.ok && read.value.attributedTo[0]?.id).toBe(CHANNEL)
    }
  })
})

describe('a remote element', () => {
  const element = (more: JsonObject = {}): JsonObject => ({
    id: `${URL}/videos/1`,
    type: 'PlaylistElement',
    url: 'https://b.example/videos/watch/1',
    position: 1,
    ...more,
  })

  it('needs an id, a video and a position', () => {
    expect(readPlaylistElement(element())).toMatchObject({ ok: true })
    for (const more of [{ id: 1 }, { url: 'b' }, { position: -1 }, { position: 'first' }, { type: 'Playlist' }]) {
      expect(readPlaylistElement(element(more)).ok).toBe(false)
    }
  })

  it('has only valid times', () => {
    for (const startTimestamp of [-1, 1.5, '3', 1e12, null]) {
      expect(readPlaylistElement(element({ startTimestamp }))).toMatchObject({
        ok: true,
        value: { startTimestamp: null },
      })
    }
  })

  it('plays to the end if it would stop before it starts', () => {
    for (const [startTimestamp, stopTimestamp, read] of [
      [5, 4, null],
      [5, 5, 5],
      [null, 4, 4],
    ]) {
      expect(readPlaylistElement(element({ startTimestamp, stopTimestamp } as JsonObject))).toMatchObject({
        value: { startTimestamp, stopTimestamp: read },
      })
    }
  })
})

it('pages of a playlist link to each other', () => {
  const input = {
    id: URL,
    to: [],
    cc: [],
    name: 'A name',
    description: null,
    uuid: UUID,
    totalItems: 5,
    attributedTo: [{ id: CHANNEL, type: 'Group' }],
    publishedAt: new Date(0),
    updatedAt: new Date(0),
    thumbnail: null,
  }
  const page = (number: number) => buildPlaylist(input, { number, size: 2, items: [`${URL}/videos/${number}`] })
  expect(page(1)).toMatchObject({ id: `${URL}?page=1`, next: `${URL}?page=2`, partOf: URL, totalItems: 5 })
  expect(page(1)).not.toHaveProperty('prev')
  expect(page(2)).toMatchObject({ prev: `${URL}?page=1`, next: `${URL}?page=3` })
  expect(page(3)).toMatchObject({ prev: `${URL}?page=2` })
  expect(page(3)).not.toHaveProperty('next')
})
