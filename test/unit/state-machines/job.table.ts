// Every move of the machine `job`.

import { dueIn, initialJob, jobMachine } from '../../../src/state-machines/job.ts'
import { defineTable } from './table.ts'

const failed = { type: 'FAILED', attempts: 3, isPermanent: false } as const
const lost = { type: 'LEASE_LOST', maxLostLeases: 2 } as const
const stopped = { type: 'STOPPED' } as const
const { context } = initialJob(false)

export const table = defineTable({
  machine: jobMachine,
  starts: ['waiting', 'delayed'],
  context,
  settings: { initial_backoff: 1000, max_backoff: 60_000 },
  dueIn,
  rows: [
    { from: 'waiting', event: { type: 'CLAIMED' }, to: 'active' },
    { from: 'waiting', event: { type: 'CANCELLED' }, to: 'cancelled' },
    { from: 'delayed', with: { wait: 30_000 }, event: { type: 'CLAIMED' }, to: 'active', gives: { wait: 0 } },
    { from: 'delayed', event: { type: 'CANCELLED' }, to: 'cancelled' },

    { from: 'active', event: { type: 'PROGRESSED' }, to: 'active' },
    { from: 'active', event: { type: 'DONE' }, to: 'completed' },
    { from: 'active', with: { failures: 1 }, event: failed, to: 'delayed', gives: { failures: 2 } },
    { from: 'active', with: { failures: 2 }, event: failed, to: 'failed' },
    { from: 'active', event: { ...failed, isPermanent: true }, to: 'failed' },
    {
      from: 'active',
      with: { failures: 2 },
      event: { type: 'FAILURE_UNREPORTED' },
      to: 'delayed',
      gives: { failures: 3 },
    },
    { from: 'active', with: { lostLeases: 1 }, event: lost, to: 'waiting', gives: { lostLeases: 2 } },
    { from: 'active', with: { lostLeases: 2 }, event: lost, to: 'active', gives: { lostLeases: 3 } },
    { from: 'active', with: { lostLeases: 3 }, event: { type: 'GIVEN_UP' }, to: 'failed' },
    {
      from: 'active',
      with: { failures: 1 },
      event: { type: 'OUTAGE', wait: 30_000 },
      to: 'delayed',
      gives: { wait: 30_000 },
    },
    { from: 'active', with: { failures: 1 }, event: { type: 'POSTPONED' }, to: 'delayed' },
    { from: 'active', event: { type: 'GIVEN_BACK' }, to: 'waiting' },
    { from: 'active', event: { type: 'CANCELLED' }, to: 'cancelled' },
    ...(['waiting', 'delayed', 'active'] as const).map(
      (from) => ({ from, event: stopped, to: 'active', gives: { lostLeases: 1_000_000_000 } }) as const,
    ),

    { from: 'failed', with: { failures: 3, lostLeases: 1 }, event: { type: 'RETRIED' }, to: 'waiting', gives: context },
  ],
  dues: [
    { state: 'waiting', ms: null },
    { state: 'delayed', ms: 1000 },
    { state: 'delayed', with: { failures: 3 }, ms: 4000 },
    { state: 'delayed', with: { failures: 30 }, ms: 60_000 },
    { state: 'delayed', with: { failures: 1, wait: 30_000 }, ms: 30_000 },
    { state: 'active', ms: null },
    { state: 'completed', ms: null },
    { state: 'failed', ms: null },
    { state: 'cancelled', ms: null },
  ],
})
