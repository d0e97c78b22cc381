// Counters of requests: in memory, or in Redis so that all processes share the limits. Both use fixed windows.

import type { Redis } from 'ioredis'
import type { Clock } from './clock.ts'

interface Count {
  /** Requests in the window, this one included. */
  current: number
  /** Milliseconds until the window ends. */
  ttl: number
}

export interface LimitStore {
  /** Counts one request; `windowMs` is the length of a new window. */
  add(key: string, windowMs: number): Count | Promise<Count>
  /** Takes one request back, in the current window. */
  giveBack(key: string): void | Promise<void>
}

/** Counts in Redis if available, otherwise in memory. `prefix` separates the counters of several servers. */
export function makeLimitStore(options: { redis: Redis | undefined; prefix: string; clock: Clock }): LimitStore {
  const { redis, prefix, clock } = options
  const now = () => clock.now().getTime()
  const memory = makeMemoryLimitStore({ now })
  return redis ? makeRedisLimitStore({ redis, prefix, fallback: memory, now }) : memory
}

/** Maximum stored addresses; the oldest windows are dropped first, so that many addresses cannot fill the memory. */
const MAX_WINDOWS = 50_000

export function makeMemoryLimitStore(options: { now: () => number; mostWindows?: number }): LimitStore {
  const { now, mostWindows = MAX_WINDOWS } = options
  const windows = new Map<string, { count: number; end: number }>()

  return {
    add(key, windowMs) {
      const time = now()
      const open = windows.get(key)
      if (open && open.end > time) {
        open.count++
        return { current: open.count, ttl: open.end - time }
      }
      // A new window goes to the end of the map, which stays ordered by age.
      windows.delete(key)
      if (windows.size >= mostWindows) {
        const [oldest] = windows.keys()
        if (oldest !== undefined) windows.delete(oldest)
      }
      windows.set(key, { count: 1, end: time + windowMs })
      return { current: 1, ttl: windowMs }
    },
    giveBack(key) {
      const open = windows.get(key)
      if (open && open.end > now() && open.count > 0) open.count--
    },
  }
}

// A counter without an expiry (after a crash of another program between two commands) gets one again.
const ADD = `
local current = redis.call('INCR', KEYS[1])
local ttl = redis.call('PTTL', KEYS[1])
if ttl < 0 then
  ttl = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ttl)
end
return { current, ttl }`

/** Pause after a Redis command that failed or timed out. */
const AWAY_MS = 5_000

const GIVE_BACK = `
if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then redis.call('DECR', KEYS[1]) end
return 0`

/**
 * Counts in Redis, each step an atomic script. During an outage the fallback counts, so that limits hold per process; after a timeout,
 * Redis is not used for a while.
 */
export function makeRedisLimitStore(options: {
  redis: Pick<Redis, 'status' | 'eval'>
  prefix: string
  fallback: LimitStore
  now: () => number
}): LimitStore {
  const { redis, prefix, fallback, now } = options
  let awayUntil = 0
  const isAway = (): boolean => redis.status !== 'ready' || now() < awayUntil
  const noteFailure = (): void => {
    awayUntil = now() + AWAY_MS
  }

  return {
    async add(key, windowMs) {
      if (isAway()) return fallback.add(key, windowMs)
      try {
        const answer: unknown = await redis.eval(ADD, 1, prefix + key, windowMs)
        if (!Array.isArray(answer)) return fallback.add(key, windowMs)
        return { current: Number(answer[0]), ttl: Number(answer[1]) }
      } catch {
        noteFailure()
        return fallback.add(key, windowMs)
      }
    },
    async giveBack(key) {
      if (isAway()) return fallback.giveBack(key)
      try {
        await redis.eval(GIVE_BACK, 1, prefix + key)
      } catch {
        noteFailure()
        await fallback.giveBack(key)
      }
    },
  }
}
