// Six queues of hints on BullMQ, with Redis or PostgreSQL behind it. What must not be lost is in our own tables.

import type { Logger } from '../logger.ts'
import { openBackEnd, type Producer, type QueueBackEnd } from './back-end.ts'
import { jobOptions, slotOptions, untilNextSlot } from './job-options.ts'
import { makeQuietLog } from './quiet-log.ts'
import type { Hint, Queue, QueueName, WorkHandle } from './types.ts'
import { startWork } from './work.ts'

export type { QueueBackEnd } from './back-end.ts'
export { type Hint, type Queue, type QueueName, queueNames, type WorkHandle } from './types.ts'

export interface QueueOptions {
  backend: QueueBackEnd
  /** Keeps several servers on one back end apart. */
  prefix: string
  logger: Logger
}

const BATCH = 500
const MAX_TIMER_MS = 2 ** 31 - 1
/** For handlers still at work when the queue closes; close a worker first to give its handlers another time. */
const DRAIN_MS = 10_000

/** Connects (and makes BullMQ's tables on PostgreSQL). Throws when the back end cannot be used now. */
export async function makeQueue({ backend, prefix, logger }: QueueOptions): Promise<Queue> {
  const backEnd = await openBackEnd(backend, prefix, logger)
  const quiet = makeQuietLog(logger)
  const producers = new Map<QueueName, Producer>()
  const works = new Set<WorkHandle>()
  const timers = new Map<string, NodeJS.Timeout>()
  let closing: Promise<void> | undefined

  const producer = (queue: QueueName): Producer => {
    const known = producers.get(queue)
    if (known) return known
    const made = backEnd.producer(queue)
    made.on('error', (error) => quiet('a queue had an error', error, { queue }))
    producers.set(queue, made)
    return made
  }

  const lossy = async (queue: QueueName, push: (producer: Producer) => Promise<unknown>): Promise<void> => {
    if (closing) return
    try {
      if (!backEnd.isUp()) throw new Error('the back end of the queue is out of reach')
      await push(producer(queue))
    } catch (error) {
      quiet('a hint was lost', error, { queue })
    }
  }

  const repeat = async (name: string, intervalMs: number): Promise<void> => {
    const now = Date.now()
    await lossy('cron', (cron) => cron.add(name, { id: name, data: {} }, slotOptions(name, intervalMs, now)))
    if (closing) return
    const next = Math.min(untilNextSlot(intervalMs, Date.now()), MAX_TIMER_MS)
    timers.set(name, setTimeout(() => void repeat(name, intervalMs), next).unref())
  }

  const close = async (): Promise<void> => {
    for (const timer of timers.values()) clearTimeout(timer)
    await Promise.all([...works].map((work) => work.close({ drainMs: DRAIN_MS })))
    await Promise.all([...producers.values()].map((each) => each.close()))
    await backEnd.close()
  }

  return {
    hint: (queue, hint) =>
      lossy(queue, (target) => target.add(hint.name, payloadOf(hint), jobOptions(hint, Date.now()))),
    async hintMany(queue, hints) {
      for (let start = 0; start < hints.length; start += BATCH) {
        const now = Date.now()
        const jobs = hints
          .slice(start, start + BATCH)
          .map((hint) => ({ name: hint.name, data: payloadOf(hint), opts: jobOptions(hint, now) }))
        await lossy(queue, (target) => target.addBulk(jobs))
      }
    },
    async work(queue, { concurrency }, handler) {
      const work = await startWork({ backEnd, queue, concurrency, handler, logger })
      works.add(work)
      return work
    },
    async every(name, intervalMs) {
      clearTimeout(timers.get(name))
      await repeat(name, intervalMs)
    },
    async counts(queue) {
      const counts = await producer(queue).getJobCounts('waiting', 'prioritized', 'active', 'delayed')
      const { waiting = 0, prioritized = 0, active = 0, delayed = 0 } = counts
      return { waiting: waiting + prioritized, active, delayed }
    },
    wipe: () => backEnd.wipe(),
    close() {
      closing ??= close()
      return closing
    },
  }
}

const payloadOf = ({ id, data }: Hint) => ({ id, data })
