import { describe, expect, it } from '@jest/globals'
import { saidAt, subjectOf } from '../../../src/federation/inbound/order.ts'
import { type JsonObject, readActivity } from '../../../src/federation/wire/index.ts'

const actor = 'https://peer.example/accounts/alice'
const video = 'https://ours.example/videos/watch/1'
const of = (type: string, object: unknown, more: JsonObject = {}) => {
  const read = readActivity({ id: `https://peer.example/${type}/1`, type, actor, object, ...more })
  if (!read.ok) throw new Error(read.problem)
  return subjectOf(read.value)
}

const about = (type: string, object: unknown) => of(type, object).about

describe('the subject of an activity', () => {
  it('is the same for all activities about one object', () => {
    expect(about('Like', video)).toBe(`rate ${video}`)
    expect(about('Dislike', video)).toBe(about('Like', video))
    expect(about('Undo', { type: 'Like', id: 'https://peer.example/likes/1', actor, object: video })).toBe(
      about('Like', { id: video, type: 'Video' }),
    )
    expect(about('Create', { id: video, type: 'Video' })).toBe(`object ${video}`)
    expect(about('Update', { id: video, type: 'Video' })).toBe(about('Delete', video))
    expect(about('Undo', { type: 'Create', id: 'https://peer.example/c/1', actor, object: { id: video } })).toBe(
      about('Create', { id: video, type: 'CacheFile' }),
    )
    expect(about('Undo', { type: 'Announce', actor, object: video })).toBe(about('Announce', video))
    expect(about('Undo', { type: 'Follow', actor, object: video })).toBe(about('Follow', video))
    expect(about('Accept', 'https://ours.example/follows/1')).toBe(about('Reject', 'https://ours.example/follows/1'))
    expect(about('ApproveReply', video)).toBe(about('RejectReply', video))
  })

  it('differs between kinds: a Like is no Announce', () => {
    expect(about('Announce', video)).not.toBe(about('Like', video))
    expect(about('Follow', video)).not.toBe(about('Create', { id: video, type: 'Video' }))
  })

  it('is undefined for activities without a lasting effect', () => {
    expect(of('View', video)).toEqual({ about: null, ends: null })
    expect(of('Flag', [video])).toEqual({ about: null, ends: null })
    expect(about('Undo', { type: 'Block', actor, object: video })).toBeNull()
  })
})

describe('activities that end an object', () => {
  it('end a deleted object, and an undone activity', () => {
    expect(of('Delete', video).ends).toEqual({ thing: `object ${video}` })
    expect(of('Undo', 'https://peer.example/likes/1')).toEqual({
      about: null,
      ends: { activity: 'https://peer.example/likes/1' },
    })
    expect(of('Undo', { type: 'Like', id: 'https://peer.example/likes/1', actor, object: video })).toEqual({
      about: `rate ${video}`,
      ends: { activity: 'https://peer.example/likes/1' },
    })
    expect(of('Update', { id: video, type: 'Video' }).ends).toBeNull()
  })

  it('do not end a Follow, which some software repeats with the same id', () => {
    expect(of('Undo', { type: 'Follow', id: 'https://peer.example/follows/1', actor, object: video }).ends).toBeNull()
  })
})

describe('the time of an activity', () => {
  const arrived = new Date('2026-05-05T12:00:00.000Z')
  const at = (document: JsonObject) => saidAt(document, arrived)?.toISOString() ?? null

  it('is that of its signature, its proof, or its publication', () => {
    const published = '2026-05-05T09:00:00.000Z'
    const proof = { created: '2026-05-05T10:00:00Z' }
    const signature = { created: '2026-05-05T11:00:00.123Z' }
    expect(at({ published, proof, signature })).toBe(signature.created)
    expect(at({ published, proof })).toBe('2026-05-05T10:00:00.000Z')
    expect(at({ published })).toBe(published)
  })

  it('is unknown without a readable timestamp, and never later than the arrival', () => {
    expect(at({})).toBeNull()
    expect(at({ published: 'soon', signature: { created: 5 }, proof: [] })).toBeNull()
    expect(at({ published: '2030-01-01T00:00:00Z' })).toBe(arrived.toISOString())
  })
})
