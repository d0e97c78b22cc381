// Limits on wrong passwords of videos and wrong file tokens: of one address at one video, of one address, and at one video.

import type { FastifyRequest } from 'fastify'
import { tooManyGuesses } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { LimitStore } from '../../platform/limit-stores.ts'
import { makeLru } from '../../platform/lru.ts'
import { countedAddress } from './rate-limit.ts'
import { readIdOrUuid } from './schemas.ts'
import type { App } from './types.ts'

/** More than one address or one person guesses: a school, or all viewers of a video. As multiples of `rates_limit.login`. */
const BY_ADDRESS = 4
const BY_VIDEO = 10
/** Subjects that are refused at a time; the oldest are forgotten. */
const MOST_REFUSED = 50_000

/**
 * Refuses requests with a secret of a video for a while (429) after too many wrong ones. Wrong ones are counted when they are answered:
 * players send a right token with many requests at once.
 */
export function addVideoSecretLimits(app: App, options: { config: Config; clock: Clock; store: LimitStore }): void {
  const { max, window } = options.config.rates_limit.login
  const { clock, store } = options
  const now = () => clock.now().getTime()
  const refusedUntil = makeLru<string, number>(MOST_REFUSED)

  app.addHook('preHandler', async (request) => {
    if (!hasSecret(request)) return
    for (const { key } of subjectsOf(request)) {
      const until = refusedUntil.get(key) ?? 0
      if (until > now()) throw tooManyGuesses(until - now())
    }
  })

  app.addHook('onResponse', async (request, { statusCode }) => {
    if ((statusCode !== 401 && statusCode !== 403) || !hasSecret(request)) return
    for (const { key, times } of subjectsOf(request)) {
      const { current, ttl } = await store.add(`wrong:${key}`, window)
      if (current >= max * times) refusedUntil.set(key, now() + ttl)
    }
  })
}

function subjectsOf(request: FastifyRequest): { key: string; times: number }[] {
  const address = countedAddress(request)
  const video = videoOf(request)
  return [
    { key: `${address} ${video}`, times: 1 },
    { key: address, times: BY_ADDRESS },
    { key: `video ${video}`, times: BY_VIDEO },
  ]
}

/** What the address calls the video or its file. */
function videoOf({ params, query }: FastifyRequest): string {
  const [inPath] = Object.values(params ?? {})
  const named: unknown = inPath ?? fieldOf(query, 'videoId') ?? ''
  const key = typeof named === 'string' ? readIdOrUuid(named) : named
  return JSON.stringify(key ?? named)
}

/** A password in the header or in the form of a page, or a file token. */
const hasSecret = ({ headers, query, body, routeOptions: { config } }: FastifyRequest): boolean =>
  headers['x-peertube-video-password'] !== undefined ||
  fieldOf(query, 'videoFileToken') !== undefined ||
  (config.takesVideoPassword === true && fieldOf(body, 'password') !== undefined)

const fieldOf = (fields: unknown, name: string): unknown =>
  typeof fields === 'object' && fields !== null ? Reflect.get(fields, name) : undefined
