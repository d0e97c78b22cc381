// The queue of jobs for the command line.

import type { ActorDeps } from '../runtime/index.ts'
import type { JobQueue } from './job-queue.commands.ts'
import { findJob, type JobListQuery, type ListedJob, listJobs } from './job-queue.queries.ts'

export type JobOperator = ReturnType<typeof makeJobOperator>

export const makeJobOperator = ({ db, clock, jobQueue }: Pick<ActorDeps, 'db' | 'clock'> & { jobQueue: JobQueue }) => ({
  ...jobQueue,
  list: (query: JobListQuery): Promise<{ total: number; rows: ListedJob[] }> => listJobs(db, query, clock.now()),
  /** Undefined if there is no such job. */
  find: (id: string): Promise<ListedJob | undefined> => findJob(db, id, clock.now()),
})
