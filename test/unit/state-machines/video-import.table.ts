// Every move of the machine `video-import`.

import { dueIn, initialVideoImport, videoImportMachine } from '../../../src/state-machines/video-import.ts'
import { defineTable } from './table.ts'

const settings = { lease: 30_000, check_owner_every: 60_000, max_lost: 3 }
const timedOut = { type: 'TIMED_OUT', settings } as const
const released = { ...timedOut, isReleased: true } as const
const failed = { type: 'FAILED', error: 'nothing there' } as const
const rejected = { type: 'REJECTED', error: 'not here' } as const
const cancelled = { type: 'CANCELLED' } as const
const lostTooOften = { lost: 3, error: 'The worker was lost too often' }

export const table = defineTable({
  machine: videoImportMachine,
  starts: ['pending'],
  context: initialVideoImport.context,
  settings,
  dueIn,
  rows: [
    { from: 'pending', event: { type: 'STARTED' }, to: 'processing' },
    { from: 'pending', event: failed, to: 'failed', gives: { error: 'nothing there' } },
    { from: 'pending', event: rejected, to: 'rejected', gives: { error: 'not here' } },
    { from: 'pending', event: cancelled, to: 'cancelled' },
    { from: 'pending', with: { lost: 2 }, event: timedOut, to: 'pending' },
    { from: 'pending', event: { type: 'SUCCEEDED' }, to: 'illegal' },
    { from: 'pending', event: { type: 'RETRIED' }, to: 'illegal' },

    { from: 'processing', event: { type: 'SUCCEEDED' }, to: 'success' },
    { from: 'processing', event: failed, to: 'failed', gives: { error: 'nothing there' } },
    { from: 'processing', event: rejected, to: 'rejected', gives: { error: 'not here' } },
    { from: 'processing', event: cancelled, to: 'cancelled' },
    { from: 'processing', with: { lost: 1 }, event: timedOut, to: 'pending', gives: { lost: 2 } },
    { from: 'processing', with: { lost: 2 }, event: timedOut, to: 'failed', gives: lostTooOften },
    { from: 'processing', with: { lost: 2 }, event: released, to: 'pending' },
    { from: 'processing', event: { type: 'STARTED' }, to: 'illegal' },

    { from: 'failed', with: lostTooOften, event: { type: 'RETRIED' }, to: 'pending', gives: { lost: 0, error: null } },
    { from: 'failed', event: cancelled, to: 'illegal' },
    { from: 'failed', event: { type: 'SUCCEEDED' }, to: 'illegal' },

    { from: 'success', event: { type: 'RETRIED' }, to: 'illegal' },
    { from: 'success', event: cancelled, to: 'illegal' },
    { from: 'rejected', event: { type: 'RETRIED' }, to: 'illegal' },
    { from: 'cancelled', event: { type: 'RETRIED' }, to: 'illegal' },
    { from: 'cancelled', event: { type: 'STARTED' }, to: 'illegal' },
  ],
  dues: [
    { state: 'pending', ms: 60_000 },
    { state: 'processing', ms: 30_000 },
    { state: 'success', ms: null },
    { state: 'failed', ms: null },
    { state: 'rejected', ms: null },
    { state: 'cancelled', ms: null },
  ],
})
