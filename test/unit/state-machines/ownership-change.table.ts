// Every move of the machine `ownership-change`.

import { initialOwnershipChange, ownershipChangeMachine } from '../../../src/state-machines/ownership-change.ts'
import { defineTable } from './table.ts'

export const table = defineTable({
  machine: ownershipChangeMachine,
  starts: ['waiting'],
  context: initialOwnershipChange.context,
  settings: null,
  rows: [
    { from: 'waiting', event: { type: 'ACCEPTED' }, to: 'accepted' },
    { from: 'waiting', event: { type: 'REFUSED' }, to: 'refused' },
  ],
  dues: [
    { state: 'waiting', ms: null },
    { state: 'accepted', ms: null },
    { state: 'refused', ms: null },
  ],
})
