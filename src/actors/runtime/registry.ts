// Who handles what: reactions to events, handlers of jobs, drains of lanes, time-outs of machines, periodic work.
// `seal()` refuses to start when an event has no reaction, or a job no handler or two.

import type { Patience, Slot } from './dispatcher.ts'
import type { EventName, EventPayloads } from './events.ts'
import type { Unit } from './unit.ts'

export interface JobContext {
  id: number
  type: string
  data: Record<string, string | number>
  /** Set when the job must stop: cancelled, its lease lost, or the process ending. */
  signal: AbortSignal
  /** Stores the progress, 0 to 100; at most once a second reaches the database. */
  progress(percent: number): void
}

export interface JobHandler {
  queue: QueueName
  /** May run twice, and two at once: its effects go through commands, which are idempotent. */
  run(job: JobContext): Promise<void>
  /** After the last failed try, so that whatever waits for the job leaves its waiting state. */
  failed?(job: { id: number; data: JobContext['data'] }, error: string): Promise<void>
  /** Whether nothing waited for this job, so that another try of it alone does its work. Where it is left out: unless there is a `failed`. */
  standsAlone?(data: JobContext['data']): boolean
}

export type QueueName = 'delivery' | 'inbox' | 'media' | 'mail' | 'io' | 'cron'

export interface LaneHandler {
  queue: QueueName
  /** Works off what is due, and begins nothing more once paused; answers when to look again, or null when nothing is left. */
  drain(key: string, context: { signal: AbortSignal; isPaused(): boolean } & Slot): Promise<Date | null>
  /** Lanes worked at once by this process, when other than the workers of the queue. */
  concurrency?: () => number
  /** How long a lane that waits for another server keeps its place. */
  patience?: () => Patience
  /** SQL expression (with the lane's row as `lane`) for the earliest due time of the lane's work, or null. */
  nextDueSql: string
}

export interface TimeoutHandler {
  /** The lifecycle, or another table with due times. */
  of: { table: string; id?: string; dueAt?: string }
  /** Only rows in these states: the others of the table are the matter of other handlers. */
  in?: readonly string[]
  timedOut(id: number): Promise<void>
}

/** SQL: the rows whose time has come by `$1`. */
export const dueSql = ({ of: { table, id = 'id', dueAt = 'due_at' }, in: states }: TimeoutHandler): string =>
  `select ${id} as id from ${table} where ${dueAt} <= $1${states ? ` and state in ('${states.join("', '")}')` : ''}
   order by ${dueAt} limit 100`

export interface PeriodicTask {
  everyMs: () => number
  /** For what is at each process: it runs in all of them. Anything else runs in one process of the server each time. */
  everywhere?: true
  /** Must be safe to run twice at once (SKIP LOCKED, idempotent deletes): whoever had it may be slow and not dead. */
  run(): Promise<void>
}

export type Reaction<N extends EventName> = (payload: EventPayloads[N], unit: Unit) => Promise<void>

/** To several events of one name, in their order, with the same statements. */
export type JointReaction<N extends EventName> = (payloads: EventPayloads[N][], unit: Unit) => Promise<void>

export interface Registry {
  on<N extends EventName>(event: N, subscriber: string, reaction: Reaction<N>): void
  onSeveral<N extends EventName>(event: N, subscriber: string, reaction: JointReaction<N>): void
  job(type: string, handler: JobHandler): void
  lane(kind: string, handler: LaneHandler): void
  timeout(noun: string, handler: TimeoutHandler): void
  periodic(name: string, task: PeriodicTask): void
  reactions(event: string): { subscriber: string; react(payloads: unknown[], unit: Unit): Promise<void> }[]
  /** Whether this version has the event; to be asked once all is registered. */
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
