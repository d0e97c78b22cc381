// Every move of the machine `user-export`.

import { dueIn, initialUserExport, userExportMachine } from '../../../src/state-machines/user-export.ts'
import { defineTable } from './table.ts'

const settings = { lease: 30_000, check_owner_every: 60_000, max_lost: 3, expiration: 172_800_000 }
const timedOut = { type: 'TIMED_OUT', settings } as const
const released = { ...timedOut, isReleased: true } as const
const failed = { type: 'FAILED', error: 'no room' } as const
const deleted = { type: 'DELETED' } as const
const lostTooOften = { lost: 3, error: 'The worker was lost too often' }

export const table = defineTable({
  machine: userExportMachine,
  starts: ['pending'],
  context: initialUserExport.context,
  settings,
  dueIn,
  rows: [
    { from: 'pending', event: { type: 'STARTED' }, to: 'processing' },
    { from: 'pending', event: failed, to: 'errored', gives: { error: 'no room' } },
    { from: 'pending', event: deleted, to: 'deleted' },
    { from: 'pending', with: { lost: 2 }, event: timedOut, to: 'pending' },
    { from: 'pending', event: { type: 'SUCCEEDED' }, to: 'illegal' },

    { from: 'processing', event: { type: 'SUCCEEDED' }, to: 'completed' },
    { from: 'processing', event: failed, to: 'errored', gives: { error: 'no room' } },
    { from: 'processing', event: deleted, to: 'deleted' },
    { from: 'processing', with: { lost: 1 }, event: timedOut, to: 'pending', gives: { lost: 2 } },
    { from: 'processing', with: { lost: 2 }, event: timedOut, to: 'errored', gives: lostTooOften },
    { from: 'processing', with: { lost: 2 }, event: released, to: 'pending' },
    { from: 'processing', event: { type: 'STARTED' }, to: 'illegal' },

    { from: 'completed', event: deleted, to: 'deleted' },
    { from: 'completed', event: timedOut, to: 'expired' },
    { from: 'completed', event: failed, to: 'illegal' },
    { from: 'completed', event: { type: 'STARTED' }, to: 'illegal' },

    { from: 'errored', event: deleted, to: 'deleted' },
    { from: 'errored', event: timedOut, to: 'expired' },
    { from: 'errored', event: { type: 'SUCCEEDED' }, to: 'illegal' },

    { from: 'expired', event: deleted, to: 'illegal' },
    { from: 'expired', event: { type: 'STARTED' }, to: 'illegal' },
    { from: 'deleted', event: { type: 'SUCCEEDED' }, to: 'illegal' },
    { from: 'deleted', event: timedOut, to: 'illegal' },
  ],
  dues: [
    { state: 'pending', ms: 60_000 },
    { state: 'processing', ms: 30_000 },
    { state: 'completed', ms: 172_800_000 },
    { state: 'errored', ms: 172_800_000 },
    { state: 'expired', ms: null },
    { state: 'deleted', ms: null },
  ],
})
