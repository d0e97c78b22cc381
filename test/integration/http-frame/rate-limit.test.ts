// Rate limits: headers, keys, exemptions, and both stores.

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { Redis } from 'ioredis'
import { z } from 'zod'
import { DomainError } from '../../../src/actors/runtime/index.ts'
import type { App } from '../../../src/http/app.ts'
import { exchangeOf } from '../../support/recordings.ts'
import { testRedisUrl } from '../../support/redis.ts'
import { bearer, type FrameOptions, makeFrame } from './frame.ts'

const redisUrl = testRedisUrl()
const apps: App[] = []
let redis: Redis | undefined
beforeAll(async () => {
  if (!redisUrl) return
  redis = new Redis(redisUrl)
  await redis.ping()
})
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()))
})
afterAll(async () => {
  await redis?.quit()
})

const limits = (groups: Record<string, { max: number; window?: string }>) => ({ rates_limit: groups })

async function frame(options: FrameOptions): Promise<App> {
  const app = await makeFrame({ add: addRoutes, ...options })
  apps.push(app)
  return app
}

function addRoutes(app: App): void {
  app.post('/api/v1/users/token', { config: { limits: ['login'] } }, async () => ({}))
  const register = { config: { limits: ['signup'] as const }, schema: { body: z.object({ username: z.string() }) } }
  app.post('/api/v1/users/register', register, async (request, reply) => {
    if (request.body.username === 'taken') throw new DomainError('conflict', 'taken')
    return reply.code(204).send()
  })
  app.post('/api/v1/users/registrations/request', register, async (_request, reply) => reply.code(204).send())
  app.get('/feeds/videos.xml', async () => 'feed')
}

const stores = [['memory', false] as const, ...(redisUrl ? [['Redis', true] as const] : [])]

describe.each(stores)('counting in %s', (_name, inRedis) => {
  /** Servers at the same address share their counts in Redis, so each test uses a different one. */
  const make = (options: FrameOptions = {}) =>
    frame({
      ...options,
      publicUrl: options.publicUrl ?? `http://${randomUUID()}.example`,
      ...(inRedis && redis ? { redis } : {}),
    })

  it('responses have the limit, the remaining requests and the reset time', async () => {
    const app = await make({ config: limits({ api: { max: 50, window: '10 seconds' } }) })
    const recorded = exchangeOf('rate-limits', 'API: first call of a period').response.headers
    const before = Math.floor(Date.now() / 1000)
    const { headers } = await app.inject({ url: '/api/v1/none' })
    expect(String(headers['x-ratelimit-limit'])).toBe(recorded['x-ratelimit-limit'])
    expect(String(headers['x-ratelimit-remaining'])).toBe(recorded['x-ratelimit-remaining'])
    const reset = Number(headers['x-ratelimit-reset'])
    expect(reset).toBeGreaterThanOrEqual(before + 10)
    expect(reset).toBeLessThanOrEqual(before + 12)
    expect(headers).not.toHaveProperty('retry-after')
  })

  it('beyond the limit the response is 429 with a problem body and a Retry-After', async () => {
    const app = await make({ config: limits({ api: { max: 2, window: '10 seconds' } }) })
    await app.inject({ url: '/api/v1/none' })
    await app.inject({ url: '/api/v1/optional' })
    const answer = await app.inject({ url: '/api/v1/none' })
    expect(answer.statusCode).toBe(429)
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
    expect(answer.json()).toMatchObject({ type: 'about:blank', title: 'Too Many Requests', status: 429 })
    expect(answer.headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'access-control-allow-origin': '*' })
    expect(Number(answer.headers['retry-after'])).toBe(10)
    expect((await app.inject({ url: '/api/v1/none', headers: bearer('usertoken') })).statusCode).toBe(429)
    expect((await app.inject({ url: '/api/v1/unknown' })).statusCode).toBe(429)
  })

  it('moderators and administrators are exempt, and see the limit', async () => {
    const app = await make({ config: limits({ api: { max: 1 } }) })
    await app.inject({ url: '/api/v1/none' })
    for (const token of ['moderatortoken', 'admintoken']) {
      const answer = await app.inject({ url: '/api/v1/none', headers: bearer(token) })
      expect(answer.statusCode).toBe(200)
      expect(answer.headers).toMatchObject({ 'x-ratelimit-remaining': '0' })
      expect(answer.headers).toHaveProperty('retry-after')
    }
  })

  it('paths with separate limits, or none, are not counted', async () => {
    const app = await make({ config: limits({ api: { max: 1 }, feeds: { max: 7 } }) })
    await app.inject({ url: '/api/v1/none' })
    expect((await app.inject({ url: '/feeds/videos.xml' })).headers['x-ratelimit-limit']).toBe('7')
    expect((await app.inject({ url: '/api/v1/ping' })).statusCode).toBe(200)
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/api/v1/none',
      headers: { origin: 'https://other.example', 'access-control-request-method': 'GET' },
    })
    expect(preflight.statusCode).toBe(204)
  })

  it('the token endpoint has both limits', async () => {
    const app = await make({ config: limits({ api: { max: 3 }, login: { max: 2 } }) })
    const login = () => app.inject({ method: 'POST', url: '/api/v1/users/token' })
    expect((await login()).headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' })
    expect((await login()).statusCode).toBe(200)
    expect((await login()).headers).toMatchObject({ 'x-ratelimit-limit': '2', 'retry-after': expect.anything() })
    expect((await login()).headers).toMatchObject({ 'x-ratelimit-limit': '3' })
    const asAdmin = await app.inject({ method: 'POST', url: '/api/v1/users/token', headers: bearer('admintoken') })
    expect(asAdmin.statusCode).toBe(200)
  })

  it('only successful registrations are counted, on both routes together', async () => {
    const app = await make({ config: limits({ signup: { max: 2 } }) })
    const register = (username?: string, path = 'register') =>
      app.inject({ method: 'POST', url: `/api/v1/users/${path}`, body: { username } })
    expect((await register('one')).headers).toMatchObject({ 'x-ratelimit-remaining': '1' })
    for (let i = 0; i < 4; i++) {
      expect(await register()).toMatchObject({ statusCode: 400, headers: { 'x-ratelimit-remaining': '0' } })
      expect((await register('taken')).statusCode).toBe(409)
    }
    expect((await register('two')).statusCode).toBe(204)
    expect((await register('three')).statusCode).toBe(429)
    expect((await register('three', 'registrations/request')).statusCode).toBe(429)
  })

  it('of many simultaneous requests only the allowed number passes', async () => {
    const app = await make({ config: limits({ api: { max: 10 } }) })
    const answers = await Promise.all(Array.from({ length: 40 }, () => app.inject({ url: '/api/v1/none' })))
    expect(answers.filter((answer) => answer.statusCode === 200)).toHaveLength(10)
  })

  it('an IPv6 client is counted by its network, IPv4 by its address', async () => {
    const app = await make({ config: { trust_proxy: ['loopback'], ...limits({ api: { max: 10 } }) } })
    const remaining = async (ip: string) => {
      const answer = await app.inject({ url: '/api/v1/none', headers: { 'x-forwarded-for': ip } })
      return answer.headers['x-ratelimit-remaining']
    }
    expect(await remaining('2001:db8:1:2::1')).toBe('9')
    expect(await remaining('2001:db8:1:2:ffff::9')).toBe('8')
    expect(await remaining('2001:db8:1:3::1')).toBe('9')
    expect(await remaining('192.0.2.1')).toBe('9')
    expect(await remaining('::ffff:192.0.2.1')).toBe('8')
    expect(await remaining('192.0.2.2')).toBe('9')
  })

  it('a forged forwarding header is ignored without a trusted proxy', async () => {
    const app = await make({ config: { trust_proxy: ['10.0.0.0/8'], ...limits({ api: { max: 2 } }) } })
    const statuses: number[] = []
    for (const ip of ['1.1.1.1', '2.2.2.2', '3.3.3.3']) {
      statuses.push((await app.inject({ url: '/api/v1/none', headers: { 'x-forwarded-for': ip } })).statusCode)
    }
    expect(statuses).toEqual([200, 200, 429])
  })

  it('behind a proxy the client is the last address that the proxy wrote, whatever precedes it', async () => {
    const app = await make({ config: { trust_proxy: ['loopback'], ...limits({ api: { max: 2 } }) } })
    const statuses: number[] = []
    for (const forged of ['1.1.1.1', '127.0.0.1', 'nonsense']) {
      const headers = { 'x-forwarded-for': `${forged}, 192.0.2.7` }
      statuses.push((await app.inject({ url: '/api/v1/none', headers })).statusCode)
    }
    expect(statuses).toEqual([200, 200, 429])
    const other = await app.inject({ url: '/api/v1/none', headers: { 'x-forwarded-for': '1.1.1.1, 192.0.2.8' } })
    expect(other.statusCode).toBe(200)
  })

  it('no other header identifies the client', async () => {
    const app = await make({ config: { trust_proxy: ['loopback'], ...limits({ api: { max: 1 } }) } })
    const statuses: number[] = []
    const names = ['x-real-ip', 'forwarded', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'x-forwarded']
    for (const [index, name] of names.entries()) {
      const value = name === 'forwarded' ? `for=192.0.2.${index}` : `192.0.2.${index}`
      statuses.push((await app.inject({ url: '/api/v1/none', headers: { [name]: value } })).statusCode)
    }
    expect(statuses).toEqual([200, 429, 429, 429, 429, 429])
  })

  it('an invalid address is counted, and causes no error', async () => {
    const app = await make({ config: { trust_proxy: ['loopback'], ...limits({ api: { max: 1 } }) } })
    const statuses: number[] = []
    for (let i = 0; i < 2; i++) {
      const headers = { 'x-forwarded-for': 'nonsense' }
      statuses.push((await app.inject({ url: '/api/v1/none', headers })).statusCode)
    }
    expect(statuses).toEqual([200, 429])
  })

  it('a registration counts in all processes, and a failed one in none', async () => {
    const app = await make({ config: limits({ signup: { max: 1 } }) })
    const register = (username: string) => app.inject({ method: 'POST', url: '/api/v1/users/register', body: { username } })
    const failed = await Promise.all(['taken', 'taken', 'taken'].map(register))
    expect(failed.map((answer) => answer.statusCode)).toContain(409)
    expect((await register('one')).statusCode).toBe(204)
    expect((await register('two')).statusCode).toBe(429)
  })
})

it('a new window starts when the old one is over', async () => {
  let time = Date.UTC(2026, 0, 1)
  const app = await frame({
    config: limits({ api: { max: 1, window: '10 seconds' } }),
    clock: { now: () => new Date(time) },
  })
  const answer = await app.inject({ url: '/api/v1/none' })
  expect(answer.headers['x-ratelimit-reset']).toBe(String(time / 1000 + 10))
  time += 9_999
  const refused = await app.inject({ url: '/api/v1/none' })
  expect(refused.statusCode).toBe(429)
  expect(refused.headers['retry-after']).toBe('1')
  time += 1
  expect((await app.inject({ url: '/api/v1/none' })).statusCode).toBe(200)
})

if (redisUrl) describe('with Redis', sharedLimits)

it('without Redis, each process counts alone', async () => {
  const away = new Redis('redis://127.0.0.1:1', { lazyConnect: true, retryStrategy: () => null })
  away.on('error', () => {})
  const app = await frame({ config: limits({ api: { max: 1 } }), redis: away })
  expect((await app.inject({ url: '/api/v1/none' })).statusCode).toBe(200)
  expect((await app.inject({ url: '/api/v1/none' })).statusCode).toBe(429)
  away.disconnect()
})

function sharedLimits(): void {
  it('two processes of a server share the limits, two servers do not', async () => {
    if (!redis) throw new Error('no Redis')
    const publicUrl = `http://${randomUUID()}.example`
    const config = limits({ api: { max: 2 } })
    const [one, two, other] = await Promise.all([
      frame({ config, redis, publicUrl }),
      frame({ config, redis, publicUrl }),
      frame({ config, redis, publicUrl: `http://${randomUUID()}.example` }),
    ])
    await one.inject({ url: '/api/v1/none' })
    await two.inject({ url: '/api/v1/none' })
    expect((await one.inject({ url: '/api/v1/none' })).statusCode).toBe(429)
    expect((await other.inject({ url: '/api/v1/none' })).statusCode).toBe(200)
  })

  it('a counter without expiry gets one', async () => {
    if (!redis) throw new Error('no Redis')
    const host = `${randomUUID()}.example`
    const app = await frame({ config: limits({ api: { max: 1 } }), redis, publicUrl: `http://${host}` })
    await redis.set(`vireo:limit:${host}:api:127.0.0.1`, 5)
    expect((await app.inject({ url: '/api/v1/none' })).statusCode).toBe(429)
    expect(await redis.pttl(`vireo:limit:${host}:api:127.0.0.1`)).toBeGreaterThan(0)
  })
}
