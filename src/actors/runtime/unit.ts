// The unit of work: one transaction that stores new state with its outbox rows, jobs and lane marks, and sends the hints after the commit.
// Commands (tell.ts) and reactions of the relay (relay.ts) run in it.

import type { Clock } from '../../platform/clock.ts'
import { isLockTimeout } from '../../platform/database/errors.ts'
import { type Database, isRetryable, type Sql, type Transaction } from '../../platform/database/index.ts'
import { initialJob } from '../../state-machines/job.ts'
import type { ChangeObserver, ChangeObservers, Noted } from './change-observer.ts'
import { DomainError } from './domain-error.ts'
import type { AggregateRef, EventName, EventPayloads } from './events.ts'

/** Deferred work, run at least once. `data` holds ids only: it is stored and shown to admins. */
export interface NewJob {
  type: string
  data: Record<string, string | number>
  /** While a job with this key waits or runs, another one is not stored. */
  dedupeKey?: string
  /** Lower goes first. The default is that of its type (`vireo.jobs.priorities`), usually 0. */
  priority?: number
  delayMs?: number
}

export interface Unit extends Transaction {
  now: Date
  /** Stores an event in the outbox, for the relay. */
  emit<N extends EventName>(of: AggregateRef, name: N, payload: EventPayloads[N]): void
  /** Observes an aggregate before it is changed, for the audit log; tell() does so for the one that it locks. */
  changing(of: AggregateRef): Promise<void>
  /** Reports a new aggregate to the audit log. */
  created(of: AggregateRef): void
  /** Reports what no row shows to the audit log. */
  note(done: Noted): void
  enqueue(job: NewJob): void
  /** Marks a lane as having work, now or at a time. */
  wake(kind: string, key: string, dueAt?: Date): void
  /** Publishes a change to all processes; may be lost. */
  publish(topic: string, payload: JsonObject): void
}

/** Announces what just happened to a video, in the same transaction. */
export type PassOn = (unit: Unit, videoId: number) => Promise<void>

/** Stores something together with a new row, in the same transaction. */
export type StoreWith = (unit: Unit, id: number) => Promise<void>

/** Makes a look-up that the work of one unit shares: each key is looked up once per unit. The key must determine the `details`. */
export function perUnit<K, T, D extends unknown[]>(
  look: (unit: Unit, key: K, ...details: D) => Promise<T>,
): (unit: Unit, key: K, ...details: D) => Promise<T> {
  const known = new WeakMap<Unit, Map<K, Promise<T>>>()
  return (unit, key, ...details) => {
    const ofUnit = known.get(unit) ?? new Map<K, Promise<T>>()
    known.set(unit, ofUnit)
    const found = ofUnit.get(key) ?? look(unit, key, ...details)
    ofUnit.set(key, found)
    return found
  }
}

export type JsonObject = { [key: string]: string | number | boolean | null }

export interface WokenLane {
  kind: string
  key: string
  dueAt: Date
}

/** What a committed unit contains, for the hints. */
export interface Committed {
  events: number
  jobs: { id: number; type: string; queue: string }[]
  lanes: WokenLane[]
  publications: { topic: string; payload: JsonObject }[]
}

export interface UnitOptions {
  db: Database
  clock: Clock
  lockTimeoutMs: () => number
  jobSettings: (type: string) => { queue: string; attempts: number; priority: number }
  afterCommit: (committed: Committed) => void
  observers?: ChangeObservers | undefined
}

export type RunUnit = <T>(work: (unit: Unit) => Promise<T>) => Promise<T>

const TRIES = 5

/** Makes the function that runs units of work. Retries deadlocks and serialisation failures. */
export function makeRunUnit(options: UnitOptions): RunUnit {
  return async (work) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(work)
      } catch (error) {
        if (isLockTimeout(error)) {
          throw new DomainError('busy', 'Another request is changing this; please try again.', { cause: error })
        }
        if (attempt === TRIES || !isRetryable(error)) throw error
      }
    }
  }

  async function once<T>(work: (unit: Unit) => Promise<T>): Promise<T> {
    const committed: Committed = { events: 0, jobs: [], lanes: [], publications: [] }
    const result = await options.db.transaction(
      async (tx) => {
        const observer = options.observers?.observer(tx.query)
        const pending = collect(tx, options.clock.now(), observer)
        const answer = await work(pending.unit)
        await tx.flush()
        await observer?.store()
        await store(tx.query, pending, committed)
        return answer
      },
      { lockTimeoutMs: options.lockTimeoutMs() },
    )
    if (options.observers) options.observers.apart(() => options.afterCommit(committed))
    else options.afterCommit(committed)
    return result
  }

  async function store(query: Sql, pending: Pending, committed: Committed): Promise<void> {
    if (pending.events.length > 0) {
      const { events } = pending
      await query(
        `insert into outbox (aggregate, aggregate_id, event, payload, due_at)
         select e.aggregate, e.id, e.event, e.payload::jsonb, $5
         from unnest((select $1::text[]), (select $2::bigint[]), (select $3::text[]), (select $4::text[])) with ordinality
           as e (aggregate, id, event, payload, place) order by e.place`,
        [
          events.map(({ of }) => of.aggregate),
          events.map(({ of }) => of.id),
          events.map(({ name }) => name),
          events.map(({ payload }) => JSON.stringify(payload)),
          pending.unit.now,
        ],
      )
    }
    committed.events = pending.events.length
    if (pending.jobs.length > 0) committed.jobs = await storeJobs(query, pending)
    const lanes = [...pending.lanes.values()].toSorted(byLane)
    if (lanes.length > 0) await query(WAKE_LANES, lanesIn(lanes))
    committed.lanes = lanes.filter((lane) => lane.dueAt <= pending.unit.now)
    committed.publications = withoutRepetitions(pending.publications)
  }

  /** Returns the new jobs that begin at once. */
  async function storeJobs(query: Sql, { jobs, unit }: Pending): Promise<Committed['jobs']> {
    const rows = jobs.map(({ type, data, dedupeKey = null, priority: wished, delayMs = 0 }) => {
      const { queue, attempts, ...ofType } = options.jobSettings(type)
      const priority = wished ?? ofType.priority
      const dueAt = new Date(unit.now.getTime() + delayMs)
      return { type, queue, state: initialJob(delayMs > 0).state, data, dedupeKey, priority, attempts, dueAt }
    })
    return await query<Committed['jobs'][number]>(
      `with stored as (
         insert into job (type, queue, state, data, dedupe_key, priority, max_attempts, due_at)
         select j.type, j.queue, j.state, j.data, j."dedupeKey", j.priority, j.attempts, j."dueAt"
         from rows from (jsonb_to_recordset($1::jsonb) as (type text, queue text, state text, data jsonb,
           "dedupeKey" text, priority int, attempts int, "dueAt" timestamptz)) with ordinality
           as j (type, queue, state, data, "dedupeKey", priority, attempts, "dueAt", place) order by j.place
         on conflict (dedupe_key) where state in ('waiting', 'delayed', 'active') do nothing
         returning id, type, queue, state
       ) select id, type, queue from stored where state = 'waiting' order by id`,
      [JSON.stringify(rows)],
    )
  }
}

interface Pending {
  unit: Unit
  events: { of: AggregateRef; name: EventName; payload: EventPayloads[EventName] }[]
  jobs: NewJob[]
  lanes: Map<string, WokenLane>
  publications: Committed['publications']
}

function collect(tx: Transaction, now: Date, observer: ChangeObserver | undefined): Pending {
  const pending: Omit<Pending, 'unit'> = { events: [], jobs: [], lanes: new Map(), publications: [] }
  const unit: Unit = {
    query: tx.query,
    flush: tx.flush,
    now,
    // Created on demand.
    get em() {
      return tx.em
    },
    emit: (of, name, payload) => pending.events.push({ of, name, payload }),
    changing: async (of) => await observer?.changing(of),
    created: (of) => observer?.created(of),
    note: (done) => observer?.note(done),
    enqueue: (job) => pending.jobs.push(job),
    wake(kind, key, dueAt = now) {
      const known = pending.lanes.get(`${kind} ${key}`)
      if (!known) pending.lanes.set(`${kind} ${key}`, { kind, key, dueAt })
      else if (dueAt < known.dueAt) known.dueAt = dueAt
    },
    publish: (topic, payload) => pending.publications.push({ topic, payload }),
  }
  return { unit, ...pending }
}

/** Marks lanes as having work; `$1` kinds, `$2` keys, `$3` due times. */
const WAKE_LANES = `insert into lane (kind, key, due_at)
  select w.kind, w.key, w.due_at from unnest((select $1::text[]), (select $2::text[]), (select $3::timestamptz[])) with ordinality
    as w (kind, key, due_at, place) order by w.place
  on conflict (kind, key) do update set due_at = least(lane.due_at, excluded.due_at), dirty = true`

const withoutRepetitions = (publications: Committed['publications']): Committed['publications'] => [
  ...new Map(publications.map((one) => [JSON.stringify(one), one])).values(),
]

/** Lane rows are locked in one order, so that units that wake the same lanes do not deadlock. */
const byLane = (a: WokenLane, b: WokenLane): number => compare(a.kind, b.kind) || compare(a.key, b.key)
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const lanesIn = (lanes: WokenLane[]) => [lanes.map(({ kind }) => kind), lanes.map(({ key }) => key), lanes.map(({ dueAt }) => dueAt)]
