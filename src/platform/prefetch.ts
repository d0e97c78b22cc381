// What takes a moment to make, made ahead while somebody keeps asking for it, so that nobody waits but who asks first.

export interface Prefetched<T> {
  /** What was made last, if that is not older than two rounds; else it is made now. Throws what making throws. */
  get(): Promise<T>
  /** Nothing is made ahead any more. */
  stop(): void
}

/** `wantedMs`: for how long after a question the next one is expected. */
export function prefetch<T>(options: {
  make: () => Promise<T>
  everyMs: number
  wantedMs: number
  now?: () => number
  /** Runs `round` again and again; answers what ends that. */
  repeat?: (round: () => void, everyMs: number) => () => void
}): Prefetched<T> {
  const { make, everyMs, wantedMs, now = () => performance.now(), repeat = repeatUnnoticed } = options
  let last: { value: T; at: number } | undefined
  let making: Promise<T> | undefined
  let wantedUntil = Number.NEGATIVE_INFINITY
  let end: (() => void) | undefined

  /** As old as the moment it was begun. */
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
    // The caller then hears of it.
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

/** The process may end meanwhile. */
function repeatUnnoticed(round: () => void, everyMs: number): () => void {
  const timer = setInterval(round, everyMs).unref()
  return () => clearInterval(timer)
}
