// Registry of handlers: reactions to events, handlers of jobs, drains of lanes, timeouts of machines, periodic work. `seal()` throws if an
// event has no reaction, or a job no handler or two.

import type { Patience, Slot } from './dispatcher.ts'
import type { EventName, EventPayloads } from './events.ts'
import type { Unit } from './unit.ts'

export interface JobContext {
  id: number
  type: string
  data: Record<string, string | number>
  /** Aborted when the job must stop: cancelled, its lease lost, or the process stopping. */
  signal: AbortSignal
  /** Stores the progress, 0 to 100; at most once a second reaches the database. */
  progress(percent: number): void
}

export interface JobHandler {
  queue: QueueName
  /** May run twice or concurrently: its effects go through commands, which are idempotent. */
  run(job: JobContext): Promise<void>
  /** Called after the last failed attempt, so that what waits for the job leaves its waiting state. */
  failed?(job: { id: number; data: JobContext['data'] }, error: string): Promise<void>
  /** True if nothing waits for this job, so that retrying it alone does its work. By default: true without `failed`. */
  standsAlone?(data: JobContext['data']): boolean
}

export type QueueName = 'delivery' | 'inbox' | 'media' | 'mail' | 'io' | 'cron'

export interface LaneHandler {
  queue: QueueName
  /** Drains what is due, and starts nothing more once paused; returns when to look again, or null if nothing is left. */
  drain(key: string, context: { signal: AbortSignal; isPaused(): boolean } & Slot): Promise<Date | null>
  /** Lanes drained concurrently by this process, if it differs from the workers of the queue. */
  concurrency?: () => number
  /** How long a lane that waits for another server keeps its slot. */
  patience?: () => Patience
  /** SQL expression (with the lane's row as `lane`) for the earliest due time of the lane's work, or null. */
  nextDueSql: string
}

export interface TimeoutHandler {
  /** The lifecycle, or another table with due times. */
  of: { table: string; id?: string; dueAt?: string }
  /** Only rows in these states; other handlers cover the others. */
  in?: readonly string[]
  timedOut(id: number): Promise<void>
}

/** SQL: the rows that are due at `$1`. */
export const dueSql = ({ of: { table, id = 'id', dueAt = 'due_at' }, in: states }: TimeoutHandler): string =>
  `select ${id} as id from ${table} where ${dueAt} <= $1${states ? ` and state in ('${states.join("', '")}')` : ''}
   order by ${dueAt} limit 100`

export interface PeriodicTask {
  everyMs: () => number
  /** For process-local state: runs in every process. Other work runs in one process at a time. */
  everywhere?: true
  /** Must be safe to run concurrently (SKIP LOCKED, idempotent deletes): a process that lost its lease may be slow, not dead. */
  run(): Promise<void>
}

export type Reaction<N extends EventName> = (payload: EventPayloads[N], unit: Unit) => Promise<void>

/** Handles several events of one name, in order, with the same statements. */
export type JointReaction<N extends EventName> = (payloads: EventPayloads[N][], unit: Unit) => Promise<void>

export interface Registry {
  on<N extends EventName>(event: N, subscriber: string, reaction: Reaction<N>): void
  onSeveral<N extends EventName>(event: N, subscriber: string, reaction: JointReaction<N>): void
  job(type: string, handler: JobHandler): void
  lane(kind: string, handler: LaneHandler): void
  timeout(noun: string, handler: TimeoutHandler): void
  periodic(name: string, task: PeriodicTask): void
  reactions(event: string): { subscriber: string; react(payloads: unknown[], unit: Unit): Promise<void> }[]
  /** True if this version has the event; call it when all is registered. */
  knows(event: string): boolean
  jobs: ReadonlyMap<string, JobHandler>
  lanes: ReadonlyMap<string, LaneHandler>
  timeouts: ReadonlyMap<string, TimeoutHandler>
  periodics: ReadonlyMap<string, PeriodicTask>
  seal(required: { events: readonly EventName[]; jobs: readonly string[]; lanes: readonly string[] }): void
}

export function makeRegistry(): Registry {
  const reactions = new Map<string, Map<string, (payloads: unknown[], unit: Unit) => Promise<void>>>()
  const jobs = new Map<string, JobHandler>()
  const lanes = new Map<string, LaneHandler>()
  const timeouts = new Map<string, TimeoutHandler>()
  const periodics = new Map<string, PeriodicTask>()
  let sealed = false

  const onSeveral: Registry['onSeveral'] = (event, subscriber, reaction) => {
    const known = reactions.get(event) ?? new Map()
    addOnce(known, subscriber, (payloads: never[], unit: Unit) => reaction(payloads, unit), `reaction to ${event}`)
    reactions.set(event, known)
  }

  return {
    onSeveral,
    on(event, subscriber, reaction) {
      onSeveral(event, subscriber, async (payloads, unit) => {
        for (const payload of payloads) await reaction(payload, unit)
      })
    },
    job: (type, handler) => addOnce(jobs, type, handler, 'handler of job'),
    lane: (kind, handler) => addOnce(lanes, kind, handler, 'handler of lane'),
    timeout: (noun, handler) => addOnce(timeouts, noun, handler, 'time-out of'),
    periodic: (name, task) => addOnce(periodics, name, task, 'periodic task'),
    reactions: (event) => [...(reactions.get(event) ?? [])].map(([subscriber, react]) => ({ subscriber, react })),
    knows: (event) => !sealed || reactions.has(event),
    jobs,
    lanes,
    timeouts,
    periodics,
    seal(required) {
      const missing = [
        ...required.events.filter((event) => !reactions.has(event)).map((event) => `event ${event}`),
        ...required.jobs.filter((type) => !jobs.has(type)).map((type) => `job ${type}`),
        ...required.lanes.filter((kind) => !lanes.has(kind)).map((kind) => `lane ${kind}`),
      ]
      if (missing.length > 0) throw new Error(`Nothing handles: ${missing.join(', ')}.`)
      sealed = true
    },
  }
}

function addOnce<V>(map: Map<string, V>, key: string, value: V, what: string): void {
  if (map.has(key)) throw new Error(`There are two of this ${what}: ${key}.`)
  map.set(key, value)
}
