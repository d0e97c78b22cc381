// Limits on wrong passwords of videos and wrong file tokens: per address and video, per address, and (for passwords, which many can guess
// together) per video.

import type { FastifyRequest } from 'fastify'
import { tooManyGuesses } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { makeKeyedLimit } from '../../platform/keyed-limit.ts'
import type { LimitStore } from '../../platform/limit-stores.ts'
import { makeLru } from '../../platform/lru.ts'
import { countedAddress } from './rate-limit.ts'
import { readIdOrUuid } from './schemas.ts'
import type { App } from './types.ts'

/** Several people may share an address or a video: a school, or all viewers. Multiples of `rates_limit.login`. */
const BY_ADDRESS = 4
const BY_VIDEO = 10
/** Refused subjects that are stored; the oldest are dropped. */
const MAX_REFUSED = 50_000

/** Concurrent requests with a secret per address: the others wait, so that no more are checked than are counted. */
const AT_ONCE = 4

/**
 * Refuses requests with a secret of a video for a while (429) after too many wrong ones. Wrong ones are counted after the response: players
 * send a valid token with many concurrent requests.
 */
export function addVideoSecretLimits(app: App, options: { config: Config; clock: Clock; store: LimitStore }): void {
  const { max, window } = options.config.rates_limit.login
  const { clock, store } = options
  const now = () => clock.now().getTime()
  const refusedUntil = makeLru<string, number>(MAX_REFUSED)
  const turns = makeKeyedLimit<string>(AT_ONCE)
  const leaves = new WeakMap<FastifyRequest, () => void>()
  const leave = (request: FastifyRequest): void => {
    leaves.get(request)?.()
    leaves.delete(request)
  }

  app.addHook('preHandler', async (request, reply) => {
    if (!hasSecret(request)) return
    // A file that is sent without the response hooks was authorised.
    const { hijack } = reply
    reply.hijack = () => {
      leave(request)
      return hijack.call(reply)
    }
    leaves.set(request, await turns.enter(countedAddress(request)))
    for (const { key } of subjectsOf(request)) {
      const until = refusedUntil.get(key) ?? 0
      if (until > now()) throw tooManyGuesses(until - now())
    }
  })

  // The file itself may take minutes to send.
  app.addHook('onSend', async (request, { statusCode }) => {
    if (!leaves.has(request)) return
    if (statusCode === 401 || statusCode === 403) await count(request)
    leave(request)
  })
  app.addHook('onResponse', async (request) => leave(request))

  async function count(request: FastifyRequest): Promise<void> {
    try {
      for (const { key, times } of subjectsOf(request)) {
        const { current, ttl } = await store.add(`wrong:${key}`, window)
        if (current >= max * times) refusedUntil.set(key, now() + ttl)
      }
    } catch (error) {
      request.log.warn({ err: error }, 'a wrong secret of a video was not counted')
    }
  }
}

function subjectsOf(request: FastifyRequest): { key: string; times: number }[] {
  const address = countedAddress(request)
  const video = videoOf(request)
  return [
    { key: `${address} ${video}`, times: 1 },
    { key: address, times: BY_ADDRESS },
    // A token cannot be guessed: viewers with one are not affected by others.
    ...(hasPassword(request) ? [{ key: `video ${video}`, times: BY_VIDEO }] : []),
  ]
}

/** The video or file in the address. */
function videoOf({ params, query }: FastifyRequest): string {
  const [inPath] = Object.values(params ?? {})
  const named: unknown = inPath ?? fieldOf(query, 'videoId') ?? ''
  const key = typeof named === 'string' ? readIdOrUuid(named) : named
  return JSON.stringify(key ?? named)
}

const hasSecret = (request: FastifyRequest): boolean => hasPassword(request) || fieldOf(request.query, 'videoFileToken') !== undefined

/** In the header, or in the form of a page. */
const hasPassword = ({ headers, body, routeOptions: { config } }: FastifyRequest): boolean =>
  headers['x-peertube-video-password'] !== undefined || (config.takesVideoPassword === true && fieldOf(body, 'password') !== undefined)

const fieldOf = (fields: unknown, name: string): unknown =>
  typeof fields === 'object' && fields !== null ? Reflect.get(fields, name) : undefined
