// The machine `user-import`.

import { expect, it } from '@jest/globals'
import { userImportStateIds } from '../../../src/state-machines/user-import.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './user-import.table.ts'

describeMachine(table)

it('has the numbers of the contract', () => {
  expect(userImportStateIds).toEqual({ pending: 1, processing: 2, completed: 3, errored: 4 })
})
