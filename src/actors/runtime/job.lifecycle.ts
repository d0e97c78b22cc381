// The lifecycle of a job: the machine `job`, whose context is in columns of the row.

import type { Sql } from '../../platform/database/index.ts'
import { dueIn, initialJob, type JobState, jobMachine } from '../../state-machines/job.ts'
import { DomainError } from './domain-error.ts'
import { defineLifecycle, inBulk } from './lifecycle.ts'

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

const CANCELLED = inBulk(jobLifecycle, { type: 'CANCELLED' })

/** Cancels the open jobs that the SQL `condition` selects; returns true if there were some. */
export async function cancelJobs(query: Sql, condition: string, values: readonly unknown[]): Promise<boolean> {
  const cancelled = await query(
    `update job set ${CANCELLED.set}, finished_at = now() where ${CANCELLED.where} and ${condition} returning id`,
    values,
  )
  return cancelled.length > 0
}

export const removeUnstartedJobs = (query: Sql, type: string) =>
  query("delete from job where type = $1 and state in ('waiting', 'delayed') and started_at is null", [type])
