// The machine `video-import`.

import { expect, it } from '@jest/globals'
import { videoImportStateIds } from '../../../src/state-machines/video-import.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './video-import.table.ts'

describeMachine(table)

it('has the numbers of the contract', () => {
  expect(videoImportStateIds).toEqual({ pending: 1, success: 2, failed: 3, rejected: 4, cancelled: 5, processing: 6 })
})
