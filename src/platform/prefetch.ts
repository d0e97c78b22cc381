// Prefetches a value that is slow to compute while it is in demand, so that only the first caller waits. During a forced refresh, callers
// of lru-cache wait, or get a value of any age.

export interface Prefetched<T> {
  /** The last value, if it is not older than two rounds; otherwise a new one. Throws like the computation. */
  get(): Promise<T>
  /** Stops prefetching. */
  stop(): void
}

/** `wantedMs`: how long after a call the next one is expected. */
export function prefetch<T>(options: {
  make: () => Promise<T>
  everyMs: number
  wantedMs: number
  now?: () => number
  /** Repeats `round`; returns the function that stops it. */
  repeat?: (round: () => void, everyMs: number) => () => void
}): Prefetched<T> {
  const { make, everyMs, wantedMs, now = () => performance.now(), repeat = repeatUnnoticed } = options
  let last: { value: T; at: number } | undefined
  let making: Promise<T> | undefined
  let wantedUntil = Number.NEGATIVE_INFINITY
  let end: (() => void) | undefined

  /** The age counts from the start of the computation. */
  async function renew(): Promise<T> {
    const at = now()
    try {
      const value = await make()
      last = { value, at }
      return value
    } finally {
      making = undefined
    }
  }

  function round(): void {
    if (now() >= wantedUntil) {
      stop()
      return
    }
    making ??= renew()
    // The caller then sees the error.
    making.catch(() => undefined)
  }

  function stop(): void {
    end?.()
    end = undefined
  }

  return {
    async get() {
      wantedUntil = now() + wantedMs
      end ??= repeat(round, everyMs)
      if (last && now() - last.at < 2 * everyMs) return last.value
      making ??= renew()
      return await making
    },
    stop,
  }
}

/** Does not keep the process alive. */
function repeatUnnoticed(round: () => void, everyMs: number): () => void {
  const timer = setInterval(round, everyMs).unref()
  return () => clearInterval(timer)
}
