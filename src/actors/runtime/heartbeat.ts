// The heartbeat of work on a leased row: while it beats, the row's timeout does not fire.

export type Heartbeat = ReturnType<typeof startHeartbeat>

/** `renew` extends the lease and returns false if it is lost; `lost` is the reason of the abort then. */
export function startHeartbeat(options: { everyMs: number; renew: () => Promise<boolean>; lost: string }) {
  const over = new AbortController()
  let beating = Promise.resolve()
  const beat = async (): Promise<void> => {
    // While the database is unreachable the work goes on; the job's own lease ends it if necessary.
    if (!(await options.renew().catch(() => true))) over.abort(new Error(options.lost))
  }
  const timer = setInterval(() => {
    beating = beat()
  }, options.everyMs)
  return {
    /** Aborted when the lease is lost. */
    signal: over.signal,
    async stop(): Promise<void> {
      clearInterval(timer)
      await beating
    },
  }
}
