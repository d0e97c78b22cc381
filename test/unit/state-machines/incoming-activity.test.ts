// The machine `incoming-activity`.

import { describe, expect, it } from '@jest/globals'
import { incomingActivityMachine, initialIncomingActivity } from '../../../src/state-machines/incoming-activity.ts'
import { step } from '../../../src/state-machines/step.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './incoming-activity.table.ts'

describeMachine(table)

describe('an incoming activity', () => {
  it('that fails each time is parked after its fifth attempt, with the reason', () => {
    let at: Parameters<typeof step<typeof incomingActivityMachine>>[1] = initialIncomingActivity(true)
    let tries = 0
    while (at.state !== 'parked') {
      if (at.state === 'retrying') at = step(incomingActivityMachine, at, { type: 'TIMED_OUT' })
      at = step(incomingActivityMachine, at, { type: 'FAILED', reason: 'no such video', settings: table.settings })
      tries += 1
    }
    expect([tries, at.context]).toEqual([5, { tries: 5, reason: 'no such video' }])
  })

  it('without a verified signature has no effect', () => {
    expect(initialIncomingActivity(false).state).toBe('unverified')
    expect(() => step(incomingActivityMachine, initialIncomingActivity(false), { type: 'HANDLED' })).toThrow()
  })
})
