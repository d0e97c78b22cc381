// A worker: passes hints of one queue to a handler, with limited concurrency, and drains when it closes.

import type { Logger } from '../logger.ts'
import { makeQuietLog } from '../quiet-log.ts'
import type { BackEnd, HintJob } from './back-end.ts'
import type { Hint, QueueName, WorkHandle } from './types.ts'

export interface WorkOptions {
  backEnd: BackEnd
  queue: QueueName
  concurrency: number
  handler: (hint: Hint) => Promise<void>
  logger: Logger
}

/** BullMQ gives a hint to another worker if this one has not renewed its lock for this long. Vireo's leases are authoritative. */
const LOCK_MS = 60_000
/** Longest wait for work before polling, in seconds: a safety net for lost notifications. */
const POLL_S = 5
/** The hint is gone or taken over: the queue was wiped, or this process paused. */
const LOST_HINT = /^(Missing (key|lock) for job|Lock mismatch for job|could not renew lock for job|Job .* is not in the active state)/

export async function startWork({ backEnd, queue, concurrency, handler, logger }: WorkOptions): Promise<WorkHandle> {
  const { WaitingError } = await import('bullmq')
  const quiet = makeQuietLog(logger)
  const inHand = makeTally()
  let closing: Promise<void> | undefined

  const process = async (job: HintJob, token?: string): Promise<void> => {
    if (closing) {
      await job.moveToWait(token)
      throw new WaitingError()
    }
    const done = inHand.add()
    try {
      await letNewHintsIn(job)
      await handler({ name: job.name, id: job.data.id, data: job.data.data })
    } catch (error) {
      logger.error({ queue, hint: job.name, id: job.data.id, err: error }, 'the handler of a hint failed')
    } finally {
      done()
    }
  }
  const letNewHintsIn = async (job: HintJob): Promise<void> => {
    await job.removeDeduplicationKey().catch((error: unknown) => quiet('a hint could not be opened for merging', error, { queue }))
  }

  const worker = await backEnd.consumer(queue, process, {
    concurrency,
    lockDuration: LOCK_MS,
    drainDelay: POLL_S,
    runRetryDelay: 1_000,
  })
  worker.on('error', (error) => {
    if (closing) return
    if (LOST_HINT.test(error.message)) logger.debug({ queue, error: error.message }, 'a hint vanished while it was handled')
    else quiet('a worker of the queue had an error', error, { queue })
  })
  try {
    await worker.waitUntilReady()
  } catch (error) {
    await worker.close(true)
    throw error
  }

  return {
    setConcurrency(next) {
      const raised = next > worker.concurrency
      worker.concurrency = next
      // BullMQ reads the concurrency only when a handler ends; this wakes it.
      if (raised && !closing) void worker.pause(true).then(() => worker.resume())
    },
    close({ drainMs } = {}) {
      closing ??= (async () => {
        await worker.pause(true)
        const drained = await inHand.empty(drainMs)
        await worker.close(!drained)
        if (!drained) logger.warn({ queue, drainMs }, 'hints were still being handled when the worker had to close')
      })()
      return closing
    },
  }
}

/** Counts running handlers and reports when none is left. */
function makeTally() {
  let count = 0
  let waiters: (() => void)[] = []
  return {
    add(): () => void {
      count += 1
      return () => {
        count -= 1
        if (count > 0) return
        for (const tell of waiters) tell()
        waiters = []
      }
    },
    /** True if it became empty in time. */
    async empty(withinMs: number = Number.POSITIVE_INFINITY): Promise<boolean> {
      if (count === 0) return true
      const emptied = new Promise<boolean>((resolve) => waiters.push(() => resolve(true)))
      if (!Number.isFinite(withinMs)) return emptied
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), withinMs)
      })
      return Promise.race([emptied, late]).finally(() => clearTimeout(timer))
    },
  }
}
