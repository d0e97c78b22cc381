// The machine `follow`.

import { describe, expect, it } from '@jest/globals'
import { type FollowEvent, followMachine, initialFollow } from '../../../src/state-machines/follow.ts'
import { IllegalMove, step } from '../../../src/state-machines/step.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './follow.table.ts'

describeMachine(table)

const play = (...events: FollowEvent[]) =>
  events.reduce((at: Parameters<typeof step<typeof followMachine>>[1], event) => step(followMachine, at, event), initialFollow)
const requested = { type: 'REQUESTED', by: 'us', at: 0, answer: 'awaited' } as const

describe('a follow', () => {
  it('that was rejected can be requested again and accepted', () => {
    expect(play(requested, { type: 'REJECTED' }, { ...requested, at: 9 }, { type: 'ACCEPTED' })).toMatchObject({
      state: 'accepted',
      context: { askedAt: 9, tries: 1 },
    })
  })

  it('cannot be accepted or rejected twice by an admin', () => {
    const accepted = play(requested, { type: 'ACCEPTED' })
    expect(() => step(followMachine, accepted, { type: 'ACCEPTED' })).toThrow(IllegalMove)
    const rejected = play(requested, { type: 'REJECTED' })
    expect(() => step(followMachine, rejected, { type: 'REJECTED' })).toThrow(IllegalMove)
  })

  it('that is requested again while it is accepted answers without changing', () => {
    expect(step(followMachine, play(requested, { type: 'ACCEPTED' }), requested).changed).toBe(false)
  })

  it('to a host that never answers is repeated for 7 days and then shown as rejected', () => {
    let at: Parameters<typeof step<typeof followMachine>>[1] = play(requested)
    let now = 0
    let sent = 1
    while (at.state === 'pending') {
      now += table.dueIn?.(at.state, at.context, table.settings) ?? 0
      at = step(followMachine, at, { type: 'TIMED_OUT', at: now, settings: table.settings })
      if (at.state === 'pending') sent += 1
    }
    const day = 86_400_000
    expect(at.state).toBe('expired')
    expect(now).toBeGreaterThanOrEqual(7 * day)
    expect(now).toBeLessThan(7.5 * day)
    expect(sent).toBe(23)
  })
})
