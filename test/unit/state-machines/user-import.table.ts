// Every move of the machine `user-import`.

import { dueIn, initialUserImport, userImportMachine } from '../../../src/state-machines/user-import.ts'
import { defineTable } from './table.ts'

const settings = { lease: 30_000, check_owner_every: 60_000, max_lost: 3 }
const timedOut = { type: 'TIMED_OUT', settings } as const
const released = { ...timedOut, isReleased: true } as const
const started = { type: 'STARTED', parts: 3 } as const
const failed = { type: 'FAILED', error: 'no archive' } as const
const cancelled = { type: 'CANCELLED' } as const
const partDone = { type: 'PART_DONE' } as const
const uploaded = { type: 'UPLOADED' } as const

export const table = defineTable({
  machine: userImportMachine,
  starts: ['uploading'],
  context: initialUserImport.context,
  settings,
  dueIn,
  rows: [
    { from: 'uploading', event: uploaded, to: 'pending' },
    { from: 'uploading', event: cancelled, to: 'cancelled' },
    { from: 'uploading', event: started, to: 'illegal' },
    { from: 'uploading', event: failed, to: 'illegal' },
    { from: 'uploading', event: timedOut, to: 'illegal' },

    { from: 'pending', event: started, to: 'processing', gives: { parts: 3 } },
    { from: 'pending', with: { part: 1, parts: 3 }, event: started, to: 'processing' },
    { from: 'pending', event: failed, to: 'errored', gives: { error: 'no archive' } },
    { from: 'pending', event: cancelled, to: 'cancelled' },
    { from: 'pending', with: { lost: 2 }, event: timedOut, to: 'pending' },
    { from: 'pending', event: partDone, to: 'illegal' },
    { from: 'pending', event: uploaded, to: 'illegal' },

    { from: 'processing', with: { parts: 3, lost: 2 }, event: partDone, to: 'processing', gives: { part: 1, lost: 0 } },
    { from: 'processing', with: { part: 2, parts: 3 }, event: partDone, to: 'completed', gives: { part: 3 } },
    { from: 'processing', event: failed, to: 'errored', gives: { error: 'no archive' } },
    { from: 'processing', event: cancelled, to: 'cancelled' },
    { from: 'processing', with: { lost: 1 }, event: timedOut, to: 'pending', gives: { lost: 2 } },
    {
      from: 'processing',
      with: { lost: 2 },
      event: timedOut,
      to: 'errored',
      gives: { lost: 3, error: 'The worker was lost too often' },
    },
    { from: 'processing', with: { part: 1, parts: 3, lost: 2 }, event: released, to: 'pending' },
    { from: 'processing', event: started, to: 'illegal' },

    { from: 'completed', event: cancelled, to: 'illegal' },
    { from: 'completed', event: partDone, to: 'illegal' },
    { from: 'errored', event: started, to: 'illegal' },
    { from: 'errored', event: failed, to: 'illegal' },
    { from: 'cancelled', event: uploaded, to: 'illegal' },
    { from: 'cancelled', event: cancelled, to: 'illegal' },
  ],
  dues: [
    { state: 'uploading', ms: null },
    { state: 'pending', ms: 60_000 },
    { state: 'processing', ms: 30_000 },
    { state: 'completed', ms: null },
    { state: 'errored', ms: null },
    { state: 'cancelled', ms: null },
  ],
})
