// The machine `user-export`.

import { expect, it } from '@jest/globals'
import { userExportStateIds } from '../../../src/state-machines/user-export.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './user-export.table.ts'

describeMachine(table)

it('has the numbers of the contract', () => {
  expect(userExportStateIds).toEqual({ pending: 1, processing: 2, completed: 3, errored: 4 })
})
