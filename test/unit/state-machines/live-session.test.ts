// The machine `live-session`.

import { expect, it } from '@jest/globals'
import { liveErrorIds } from '../../../src/state-machines/live-session.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './live-session.table.ts'

describeMachine(table)

it('has the numbers of the contract', () => {
  expect(Object.values(liveErrorIds)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(liveErrorIds).toMatchObject({ 'duration-exceeded': 2, 'quota-exceeded': 3, blocked: 5, 'invalid-input': 9 })
})
