// Every move of the machine `runner-job`.

import { dueIn, initialRunnerJob, runnerJobMachine } from '../../../src/state-machines/runner-job.ts'
import { defineTable } from './table.ts'

const failed = { type: 'FAILED', maxFailures: 5 } as const
const silent = { type: 'TIMED_OUT', maxLosses: 5 } as const
const cancelled = { type: 'CANCELLED' } as const

export const table = defineTable({
  machine: runnerJobMachine,
  starts: ['waiting-for-parent', 'pending'],
  context: initialRunnerJob(false).context,
  settings: { stalled_after: 120_000, lease: 30_000 },
  dueIn,
  rows: [
    { from: 'waiting-for-parent', event: { type: 'PARENT_COMPLETED' }, to: 'pending' },
    { from: 'waiting-for-parent', event: { type: 'PARENT_FAILED' }, to: 'parent-errored' },
    { from: 'waiting-for-parent', event: { type: 'PARENT_CANCELLED' }, to: 'parent-cancelled' },
    { from: 'waiting-for-parent', event: cancelled, to: 'cancelled' },

    { from: 'pending', event: { type: 'ACCEPTED' }, to: 'processing' },
    { from: 'pending', event: cancelled, to: 'cancelled' },

    { from: 'processing', event: { type: 'UPDATED' }, to: 'processing' },
    { from: 'processing', with: { failures: 1 }, event: { type: 'ABORTED' }, to: 'pending' },
    { from: 'processing', event: { type: 'RECEIVED' }, to: 'completing' },
    { from: 'processing', with: { failures: 3 }, event: failed, to: 'pending', gives: { failures: 4 } },
    { from: 'processing', with: { failures: 4 }, event: failed, to: 'errored', gives: { failures: 5 } },
    { from: 'processing', with: { lostLeases: 3 }, event: silent, to: 'pending', gives: { lostLeases: 4 } },
    { from: 'processing', with: { lostLeases: 4 }, event: silent, to: 'errored', gives: { lostLeases: 5 } },
    { from: 'processing', event: cancelled, to: 'cancelled' },

    { from: 'completing', event: { type: 'UPDATED' }, to: 'completing' },
    { from: 'completing', event: { type: 'ABORTED' }, to: 'pending' },
    { from: 'completing', event: { type: 'DONE' }, to: 'completed' },
    { from: 'completing', event: failed, to: 'pending', gives: { failures: 1 } },
    { from: 'completing', with: { failures: 4 }, event: failed, to: 'errored', gives: { failures: 5 } },
    { from: 'completing', event: silent, to: 'pending', gives: { lostLeases: 1 } },
    { from: 'completing', with: { lostLeases: 4 }, event: silent, to: 'errored', gives: { lostLeases: 5 } },
    { from: 'completing', event: cancelled, to: 'cancelled' },
  ],
  dues: [
    { state: 'waiting-for-parent', ms: null },
    { state: 'pending', ms: null },
    { state: 'processing', ms: 120_000 },
    { state: 'completing', ms: 30_000 },
    { state: 'completed', ms: null },
    { state: 'errored', ms: null },
    { state: 'cancelled', ms: null },
    { state: 'parent-errored', ms: null },
    { state: 'parent-cancelled', ms: null },
  ],
})
