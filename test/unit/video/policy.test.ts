import { describe, expect, it } from '@jest/globals'
import type { Viewer } from '../../../src/actors/session/index.ts'
import { assertMayChange, assertMaySee, hasPrivateFiles, isOpen, type SeeOptions } from '../../../src/actors/video/video.policy.ts'

const video = (privacy: number, remote = false) => ({ privacy, remote, blocked: false, ownerAccountId: 1 })
const owner: Viewer = { accountId: 1, role: 2 }
const other: Viewer = { accountId: 2, role: 2 }
const moderator: Viewer = { accountId: 3, role: 1 }

function sees(privacy: number, viewer: Viewer, options?: SeeOptions): string {
  try {
    assertMaySee(video(privacy), viewer, options)
    return 'sees'
  } catch (error) {
    return error instanceof Error && 'kind' in error ? String(error.kind) : 'bug'
  }
}

describe('access to a video', () => {
  it.each([
    [1, null, 'sees'],
    [2, null, 'sees'],
    [3, null, 'unauthenticated'],
    [3, other, 'forbidden'],
    [3, owner, 'sees'],
    [3, moderator, 'sees'],
    [4, null, 'unauthenticated'],
    [4, other, 'sees'],
    [5, null, 'forbidden'],
    [5, other, 'forbidden'],
    [5, owner, 'sees'],
    [5, moderator, 'sees'],
    [99, other, 'forbidden'],
  ] as const)('privacy %i, %j: %s', (privacy, viewer, expected) => {
    expect(sees(privacy, viewer)).toBe(expected)
  })

  it('an unlisted video by its id: its owner and the staff', () => {
    expect(sees(2, null, { byId: true })).toBe('unauthenticated')
    expect(sees(2, other, { byId: true })).toBe('forbidden')
    expect(sees(2, owner, { byId: true })).toBe('sees')
  })

  it('a protected video with its password, and with no other', () => {
    expect(sees(5, null, { password: 'right' })).toBe('sees')
    expect(sees(5, null, { password: 'wrong' })).toBe('forbidden')
    expect(sees(3, null, { password: 'right' })).toBe('unauthenticated')
  })
})

describe('a blocked video', () => {
  const blocked = (privacy: number) => ({ ...video(privacy), blocked: true })

  it.each([1, 2, 3, 4, 5])('with privacy %i is visible to its owner and the staff only', (privacy) => {
    const options = { password: 'right' } as const
    expect(() => assertMaySee(blocked(privacy), null, options)).toThrow('Not authenticated')
    expect(() => assertMaySee(blocked(privacy), other, options)).toThrow('blocked video')
    expect(() => assertMaySee(blocked(privacy), owner)).not.toThrow()
    expect(() => assertMaySee(blocked(privacy), moderator)).not.toThrow()
    expect(isOpen(blocked(privacy))).toBe(false)
    expect(hasPrivateFiles(blocked(privacy))).toBe(true)
  })
})

describe('changes of a video', () => {
  it('are allowed for its owner and the staff, and for nobody if it is remote', () => {
    expect(() => assertMayChange(video(1), owner, 'UPDATE_ANY_VIDEO')).not.toThrow()
    expect(() => assertMayChange(video(1), moderator, 'UPDATE_ANY_VIDEO')).not.toThrow()
    expect(() => assertMayChange(video(1), other, 'UPDATE_ANY_VIDEO')).toThrow('another user')
    expect(() => assertMayChange(video(1, true), moderator, 'UPDATE_ANY_VIDEO')).toThrow('another server')
  })
})
