// A reading that takes a moment, for those who cannot wait: what was read last, renewed in the background when it is asked for.

import { setTimeout as pause } from 'node:timers/promises'

export interface Reading<T> {
  value: T
  /** How old it is. */
  ageMs: number
}

const PATIENCE_MS = 10

/** Answers within some milliseconds; undefined while there was none yet, and when the last one is older than `keptMs`. */
export function makeKeptReading<T>(options: {
  read: () => Promise<T>
  /** Younger ones are not renewed. */
  freshMs: number
  keptMs: number
  failed: (error: unknown) => void
  now?: () => number
}): () => Promise<Reading<T> | undefined> {
  const { read, freshMs, keptMs, failed, now = () => performance.now() } = options
  let last: { value: T; at: number } | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  async function renew(): Promise<void> {
    try {
      const at = now()
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
    if (reading) await Promise.race([reading, pause(PATIENCE_MS)])
    if (!last) return undefined
    const ageMs = now() - last.at
    return ageMs < keptMs ? { value: last.value, ageMs } : undefined
  }
}
