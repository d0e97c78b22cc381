// The lifecycle of a job: the machine `job`, whose context is in columns of the row.

import { dueIn, initialJob, type JobState, jobMachine } from '../../state-machines/job.ts'
import { DomainError } from './domain-error.ts'
import { defineLifecycle } from './lifecycle.ts'

export interface StoredJob {
  id: number
  state: JobState
  failures: number
  lostLeases: number
}

export const jobLifecycle = defineLifecycle({
  table: 'job',
  machine: jobMachine,
  initial: initialJob(false),
  dueIn,
  keepsDueAt: true,
  touches: false,
  read: ({ state, failures, lostLeases }: StoredJob) => ({ state, context: { failures, lostLeases, wait: 0 } }),
  columns: ({ state, context: { failures, lostLeases } }) => ({
    state,
    failures,
    lostLeases,
    ...(state === 'active' ? {} : { leaseOwner: null, leaseUntil: null }),
    ...(state === 'completed' ? { progress: 100 } : {}),
  }),
  refusal: () => new DomainError('conflict', 'This job did not fail.'),
})
