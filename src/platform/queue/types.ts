// The queue as the rest of the server sees it: a way to wake a handler soon, on some process. It may forget everything.

export const queueNames = ['delivery', 'inbox', 'media', 'mail', 'io', 'cron'] as const

export type QueueName = (typeof queueNames)[number]

export interface Hint {
  /** What to do; the handler's key. */
  name: string
  /**
   * Hints of one queue with the same id are merged as long as the first of them waits. From the moment its handler
   * begins, a new hint with that id runs again: a wake-up after the handler's last look is never swallowed.
   */
  id: string
  data: Record<string, string | number>
}

export interface WorkHandle {
  /** Takes no more hints, waits for those in hand (at most `drainMs`, else for ever), then lets go. */
  close(options?: { drainMs?: number }): Promise<void>
  /** Takes effect at once, also while handlers run. */
  setConcurrency(concurrency: number): void
}

export interface QueueCounts {
  waiting: number
  active: number
}

export interface Queue {
  /** Never throws for a back end that is away: the loss is logged, and the sweeper hints again from our own tables. */
  hint(queue: QueueName, hint: Hint): Promise<void>
  /** A handler that throws is logged and not called again for this hint. */
  work(queue: QueueName, options: { concurrency: number }, handler: (hint: Hint) => Promise<void>): Promise<WorkHandle>
  counts(queue: QueueName): Promise<QueueCounts>
  /** Forgets everything, as an accident would. Running workers go on with new hints. */
  wipe(): Promise<void>
  /** Closes all workers too, waiting at most ten seconds for their handlers. */
  close(): Promise<void>
}
