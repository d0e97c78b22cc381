// The queue interface: wakes a handler soon, in some process. It may lose everything.

export const queueNames = ['delivery', 'inbox', 'media', 'mail', 'io', 'cron'] as const

export type QueueName = (typeof queueNames)[number]

export interface Hint {
  /** The key of the handler. */
  name: string
  /**
   * Hints of one queue with the same id are merged while the first of them waits. Once its handler begins, a new hint with that id runs
   * again: no wake-up after the handler's last check is lost.
   */
  id: string
  data: Record<string, string | number>
}

export interface WorkHandle {
  /** Takes no more hints, waits for running ones (at most `drainMs`, by default forever), then closes. */
  close(options?: { drainMs?: number }): Promise<void>
  /** Takes effect at once, also while handlers run. */
  setConcurrency(concurrency: number): void
}

export interface QueueCounts {
  waiting: number
  active: number
}

export interface Queue {
  /** Never throws during an outage: the loss is logged, and the sweeper sends hints again from the tables. */
  hint(queue: QueueName, hint: Hint): Promise<void>
  /** A handler that throws is logged and not called again for this hint. */
  work(queue: QueueName, options: { concurrency: number }, handler: (hint: Hint) => Promise<void>): Promise<WorkHandle>
  counts(queue: QueueName): Promise<QueueCounts>
  /** Deletes everything, like an accident. Running workers continue with new hints. */
  wipe(): Promise<void>
  /** Closes all workers too, waiting at most ten seconds for their handlers. */
  close(): Promise<void>
}
