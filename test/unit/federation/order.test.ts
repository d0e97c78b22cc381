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

describe('the subject of an activity', () => {
  it('is the same for everything that decides about one thing', () => {
    expect(of('Like', video)).toEqual({ about: `rate ${video}` })
    expect(of('Dislike', video)).toEqual(of('Like', video))
    expect(of('Undo', { type: 'Like', id: 'https://peer.example/likes/1', actor, object: video })).toEqual(
      of('Like', { id: video, type: 'Video' }),
    )
    expect(of('Create', { id: video, type: 'Video' })).toEqual({ about: `object ${video}` })
    expect(of('Update', { id: video, type: 'Video' })).toEqual(of('Delete', video))
    expect(of('Undo', { type: 'Create', id: 'https://peer.example/c/1', actor, object: { id: video } })).toEqual(
      of('Create', { id: video, type: 'CacheFile' }),
    )
    expect(of('Undo', { type: 'Announce', actor, object: video })).toEqual(of('Announce', video))
    expect(of('Undo', { type: 'Follow', actor, object: video })).toEqual(of('Follow', video))
    expect(of('Accept', 'https://ours.example/follows/1')).toEqual(of('Reject', 'https://ours.example/follows/1'))
    expect(of('ApproveReply', video)).toEqual(of('RejectReply', video))
  })

  it('differs between kinds: a like is no share', () => {
    expect(of('Announce', video)).not.toEqual(of('Like', video))
    expect(of('Follow', video)).not.toEqual(of('Create', { id: video, type: 'Video' }))
  })

  it('is known by the id alone when an Undo names no more', () => {
    expect(of('Undo', 'https://peer.example/likes/1')).toEqual({ undone: 'https://peer.example/likes/1' })
    expect(of('Undo', { type: 'Like', id: 'https://peer.example/likes/1' })).toEqual({
      undone: 'https://peer.example/likes/1',
    })
  })

  it('is nothing for what only tells something', () => {
    expect(of('View', video)).toBeNull()
    expect(of('Flag', [video])).toBeNull()
    expect(of('Undo', { type: 'Block', actor, object: video })).toBeNull()
  })
})

describe('when an activity was said', () => {
  const arrived = new Date('2026-05-05T12:00:00.000Z')
  const at = (document: JsonObject) => saidAt(document, arrived)?.toISOString() ?? null

  it('is the time of its signature, its proof, or its publication', () => {
    const published = '2026-05-05T09:00:00.000Z'
    const proof = { created: '2026-05-05T10:00:00Z' }
    const signature = { created: '2026-05-05T11:00:00.123Z' }
    expect(at({ published, proof, signature })).toBe(signature.created)
    expect(at({ published, proof })).toBe('2026-05-05T10:00:00.000Z')
    expect(at({ published })).toBe(published)
  })

  it('is not known when nothing readable tells, and never later than the arrival', () => {
    expect(at({})).toBeNull()
    expect(at({ published: 'soon', signature: { created: 5 }, proof: [] })).toBeNull()
    expect(at({ published: '2030-01-01T00:00:00Z' })).toBe(arrived.toISOString())
  })
})
