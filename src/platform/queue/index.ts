// Six queues of hints on BullMQ, with Redis or PostgreSQL behind it. What must not be lost is in our own tables.

import type { Logger } from '../logger.ts'
import { openBackEnd, type Producer, type QueueBackEnd } from './back-end.ts'
import { makeQuietLog } from './quiet-log.ts'
import type { Queue, QueueName, WorkHandle } from './types.ts'
import { startWork } from './work.ts'

export type { QueueBackEnd } from './back-end.ts'
export { type Hint, type Queue, type QueueName, queueNames, type WorkHandle } from './types.ts'

export interface QueueOptions {
  backend: QueueBackEnd
  /** Keeps several servers on one back end apart. */
  prefix: string
  logger: Logger
}

/**
 * How long a waiting hint takes in others of its id. It ends by itself, since a process killed between taking a hint and
 * letting new ones in would keep all others of that id out until BullMQ finds it dead, a minute later.
 */
const MERGE_MS = 5_000
const ONCE_AND_GONE = { attempts: 1, removeOnComplete: true, removeOnFail: true }
/** For handlers still at work when the queue closes; close a worker first to give its handlers another time. */
const DRAIN_MS = 10_000

/** Connects (and makes BullMQ's tables on PostgreSQL). Throws when the back end cannot be used now. */
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
