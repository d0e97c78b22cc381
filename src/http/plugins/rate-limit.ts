// Rate limits per group and address, with the headers that clients know. Counting is in rate-limit-stores.ts.

import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest, onRequestHookHandler, onResponseHookHandler } from 'fastify'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { isStaff } from '../../actors/user/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { clientIp } from './client-ip.ts'
import { HttpError } from './http-error.ts'
import { countsSuccesses, type LimitGroup } from './rate-limit-groups.ts'
import { type Count, makeMemoryLimitStore, makeRedisLimitStore } from './rate-limit-stores.ts'

export interface RateLimits {
  /** Hooks for a route that is in these groups, the last of which gives the headers of the answer. */
  hooks(groups: LimitGroup[]): { onRequest: onRequestHookHandler; onResponse?: onResponseHookHandler }
}

interface RateLimitOptions {
  config: Config
  clock: Clock
  redis?: Redis | undefined
  /** Sets the counters of this server apart from those of others on the same Redis. */
  prefix: string
  /** Who asks, also on routes without authentication: staff passes every limit. */
  identify(request: FastifyRequest): Promise<{ user: { role: 0 | 1 | 2 } } | null>
}

/** The limits are those of `rates_limit` when the server starts. */
export function makeRateLimits(options: RateLimitOptions): RateLimits {
  const { config, clock, redis, prefix, identify } = options
  const now = () => clock.now().getTime()
  const memory = makeMemoryLimitStore({ now })
  const store = redis ? makeRedisLimitStore({ redis, prefix, fallback: memory, now }) : memory

  /** Counts the request in one group and sets the headers: at once, where nobody else has to be asked. Throws 429. */
  function take(group: LimitGroup, request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const { max, window } = config.rates_limit[group]
    const count = store.add(keyOf(group, request), window)
    const counted = ({ current, ttl }: Count): Promise<void> | undefined => {
      reply.header('x-ratelimit-limit', max)
      reply.header('x-ratelimit-remaining', Math.max(0, max - current))
      reply.header('x-ratelimit-reset', Math.ceil((now() + ttl) / 1000))
      return current > max ? refuse(request, reply, ttl) : undefined
    }
    return count instanceof Promise ? count.then(counted) : counted(count)
  }

  async function refuse(request: FastifyRequest, reply: FastifyReply, ttl: number): Promise<void> {
    reply.header('retry-after', Math.ceil(ttl / 1000))
    const session = await identify(request)
    if (session && isStaff(session.user.role)) return
    throw new HttpError(429, 'Too many requests, please try again later.')
  }

  async function takeAll(groups: LimitGroup[], request: FastifyRequest, reply: FastifyReply): Promise<void> {
    for (const group of groups) await take(group, request, reply)
  }

  function hooks(groups: LimitGroup[]): ReturnType<RateLimits['hooks']> {
    const [only] = groups
    const onRequest: onRequestHookHandler = (request, reply, done) => {
      const taken = groups.length === 1 && only ? take(only, request, reply) : takeAll(groups, request, reply)
      // Most requests go on within the same turn.
      if (taken) taken.then(() => done(), done)
      else done()
    }
    const refundable = groups.filter((group) => countsSuccesses.has(group))
    if (refundable.length === 0) return { onRequest }
    const onResponse: onResponseHookHandler = (request, reply, done) => {
      if (reply.statusCode >= 400) {
        for (const group of refundable) void store.giveBack(keyOf(group, request))
      }
      done()
    }
    return { onRequest, onResponse }
  }

  return { hooks }
}

/** What addresses are counted as: to work that out takes longer than all else of a limit. */
const MOST_ADDRESSES = 10_000
const counted = new LRUCache<string, string>({ max: MOST_ADDRESSES })

/** An IPv6 client is counted by its /64, since it can use every address of it. */
const keyOf = (group: LimitGroup, request: FastifyRequest): string => {
  const ip = clientIp(request)
  let address = counted.get(ip)
  if (address === undefined) {
    address = normalizeIP(ip)
    counted.set(ip, address)
  }
  return `${group}:${address}`
}
