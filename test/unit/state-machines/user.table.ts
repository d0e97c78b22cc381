// Every move of the machine `user`.

import { initialUser, userMachine } from '../../../src/state-machines/user.ts'
import { defineTable } from './table.ts'

export const table = defineTable({
  machine: userMachine,
  starts: ['active'],
  context: initialUser.context,
  settings: {},
  rows: [
    {
      from: 'active',
      event: { type: 'BLOCKED', reason: 'spam' },
      to: 'blocked',
      gives: { reason: 'spam' },
    },
    { from: 'active', event: { type: 'UNBLOCKED' }, to: 'active' },
    { from: 'active', event: { type: 'REMOVED' }, to: 'deleted' },
    {
      from: 'blocked',
      with: { reason: 'spam' },
      event: { type: 'BLOCKED', reason: null },
      to: 'blocked',
      gives: { reason: null },
    },
    {
      from: 'blocked',
      with: { reason: 'spam' },
      event: { type: 'UNBLOCKED' },
      to: 'active',
      gives: { reason: null },
    },
    {
      from: 'blocked',
      with: { reason: 'spam' },
      event: { type: 'REMOVED' },
      to: 'deleted',
      gives: { reason: null },
    },
  ],
  dues: [
    { state: 'active', ms: null },
    { state: 'blocked', ms: null },
    { state: 'deleted', ms: null },
  ],
})
