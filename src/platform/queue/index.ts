// Six queues of hints on BullMQ, on Redis or PostgreSQL. Durable work is in Vireo's own tables.

import type { Logger } from '../logger.ts'
import { makeQuietLog } from '../quiet-log.ts'
import { openBackEnd, type Producer, type QueueBackEnd } from './back-end.ts'
import type { Queue, QueueName, WorkHandle } from './types.ts'
import { startWork } from './work.ts'

export type { QueueBackEnd } from './back-end.ts'
export { type Hint, type Queue, type QueueName, queueNames, type WorkHandle } from './types.ts'

export interface QueueOptions {
  backend: QueueBackEnd
  /** Separates several servers on one back end. */
  prefix: string
  logger: Logger
}

/**
 * How long a waiting hint absorbs others of its id. The time is limited, since a process that is killed between taking a hint and accepting
 * new ones would block that id until BullMQ considers it dead, a minute later.
 */
const MERGE_MS = 5_000
const ONCE_AND_GONE = { attempts: 1, removeOnComplete: true, removeOnFail: true }
/** For running handlers when the queue closes; close a worker first to give its handlers another time. */
const DRAIN_MS = 10_000

/** Connects (and creates BullMQ's tables on PostgreSQL). Throws if the back end is unavailable. */
export async function makeQueue({ backend, prefix, logger }: QueueOptions): Promise<Queue> {
  const backEnd = await openBackEnd(backend, prefix, logger)
  const quiet = makeQuietLog(logger)
  const producers = new Map<QueueName, Producer>()
  const works = new Set<WorkHandle>()
  let closing: Promise<void> | undefined

  const producer = (queue: QueueName): Producer => {
    const known = producers.get(queue)
    if (known) return known
    const made = backEnd.producer(queue)
    made.on('error', (error) => quiet('a queue had an error', error, { queue }))
    producers.set(queue, made)
    return made
  }

  const close = async (): Promise<void> => {
    await Promise.all([...works].map((work) => work.close({ drainMs: DRAIN_MS })))
    await Promise.all([...producers.values()].map((each) => each.close()))
    await backEnd.close()
  }

  return {
    async hint(queue, { name, id, data }) {
      if (closing) return
      try {
        if (!backEnd.isUp()) throw new Error('the back end of the queue is out of reach')
        await producer(queue).add(name, { id, data }, { ...ONCE_AND_GONE, deduplication: { id, ttl: MERGE_MS } })
      } catch (error) {
        quiet('a hint was lost', error, { queue })
      }
    },
    async work(queue, { concurrency }, handler) {
      const work = await startWork({ backEnd, queue, concurrency, handler, logger })
      works.add(work)
      return work
    },
    async counts(queue) {
      const { waiting = 0, active = 0 } = await producer(queue).getJobCounts('waiting', 'active')
      return { waiting, active }
    },
    wipe: () => backEnd.wipe(),
    close() {
      closing ??= close()
      return closing
    },
  }
}
