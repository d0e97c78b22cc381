// Jobs: rows of the `job` table. A hint from the queue is only a doorbell: the worker claims the best waiting job of the type with one
// UPDATE. Attempts, progress, leases and history live in the row; the queue may be wiped at any time.

import { isDiskFull, StorageOutage } from '../../media/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Columns, causesOf, type Database, isDatabaseOutage } from '../../platform/database/index.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import type { BackOff } from '../../state-machines/back-off.ts'
import type { JobEvent } from '../../state-machines/job.ts'
import { DomainError } from './domain-error.ts'
import { jobLifecycle, type StoredJob } from './job.lifecycle.ts'
import { LeaseLost, underLease } from './lease.ts'
import { inBulk, next, storeMove } from './lifecycle.ts'
import { makeOutageWaits } from './outage-waits.ts'
import { NOT_PAUSED } from './pause.ts'
import type { JobHandler, Registry } from './registry.ts'
import { retryThroughOutage } from './retry-through-outage.ts'
import type { Job } from './runtime.entity.ts'

export interface JobSettings {
  leaseMs: number
  /** Longest run, in ms; null for no limit. */
  ttlMs: (type: string) => number | null
  /** Jobs of one type at once, in this process. */
  concurrency: (type: string) => number
  /** Crashes during a job after which it is given up. */
  maxLostLeases: number
  /** Between the attempts of a job. */
  backOff: BackOff
}

interface Claimed extends StoredJob, Columns<typeof Job, 'type'> {
  /** A name for this claim alone: a second claim by the same process must have another one. */
  owner: string
  data: Record<string, string | number>
  attempts: number
  /** Why it is given up; null unless an admin stopped it. */
  error: string | null
}

const CLAIMED = inBulk(jobLifecycle, { type: 'CLAIMED' })
const PROGRESSED = inBulk(jobLifecycle, { type: 'PROGRESSED' })

const COLUMNS = `id, type, state, data, failures, lost_leases as "lostLeases", max_attempts as attempts, lease_owner as owner, error`

const CLAIM = `
  update job set ${CLAIMED.set}, lease_owner = $2, lease_until = now() + $3 * interval '1 ms',
    started_at = $4, error = null, progress = 0
  where id = (
    select id from job where type = $1 and ${CLAIMED.where} and due_at <= $4 and ${NOT_PAUSED}
    order by priority, id limit 1 for update skip locked
  )
  returning ${COLUMNS}`

const LOST = "from job where state = 'active' and lease_until < now() limit 100"

/** Thrown by a handler when a retry cannot help: the job fails at once, unless an outage caused it. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure'
}

/** Thrown by a handler when the server lacks what the job needs: the job waits, however long. */
export class NotNow extends Error {
  override readonly name = 'NotNow'
}

/** No job starts without the database. A job that started shows that it is back. */
const AFTER_DATABASE_MS = 5_000
const AFTER_OUTAGE_MS = 30_000
/** Characters of an error that are stored. */
const MAX_ERROR = 5000

export type Jobs = ReturnType<typeof makeJobs>

export function makeJobs(options: {
  db: Database
  registry: Registry
  clock: Clock
  logger: Logger
  owner: string
  settings: () => JobSettings
  /** No job is started while it returns true. */
  isPaused: () => boolean
}) {
  const { db, registry, clock, logger, owner } = options
  const running = new Map<string, number>()
  const inFlight = new Set<Promise<boolean>>()
  const outageWaits = makeOutageWaits(clock)
  const ending = new AbortController()
  let stopped = false

  /** Runs waiting jobs of the type until none is left or the type's concurrency is reached. */
  async function work(type: string): Promise<void> {
    const handler = registry.jobs.get(type)
    if (!handler) return
    while (!stopped && !options.isPaused() && (running.get(type) ?? 0) < options.settings().concurrency(type)) {
      running.set(type, (running.get(type) ?? 0) + 1)
      // The claim counts as running work too, so that the stop of the process waits for it.
      const run = claimAndPerform(type, handler)
      inFlight.add(run)
      try {
        if (!(await run)) return
      } finally {
        inFlight.delete(run)
        running.set(type, (running.get(type) ?? 1) - 1)
      }
    }
  }

  /** Returns true if there was a job. */
  async function claimAndPerform(type: string, handler: JobHandler): Promise<boolean> {
    const job = await claim(type)
    if (!job) return false
    if (stopped) await settle(job, { type: 'GIVEN_BACK' })
    else await perform(handler, job)
    return true
  }

  const newOwner = (): string => `${owner}#${randomToken(4)}`

  async function claim(type: string): Promise<Claimed | undefined> {
    const { leaseMs } = options.settings()
    const [job] = await db.query<Claimed>(CLAIM, [type, newOwner(), leaseMs, clock.now()])
    return job
  }

  async function perform(handler: JobHandler, job: Claimed): Promise<void> {
    const { type } = job
    const settings = options.settings()
    const ttl = settings.ttlMs(type)
    const signals = [ending.signal, ...(ttl === null ? [] : [AbortSignal.timeout(ttl)])]
    const log = logger.child({ job: job.id, type, tags: ['job', type] })
    const progress = makeProgress(job, log)
    try {
      log.debug('job started')
      await underLease({
        leaseMs: settings.leaseMs,
        renew: () => renew(job),
        signals,
        work: (signal) => handler.run({ id: job.id, type, data: job.data, signal, progress: progress.report }),
      })
      await progress.settled()
      await settle(job, { type: 'DONE' }, { error: null, finishedAt: clock.now() })
      log.debug('job completed')
    } catch (error) {
      await progress.settled()
      if (error instanceof LeaseLost) return log.warn('job was cancelled or taken over')
      if (ending.signal.aborted) return await settle(job, { type: 'GIVEN_BACK' })
      await fail(handler, job, error, log)
    }
  }

  async function renew({ id, owner }: Claimed, query = db.query): Promise<boolean> {
    const rows = await query(
      `update job set lease_until = now() + $3 * interval '1 ms' where id = $1 and lease_owner = $2 and ${PROGRESSED.where} returning id`,
      [id, owner, options.settings().leaseMs],
    )
    return rows.length > 0
  }

  const moveOf = (job: Claimed, event: JobEvent) => next(jobLifecycle, job, event, clock.now(), options.settings().backOff)

  /** Ends a claim, unless another worker has the job by now. */
  async function settle(job: Claimed, event: JobEvent, also: { error?: string | null; finishedAt?: Date } = {}) {
    const at = { query: db.query, now: clock.now() }
    const mine = { id: job.id, leaseOwner: job.owner }
    await retryThroughOutage(() => storeMove(at, jobLifecycle, moveOf(job, event), also, mine))
  }

  async function fail(handler: JobHandler, job: Claimed, cause: unknown, log: Logger): Promise<void> {
    const message = cause instanceof Error ? cause.message : String(cause)
    const error = message.slice(0, MAX_ERROR)
    if (cause instanceof DomainError && cause.kind === 'busy') return await settle(job, { type: 'POSTPONED' }, { error })
    if (isOutage(cause)) {
      log.warn({ err: cause }, 'job waits for the end of an outage')
      const shortest = isDatabaseOutage(cause) ? AFTER_DATABASE_MS : AFTER_OUTAGE_MS
      return await settle(job, { type: 'OUTAGE', wait: outageWaits.next(job.id, shortest) }, { error })
    }
    const isPermanent = cause instanceof PermanentFailure
    const event: JobEvent = { type: 'FAILED', attempts: job.attempts, isPermanent }
    const last = moveOf(job, event).state === 'failed'
    log.warn({ err: cause, failures: job.failures + 1, last }, 'job failed')
    if (!last) return await settle(job, event, { error })
    // Only the worker that holds the lease reports the failure.
    if (!(await renew(job))) return log.warn('job was cancelled or taken over')
    try {
      await handler.failed?.({ id: job.id, data: job.data }, message)
      await settle(job, event, { error, finishedAt: clock.now() })
    } catch (failure) {
      log.error({ err: failure }, 'the failure of a job could not be reported; it is tried again')
      await settle(job, { type: 'FAILURE_UNREPORTED' }, { error })
    }
  }

  /** Jobs whose lease expired wait again, or are given up. Returns the types that have work. */
  async function recover(): Promise<string[]> {
    const [lost] = await db.query(`select ${LOST}`)
    if (lost) await recoverLost()
    const due = await db.query<{ type: string }>(`select distinct type from job where ${CLAIMED.where} and due_at <= $1`, [clock.now()])
    return due.map((row) => row.type)
  }

  async function recoverLost(): Promise<void> {
    const { maxLostLeases } = options.settings()
    const abandoned: Claimed[] = []
    await db.transaction(async ({ query }) => {
      for (const job of await query<Claimed>(`select ${COLUMNS} ${LOST} for update skip locked`)) {
        const move = moveOf(job, { type: 'LEASE_LOST', maxLostLeases })
        const { lostLeases } = move.context
        const taken = { ...job, lostLeases, owner: newOwner() }
        const isKept = move.state === 'active'
        const lease = isKept ? { leaseOwner: taken.owner } : {}
        await storeMove({ query, now: clock.now() }, jobLifecycle, move, lease, { id: job.id })
        logger.warn({ job: job.id, type: job.type, lostLeases }, 'the lease of a job was lost')
        if (isKept && (await renew(taken, query))) abandoned.push(taken)
      }
    })
    for (const job of abandoned) await giveUp(job)
  }

  /** A job that crashes its process each time must not do so forever. */
  async function giveUp(job: Claimed): Promise<void> {
    const error = job.error ?? 'The processes that ran this job ended again and again.'
    try {
      await registry.jobs.get(job.type)?.failed?.({ id: job.id, data: job.data }, error)
      await settle(job, { type: 'GIVEN_UP' }, { error, finishedAt: clock.now() })
    } catch (cause) {
      logger.error({ err: cause, job: job.id }, 'a job could not be given up; it is tried again')
    }
  }

  function makeProgress(job: Claimed, log: Logger): { report(percent: number): void; settled(): Promise<void> } {
    let writtenAt = 0
    let writing = Promise.resolve()
    const report = (percent: number) => {
      if (Date.now() - writtenAt < 1000) return
      writtenAt = Date.now()
      log.info({ progress: Math.round(percent) }, 'job progress')
      writing = db
        .query(`update job set progress = $2 where id = $1 and lease_owner = $3 and ${PROGRESSED.where}`, [job.id, percent, job.owner])
        .then(() => undefined)
        .catch(() => undefined)
    }
    return { report, settled: () => writing }
  }

  return {
    work,
    recover,
    /** Stops claiming and waits for running jobs; after `graceMs` they are interrupted and wait for another process. */
    async stop(graceMs: number): Promise<void> {
      stopped = true
      const done = Promise.allSettled([...inFlight])
      const timer = setTimeout(() => ending.abort(new Error('The process is ending.')), graceMs)
      await done
      clearTimeout(timer)
    },
  }
}

/**
 * True if the job failed because something is unreachable: the database, object storage, space on the disk, or what a handler reports. A
 * handler that throws PermanentFailure for a full disk decides itself.
 */
export const isOutage = (error: unknown): boolean =>
  isDatabaseOutage(error) ||
  causesOf(error).some((cause) => cause instanceof StorageOutage || cause instanceof NotNow) ||
  (!(error instanceof PermanentFailure) && isDiskFull(error))
