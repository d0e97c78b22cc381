// The heart-beat of work on a row that has an owner: while it beats, the row's time-out does not come.

export interface Beat {
  /** Set when the row is no longer the worker's. */
  signal: AbortSignal
  stop(): Promise<void>
}

/** `renew` pushes the time-out on, and answers whether the row is still the worker's; `lost` is what is said when not. */
export function startBeat(options: { everyMs: number; renew: () => Promise<boolean>; lost: string }): Beat {
  const over = new AbortController()
  let beating = Promise.resolve()
  const beat = async (): Promise<void> => {
    // While the database is out of reach the work goes on; the job's own lease ends it in time.
    if (!(await options.renew().catch(() => true))) over.abort(new Error(options.lost))
  }
  const timer = setInterval(() => {
    beating = beat()
  }, options.everyMs)
  return {
    signal: over.signal,
    async stop() {
      clearInterval(timer)
      await beating
    },
  }
}
