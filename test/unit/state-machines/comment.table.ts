// Every move of the machine `comment`.

import { commentMachine } from '../../../src/state-machines/comment.ts'
import { defineTable } from './table.ts'

export const table = defineTable({
  machine: commentMachine,
  starts: ['held', 'shown'],
  context: {},
  settings: {},
  rows: [
    { from: 'held', event: { type: 'APPROVED' }, to: 'shown' },
    { from: 'held', event: { type: 'EDITED', held: true }, to: 'held' },
    { from: 'held', event: { type: 'REMOVED' }, to: 'removed' },
    { from: 'shown', event: { type: 'EDITED', held: true }, to: 'held' },
    { from: 'shown', event: { type: 'EDITED', held: false }, to: 'shown' },
    { from: 'shown', event: { type: 'REMOVED' }, to: 'removed' },
  ],
  dues: [
    { state: 'held', ms: null },
    { state: 'shown', ms: null },
    { state: 'removed', ms: null },
  ],
})
