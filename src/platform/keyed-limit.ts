// Limits the concurrency of work by key, with p-limit. A key takes memory only while it has work.

import pLimit, { type LimitFunction } from 'p-limit'

export function makeKeyedLimit<K>(atOnce: number) {
  const limits = new Map<K, LimitFunction>()

  /** Runs `work` when fewer than `atOnce` run for this key. */
  async function run<T>(key: K, work: () => Promise<T>): Promise<T> {
    const limit = limits.get(key) ?? pLimit(atOnce)
    limits.set(key, limit)
    try {
      return await limit(work)
    } finally {
      const isIdle = limit.activeCount + limit.pendingCount === 0
      if (isIdle && limits.get(key) === limit) limits.delete(key)
    }
  }

  const waiting = (key: K): number => limits.get(key)?.pendingCount ?? 0

  return {
    run,
    waiting,
    /** Running and waiting. */
    size: (key: K): number => waiting(key) + (limits.get(key)?.activeCount ?? 0),
    /** The same as `run`, for work that ends elsewhere: resolves when it may begin, with the function that reports its end. */
    enter: (key: K) => new Promise<() => void>((begin) => void run(key, () => new Promise<void>((end) => begin(end)))),
  }
}
