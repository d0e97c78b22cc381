// Reads of runners, their registration tokens and their jobs.

import { timingSafeEqual } from 'node:crypto'
import { type Columns, containing, type Database, type InJson, type MaybeInJson } from '../../platform/database/index.ts'
import { sha256 } from '../../platform/ids.ts'
import type { RunnerJobState } from '../../state-machines/runner-job.ts'
import { type ActorDeps, NOT_PAUSED } from '../runtime/index.ts'
import type { Job } from '../runtime/runtime.entity.ts'
import type { RunnerJob } from './remote-work.ts'
import type { Runner, RunnerRegistrationToken } from './runner.entity.ts'

export interface Page<T> {
  total: number
  rows: T[]
}

export interface RunnerRow
  extends InJson<Columns<typeof Runner, 'id' | 'name' | 'description' | 'ip' | 'version' | 'failures' | 'lastContact'>>,
    InJson<Columns<typeof Runner, 'createdAt' | 'updatedAt'>> {
  /** That it has now. */
  jobs: number
}

export interface RegistrationTokenRow
  extends InJson<Columns<typeof RunnerRegistrationToken, 'id' | 'tokenSealed' | 'createdAt' | 'updatedAt'>> {
  runners: number
}

/** The id of the runner with this token. */
export async function findRunnerId(db: Pick<Database, 'query'>, runnerToken: string): Promise<number | undefined> {
  const [runner] = await db.query<Columns<typeof Runner, 'id'>>('select id from runner where token_hash = $1', [sha256(runnerToken)])
  return runner?.id
}

/** Those of the ids that are registered. */
export async function presentRunners(db: Pick<Database, 'query'>, ids: readonly number[]): Promise<number[]> {
  return (await db.query<Columns<typeof Runner, 'id'>>('select id from runner where id = any($1)', [ids])).map(({ id }) => id)
}

/** True if remote runners do a kind of work (`enabled`), and do not stay away. */
export async function isForRunners(
  { query }: Pick<Database, 'query'>,
  { clock, config }: Pick<ActorDeps, 'clock' | 'config'>,
  enabled: boolean,
): Promise<boolean> {
  const { local_after } = config().vireo.runners
  if (!enabled || local_after === null) return enabled
  const since = new Date(clock.now().getTime() - local_after)
  return (await query('select 1 from runner where last_contact >= $1 limit 1', [since])).length > 0
}

interface ListQuery {
  start: number
  count: number
  descending: boolean
}

export const listRunners = (db: Pick<Database, 'query'>, { start, count, descending }: ListQuery): Promise<Page<RunnerRow>> =>
  page<RunnerRow>(db, {
    columns: `id, name, description, ip, version, failures, last_contact, created_at, updated_at,
      (select count(*)::int from job j where j.runner_id = runner.id and j.state in ('processing', 'completing')) as jobs`,
    from: 'runner',
    order: byDate(descending),
    values: [count, start],
  })

export const listRegistrationTokens = (
  db: Pick<Database, 'query'>,
  { start, count, descending }: ListQuery,
): Promise<Page<RegistrationTokenRow>> =>
  page<RegistrationTokenRow>(db, {
    columns: `id, token_sealed, created_at, updated_at,
      (select count(*)::int from runner r where r.registration_token_id = runner_registration_token.id) as runners`,
    from: 'runner_registration_token',
    order: byDate(descending),
    values: [count, start],
  })

const byDate = (descending: boolean): string => (descending ? 'created_at desc, id desc' : 'created_at, id')

export interface RunnerJobRow
  extends RunnerJob,
    MaybeInJson<Columns<typeof Job, 'priority' | 'progress' | 'failures' | 'error' | 'startedAt' | 'finishedAt' | 'createdAt'>> {
  state: RunnerJobState
  updated_at: string | Date
  runner: Columns<typeof Runner, 'id' | 'name' | 'description'> | null
  parent: { type: string; state: RunnerJobState; uuid: string } | null
}

const JOB_COLUMNS = `j.id, j.uuid, j.type, j.state, j.data, j.priority, j.progress, j.failures, j.error, j.started_at, j.finished_at,
  j.created_at, j.updated_at,
  (select jsonb_build_object('id', r.id, 'name', r.name, 'description', r.description) from runner r where r.id = j.runner_id) as runner,
  (select jsonb_build_object('type', p.type, 'state', p.state, 'uuid', p.uuid) from job p where p.id = j.parent_id) as parent`

export const runnerJobSorts = ['updatedAt', 'createdAt', 'priority', 'state', 'progress'] as const

export interface RunnerJobListQuery extends ListQuery {
  by: (typeof runnerJobSorts)[number]
  states?: readonly RunnerJobState[] | undefined
  /** In the type, the UUID, the error, and the name of the runner. */
  search?: string | undefined
}

/** SQL: the number of a state in the contract. */
const stateId = (ids: Readonly<Record<RunnerJobState, number>>): string =>
  `case j.state ${Object.entries(ids)
    .map(([state, id]) => `when '${state}' then ${id}`)
    .join(' ')} end`

/** `RunnerJobState` of the contract. */
export const runnerJobStates: Readonly<Record<RunnerJobState, { id: number; label: string }>> = {
  pending: { id: 1, label: 'Pending' },
  processing: { id: 2, label: 'Processing' },
  completed: { id: 3, label: 'Completed' },
  errored: { id: 4, label: 'Errored' },
  'waiting-for-parent': { id: 5, label: 'Waiting for parent job to finish' },
  cancelled: { id: 6, label: 'Cancelled' },
  'parent-errored': { id: 7, label: 'Parent job failed' },
  'parent-cancelled': { id: 8, label: 'Parent job cancelled' },
  completing: { id: 9, label: 'Completing' },
}

const STATE_IDS = Object.fromEntries(Object.entries(runnerJobStates).map(([state, { id }]) => [state, id])) as Record<
  RunnerJobState,
  number
>

const SORTS = {
  updatedAt: 'j.updated_at',
  createdAt: 'j.created_at',
  priority: 'j.priority',
  state: stateId(STATE_IDS),
  progress: 'j.progress',
}

export const listRunnerJobs = (db: Pick<Database, 'query'>, query: RunnerJobListQuery): Promise<Page<RunnerJobRow>> => {
  const direction = query.descending ? 'desc' : 'asc'
  return page<RunnerJobRow>(db, {
    columns: JOB_COLUMNS,
    from: `job j where j.uuid is not null and ($3::text[] is null or j.state = any($3)) and ($4::text is null or j.type ilike $4
      or j.uuid::text ilike $4 or j.error ilike $4 or exists (select from runner r where r.id = j.runner_id and r.name ilike $4))`,
    order: `${SORTS[query.by]} ${direction}, j.id ${direction}`,
    values: [query.count, query.start, query.states ?? null, query.search ? containing(query.search) : null],
  })
}

/** One page, with the total. `$1` and `$2` of the values are its length and start. */
async function page<T>(
  db: Pick<Database, 'query'>,
  { columns, from, order, values }: { columns: string; from: string; order: string; values: readonly unknown[] },
): Promise<Page<T>> {
  const [found] = await db.query<Page<T>>(
    `with page as (select ${columns}, row_number() over (order by ${order}) as place from ${from} order by ${order} limit $1 offset $2)
     select (select count(*) from ${from})::int as total, coalesce((select jsonb_agg(page order by place) from page), '[]') as rows`,
    [...values],
  )
  return found ?? { total: 0, rows: [] }
}

/** The jobs that a runner may accept, the most urgent first; none while the queue is paused. */
export const listOfferedJobs = (
  db: Pick<Database, 'query'>,
  { types, count }: { types: readonly string[]; count: number },
): Promise<RunnerJob[]> =>
  db.query<RunnerJob>(
    `select j.id, j.uuid, j.type, j.data from job j where j.state = 'pending' and j.type = any($1) and ${NOT_PAUSED}
     order by j.priority, j.id limit $2`,
    [types, count],
  )

export interface LeasedJobRow extends RunnerJob, Columns<typeof Job, 'runnerId' | 'startedAt'> {
  state: RunnerJobState
  token_hash: Buffer | null
}

/** True for the token of its present lease. */
export const isTokenOf = ({ token_hash }: Pick<LeasedJobRow, 'token_hash'>, jobToken: string): boolean =>
  token_hash !== null && timingSafeEqual(token_hash, sha256(jobToken))

/** Undefined if there is no such job. */
export async function findLeasedJob(db: Pick<Database, 'query'>, uuid: string): Promise<LeasedJobRow | undefined> {
  const [job] = await db.query<LeasedJobRow>(
    'select id, uuid, type, data, state, runner_id, lease_token_hash as token_hash, started_at from job where uuid = $1',
    [uuid],
  )
  return job
}

export async function findRunnerJob(db: Pick<Database, 'query'>, id: number): Promise<RunnerJobRow | undefined> {
  const [job] = await db.query<RunnerJobRow>(`select ${JOB_COLUMNS} from job j where j.id = $1`, [id])
  return job
}
