// Every move of the machine `incoming-activity`.

import { dueIn, incomingActivityMachine, initialIncomingActivity } from '../../../src/state-machines/incoming-activity.ts'
import { defineTable } from './table.ts'

const settings = { initial_backoff: 1000, max_backoff: 60_000, attempts: 5 }
const failed = { type: 'FAILED', reason: 'time-out', settings } as const
const tried = (tries: number) => ({ tries, reason: 'time-out' })

export const table = defineTable({
  machine: incomingActivityMachine,
  starts: ['unverified', 'received'],
  context: initialIncomingActivity(true).context,
  settings,
  dueIn,
  rows: [
    {
      from: 'unverified',
      with: tried(2),
      event: { type: 'VERIFIED' },
      to: 'received',
      gives: { tries: 0, reason: null },
    },
    { from: 'unverified', event: { type: 'FORGED', reason: 'digest' }, to: 'dropped', gives: { reason: 'digest' } },
    { from: 'unverified', event: failed, to: 'unverified', gives: tried(1) },
    { from: 'unverified', with: tried(4), event: failed, to: 'dropped', gives: tried(5) },
    { from: 'unverified', event: { type: 'TIMED_OUT' }, to: 'unverified' },

    { from: 'received', event: { type: 'HANDLED' }, to: 'done' },
    { from: 'received', event: failed, to: 'retrying', gives: tried(1) },
    { from: 'received', with: tried(4), event: failed, to: 'parked', gives: tried(5) },
    { from: 'received', event: { type: 'POISONED', reason: 'bug' }, to: 'parked', gives: { reason: 'bug' } },

    { from: 'retrying', with: tried(1), event: { type: 'HANDLED' }, to: 'done' },
    { from: 'retrying', with: tried(1), event: failed, to: 'retrying', gives: tried(2) },
    { from: 'retrying', with: tried(4), event: failed, to: 'parked', gives: tried(5) },
    {
      from: 'retrying',
      with: tried(1),
      event: { type: 'POISONED', reason: 'bug' },
      to: 'parked',
      gives: { reason: 'bug' },
    },
    { from: 'retrying', with: tried(1), event: { type: 'TIMED_OUT' }, to: 'received' },

    { from: 'parked', with: tried(5), event: { type: 'RETRIED' }, to: 'received', gives: { tries: 0, reason: null } },
    { from: 'parked', with: tried(5), event: { type: 'GIVEN_UP' }, to: 'done' },
  ],
  dues: [
    { state: 'unverified', ms: null },
    { state: 'unverified', with: tried(3), ms: 4000 },
    { state: 'received', with: tried(3), ms: null },
    { state: 'retrying', with: tried(1), ms: 1000 },
    { state: 'retrying', with: tried(20), ms: 60_000 },
    { state: 'done', ms: null },
    { state: 'dropped', ms: null },
    { state: 'parked', with: tried(5), ms: null },
  ],
})
