// A cached reading for callers that cannot wait: the last value, refreshed in the background on demand. Stale values of lru-cache have
// neither an age nor a limit to it.

import { setTimeout as pause } from 'node:timers/promises'

export interface Reading<T> {
  value: T
  /** How old it is. */
  ageMs: number
}

const PATIENCE_MS = 10

/** Returns within some milliseconds; undefined before the first reading, and if the last one is older than `keptMs`. */
export function makeCachedReading<T>(options: {
  read: () => Promise<T>
  /** Younger ones are not refreshed. */
  freshMs: number
  keptMs: number
  failed: (error: unknown) => void
  now?: () => number
}): () => Promise<Reading<T> | undefined> {
  const { read, freshMs, keptMs, failed, now = () => performance.now() } = options
  let last: { value: T; at: number } | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let startedAt = Number.NEGATIVE_INFINITY

  async function renew(): Promise<void> {
    const at = now()
    startedAt = at
    try {
      last = { value: await read(), at }
    } catch (error) {
      failed(error)
    } finally {
      triedAt = now()
      reading = undefined
    }
  }

  return async () => {
    if (now() - triedAt >= freshMs) reading ??= renew()
    if (reading && now() - startedAt < PATIENCE_MS) await Promise.race([reading, pause(PATIENCE_MS)])
    if (!last) return undefined
    const ageMs = now() - last.at
    return ageMs < keptMs ? { value: last.value, ageMs } : undefined
  }
}
