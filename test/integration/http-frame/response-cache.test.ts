// The response cache for requests without a session: who gets cached responses, for how long, and how they are invalidated.

import { afterEach, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { VIDEOS_CHANGED } from '../../../src/actors/video/index.ts'
import type { App } from '../../../src/http/app.ts'
import { conditionalTagged, etagOf } from '../../../src/http/plugins/conditional.ts'
import { HttpError } from '../../../src/http/plugins/http-error.ts'
import { makeVideoResponseCache } from '../../../src/http/videos/response-cache.ts'
import type { JsonValue } from '../../../src/platform/bus/index.ts'
import { type Logger, makeLogger, silentLogger } from '../../../src/platform/logger.ts'
import { fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { until } from '../../support/until.ts'
import { bearer, makeFrame } from './frame.ts'

/** Numbers of the pages that are not shared. */
const CACHE_CONTROL: Record<number, string> = { 51: 'no-store', 52: 'private, max-age=0' }

const apps: App[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

/** Three cached routes: their responses contain how often they were generated, and wait where `gate` says so. */
async function startCachedRoutes(
  options: { memory?: string; keep?: string; limit?: number; gate?: () => Promise<void>; logger?: Logger } = {},
) {
  const { memory = '32MB', keep = '5 seconds', limit, gate = async () => undefined, logger = silentLogger } = options
  const overrides = {
    vireo: { caching: { routes: { videos: keep }, memory: { videos: memory } } },
    ...(limit === undefined ? {} : { rates_limit: { api: { max: limit } } }),
  }
  const config = testConfig(overrides)
  const clock = fakeClock()
  const published: { topic: string; payload: JsonValue }[] = []
  let listener: (payload: JsonValue) => void = () => undefined
  const answers = makeVideoResponseCache({
    config: () => config,
    clock,
    bus: {
      async publish(topic, payload) {
        listener(payload)
        published.push({ topic, payload })
      },
      subscribe(_topic, given) {
        listener = given
        return () => undefined
      },
    },
  })
  const made: string[] = []
  const view = z.object({ made: z.number(), padding: z.string() })
  const padding = z.object({
    size: z.coerce.number().default(1),
    tag: z.union([z.string(), z.array(z.string())]).optional(),
  })
  const app = await makeFrame({
    config: overrides,
    clock,
    written: { seen: answers.changed, federated: async () => undefined },
    logger,
    add(scope) {
      const config = { auth: 'optional' } as const
      scope.get(
        '/api/v1/list',
        { config, ...answers.ofLists(['tag', 'size']), schema: { querystring: padding, response: { 200: view } } },
        async (request) => {
          made.push(request.url)
          const count = made.length
          await gate()
          return { made: count, padding: 'x'.repeat(request.query.size) }
        },
      )
      const params = z.object({ id: z.coerce.number() })
      scope.get('/api/v1/one/:id', { config, ...answers.ofVideos, schema: { params, response: { 200: view } } }, async (request) => {
        made.push(request.url)
        const count = made.length
        await gate()
        if (request.params.id > 100) throw new HttpError(404, 'There is none.')
        answers.isAbout(request, request.params.id)
        return { made: count, padding: '' }
      })
      const { onRequest, onSend } = answers.ofPages(['start'], {
        headers: ['cache-control', 'vary'],
        isForAll: ({ headers }) => headers.cookie === undefined,
        variantOf: ({ headers }) => headers['accept-language'] ?? 'en',
      })
      scope.get('/page/:id', { onRequest, onSend: [onSend, conditionalTagged], schema: { params } }, async (request, reply) => {
        made.push(request.url)
        const { id } = request.params
        const body = `<p>${made.length}</p>`
        await gate()
        answers.isAbout(request, id)
        if (id === 50) reply.header('set-cookie', 'a=b')
        reply.headers({ 'cache-control': CACHE_CONTROL[id] ?? 'max-age=0', vary: 'Cookie', etag: etagOf(body) })
        return reply.type('text/html; charset=utf-8').send(body)
      })
      const nothing = { schema: { response: { 204: z.null(), 400: z.unknown() } } }
      scope.put('/api/v1/one/:id', nothing, async (_request, reply) => reply.code(204).send(null))
      scope.put('/api/v1/refused', nothing, async () => {
        throw new HttpError(400, 'No.')
      })
      scope.post('/api/v1/videos/:id/views', nothing, async (_request, reply) => reply.code(204).send(null))
    },
  })
  apps.push(app)
  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url: `/api/v1${url}`, headers })
  const page = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url: `/page${url}`, headers })
  return { app, clock, made, published, get, page, hear: (payload: JsonValue) => listener(payload), clear: answers.clear }
}

/** A gate that starts closed. */
function makeGate() {
  let open: () => void = () => undefined
  let waiting = new Promise<void>((resolve) => {
    open = resolve
  })
  return {
    gate: () => waiting,
    open: () => {
      open()
      waiting = Promise.resolve()
    },
  }
}

describe('a cached response', () => {
  it('is served for five seconds after it was requested', async () => {
    const { get, made, clock } = await startCachedRoutes()
    await get('/list')
    clock.pass(4999)
    expect((await get('/list')).json().made).toBe(1)
    clock.pass(1)
    expect((await get('/list')).json().made).toBe(2)
    expect(made).toHaveLength(2)
  })

  it.each([
    ['with a tag', '/list'],
    ['too large for a tag', '/list?size=9000'],
    ['of one video', '/one/1'],
  ])('has the headers and bytes of a fresh one: %s', async (_name, url) => {
    const { get, made } = await startCachedRoutes()
    const [fresh, cached] = [await get(url), await get(url)]
    expect(made).toHaveLength(1)
    const headersOf = ({ headers }: typeof fresh) => {
      const { date, 'x-request-id': id, 'x-ratelimit-remaining': remaining, ...others } = headers
      return { ...others, remaining: Number(remaining) }
    }
    const { remaining, ...others } = headersOf(fresh)
    expect(headersOf(cached)).toEqual({ ...others, remaining: remaining - 1 })
    expect(cached.headers['x-request-id']).not.toBe(fresh.headers['x-request-id'])
    expect([cached.statusCode, cached.body]).toEqual([200, fresh.body])
    expect('etag' in cached.headers).toBe(!url.includes('9000'))
  })

  it('is 304 for clients with this version', async () => {
    const { get, made, clear } = await startCachedRoutes()
    const etag = String((await get('/list')).headers.etag)
    const cached = await get('/list', { 'if-none-match': `W/${etag}` })
    expect([cached.statusCode, cached.body, cached.headers['content-type'], made.length]).toEqual([304, '', undefined, 1])
    expect((await get('/list', { 'if-none-match': '"another"' })).statusCode).toBe(200)
    const headersOf = ({ headers }: typeof cached) => {
      const {
        date,
        'x-request-id': id,
        'x-ratelimit-remaining': remaining,
        'content-type': type,
        'content-length': length,
        ...others
      } = headers
      return others
    }
    const [plain, outdated] = [await get('/list'), await get('/list', { 'if-none-match': '"another"' })]
    expect([headersOf(cached), headersOf(outdated)]).toEqual([headersOf(plain), headersOf(plain)])
    expect([outdated.body, outdated.headers['content-length']]).toEqual([plain.body, plain.headers['content-length']])
    clear()
    // Generated for a client that has it: others get it completely.
    await get('/one/1')
    const [one] = [await get('/one/1')]
    clear()
    made.splice(0)
    await get('/one/1', { 'if-none-match': String(one.headers.etag) })
    expect((await get('/one/1')).json()).toEqual({ made: 1, padding: '' })
    expect(made).toHaveLength(1)
  })

  it('is keyed by the parameters that the route reads, in any order', async () => {
    const { get, made } = await startCachedRoutes()
    for (const url of ['/list?size=2&tag=a', '/list?tag=a&size=2', '/list?unknown=1&size=2&tag=a', '/list?tag=%61&size=2']) await get(url)
    expect(made).toHaveLength(1)
    for (const url of ['/list?size=2', '/list?size=2&tag=a&tag=b', '/list?size=2&tag=b&tag=a', '/list?size=2&tag=a%2Cb']) await get(url)
    expect(made).toHaveLength(5)
    await get('/list?size=2&tag[]=a&tag[]=b')
    expect(made).toHaveLength(5)
    const tricky = await get(`/list?tag=${encodeURIComponent('a"&size="2')}`)
    expect([tricky.json().padding, made.length]).toEqual(['x', 6])
  })

  it('is not served to users, with a password, or for HEAD', async () => {
    const { app, get, made } = await startCachedRoutes()
    await get('/list')
    for (const headers of [bearer('usertoken'), { 'x-peertube-video-password': 'a' }, { 'x-peertube-video-password': '' }])
      expect((await get('/list', headers)).json().made).toBeGreaterThan(1)
    expect(made).toHaveLength(4)
    const wrong = await get('/list', bearer('nobody'))
    expect(wrong.statusCode).toBe(401)
    const head = await app.inject({ method: 'HEAD', url: '/api/v1/list' })
    expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, '', undefined])
    expect(made).toHaveLength(5)
    // Their own responses are not cached.
    expect((await get('/list')).json().made).toBe(1)
  })

  it('is never an error', async () => {
    const { get, made } = await startCachedRoutes()
    for (let time = 0; time < 2; time += 1) expect((await get('/one/101')).statusCode).toBe(404)
    expect(made).toHaveLength(2)
    for (let time = 0; time < 2; time += 1) expect((await get('/list?size=a')).statusCode).toBe(400)
  })

  it('counts for rate limits, which are checked first', async () => {
    const { get, made } = await startCachedRoutes({ limit: 2 })
    const statuses = []
    for (let time = 0; time < 3; time += 1) statuses.push((await get('/list')).statusCode)
    expect(statuses).toEqual([200, 200, 429])
    expect(made).toHaveLength(1)
  })

  it('is logged', async () => {
    const lines: string[] = []
    const { get } = await startCachedRoutes({
      logger: makeLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } }),
    })
    for (const id of ['first', 'second']) await get('/list', { 'x-request-id': id })
    const logged = await until(async () => (lines.length < 2 ? undefined : lines.map((line) => JSON.parse(line))))
    expect(logged).toMatchObject([
      { reqId: 'first', url: '/api/v1/list', status: 200 },
      { reqId: 'second', url: '/api/v1/list', status: 200 },
    ])
  })

  it('is disabled by the configuration', async () => {
    const { get, made } = await startCachedRoutes({ keep: '0' })
    await get('/list')
    await get('/list')
    expect(made).toHaveLength(2)
  })

  it('stays within the memory limit', async () => {
    const { get, made } = await startCachedRoutes({ memory: '100KB' })
    for (let tag = 0; tag < 10; tag += 1) await get(`/list?size=9000&tag=${tag}`)
    await get('/list?size=9000&tag=9')
    expect(made).toHaveLength(10)
    await get('/list?size=9000&tag=0')
    expect(made).toHaveLength(11)
    // Larger than the whole cache.
    for (let time = 0; time < 2; time += 1) await get('/list?size=60000')
    expect(made).toHaveLength(13)
  })
})

describe('a cached page', () => {
  const headersOf = ({ headers }: { headers: object }) => {
    const { date, 'x-request-id': id, ...others } = headers as Record<string, unknown>
    return others
  }

  it('has the headers and bytes of a fresh one, also for HEAD', async () => {
    const { page, made } = await startCachedRoutes()
    const [fresh, cached] = [await page('/1?start=2'), await page('/1?start=2&other=3')]
    expect(made).toHaveLength(1)
    expect([cached.statusCode, cached.body, headersOf(cached)]).toEqual([200, '<p>1</p>', headersOf(fresh)])
    expect(cached.headers).toMatchObject({ 'cache-control': 'max-age=0', vary: 'Cookie', etag: etagOf('<p>1</p>') })
    const head = await page('/1?start=2', {}, 'HEAD')
    expect([head.statusCode, head.body, headersOf(head)]).toEqual([200, '', headersOf(fresh)])
    expect(made).toHaveLength(1)
    // A page generated for HEAD is complete as well.
    const first = await page('/2', {}, 'HEAD')
    expect([first.statusCode, first.body, headersOf(await page('/2'))]).toEqual([200, '', headersOf(first)])
    expect((await page('/2')).body).toBe('<p>2</p>')
    expect(made).toHaveLength(2)
  })

  it('is 304 for clients with this version', async () => {
    const { page, made, clear } = await startCachedRoutes()
    const known = { 'if-none-match': String((await page('/1')).headers.etag) }
    for (const method of ['GET', 'HEAD'] as const) {
      const cached = await page('/1', known, method)
      expect([cached.statusCode, cached.body, cached.headers['content-type']]).toEqual([304, '', undefined])
      expect(cached.headers).toMatchObject({ 'cache-control': 'max-age=0', vary: 'Cookie', etag: known['if-none-match'] })
    }
    expect((await page('/1', { 'if-none-match': '"another"' })).body).toBe('<p>1</p>')
    expect(made).toHaveLength(1)
    clear()
    made.splice(0)
    // Generated for a client that has it: others get it completely.
    expect((await page('/1', known)).statusCode).toBe(304)
    expect((await page('/1')).body).toBe('<p>1</p>')
    expect(made).toHaveLength(1)
  })

  it('is neither served to requests with variants, nor generated by them', async () => {
    const { page, made } = await startCachedRoutes()
    for (let time = 1; time <= 2; time += 1) expect((await page('/1', { cookie: 'a' })).body).toBe(`<p>${time}</p>`)
    expect((await page('/1')).body).toBe('<p>3</p>')
    expect((await page('/1', { cookie: 'a' })).body).toBe('<p>4</p>')
    expect((await page('/1')).body).toBe('<p>3</p>')
    expect(made).toHaveLength(4)
  })

  it('is cached per variant', async () => {
    const { page } = await startCachedRoutes()
    const bodies: string[] = []
    for (const language of ['de', 'fr', 'de', 'fr', 'en']) bodies.push((await page('/1', { 'accept-language': language })).body)
    expect(bodies).toEqual(['<p>1</p>', '<p>2</p>', '<p>1</p>', '<p>2</p>', '<p>3</p>'])
    expect((await page('/1')).body).toBe('<p>3</p>')
  })

  it.each([
    ['gives a cookie', '/50'],
    ['is for nobody else', '/51'],
    ['is for one browser', '/52'],
  ])('is not stored if it %s', async (_name, url) => {
    const { page, made } = await startCachedRoutes()
    for (let time = 1; time <= 2; time += 1) expect((await page(url)).body).toBe(`<p>${time}</p>`)
    expect(made).toHaveLength(2)
  })

  it('is invalidated by a change of the comments of its video, or of any video', async () => {
    const { get, page, hear } = await startCachedRoutes()
    for (const url of ['/list', '/one/1']) await get(url)
    for (const url of ['/1', '/2']) await page(url)
    hear({ what: 'comments', videoId: 1 })
    expect((await page('/2')).body).toBe('<p>4</p>')
    expect((await page('/1')).body).toBe('<p>5</p>')
    expect([(await get('/list')).json().made, (await get('/one/1')).json().made]).toEqual([1, 2])
    // It may be one of the recommended videos.
    hear({ what: 'video', videoId: 7 })
    expect((await page('/1')).body).toBe('<p>6</p>')
  })

  it.each<JsonValue>([{}, { what: 'video', videoId: 7 }, { what: 'comments', videoId: 1 }])(
    'is not stored when it was read before a change: %j',
    async (payload) => {
      const { gate, open } = makeGate()
      const { page, made, hear } = await startCachedRoutes({ gate })
      const before = page('/1')
      await until(() => made.length === 1)
      hear(payload)
      const after = page('/1')
      await until(() => made.length === 2)
      open()
      expect([(await before).body, (await after).body, (await page('/1')).body]).toEqual(['<p>1</p>', '<p>2</p>', '<p>2</p>'])
    },
  )
})

describe('simultaneous requests', () => {
  it('share one read', async () => {
    const { gate, open } = makeGate()
    const { get, made } = await startCachedRoutes({ gate })
    const requested = [get('/list'), get('/list'), get('/list')]
    await until(() => made.length > 0)
    open()
    expect((await Promise.all(requested)).map((answer) => answer.json().made)).toEqual([1, 1, 1])
    expect(made).toHaveLength(1)
  })

  it('each get their own error', async () => {
    const { gate, open } = makeGate()
    const { get, made } = await startCachedRoutes({ gate })
    const requested = [get('/one/101'), get('/one/101')]
    await until(() => made.length > 0)
    open()
    expect((await Promise.all(requested)).map(({ statusCode }) => statusCode)).toEqual([404, 404])
  })

  it('do not wait for a client that disconnected', async () => {
    const { gate, open } = makeGate()
    const { app, made } = await startCachedRoutes({ gate })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const address = app.server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/api/v1/list`
    const leaving = new AbortController()
    const gone = fetch(url, { signal: leaving.signal }).catch(() => 'gone')
    await until(() => made.length === 1)
    const stays = fetch(url)
    leaving.abort()
    expect(await gone).toBe('gone')
    await until(() => made.length === 2)
    open()
    expect((await stays).status).toBe(200)
  })
})

describe('a change', () => {
  it('is visible to its author at once, and published to the other processes before the response', async () => {
    const { app, get, published } = await startCachedRoutes()
    await get('/list')
    await get('/one/1')
    expect((await app.inject({ method: 'PUT', url: '/api/v1/one/1' })).statusCode).toBe(204)
    expect(published).toEqual([{ topic: VIDEOS_CHANGED, payload: {} }])
    expect((await get('/list')).json().made).toBe(3)
    expect((await get('/one/1')).json().made).toBe(4)
  })

  it('is not published when it was refused, or affects no public data', async () => {
    const { app, get, published } = await startCachedRoutes()
    await get('/list')
    expect((await app.inject({ method: 'PUT', url: '/api/v1/refused' })).statusCode).toBe(400)
    expect((await app.inject({ method: 'POST', url: '/api/v1/videos/1/views' })).statusCode).toBe(204)
    expect(published).toEqual([])
    expect((await get('/list')).json().made).toBe(1)
  })

  it('of one video, when received, invalidates its response and those of lists', async () => {
    const { get, hear } = await startCachedRoutes()
    for (const url of ['/list', '/one/1', '/one/2']) await get(url)
    hear({ what: 'video', videoId: 1 })
    expect((await get('/one/2')).json().made).toBe(3)
    expect((await get('/one/1')).json().made).toBe(4)
    expect((await get('/list')).json().made).toBe(5)
  })

  it.each<JsonValue>([{}, { video: 'x' }, null, [], 'x', 7])(
    'of anything, when received, invalidates all responses: %j',
    async (payload) => {
      const { get, hear } = await startCachedRoutes()
      for (const url of ['/list', '/one/1']) await get(url)
      hear(payload)
      expect((await get('/one/1')).json().made).toBe(3)
      expect((await get('/list')).json().made).toBe(4)
    },
  )

  it.each([
    ['/list', {}],
    ['/list', { video: 7 }],
    ['/one/1', {}],
    // The affected video is only known after the read.
    ['/one/1', { video: 1 }],
    ['/one/1', { video: 7 }],
  ])('during a read prevents %s from being cached and shared with later requests: %j', async (url, payload) => {
    const { gate, open } = makeGate()
    const { get, made, hear } = await startCachedRoutes({ gate })
    const before = get(url)
    await until(() => made.length === 1)
    hear(payload)
    const after = get(url)
    await until(() => made.length === 2)
    open()
    expect([(await before).json().made, (await after).json().made]).toEqual([1, 2])
    expect((await get(url)).json().made).toBe(2)
  })
})
