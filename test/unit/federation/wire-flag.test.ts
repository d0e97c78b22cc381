// Flag activities of other software.

import { describe, expect, it } from '@jest/globals'
import { readFlag } from '../../../src/federation/wire/index.ts'

const flag = (more: object) => ({
  type: 'Flag',
  id: 'https://away.example/flags/1',
  actor: 'https://away.example/actor',
  object: 'https://ours.example/accounts/root',
  ...more,
})
const flagOf = (document: object) => {
  const read = readFlag(document)
  if (!read.ok) throw new Error(read.problem)
  return read.value
}

describe('a flag is read as', () => {
  it('from Mastodon: an account with some of its posts, from the instance actor, without an audience', () => {
    const object = ['https://ours.example/accounts/root', 'https://ours.example/videos/watch/1']
    expect(flagOf(flag({ content: 'Spam\u0000 all day', object }))).toEqual({
      id: 'https://away.example/flags/1',
      actor: 'https://away.example/actor',
      to: [],
      cc: [],
      content: 'Spam all day',
      mediaType: 'text/markdown',
      objects: object,
      reasons: [],
      startAt: null,
      endAt: null,
    })
  })

  it('from GoToSocial: without a text', () => {
    expect(flagOf(flag({ content: null, to: 'https://ours.example/accounts/root' }))).toMatchObject({
      content: null,
      to: ['https://ours.example/accounts/root'],
    })
    expect(flagOf(flag({ content: '' }))).toMatchObject({ content: null })
  })

  it('from Lemmy: with the reason as a summary', () => {
    expect(flagOf(flag({ summary: 'rude', audience: 'https://ours.example/c/1' }))).toMatchObject({ content: 'rude' })
    expect(flagOf(flag({ summary: 'short', content: 'long' }))).toMatchObject({ content: 'long' })
  })

  it('from PeerTube: with reasons and timestamps', () => {
    const tag = [
      { type: 'Hashtag', name: 'spamOrMisleading' },
      { type: 'Mention', name: 'x' },
      { type: 'Hashtag', name: '#rights' },
    ]
    expect(flagOf(flag({ content: 'x', tag, startAt: 1, endAt: 2 }))).toMatchObject({
      reasons: ['spamOrMisleading', 'rights'],
      startAt: 1,
      endAt: 2,
    })
    expect(flagOf(flag({ content: 'x', tag: 'none', startAt: -1, endAt: 'soon' }))).toMatchObject({
      reasons: [],
      startAt: null,
      endAt: null,
    })
  })
})

describe('a flag', () => {
  it('with embedded or repeated objects has their ids once', () => {
    const object = [{ type: 'Note', id: 'https://ours.example/n/1', content: 'x' }, 'https://ours.example/n/1', 7, null]
    expect(flagOf(flag({ object })).objects).toEqual(['https://ours.example/n/1'])
  })

  it('with thousands of objects is truncated, and so is a long text', () => {
    const object = Array.from({ length: 5000 }, (_, index) => `https://ours.example/n/${index}`)
    const read = flagOf(flag({ object, content: 'x'.repeat(100_000) }))
    expect(read.objects).toHaveLength(20)
    expect(read.content).toHaveLength(10_000)
  })

  it.each([
    ['of nothing', { object: [] }],
    ['of what has no address', { object: 'javascript:alert(1)' }],
    ['that is something else', { type: 'Block' }],
  ])('%s is refused', (_what, more) => {
    expect(readFlag(flag(more)).ok).toBe(false)
  })
})
