// Periodic work that is needed only while sockets are connected.

import type { Logger } from '../../platform/logger.ts'

export interface Repeated {
  /** Begins it, unless it runs. */
  start(): void
  stop(): void
}

/** Calls `work` every `everyMs` until it `isNeeded` no more. A failure is logged with `failure`. */
export function makeRepeated(options: {
  work: () => Promise<void>
  isNeeded: () => boolean
  everyMs: number
  logger: Logger
  failure: string
}): Repeated {
  const { work, isNeeded, everyMs, logger, failure } = options
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  function start(): void {
    timer ??= setTimeout(() => {
      work()
        .catch((error: unknown) => logger.warn({ err: error }, failure))
        .finally(() => {
          timer = undefined
          if (isNeeded() && !isStopped) start()
        })
    }, everyMs).unref()
  }

  return {
    start,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
