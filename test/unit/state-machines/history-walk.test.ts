// The machine `history-walk`.

import { describe, expect, it } from '@jest/globals'
import { historyWalkMachine, initialHistoryWalk } from '../../../src/state-machines/history-walk.ts'
import { step } from '../../../src/state-machines/step.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './history-walk.table.ts'

describeMachine(table)

describe('the walk over a history', () => {
  it('of a server that is away for eight hours continues', () => {
    let at: Parameters<typeof step<typeof historyWalkMachine>>[1] = initialHistoryWalk
    let waited = 0
    while (at.state !== 'failed') {
      at = step(historyWalkMachine, at, { type: 'STARTED' })
      at = step(historyWalkMachine, at, { type: 'FAILED', hopeless: false, settings: table.settings })
      if (at.state === 'failed') break
      waited += table.dueIn?.(at.state, at.context, table.settings) ?? 0
      at = step(historyWalkMachine, at, { type: 'TIMED_OUT' })
    }
    expect(waited / 3_600_000).toBeGreaterThan(8)
  })

  it('gives up items that are never available', () => {
    let at: Parameters<typeof step<typeof historyWalkMachine>>[1] = initialHistoryWalk
    let rounds = 0
    while (at.state !== 'done') {
      at = step(historyWalkMachine, at, { type: 'STARTED' })
      at = step(historyWalkMachine, at, { type: 'FINISHED', aside: 1, settings: table.settings })
      rounds += 1
      if (at.state === 'incomplete') at = step(historyWalkMachine, at, { type: 'TIMED_OUT' })
    }
    expect(rounds).toBe(10)
  })
})
