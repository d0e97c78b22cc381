// The machine `registration`.

import { describe, expect, it } from '@jest/globals'
import { registrationMachine } from '../../../src/state-machines/registration.ts'
import { can, IllegalMove, step } from '../../../src/state-machines/step.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './registration.table.ts'

describeMachine(table)

describe('a registration', () => {
  it('that was decided cannot be decided again, and its link verifies nothing', () => {
    for (const state of ['accepted', 'rejected'] as const) {
      const decided = { state, context: { emailVerified: false } }
      for (const type of ['ACCEPTED', 'REJECTED', 'EMAIL_VERIFIED', 'LINK_ASKED'] as const) {
        expect(() => step(registrationMachine, decided, { type })).toThrow(IllegalMove)
      }
    }
  })

  it('is verified once, and opening the link again changes nothing', () => {
    const requested = { state: 'requested', context: { emailVerified: false } } as const
    const verified = step(registrationMachine, requested, { type: 'EMAIL_VERIFIED' })
    expect(verified).toEqual({ state: 'verified', context: { emailVerified: true }, changed: true })
    expect(step(registrationMachine, verified, { type: 'EMAIL_VERIFIED' }).changed).toBe(false)
    expect(can(registrationMachine, verified, { type: 'LINK_ASKED' })).toBe(false)
  })
})
