// Pauses and resumes the queue, retries work that was given up, and cancels jobs.

import { initialJobQueue, type JobQueueEvent, type JobQueueState, jobQueueMachine } from '../../state-machines/job-queue.ts'
import { retryDelivery } from '../delivery/index.ts'
import type { IncomingActivities } from '../incoming-activity/index.ts'
import type { RunnerJobs } from '../runner/index.ts'
import {
  type ActorDeps,
  advanceRow,
  DomainError,
  defineLifecycle,
  JOB_QUEUE_TOPIC,
  jobLifecycle,
  type NewJob,
  notFound,
  type StoredJob,
  takes,
} from '../runtime/index.ts'
import { type ListedJobId, readJobId } from './job-ids.ts'

const notOpen = (cause?: unknown) => new DomainError('conflict', 'This job neither waits nor runs.', { cause })

/** A lease that has run out. */
const LONG_AGO = new Date(0)
const QUEUE = { aggregate: 'job_queue', id: 1 } as const
const jobQueueLifecycle = defineLifecycle({ table: 'job_queue', machine: jobQueueMachine, initial: initialJobQueue })

export type JobQueue = ReturnType<typeof makeJobQueue>

export function makeJobQueue(
  deps: Pick<ActorDeps, 'db' | 'tell' | 'logger' | 'registry' | 'config'> & {
    incoming: Pick<IncomingActivities, 'retryParked'>
    runnerJobs: Pick<RunnerJobs, 'cancel'>
  },
) {
  const { db, tell, logger, registry, config, incoming, runnerJobs } = deps

  async function move(event: JobQueueEvent): Promise<void> {
    const isChanged = await tell(QUEUE, async (unit) => {
      const [row] = await unit.query<{ state: JobQueueState }>('select state from job_queue where id = 1')
      const from = { id: QUEUE.id, state: row?.state ?? initialJobQueue.state }
      const { state, changed } = await advanceRow(unit, jobQueueLifecycle, from, event, {})
      if (!changed) return false
      unit.publish(JOB_QUEUE_TOPIC, { state })
      return true
    })
    if (isChanged) logger.info({ event: event.type }, 'the queue of jobs was paused or resumed')
  }

  async function retryJob(id: number): Promise<void> {
    await tell.create(async (unit) => {
      const [row] = await unit.query<StoredJob & { type: string; data: NewJob['data']; isRemote: boolean; isAskedFor: boolean }>(
        `select j.id, j.type, j.data, j.uuid is not null as "isRemote", j.state, j.failures, j.lost_leases as "lostLeases", exists (
           select from job o where o.dedupe_key = j.dedupe_key and o.state in ('waiting', 'delayed', 'active')
         ) as "isAskedFor" from job j where j.id = $1 for no key update of j`,
        [id],
      )
      if (!row) throw notFound('This job does not exist.')
      if (row.isRemote) throw new DomainError('conflict', 'A job of remote runners is not tried again: ask for the work itself again.')
      const event = { type: 'RETRIED' } as const
      if (!takes(jobLifecycle, row, event)) throw new DomainError('conflict', 'This job did not fail.')
      if (row.isAskedFor) throw new DomainError('conflict', 'This is queued again already.')
      if (!standsAlone(row)) throw new DomainError('conflict', 'What waited for this job has failed with it: ask for that itself again.')
      const also = { progress: 0, dueAt: unit.now, finishedAt: null }
      await advanceRow(unit, jobLifecycle, row, event, also, config().vireo.jobs)
    })
  }

  async function cancelJob(id: number): Promise<void> {
    const [remote] = await db.query<{ uuid: string }>('select uuid from job where id = $1 and uuid is not null', [id])
    if (remote) {
      return await runnerJobs.cancel(remote.uuid).catch((error: unknown) => {
        throw error instanceof DomainError && error.kind === 'invalid' ? notOpen(error) : error
      })
    }
    await tell.create(async (unit) => {
      const [row] = await unit.query<StoredJob>(
        'select id, state, failures, lost_leases as "lostLeases" from job where id = $1 for no key update',
        [id],
      )
      if (!row) throw notFound('This job does not exist.')
      const event = { type: 'STOPPED' } as const
      if (!takes(jobLifecycle, row, event)) throw notOpen()
      const also = { leaseOwner: null, leaseUntil: LONG_AGO, error: 'An administrator cancelled it.' }
      await advanceRow(unit, jobLifecycle, row, event, also, config().vireo.jobs)
    })
  }

  /** Otherwise it would find nothing to do, and complete. */
  function standsAlone({ type, data }: { type: string; data: NewJob['data'] }): boolean {
    const handler = registry.jobs.get(type)
    return handler?.standsAlone?.(data) ?? handler?.failed === undefined
  }

  const retries: Record<ListedJobId['source'], (id: number) => Promise<void>> = {
    job: retryJob,
    delivery: (id) => tell.create((unit) => retryDelivery(unit, id)),
    inbox: (id) => incoming.retryParked(id),
    task: async () => {
      throw new DomainError('conflict', 'This job repeats by itself.')
    },
  }

  return {
    /** No process starts work from now on; idempotent. */
    pause(): Promise<void> {
      return move({ type: 'PAUSED' })
    },
    resume(): Promise<void> {
      return move({ type: 'RESUMED' })
    },
    async state(): Promise<JobQueueState> {
      const [row] = await db.query<{ state: JobQueueState }>('select state from job_queue where id = 1')
      return row?.state ?? initialJobQueue.state
    },
    /**
     * Throws `not_found`, and `conflict` if it did not fail, is queued again already, or if what waited for it has failed with it, as for
     * each job of remote runners.
     */
    async retry(text: string): Promise<void> {
      const found = readJobId(text)
      if (!found) throw notFound('This job does not exist.')
      await retries[found.source](found.id)
    },
    /**
     * The job fails within seconds, and so does what waits for it, as if it had no attempts left; a running one is interrupted. Throws
     * `not_found`, and `conflict` if it neither waits nor runs, or is no job. One of remote runners is cancelled among those.
     */
    async cancel(text: string): Promise<void> {
      const found = readJobId(text)
      if (!found) throw notFound('This job does not exist.')
      if (found.source !== 'job') throw new DomainError('conflict', 'This is no job that can be cancelled.')
      await cancelJob(found.id)
    },
  }
}
