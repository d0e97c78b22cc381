// Rate limits per group and address, with the headers that clients know. The stores are in platform/limit-stores.ts.

import fastifyRateLimit, { normalizeIP } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler, onResponseHookHandler } from 'fastify'
import { LRUCache } from 'lru-cache'
import { isStaff } from '../../actors/user/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { LimitStore } from '../../platform/limit-stores.ts'
import { clientIp } from './client-ip.ts'
import { HttpError } from './http-error.ts'
import type { RateLimits } from './rate-limit-groups.ts'
import { countsSuccesses, type LimitGroup, limitGroups } from './rate-limit-groups.ts'
import type { App } from './types.ts'

interface RateLimitOptions {
  config: Config
  clock: Clock
  store: LimitStore
  /** The requester, also on routes without authentication: staff passes every limit. */
  identify(request: FastifyRequest): Promise<{ user: { role: 0 | 1 | 2 } } | null>
}

/** Adds `app.rateLimits`. The limits are those of `rates_limit` at the start of the server. */
export async function addRateLimits(app: App, options: RateLimitOptions): Promise<RateLimits> {
  const { config, clock, store, identify } = options
  const now = () => clock.now().getTime()
  await app.register(fastifyRateLimit, { global: false, store: adapt(store) })

  const limiters = new Map(
    limitGroups.map((group) => {
      const { max, window } = config.rates_limit[group]
      return [group, app.createRateLimit({ max, timeWindow: window, keyGenerator: (request) => keyOf(group, request) })]
    }),
  )

  const exempted = new WeakSet<object>()

  async function take(group: LimitGroup, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (group === 'api' && exempted.has(request.raw.socket)) return
    const limit = await limiters.get(group)?.(request)
    if (limit === undefined || limit.isAllowed) return
    reply.header('x-ratelimit-limit', limit.max)
    reply.header('x-ratelimit-remaining', limit.remaining)
    reply.header('x-ratelimit-reset', Math.ceil((now() + limit.ttl) / 1000))
    if (!limit.isExceeded) return
    reply.header('retry-after', limit.ttlInSeconds)
    const session = await identify(request)
    if (session && isStaff(session.user.role)) return
    throw new HttpError(429, 'Too many requests, please try again later.')
  }

  function hooks(groups: LimitGroup[]): ReturnType<RateLimits['hooks']> {
    const [only] = groups
    const onRequest: onRequestAsyncHookHandler =
      groups.length === 1 && only
        ? (request, reply) => take(only, request, reply)
        : async (request, reply) => {
            for (const group of groups) await take(group, request, reply)
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

  const rateLimits: RateLimits = { take, hooks, exempt: (socket) => void exempted.add(socket) }
  app.decorate('rateLimits', rateLimits)
  return rateLimits
}

/** Cached keys of addresses: computing one takes longer than the rest of a limit. */
const MAX_ADDRESSES = 10_000
const counted = new LRUCache<string, string>({ max: MAX_ADDRESSES })

const keyOf = (group: LimitGroup, request: FastifyRequest): string => `${group}:${countedAddress(request)}`

/** An IPv6 client is counted by its /64, since it can use every address of it. */
export function countedAddress(request: FastifyRequest): string {
  const ip = clientIp(request)
  let address = counted.get(ip)
  if (address === undefined) {
    address = normalizeIP(ip)
    counted.set(ip, address)
  }
  return address
}

/** Adapts the store to the plugin; keys contain the group, so that all limiters share one store. */
function adapt(store: LimitStore) {
  return class {
    incr(key: string, callback: (error: Error | null, result?: { current: number; ttl: number }) => void, timeWindow: number): void {
      const count = store.add(key, timeWindow)
      if (count instanceof Promise) {
        count.then(
          (result) => callback(null, result),
          (error: unknown) => callback(error instanceof Error ? error : new Error(String(error))),
        )
      } else callback(null, count)
    }

    child(): this {
      return this
    }
  }
}
