// The jobs for administrators: rows of the job table, deliveries and incoming activities one by one, and periodic tasks that are repeated
// jobs in PeerTube. One statement, each part of which uses an index in its order.

import type { JobTypeName } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { redactSecrets } from '../../platform/redact.ts'
import { type JobSource, readJobId, writeJobId } from './job-ids.ts'
import { JOB_NAMES, LANE_NAMES, TASK_NAMES } from './job-names.ts'
import { type JobSubject, payloadOf, SUBJECT } from './payload.ts'
import { shownData } from './shown.ts'

/** `paused` is empty: this server does not have it. `waiting-children` is a job of remote runners that waits for its parent. */
export const jobStates = ['active', 'completed', 'delayed', 'failed', 'paused', 'prioritized', 'waiting', 'waiting-children'] as const

export type JobState = (typeof jobStates)[number]

export interface ListedJob {
  id: string
  type: JobTypeName
  state: JobState
  /** Done by remote runners. */
  isRemote: boolean
  data: Record<string, unknown>
  /** 0 to 100. */
  progress: number
  error: string | null
  priority: number
  /** Failed attempts, and their limit; null without a limit. */
  attempts: number
  maxAttempts: number | null
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
  dueAt: Date | null
}

export interface JobListQuery {
  /**
   * `delayed` without a `type` leaves out what only time or another server can end: work that is intentionally delayed for more than some
   * seconds, and work that waits for an unreachable server. Tools wait for that list to be empty.
   */
  state?: JobState | undefined
  type?: JobTypeName | undefined
  start: number
  count: number
  /** By creation time. */
  descending: boolean
}

/** The states of the machines `job` and `runner-job` behind a state; absent if nothing can be in it. */
const OF_JOBS: Partial<Record<JobState, readonly string[]>> = {
  active: ['active', 'processing', 'completing'],
  completed: ['completed', 'cancelled', 'parent-cancelled'],
  delayed: ['delayed'],
  failed: ['failed', 'errored', 'parent-errored'],
  waiting: ['waiting', 'pending'],
  prioritized: ['waiting', 'pending'],
  'waiting-children': ['waiting-for-parent'],
}
/** Deliveries to an unreachable server are delayed, also while it is retried; a server that sent something is reachable. */
const HELD = `(d.due_at is not null or exists (
  select from remote_host h where h.id = d.host_id and (h.due_at > $1
    or (h.state <> 'healthy' and not coalesce((h.context->>'isHeard')::boolean, false)))))`
const OF_DELIVERIES: Partial<Record<JobState, string>> = {
  waiting: `d.state = 'waiting' and not ${HELD}`,
  delayed: `d.state = 'waiting' and ${HELD}`,
  failed: "d.state = 'parked'",
}
const OPEN = "i.state in ('received', 'unverified', 'retrying')"
/** After a failed attempt; for an unknown sender that is the fetch of its key, from a server that may be unreachable. */
const PUT_OFF = "(i.state = 'retrying' or (i.state = 'unverified' and i.due_at is not null))"
const OF_INBOX: Partial<Record<JobState, string>> = {
  waiting: `${OPEN} and not ${PUT_OFF}`,
  delayed: `${OPEN} and ${PUT_OFF}`,
  failed: "i.state = 'parked'",
}

/** Shorter delays are about to end: they only merge requests. */
const SOON = "interval '10 seconds'"
/** These depend on other servers, which are retried with back-off. */
const REMOTE: ReadonlySet<JobTypeName> = new Set(['activitypub-follow', 'activitypub-http-fetcher', 'activitypub-refresher'])

interface Row {
  source: JobSource
  id: number
  name: string
  state: JobState
  is_remote: boolean
  data: Record<string, unknown>
  /** For a local job only. */
  subject: JobSubject | null
  progress: number
  error: string | null
  priority: number
  failures: number
  max_attempts: number | null
  created_at: string
  started_at: string | null
  finished_at: string | null
  due_at: string | null
}

/** The matching rows of one table: `page` is SQL for the first rows in order, `count` for their number. */
interface Part {
  page: string
  count: string
}

export async function listJobs(db: Database, query: JobListQuery, now: Date): Promise<{ total: number; rows: ListedJob[] }> {
  const parts = partsOf(query)
  if (parts.length === 0) return { total: 0, rows: [] }
  const direction = query.descending ? 'desc' : 'asc'
  const [answer] = await db.query<{ total: number; rows: Row[] | null }>(
    `with found (source, id, name, created_at) as materialized (${parts.map(({ page }) => `(${page})`).join(' union all ')}), page as (
       select * from found order by created_at ${direction}, source, id ${direction} limit $4 offset $5
     )
     select ${parts.map(({ count }) => `(${count})`).join(' + ')} as total,
       (select json_agg(shown order by created_at ${direction}, source, id ${direction}) from (${shownOf('$6')}) shown) as rows`,
    [now, ownTypesOf(query.type), query.start + query.count, query.count, query.start, query.state ?? null],
  )
  return { total: answer?.total ?? 0, rows: (answer?.rows ?? []).map(toListedJob) }
}

/** Undefined if there is no such job. */
export async function findJob(db: Database, text: string, now: Date): Promise<ListedJob | undefined> {
  const found = readJobId(text)
  if (!found) return undefined
  const [answer] = await db.query<{ rows: Row[] | null }>(
    `with page as (select $3::text as source, $4::bigint as id, $5::text as name)
     select (select json_agg(shown) from (${shownOf('null')}) shown) as rows`,
    [now, Object.keys(JOB_NAMES), found.source, found.id, found.name ?? null],
  )
  return (answer?.rows ?? []).map(toListedJob)[0]
}

const ownTypesOf = (type: JobTypeName | undefined): string[] =>
  Object.keys(JOB_NAMES).filter((own) => type === undefined || JOB_NAMES[own] === type)

function partsOf({ state, type, descending }: JobListQuery): Part[] {
  const direction = descending ? 'desc' : 'asc'
  const isWanted = (name: JobTypeName) => type === undefined || type === name
  const parts: Part[] = []

  const isRest = state === 'delayed' && type === undefined
  if (isRest) return [...unfinished(direction), ...repeated(isWanted)]

  const states = state === undefined ? Object.values(OF_JOBS).flat() : OF_JOBS[state]
  if (states && ownTypesOf(type).length > 0) {
    const stateList = [...new Set(states)].map((one) => `'${one}'`).join(', ')
    const filter = state === 'prioritized' ? 'and j.priority > 0' : ''
    const order = `order by j.created_at ${direction}, j.id ${direction} limit $3`
    const isWhole = state === undefined && type === undefined
    // An index per state and type has the order, so that large tables are not sorted.
    const some = `from unnest(array[${stateList}]) as s (state), unnest((select $2::text[])) as k (type), lateral (
          select j.id, j.created_at from job j where j.state = s.state and j.type = k.type ${filter} ${order}
        ) j`
    parts.push({
      page: `select 'job', j.id, null::text, j.created_at ${isWhole ? 'from job j' : some} ${order}`,
      count: `select count(*) from job j ${isWhole ? '' : `where j.state in (${stateList}) and j.type = any($2) ${filter}`}`,
    })
  }

  const deliveries = state === undefined ? "d.state in ('waiting', 'parked')" : OF_DELIVERIES[state]
  if (deliveries && isWanted(LANE_NAMES.delivery)) {
    parts.push({
      page: `select 'delivery', d.id, null::text, d.created_at from delivery d where ${deliveries} order by d.id ${direction} limit $3`,
      count: `select count(*) from delivery d where ${deliveries}`,
    })
  }

  if (isWanted(LANE_NAMES.inbox)) {
    const inbox = state === undefined ? [OPEN, OF_INBOX.failed] : [OF_INBOX[state]]
    for (const condition of inbox) {
      if (!condition) continue
      const order = condition === OF_INBOX.failed ? 'i.id' : 'i.received_at'
      parts.push({
        page: `select 'inbox', i.id, null::text, i.received_at from incoming_activity i where ${condition} order by ${order} ${direction} limit $3`,
        count: `select count(*) from incoming_activity i where ${condition}`,
      })
    }
  }

  if (state === undefined || state === 'delayed') parts.push(...repeated(isWanted))
  return parts
}

/** Delayed jobs that are about to start, and failed local ones that are retried. */
function unfinished(direction: 'asc' | 'desc'): Part[] {
  const local = Object.keys(JOB_NAMES).filter((own) => !REMOTE.has(JOB_NAMES[own] ?? 'notify'))
  const conditions = [
    `j.state in ('waiting', 'delayed') and j.due_at <= $1::timestamptz + ${SOON} and j.state = 'delayed' and j.error is null and j.type = any($2)`,
    `j.state = 'delayed' and j.error is not null and j.type in (${local.map((own) => `'${own}'`).join(', ')})`,
  ]
  return conditions.map((condition) => ({
    page: `select 'job', j.id, null::text, j.created_at from job j where ${condition}
      order by j.created_at ${direction}, j.id ${direction} limit $3`,
    count: `select count(*) from job j where ${condition}`,
  }))
}

function repeated(isWanted: (name: JobTypeName) => boolean): Part[] {
  const tasks = Object.keys(TASK_NAMES).filter((task) => isWanted(TASK_NAMES[task] ?? 'notify'))
  if (tasks.length === 0) return []
  const from = `from periodic_task t where t.name in (${tasks.map((task) => `'${task}'`).join(', ')})`
  return [{ page: `select 'task', 0::bigint, t.name, t.started_at ${from} limit $3`, count: `select count(*) ${from}` }]
}

/**
 * SQL for the shown columns of `page`, from any table; `$1` is the time, `$2` the listed types. A waiting job with a priority is shown in
 * the requested state (`asked`), or in its own.
 */
const shownOf = (asked: string): string => `
  select p.source, p.id, j.type as name, case
      when j.state in ('cancelled', 'parent-cancelled') then 'completed'
      when j.state in ('processing', 'completing') then 'active'
      when j.state in ('errored', 'parent-errored') then 'failed'
      when j.state = 'waiting-for-parent' then 'waiting-children'
      when j.state in ('waiting', 'pending') and j.priority > 0 and coalesce(${asked}::text, 'prioritized') = 'prioritized' then 'prioritized'
      when j.state = 'pending' then 'waiting'
      else j.state
    end as state, j.uuid is not null as is_remote, j.data, ${SUBJECT} as subject, j.progress, j.error,
    j.priority, j.failures, j.max_attempts, j.created_at, j.started_at, j.finished_at, j.due_at
  from page p join job j on j.id = p.id and j.type = any($2) left join lateral (
    select * from video where video.id = coalesce((j.data->>'videoId')::int,
      (select t.video_id from transcoding t where t.id = (j.data->>'transcodingId')::int),
      (select e.video_id from video_edition e where e.id = (j.data->>'editionId')::int),
      (select m.video_id from video_import m where m.id = (j.data->>'importId')::int))
  ) v on true
  where p.source = 'job'
  union all
  select p.source, p.id, 'delivery', case when d.state = 'parked' then 'failed' when ${HELD} then 'delayed' else 'waiting' end, false,
    jsonb_build_object('uri', d.inbox_url, 'signatureActorId', d.actor_id, 'activityId', o.activity_id, 'activityType', o.type),
    null, 0, d.error, 0, coalesce((d.context->>'tries')::int, 0), null, d.created_at, null, null, d.due_at
  from page p join delivery d on d.id = p.id join document o on o.id = d.document_id where p.source = 'delivery'
  union all
  select p.source, p.id, 'inbox', case when i.state = 'parked' then 'failed' when ${PUT_OFF} then 'delayed' else 'waiting' end, false,
    jsonb_build_object('type', 'activity', 'uri', i.activity_id, 'activityType', i.type, 'actor', i.actor_url),
    null, 0, i.error, 0, coalesce((i.context->>'tries')::int, 0), null, i.received_at, null, null, i.due_at
  from page p join incoming_activity i on i.id = p.id and i.state not in ('done', 'dropped') where p.source = 'inbox'
  union all
  select p.source, p.id, t.name, 'delayed', false, '{}'::jsonb,
    null, 0, null, 0, 0, null, t.started_at, null, null, t.due_at
  from page p join periodic_task t on t.name = p.name where p.source = 'task'`

function toListedJob(row: Row): ListedJob {
  const { source, id, name } = row
  const type = nameOf(source, name)
  const moment = (text: string | null) => (text === null ? null : new Date(text))
  return {
    id: writeJobId(source, id, name),
    type,
    state: row.state,
    isRemote: row.is_remote,
    data: shownData(row.subject ? payloadOf(name, type, row.data, row.subject) : row.data),
    progress: row.progress,
    error: row.error === null ? null : redactSecrets(row.error),
    priority: row.priority,
    attempts: row.failures,
    maxAttempts: row.max_attempts,
    createdAt: new Date(row.created_at),
    startedAt: moment(row.started_at),
    finishedAt: moment(row.finished_at),
    dueAt: moment(row.due_at),
  }
}

function nameOf(source: JobSource, name: string): JobTypeName {
  if (source === 'delivery') return LANE_NAMES.delivery
  if (source === 'inbox') return LANE_NAMES.inbox
  const known = source === 'task' ? TASK_NAMES[name] : JOB_NAMES[name]
  if (!known) throw new Error(`The list of jobs has no name for ${name}.`)
  return known
}
