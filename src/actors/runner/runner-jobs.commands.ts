// Jobs of runners: offered, accepted, reported, ended. A runner proves its lease with the token of the job; a lost lease has none.

import { type FileRef, MediaError, type Store } from '../../media/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import { newUuid, sha256 } from '../../platform/ids.ts'
import type { RunnerJobEvent, RunnerJobState } from '../../state-machines/runner-job.ts'
import {
  type ActorDeps,
  advanceRow,
  DomainError,
  deleteRunnerJob,
  isOutage,
  moveRunnerJobs,
  notFound,
  PermanentFailure,
  RUNNER_JOBS_TOPIC,
  runnerJobLifecycle,
  type StoredRunnerJob,
  settleChildren,
  startHeartbeat,
  type Unit,
} from '../runtime/index.ts'
import type { Job } from '../runtime/runtime.entity.ts'
import { type Leases, type PendingFiles, workFolder } from '../video/index.ts'
import { makeReceiving } from './receiving.ts'
import type { Part, RemoteWork, RemoteWorks, Result, RunnerJob } from './remote-work.ts'
import type { KnownRunner } from './runner.commands.ts'
import { findLeasedJob, findRunnerJob, isTokenOf, type RunnerJobRow } from './runner.queries.ts'

/** A job that the requester has, and the kind of its work. */
export interface Leased {
  job: RunnerJob
  work: RemoteWork
  tokenHash: Buffer
  leasedAt: Date
}

interface Locked extends StoredRunnerJob, Columns<typeof Job, 'type' | 'runnerId'> {
  uuid: string
  data: RunnerJob['data']
  token_hash: Buffer | null
}

const TOKEN = 'ptrjt-'
const ENDED: readonly RunnerJobState[] = ['completed', 'errored', 'cancelled', 'parent-errored', 'parent-cancelled']
const BEAT_EVERY = 2_000
const MAX_ERROR = 5000
/** Errors for which no result is to blame. */
const OURS: readonly string[] = ['aborted', 'ffmpeg-missing', 'not-found']

const unknownJob = (): DomainError => notFound('Unknown runner job')

export type RunnerJobs = ReturnType<typeof makeRunnerJobs>

export function makeRunnerJobs(deps: ActorDeps & { works: RemoteWorks; store: Store; pendingFiles: PendingFiles; leases: Leases }) {
  const { db, tell, registry, config, logger, works, store, pendingFiles, leases } = deps

  // A video that is only hidden stays, and its jobs with it.
  registry.on('VideoRemoved', 'runner-jobs', ({ videoId }, unit) =>
    moveRunnerJobs(
      unit,
      'CANCELLED',
      "job.uuid is not null and job.data->>'videoId' = $2 and not exists (select from video where id = $3 and state <> 'removed')",
      [String(videoId), videoId],
    ),
  )

  registry.timeout('runner_job', {
    of: runnerJobLifecycle,
    in: ['processing', 'completing'],
    timedOut: (id) =>
      withJob(id, async (unit, job) => {
        logger.warn({ job: job.uuid, runner: job.runner_id, state: job.state }, 'a runner, or the storing of its result, fell silent')
        await move(unit, job, { type: 'TIMED_OUT', maxLosses: config().vireo.runners.max_failures }, 'Its runners fell silent.')
      }),
  })

  const settings = (type: string) => ({
    stalled_after: config().remote_runners.stalled_jobs[works.of(type)?.silence ?? 'vod'],
    lease: config().vireo.jobs.lease,
  })

  const LOCK = `select id, uuid, type, data, state, failures, lost_leases as "lostLeases", runner_id, lease_token_hash as token_hash
    from job where id = $1 for no key update`

  async function lock(unit: Unit, id: number): Promise<Locked> {
    const [job] = await unit.query<Locked>(LOCK, [id])
    if (!job) throw unknownJob()
    return job
  }

  const withJob = <T>(id: number, work: (unit: Unit, job: Locked) => Promise<T>): Promise<T> =>
    tell({ aggregate: 'runner_job', id }, async (unit) => await work(unit, await lock(unit, id)))

  /** Runs `work` if the requester still has the job. */
  const withLeased = <T>({ job: { id }, tokenHash }: Leased, work: (unit: Unit, job: Locked) => Promise<T>): Promise<T> =>
    withJob(id, async (unit, job) => {
      if (!job.token_hash?.equals(tokenHash)) throw unknownJob()
      if (job.state !== 'processing') throw notProcessing()
      return await work(unit, job)
    })

  /** Moves a locked job. What waits for it learns of its end. */
  async function move(unit: Unit, job: Locked, event: RunnerJobEvent, error: string | null = null, also: object = {}): Promise<void> {
    const { state, from } = await advanceRow(
      unit,
      runnerJobLifecycle,
      job,
      event,
      (to) => ({ ...also, ...(ENDED.includes(to.state) ? { finishedAt: unit.now, error: error?.slice(0, MAX_ERROR) ?? null } : {}) }),
      settings(job.type),
    )
    const isFailure = event.type === 'FAILED' || event.type === 'TIMED_OUT'
    if (isFailure && job.runner_id !== null) await unit.query('update runner set failures = failures + 1 where id = $1', [job.runner_id])
    if (state === from) return
    if (state === 'pending' && (await works.of(job.type)?.isOver?.(unit, job))) {
      const why = `Nothing waits for its result any more.${error ? ` Before: ${error}` : ''}`
      return await move(unit, await lock(unit, job.id), { type: 'CANCELLED' }, why)
    }
    if (state === 'pending') unit.publish(RUNNER_JOBS_TOPIC, {})
    if (!ENDED.includes(state)) return
    await settleChildren(unit, job.id, state)
    if (state === 'completed') return
    const { id: jobId, type, data } = job
    unit.emit({ aggregate: 'runner_job', id: jobId }, 'RunnerJobFailed', { jobId, type, data, error: error ?? 'It was cancelled.' })
  }

  async function take({ job, work, tokenHash }: Leased, result: Result): Promise<void> {
    const done = async (unit: Unit): Promise<void> => {
      const locked = await lock(unit, job.id)
      if (locked.state !== 'completing' || !locked.token_hash?.equals(tokenHash)) throw unknownJob()
      await move(unit, locked, { type: 'DONE' })
    }
    const beat = startHeartbeat({
      everyMs: Math.min(BEAT_EVERY, config().vireo.jobs.lease / 3),
      lost: 'The job was cancelled.',
      renew: () =>
        withJob(job.id, async (unit, locked) => {
          if (locked.state !== 'completing' || !locked.token_hash?.equals(tokenHash)) return false
          await move(unit, locked, { type: 'UPDATED' })
          return true
        }),
    })
    try {
      await work.take(job, result, done, beat.signal)
    } finally {
      await beat.stop()
    }
  }

  /** A result that was not stored: the job fails, or waits for another attempt if this server is to blame. Throws why. */
  async function giveUp({ job: { id, uuid }, tokenHash }: Leased, cause: unknown): Promise<void> {
    const isForGood = cause instanceof PermanentFailure
    const isRefused = isForGood || (cause instanceof MediaError && !isOutage(cause) && !OURS.includes(cause.reason))
    const isGone = cause instanceof DomainError && cause.kind === 'not_found'
    const event: RunnerJobEvent = isRefused
      ? { type: 'FAILED', maxFailures: isForGood ? 1 : config().vireo.runners.max_failures }
      : { type: isGone ? 'CANCELLED' : 'ABORTED' }
    const error = cause instanceof Error ? cause.message : String(cause)
    logger.warn({ err: cause, job: uuid }, isRefused ? 'the result of a runner was refused' : 'the result of a runner could not be stored')
    const isStored = await withJob(id, async (unit, job) => {
      if (!job.token_hash?.equals(tokenHash)) throw unknownJob()
      // The response to its commit was lost.
      if (job.state === 'completed') return true
      if (job.state !== 'completing') throw notProcessing()
      await move(unit, job, event, error)
      return false
    })
    if (isStored) return
    if (isRefused) throw new DomainError('invalid', `The result cannot be used: ${error}`, { cause })
    throw cause
  }

  const receiving = makeReceiving({
    db,
    logger,
    refusal(job, tokenHash) {
      if (!job?.tokenHash?.equals(tokenHash)) return unknownJob()
      return job.state === 'processing' ? undefined : notProcessing()
    },
  })

  async function findId(uuid: string): Promise<number> {
    const job = await findLeasedJob(db, uuid)
    if (!job) throw unknownJob()
    return job.id
  }

  return {
    /** Throws `not_found`, and `invalid` if it is not pending. */
    async accept(runner: KnownRunner, uuid: string): Promise<{ job: RunnerJobRow; jobToken: string }> {
      const jobToken = `${TOKEN}${newUuid()}`
      const id = await findId(uuid)
      await withJob(id, async (unit, job) => {
        if (job.state !== 'pending') throw new DomainError('invalid', 'This runner job is not in pending state')
        const also = { runnerId: runner.id, leaseTokenHash: sha256(jobToken), startedAt: unit.now }
        await move(unit, job, { type: 'ACCEPTED' }, null, also)
      })
      const job = await findRunnerJob(db, id)
      if (!job) throw unknownJob()
      return { job, jobToken }
    },

    /** Throws `not_found`, also for a lost lease; `invalid` (`runner_job_not_in_processing_state`) if the job has ended. */
    async leased(runner: KnownRunner, uuid: string, jobToken: string): Promise<Leased> {
      const tokenHash = sha256(jobToken)
      const job = await findLeasedJob(db, uuid)
      const isHolder = job?.runner_id === runner.id && isTokenOf(job, jobToken)
      const work = job && works.of(job.type)
      if (!job?.started_at || !isHolder || !work) throw unknownJob()
      if (job.state !== 'processing') throw notProcessing()
      return { job: { id: job.id, uuid: job.uuid, type: job.type, data: job.data }, work, tokenHash, leasedAt: job.started_at }
    },

    /** The runner is alive; `progress` in per cent. Throws like `leased`, as do all below. */
    update(leased: Leased, progress: number | undefined): Promise<void> {
      return withLeased(leased, (unit, job) => move(unit, job, { type: 'UPDATED' }, null, progress === undefined ? {} : { progress }))
    },

    /** Checks and stores a part of the result. Throws `invalid` if it is unusable: then the job has failed. */
    async takePart(leased: Leased, part: Omit<Part, 'leasedAt'>, signal: AbortSignal): Promise<void> {
      const { job, work, leasedAt } = leased
      try {
        if (!work.parts) throw new DomainError('invalid', 'The result of this job has no parts.')
        await work.parts.take(job, { ...part, leasedAt }, signal)
      } catch (cause) {
        const isRefused = cause instanceof MediaError && !isOutage(cause) && !OURS.includes(cause.reason)
        if (!isRefused) throw cause
        await this.fail(leased, cause.message)
        throw new DomainError('invalid', `The part of the result cannot be used: ${cause.message}`, { cause })
      }
    },

    async abort(leased: Leased, reason: string): Promise<void> {
      await withLeased(leased, (unit, job) => move(unit, job, { type: 'ABORTED' }))
      logger.info({ job: leased.job.uuid, reason }, 'a runner aborted its job')
    },

    async fail(leased: Leased, message: string): Promise<void> {
      await withLeased(leased, (unit, job) =>
        move(unit, job, { type: 'FAILED', maxFailures: config().vireo.runners.max_failures }, message),
      )
      logger.warn({ job: leased.job.uuid, reason: message }, 'a runner failed')
    },

    /**
     * A folder for the files of a result or of a part of it; `end` removes it. `signal` aborts with the error to answer once the runner has
     * lost the job, or sends another result. Throws `unavailable` if too many parts are sent at once.
     */
    async beginTransfer(leased: Leased, kind: 'result' | 'part'): Promise<{ folder: string; signal: AbortSignal; end(): Promise<void> }> {
      const { job, tokenHash } = leased
      const name = newUuid()
      if (kind === 'result') await withLeased(leased, (unit, locked) => move(unit, locked, { type: 'UPDATED' }, null, { receives: name }))
      const transfer = await receiving.begin({ jobId: job.id, tokenHash, id: kind === 'result' ? name : undefined })
      const work = workFolder('runner', name)
      const end = (): Promise<void> => {
        transfer.end()
        return pendingFiles.discard([work])
      }
      try {
        await pendingFiles.reserve(leases.owner, [work])
        return { folder: await store.workFolder(work.name), signal: transfer.signal, end }
      } catch (error) {
        logger.error({ err: error, job: job.uuid }, 'there is no place for the result of a runner')
        await end()
        throw error
      }
    },

    /** Checks and stores a result. Throws `invalid` if it is unusable: then the job has failed. */
    async succeed(leased: Leased, result: Result): Promise<void> {
      await withLeased(leased, (unit, job) => move(unit, job, { type: 'RECEIVED' }))
      await take(leased, result).catch((cause: unknown) => giveUp(leased, cause))
      await pendingFiles.collect()
    },

    /** An input file of the job. Throws `not_found`. */
    async input({ job, work }: Leased, file: string): Promise<FileRef> {
      const ref = await work.input(job, file).catch((error: unknown) => {
        // Its files were removed meanwhile.
        if (error instanceof PermanentFailure) return undefined
        throw error
      })
      if (!ref) throw notFound('This job has no such file')
      return ref
    },

    /** Runs in the transaction that removes a runner. Its jobs wait for others, except those that nothing waits for any more. */
    async release(unit: Unit, runnerId: number): Promise<void> {
      const open = `select id from job where runner_id = $1 and state in ('processing', 'completing') order by id for no key update`
      for (const { id } of await unit.query<{ id: number }>(open, [runnerId])) {
        await move(unit, await lock(unit, id), { type: 'ABORTED' }, 'Its runner was removed.')
      }
    },

    /** By an administrator. Throws `not_found`, and `invalid` if it has ended. */
    async cancel(uuid: string): Promise<void> {
      await withJob(await findId(uuid), async (unit, job) => {
        if (ENDED.includes(job.state)) {
          const open = '"pending", "processing" or "waiting for parent job"'
          throw new DomainError('invalid', `Cannot cancel this job that is not in ${open} state`)
        }
        await move(unit, job, { type: 'CANCELLED' }, 'An administrator cancelled the job.')
      })
    },

    /** The same; an open job is cancelled first. Throws `not_found`. */
    async remove(uuid: string): Promise<void> {
      await withJob(await findId(uuid), async (unit, job) => {
        if (!ENDED.includes(job.state)) await move(unit, job, { type: 'CANCELLED' }, 'An administrator removed the job.')
        await deleteRunnerJob(unit.query, job.id)
      })
    },
  }
}

const notProcessing = (): DomainError =>
  new DomainError('invalid', 'Job is not in "processing" state', { code: 'runner_job_not_in_processing_state' })
