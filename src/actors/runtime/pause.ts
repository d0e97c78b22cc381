// Whether jobs and lanes are started: a process-local copy of the machine `job-queue`. Claims check the stored row in any case, so that
// nothing starts after a pause was confirmed; the local copy saves most claims.

import type { Bus } from '../../platform/bus/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import type { JobQueueState } from '../../state-machines/job-queue.ts'

/** Published when the queue was paused or resumed. */
export const JOB_QUEUE_TOPIC = 'job-queue'

/** SQL condition: jobs may be started. */
export const NOT_PAUSED = "not exists (select from job_queue where state = 'paused')"

export type Pause = ReturnType<typeof makePause>

export function makePause(options: {
  db: Database
  bus: Pick<Bus, 'subscribe'>
  logger: Logger
  /** Called when waiting work may start again. */
  onResume: () => void
}) {
  const { db, bus, logger, onResume } = options
  let paused = false
  let unsubscribe: (() => void) | undefined

  /** Reads the stored state. The sweeper calls it in each run, as the bus may lose messages. */
  async function look(): Promise<void> {
    const [row] = await db.query<{ state: JobQueueState }>('select state from job_queue where id = 1', [])
    const before = paused
    paused = row?.state === 'paused'
    if (before !== paused) logger.info(paused ? 'jobs are paused' : 'jobs go on')
    if (before && !paused) onResume()
  }

  return {
    isPaused(): boolean {
      return paused
    },
    look,
    /** Reads now, and on each message of the bus. */
    async start(): Promise<void> {
      unsubscribe = bus.subscribe(JOB_QUEUE_TOPIC, () => {
        look().catch((error) => logger.warn({ err: error }, 'whether jobs are paused is not known; the sweeper will see'))
      })
      await look()
    },
    stop(): void {
      unsubscribe?.()
    },
  }
}
