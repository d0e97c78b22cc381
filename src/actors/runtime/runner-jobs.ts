// Jobs of remote runners: rows of the `job` table that a runner leases instead of a local worker. Their lifecycle is the machine
// `runner-job`, whose states no local worker claims; the nouns describe the work, and the noun `runner` speaks the protocol.

import type { Sql } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import {
  dueIn,
  initialRunnerJob,
  type RunnerJobEvent,
  type RunnerJobSettings,
  type RunnerJobState,
  runnerJobMachine,
} from '../../state-machines/runner-job.ts'
import { DomainError } from './domain-error.ts'
import { defineLifecycle, inBulk } from './lifecycle.ts'
import type { NewJob, Unit } from './unit.ts'

export interface StoredRunnerJob {
  id: number
  state: RunnerJobState
  failures: number
  lostLeases: number
}

/** Published when jobs can be taken. */
export const RUNNER_JOBS_TOPIC = 'runner-jobs'
/** The queue in the table, which no local worker serves. */
const QUEUE = 'runner'

export const runnerJobLifecycle = defineLifecycle({
  table: 'job',
  machine: runnerJobMachine,
  initial: initialRunnerJob(false),
  dueIn: (state, context, settings: RunnerJobSettings) => dueIn(state, context, settings),
  keepsDueAt: true,
  read: ({ state, failures, lostLeases }: StoredRunnerJob) => ({ state, context: { failures, lostLeases } }),
  columns: ({ state, context }) => ({
    state,
    ...context,
    ...(state === 'pending' ? { runnerId: null, leaseTokenHash: null, receives: null, startedAt: null, progress: 0 } : {}),
    ...(state === 'completed' ? { progress: 100 } : {}),
  }),
  refusal: (state) => new DomainError('conflict', `This runner job is ${state}.`),
})

/** Ids and the numbers of the work. */
export type RunnerJobData = Readonly<Record<string, unknown>>

export interface NewRunnerJob extends Required<Pick<NewJob, 'type' | 'priority'>> {
  data: RunnerJobData
  /** The row id of the job that must be completed first. */
  parentId: number | null
}

/** Returns the row id. */
export async function insertRunnerJob(unit: Unit, { type, data, priority, parentId }: NewRunnerJob): Promise<number> {
  const { state } = initialRunnerJob(parentId !== null)
  const [job] = await unit.query<{ id: number }>(
    `insert into job (type, queue, state, data, priority, uuid, parent_id, due_at, created_at, updated_at)
     values ($1, '${QUEUE}', $2, $3, $4, $5, $6, $7, $7, $7) returning id`,
    [type, state, JSON.stringify(data), priority, newUuid(), parentId, unit.now],
  )
  unit.publish(RUNNER_JOBS_TOPIC, {})
  return job?.id ?? 0
}

/** Offers work that a video has once at a time: does nothing while its job is open. Runs in the transaction that locks the video. */
export async function offerRunnerJob(
  unit: Unit,
  job: Omit<NewRunnerJob, 'parentId' | 'data'> & { data: RunnerJobData & { videoId: number } },
): Promise<void> {
  if (!(await hasRunnerJob(unit, job.type, job.data.videoId))) await insertRunnerJob(unit, { ...job, parentId: null })
}

/** Replaces what a job is about, as it turns out while a runner does it. */
export const changeRunnerJob = ({ query }: Pick<Unit, 'query'>, id: number, data: RunnerJobData) =>
  query('update job set data = $2 where id = $1', [id, JSON.stringify(data)])

/** True if a job of this type is open for the video. */
export async function hasRunnerJob({ query }: Pick<Unit, 'query'>, type: string, videoId: number): Promise<boolean> {
  const open = await query(
    `select 1 from job j where j.uuid is not null and j.type = $1 and j.data->>'videoId' = $2 and ${isOpenRunnerJob('j')} limit 1`,
    [type, String(videoId)],
  )
  return open.length > 0
}

/** Cancels the open jobs of this type for the video. */
export const cancelRunnerJob = (unit: Unit, type: string, videoId: number): Promise<void> =>
  moveRunnerJobs(unit, 'CANCELLED', "job.uuid is not null and job.type = $2 and job.data->>'videoId' = $3", [type, String(videoId)])

type BulkEvent = Extract<RunnerJobEvent['type'], 'CANCELLED' | 'PARENT_COMPLETED' | 'PARENT_FAILED' | 'PARENT_CANCELLED'>

/** Moves the jobs that the SQL `condition` selects and whose state takes the event. `$1` is the time. */
export async function moveRunnerJobs(unit: Unit, type: BulkEvent, condition: string, values: readonly unknown[]): Promise<void> {
  const { where, set } = MOVES[type]
  const isEnd = type !== 'PARENT_COMPLETED'
  await unit.query(
    `update job set ${set}, updated_at = $1::timestamptz${isEnd ? ', finished_at = $1' : ''} where ${where} and ${condition}`,
    [unit.now, ...values],
  )
  if (!isEnd) unit.publish(RUNNER_JOBS_TOPIC, {})
}

const MOVES: Record<BulkEvent, { where: string; set: string }> = {
  CANCELLED: inBulk(runnerJobLifecycle, { type: 'CANCELLED' }),
  PARENT_COMPLETED: inBulk(runnerJobLifecycle, { type: 'PARENT_COMPLETED' }),
  PARENT_FAILED: inBulk(runnerJobLifecycle, { type: 'PARENT_FAILED' }),
  PARENT_CANCELLED: inBulk(runnerJobLifecycle, { type: 'PARENT_CANCELLED' }),
}

const DESCENDANTS = `job.id in (
  with recursive child as (
    select id from job where parent_id = $2 union select j.id from job j join child c on j.parent_id = c.id
  ) select id from child)`

/** What the end of a job means for those that wait for it. */
export async function settleChildren(unit: Unit, id: number, state: RunnerJobState): Promise<void> {
  if (state === 'completed') await moveRunnerJobs(unit, 'PARENT_COMPLETED', 'job.parent_id = $2', [id])
  if (state === 'errored') await moveRunnerJobs(unit, 'PARENT_FAILED', DESCENDANTS, [id])
  if (state === 'cancelled') await moveRunnerJobs(unit, 'PARENT_CANCELLED', DESCENDANTS, [id])
}

/** SQL: true for jobs that can still give a result. */
export const isOpenRunnerJob = (alias: string): string => `${alias}.state in ('waiting-for-parent', 'pending', 'processing', 'completing')`

export const deleteRunnerJob = (query: Sql, id: number) => query('delete from job where id = $1', [id])
