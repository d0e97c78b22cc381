// Periodic work that is needed only while sockets are connected.

import type { Logger } from '../../platform/logger.ts'

/** Calls `work` every `everyMs` until it `isNeeded` no more. A failure is logged with `failure`. */
export function makeRepeated(options: {
  work: () => Promise<void>
  isNeeded: () => boolean
  everyMs: number
  logger: Logger
  failure: string
}) {
  const { work, isNeeded, everyMs, logger, failure } = options
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  /** Begins it, unless it runs. */
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
