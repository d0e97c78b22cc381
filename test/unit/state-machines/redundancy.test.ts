// The machine `redundancy`.

import { describe, expect, it } from '@jest/globals'
import { initialRedundancy, redundancyMachine, reportedRedundancy } from '../../../src/state-machines/redundancy.ts'
import { step } from '../../../src/state-machines/step.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './redundancy.table.ts'

describeMachine(table)

describe('a copy', () => {
  it('whose renewal fails is withdrawn from servers that know the older one', () => {
    let at: Parameters<typeof step<typeof redundancyMachine>>[1] = initialRedundancy
    for (const type of ['STARTED', 'STORED', 'ANNOUNCED', 'OUTDATED', 'STARTED'] as const) {
      at = step(redundancyMachine, at, { type })
    }
    expect(step(redundancyMachine, at, { type: 'FAILED', error: 'gone' }).state).toBe('expiring')
  })

  it('of another server ends at once', () => {
    expect(step(redundancyMachine, reportedRedundancy(5), { type: 'REMOVED' }).state).toBe('removed')
  })
})
