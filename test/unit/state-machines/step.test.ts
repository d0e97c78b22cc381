// The step function of all machines.

import { describe, expect, it } from '@jest/globals'
import { backOff } from '../../../src/state-machines/back-off.ts'
import { followMachine, initialFollow } from '../../../src/state-machines/follow.ts'
import { can, IllegalMove, step } from '../../../src/state-machines/step.ts'

const requested = { type: 'REQUESTED', by: 'us', at: 1, answer: 'awaited' } as const

describe('step', () => {
  it('returns the next state and context, without changing its input', () => {
    const before = structuredClone(initialFollow)
    expect(step(followMachine, initialFollow, requested)).toEqual({
      state: 'pending',
      context: { ...initialFollow.context, by: 'us', askedAt: 1, tries: 1 },
      changed: true,
    })
    expect(initialFollow).toEqual(before)
  })

  it('accepts a snapshot stored as JSON', () => {
    const stored = JSON.parse(JSON.stringify(step(followMachine, initialFollow, requested)))
    expect(step(followMachine, stored, { type: 'ACCEPTED' }).state).toBe('accepted')
  })

  it('names machine, state and event of an invalid transition', () => {
    expect(can(followMachine, initialFollow, { type: 'ACCEPTED' })).toBe(false)
    try {
      step(followMachine, initialFollow, { type: 'ACCEPTED' })
      throw new Error('was allowed')
    } catch (error) {
      expect(error).toBeInstanceOf(IllegalMove)
      expect(error).toMatchObject({ machine: 'follow', state: 'none', event: 'ACCEPTED' })
    }
  })

  it('refuses an unknown state, as of a damaged row', () => {
    const damaged = JSON.parse('{"state":"lost","context":{}}')
    expect(() => step(followMachine, damaged, { type: 'ACCEPTED' })).toThrow("State 'lost' does not exist")
  })
})

describe('backOff', () => {
  it('doubles from the first delay up to the maximum', () => {
    const settings = { initial_backoff: 60_000, max_backoff: 600_000 }
    expect([0, 1, 2, 3, 4, 5, 6, 5000].map((tries) => backOff(settings, tries) / 60_000)).toEqual([1, 1, 2, 4, 8, 10, 10, 10])
  })
})
