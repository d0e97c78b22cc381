// The queue of jobs for the command line.

import type { ActorDeps } from '../runtime/index.ts'
import type { JobQueue } from './job-queue.commands.ts'
import { findJob, type JobListQuery, type ListedJob, listJobs } from './job-queue.queries.ts'

export interface JobOperator extends JobQueue {
  list(query: JobListQuery): Promise<{ total: number; rows: ListedJob[] }>
  /** Undefined if there is no such job. */
  find(id: string): Promise<ListedJob | undefined>
}

export const makeJobOperator = ({ db, clock, jobQueue }: Pick<ActorDeps, 'db' | 'clock'> & { jobQueue: JobQueue }): JobOperator => ({
  ...jobQueue,
  list: (query) => listJobs(db, query, clock.now()),
  find: (id) => findJob(db, id, clock.now()),
})
