// Jobs: rows of the `job` table. A hint from the queue is only a doorbell: the worker claims the best waiting job of
// the type with one UPDATE. Attempts, progress, leases and history live in the row; the queue may be wiped at any time.

import { isDiskFull, StorageOutage } from '../../media/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { causesOf, type Database, isDatabaseOutage } from '../../platform/database/index.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import { type BackOff, backOff } from '../../state-machines/back-off.ts'
import { DomainError } from './domain-error.ts'
import { insist } from './insist.ts'
import { LeaseLost, underLease } from './lease.ts'
import { makeOutageWaits } from './outage-waits.ts'
import { NOT_PAUSED } from './pause.ts'
import type { JobHandler, Registry } from './registry.ts'

export interface JobSettings {
  leaseMs: number
  /** Longest run, in ms; null for no limit. */
  ttlMs: (type: string) => number | null
  /** Jobs of one type at once, in this process. */
  concurrency: (type: string) => number
  /** Crashes that a job may take part in before it is given up. */
  maxLostLeases: number
  /** Between the tries of a job. */
  backOff: BackOff
}

interface Claimed {
  id: number
  /** A name for this claim alone: a second claim by the same process must not pass for this one. */
  owner: string
  data: Record<string, string | number>
  failures: number
  max_attempts: number
}

const CLAIM = `
  update job set state = 'active', lease_owner = $2, lease_until = now() + $3 * interval '1 ms',
    started_at = $4, error = null, progress = 0
  where id = (
    select id from job where type = $1 and state in ('waiting', 'delayed') and due_at <= $4 and ${NOT_PAUSED}
    order by priority, id limit 1 for update skip locked
  )
  returning id, data, failures, max_attempts`

/** Thrown by a handler when another try cannot help: the job fails at once, unless its cause is an outage. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure'
}

/** Thrown by a handler when the server lacks what the job needs: it waits until that is there, however long. */
export class NotNow extends Error {
  override readonly name = 'NotNow'
}

/** Without the database no job is begun: that one was shows that it is back. */
const AFTER_DATABASE_MS = 5_000
const AFTER_OUTAGE_MS = 30_000

export interface Jobs {
  /** Runs waiting jobs of the type until none is left or the type's concurrency is reached. */
  work(type: string): Promise<void>
  /** Jobs whose lease ran out wait again, or are given up. Answers the types that have work. */
  recover(): Promise<string[]>
  /** Stops claiming, and waits for what runs; after `graceMs` it is interrupted and waits for another process. */
  stop(graceMs: number): Promise<void>
}

export function makeJobs(options: {
  db: Database
  registry: Registry
  clock: Clock
  logger: Logger
  owner: string
  settings: () => JobSettings
  /** No job is started while it says so. */
  isPaused: () => boolean
}): Jobs {
  const { db, registry, clock, logger, owner } = options
  const running = new Map<string, number>()
  const inFlight = new Set<Promise<boolean>>()
  const outageWaits = makeOutageWaits(clock)
  const ending = new AbortController()
  let stopped = false

  async function work(type: string): Promise<void> {
    const handler = registry.jobs.get(type)
    if (!handler) return
    while (!stopped && !options.isPaused() && (running.get(type) ?? 0) < options.settings().concurrency(type)) {
      running.set(type, (running.get(type) ?? 0) + 1)
      // The claim counts as work in hand too, so that the end of the process waits for it.
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

  /** Answers whether there was a job. */
  async function claimAndPerform(type: string, handler: JobHandler): Promise<boolean> {
    const job = await claim(type)
    if (!job) return false
    if (stopped) await giveBack(job)
    else await perform(type, handler, job)
    return true
  }

  async function claim(type: string): Promise<Claimed | undefined> {
    const claimOwner = `${owner}#${randomToken(4)}`
    const [job] = await db.query<Omit<Claimed, 'owner'>>(CLAIM, [
      type,
      claimOwner,
      options.settings().leaseMs,
      clock.now(),
    ])
    return job && { ...job, owner: claimOwner }
  }

  async function perform(type: string, handler: JobHandler, job: Claimed): Promise<void> {
    const settings = options.settings()
    const ttl = settings.ttlMs(type)
    const signals = [ending.signal, ...(ttl === null ? [] : [AbortSignal.timeout(ttl)])]
    const log = logger.child({ job: job.id, type, tags: ['job', type] })
    const progress = makeProgress(job, log)
    try {
      log.debug('job started')
      await underLease({
        leaseMs: settings.leaseMs,
        renew: () => renew(job, settings.leaseMs),
        signals,
        work: (signal) => handler.run({ id: job.id, type, data: job.data, signal, progress: progress.report }),
      })
      await progress.settled()
      await finish(job, 'completed', null)
      log.debug('job completed')
    } catch (error) {
      await progress.settled()
      if (error instanceof LeaseLost) return log.warn('job was cancelled or taken over')
      if (ending.signal.aborted) return await giveBack(job)
      await fail(handler, job, error, log)
    }
  }

  const renew = async (job: Claimed, leaseMs: number): Promise<boolean> => {
    const rows = await db.query(
      `update job set lease_until = now() + $3 * interval '1 ms' where id = $1 and lease_owner = $2 and state = 'active' returning id`,
      [job.id, job.owner, leaseMs],
    )
    return rows.length > 0
  }

  async function finish(job: Claimed, state: 'completed' | 'failed', error: string | null): Promise<void> {
    await insist(() =>
      db.query(
        `update job set state = $3, error = $4, finished_at = $5, lease_owner = null, lease_until = null,
           progress = case when $3 = 'completed' then 100 else progress end
         where id = $1 and lease_owner = $2 and state = 'active'`,
        [job.id, job.owner, state, error, clock.now()],
      ),
    )
  }

  /** The process is ending: somebody else may take the job at once, and this try does not count. */
  async function giveBack(job: Claimed): Promise<void> {
    await insist(() =>
      db.query(
        `update job set state = 'waiting', lease_owner = null, lease_until = null where id = $1 and lease_owner = $2 and state = 'active'`,
        [job.id, job.owner],
      ),
    )
  }

  async function fail(handler: JobHandler, job: Claimed, error: unknown, log: Logger): Promise<void> {
    const message = error instanceof Error ? error.message : String(error)
    // A row that somebody else held for a moment is no failure of the job.
    if (error instanceof DomainError && error.kind === 'busy') return await postpone(job, job.failures, message)
    // Nor is an outage, however long.
    if (isOutage(error)) {
      log.warn({ err: error }, 'job waits for the end of an outage')
      const shortest = isDatabaseOutage(error) ? AFTER_DATABASE_MS : AFTER_OUTAGE_MS
      return await postpone(job, job.failures, message, outageWaits.next(job.id, shortest))
    }
    const failures = job.failures + 1
    const last = failures >= job.max_attempts || error instanceof PermanentFailure
    log.warn({ err: error, failures, last }, 'job failed')
    if (!last) return await postpone(job, failures, message)
    // Whoever has the job now speaks for it.
    if (!(await renew(job, options.settings().leaseMs))) return log.warn('job was cancelled or taken over')
    try {
      await handler.failed?.({ id: job.id, data: job.data }, message)
      await finish(job, 'failed', message.slice(0, 5000))
    } catch (cause) {
      log.error({ err: cause }, 'the failure of a job could not be told; it is tried again')
      await postpone(job, failures, message)
    }
  }

  async function postpone(job: Claimed, failures: number, message: string, atLeast = 0): Promise<void> {
    const delay = Math.max(atLeast, backOff(options.settings().backOff, failures))
    await insist(() =>
      db.query(
        `update job set state = 'delayed', failures = $3, error = $4, due_at = $5, lease_owner = null, lease_until = null
         where id = $1 and lease_owner = $2 and state = 'active'`,
        [job.id, job.owner, failures, message.slice(0, 5000), new Date(clock.now().getTime() + delay)],
      ),
    )
  }

  async function recover(): Promise<string[]> {
    const { maxLostLeases, leaseMs } = options.settings()
    const claimOwner = `${owner}#${randomToken(4)}`
    // A job that takes its process down with it each time must not do so for ever: it is kept and given up.
    const lost = await db.query<Omit<Claimed, 'owner'> & { type: string; lost_leases: number; state: string }>(
      `update job set lost_leases = lost_leases + 1,
         state = case when lost_leases >= $1 then 'active' else 'waiting' end,
         lease_owner = case when lost_leases >= $1 then $2 end,
         lease_until = case when lost_leases >= $1 then now() + $3 * interval '1 ms' end
       where id in (select id from job where state = 'active' and lease_until < now() limit 100 for update skip locked)
       returning id, type, data, failures, max_attempts, lost_leases, state`,
      [maxLostLeases, claimOwner, leaseMs],
    )
    for (const job of lost) {
      logger.warn({ job: job.id, type: job.type, lostLeases: job.lost_leases }, 'the lease of a job was lost')
      if (job.state === 'active') await giveUp({ ...job, owner: claimOwner })
    }
    const due = await db.query<{ type: string }>(
      "select distinct type from job where state in ('waiting', 'delayed') and due_at <= $1",
      [clock.now()],
    )
    return due.map((row) => row.type)
  }

  async function giveUp(job: Claimed & { type: string }): Promise<void> {
    const message = 'The processes that ran this job ended again and again.'
    try {
      await registry.jobs.get(job.type)?.failed?.({ id: job.id, data: job.data }, message)
      await finish(job, 'failed', message)
    } catch (error) {
      logger.error({ err: error, job: job.id }, 'a job could not be given up; it is tried again')
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
        .query('update job set progress = $2 where id = $1 and lease_owner = $3', [job.id, percent, job.owner])
        .then(() => undefined)
        .catch(() => undefined)
    }
    return { report, settled: () => writing }
  }

  return {
    work,
    recover,
    async stop(graceMs) {
      stopped = true
      const done = Promise.allSettled([...inFlight])
      const timer = setTimeout(() => ending.abort(new Error('The process is ending.')), graceMs)
      await done
      clearTimeout(timer)
    },
  }
}

/**
 * Whether the job could not be done for something that is out of reach: the database, object storage, room on the disk, or what a
 * handler says. A handler that gives up for a full disk has its reasons.
 */
export const isOutage = (error: unknown): boolean =>
  isDatabaseOutage(error) ||
  causesOf(error).some((cause) => cause instanceof StorageOutage || cause instanceof NotNow) ||
  (!(error instanceof PermanentFailure) && isDiskFull(error))
