// Pause and resume of the queue, and another try for work that was given up. Jobs that run are finished.

import {
  initialJobQueue,
  type JobQueueEvent,
  type JobQueueState,
  jobQueueMachine,
} from '../../state-machines/job-queue.ts'
import { step } from '../../state-machines/step.ts'
import { retryDelivery } from '../delivery/index.ts'
import type { IncomingActivities } from '../incoming-activity/index.ts'
import { type ActorDeps, DomainError, JOB_QUEUE_TOPIC, type NewJob, notFound } from '../runtime/index.ts'
import { type ListedJobId, readJobId } from './job-ids.ts'

export interface JobQueue {
  /** Nothing is started from now on, in any process; also when it was paused before. */
  pause(): Promise<void>
  resume(): Promise<void>
  state(): Promise<JobQueueState>
  /**
   * Throws `not_found` when there is no such job, `conflict` when it did not fail, is asked for anew already, or when what waited for
   * it has failed with it.
   */
  retry(id: string): Promise<void>
}

const QUEUE = { aggregate: 'job_queue', id: 1 } as const

export function makeJobQueue(
  deps: Pick<ActorDeps, 'db' | 'tell' | 'logger' | 'registry'> & { incoming: Pick<IncomingActivities, 'retryParked'> },
): JobQueue {
  const { db, tell, logger, registry, incoming } = deps

  async function move(event: JobQueueEvent): Promise<void> {
    const isChanged = await tell(QUEUE, async (unit) => {
      const [row] = await unit.query<{ state: JobQueueState }>('select state from job_queue where id = 1')
      const { state, changed } = step(
        jobQueueMachine,
        { ...initialJobQueue, state: row?.state ?? initialJobQueue.state },
        event,
      )
      if (!changed) return false
      await unit.query('update job_queue set state = $1, updated_at = $2 where id = 1', [state, unit.now])
      unit.publish(JOB_QUEUE_TOPIC, { state })
      return true
    })
    if (isChanged) logger.info({ event: event.type }, 'the queue of jobs was paused or resumed')
  }

  async function retryJob(id: number): Promise<void> {
    await tell.create(async (unit) => {
      const [row] = await unit.query<{ type: string; data: NewJob['data']; state: string; isAskedFor: boolean }>(
        `select j.type, j.data, j.state, exists (
           select from job o where o.dedupe_key = j.dedupe_key and o.state in ('waiting', 'delayed', 'active')
         ) as "isAskedFor" from job j where j.id = $1 for no key update of j`,
        [id],
      )
      if (!row) throw notFound('This job does not exist.')
      if (row.state !== 'failed') throw new DomainError('conflict', 'This job did not fail.')
      if (row.isAskedFor) throw new DomainError('conflict', 'This was asked for anew already.')
      if (!standsAlone(row))
        throw new DomainError('conflict', 'What waited for this job has failed with it: ask for that itself again.')
      await unit.query(
        `update job set state = 'waiting', failures = 0, lost_leases = 0, progress = 0, due_at = $2, finished_at = null
         where id = $1`,
        [id, unit.now],
      )
    })
  }

  /** Else it would find nothing to do, and be completed. */
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
    pause: () => move({ type: 'PAUSED' }),
    resume: () => move({ type: 'RESUMED' }),
    async state() {
      const [row] = await db.query<{ state: JobQueueState }>('select state from job_queue where id = 1')
      return row?.state ?? initialJobQueue.state
    },
    async retry(text) {
      const found = readJobId(text)
      if (!found) throw notFound('This job does not exist.')
      await retries[found.source](found.id)
    },
  }
}
