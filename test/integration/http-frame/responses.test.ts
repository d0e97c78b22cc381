// Properties of every response: headers, CORS, ids, ETags, log lines; and the OpenAPI document.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import type { App } from '../../../src/http/app.ts'
import { etagOf, sendPrepared } from '../../../src/http/plugins/conditional.ts'
import { integerText, listOf, oneOrMore } from '../../../src/http/plugins/schemas.ts'
import { makeLogger } from '../../../src/platform/logger.ts'
import { exchangeOf } from '../../support/recordings.ts'
import { bearer, makeFrame } from './frame.ts'

const lines: string[] = []
let app: App
beforeAll(async () => {
  const logger = makeLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } })
  app = await makeFrame({ add: addRoutes, logger })
})
afterAll(() => app.close())

const item = z.object({ id: z.int(), name: z.string().nullable() }).meta({ id: 'Item' })
const large = { data: Array.from({ length: 1000 }, (_, id) => ({ id, name: 'x' })) }
const prepared = { body: Buffer.from('{"prepared":true}'), etag: etagOf('{"prepared":true}') }

function addRoutes(scope: App): void {
  const schema = { response: { 200: listOf(item) } }
  scope.get('/api/v1/large', { schema }, async () => large)
  scope.get('/api/v1/large-tagged', { schema, config: { etag: true } }, async () => large)
  scope.get('/api/v1/untagged', { config: { etag: false } }, async () => ({ a: 1 }))
  scope.get('/api/v1/prepared', (request, reply) => sendPrepared(request, reply, prepared))
  scope.get('/videos/embed/:id', { config: { frameguard: false } }, async () => 'page')
  scope.get('/static/:file', async () => 'bytes')
  scope.delete('/api/v1/items/:id', { config: { auth: 'user' } }, async (_request, reply) => reply.code(204).send())
  scope.post(
    '/api/v1/items/:id',
    {
      schema: {
        operationId: 'addItem',
        summary: 'Add an item',
        tags: ['Items'],
        params: z.object({ id: integerText() }),
        querystring: z.object({ tags: oneOrMore(z.string()).optional() }),
        body: z.object({ name: z.string().min(1) }),
        response: { 200: item },
      },
      config: { auth: 'optional' },
    },
    async (request) => ({ id: request.params.id, name: request.body.name }),
  )
  scope.put(
    '/api/v1/items/:id/image',
    { config: { right: 'MANAGE_CONFIGURATION', form: { fields: z.object({ title: z.string() }), files: ['image'] } } },
    async () => null,
  )
}

describe('CORS', () => {
  const preflightHeaders = {
    origin: 'https://other.example.com',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  }

  it.each([
    '/api/v1/items/5',
    '/api/v1/user',
    '/api/v1/unknown',
    '/static/x.mp4',
    '/lazy-static/avatars/x.png',
    '/download/videos/generate/5',
    '/feeds/videos.xml',
    '/.well-known/webfinger',
    '/accounts/una',
  ])('a preflight for %s has the recorded answer', async (url) => {
    const { response } = exchangeOf('protocol', 'CORS preflight /api/v1/videos')
    const answer = await app.inject({ method: 'OPTIONS', url, headers: preflightHeaders })
    expect(answer.statusCode).toBe(response.status)
    expect(answer.body).toBe('')
    const names = ['allow-origin', 'allow-methods', 'allow-headers', 'expose-headers'].map((name) => `access-control-${name}`)
    for (const name of [...names, 'content-length', 'vary']) expect([name, answer.headers[name]]).toEqual([name, response.headers[name]])
  })

  it.each(['GET', 'POST', 'PUT', 'DELETE'] as const)('any site may read the response to %s, without credentials', async (method) => {
    for (const url of ['/api/v1/items/5', '/api/v1/unknown', '/static/x', '/nothing']) {
      const { headers } = await app.inject({ method, url, headers: { origin: 'https://other.example.com' } })
      expect(headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-credentials': 'false',
        'access-control-expose-headers': 'Retry-After',
      })
    }
  })

  it('every recorded header of an API response is present', async () => {
    const { response } = exchangeOf('protocol', 'CORS GET of an error')
    const { headers } = await app.inject({ url: '/api/v1/user', headers: { origin: 'https://other.example.com' } })
    const missing = Object.keys(response.headers).filter((name) => !(name in headers))
    expect(missing).toEqual(['etag'])
  })

  it('OPTIONS without a preflight is no method of a route', async () => {
    const answer = await app.inject({ method: 'OPTIONS', url: '/api/v1/items/5' })
    expect(answer.statusCode).toBe(404)
    expect(answer.headers.allow).toBe('DELETE, OPTIONS, POST')
  })
})

describe('headers', () => {
  it('forbid framing, except on embeddable pages', async () => {
    expect((await app.inject({ url: '/api/v1/none' })).headers['x-frame-options']).toBe('DENY')
    expect((await app.inject({ url: '/videos/embed/x' })).headers).not.toHaveProperty('x-frame-options')
  })

  it('can be switched off', async () => {
    const quiet = await makeFrame({
      config: { security: { frameguard: { enabled: false }, powered_by_header: { enabled: false } } },
    })
    const { headers } = await quiet.inject({ url: '/api/v1/none' })
    expect(headers).not.toHaveProperty('x-frame-options')
    expect(headers).not.toHaveProperty('x-powered-by')
    await quiet.close()
  })

  it('give each request an id, or keep a harmless one', async () => {
    const one = await app.inject({ url: '/api/v1/none' })
    const two = await app.inject({ url: '/api/v1/none' })
    expect(one.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(one.headers['x-request-id']).not.toBe(two.headers['x-request-id'])
    const given = await app.inject({ url: '/api/v1/none', headers: { 'x-request-id': 'proxy-1' } })
    expect(given.headers['x-request-id']).toBe('proxy-1')
    const forged = await app.inject({ url: '/api/v1/none', headers: { 'x-request-id': 'a"}\tlevel=50 {"' } })
    expect(forged.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('a conditional GET', () => {
  const read = (url: string, tag?: string) => app.inject({ url, headers: tag ? { 'if-none-match': tag } : {} })

  it.each(['/api/v1/none', '/api/v1/large-tagged', '/api/v1/prepared'])('of %s is 304 when nothing changed', async (url) => {
    const first = await read(url)
    const etag = String(first.headers.etag)
    expect(etag).toMatch(/^"[\w-]+"$/)
    const second = await read(url, `W/"old", ${etag}`)
    expect(second).toMatchObject({ statusCode: 304, body: '', headers: { etag } })
    expect(second.headers).not.toHaveProperty('content-type')
    expect(await read(url, '"other"')).toMatchObject({ statusCode: 200, body: first.body })
  })

  it('of a large list, or of a response that opts out, has no ETag', async () => {
    expect((await read('/api/v1/large')).headers).not.toHaveProperty('etag')
    expect((await read('/api/v1/untagged')).headers).not.toHaveProperty('etag')
  })

  it('of an error has no ETag', async () => {
    expect((await read('/api/v1/user', '*')).statusCode).toBe(401)
  })
})

describe('the log', () => {
  const last = () => JSON.parse(lines.at(-1) ?? '{}')

  it('has a line for each request, without secrets', async () => {
    const headers = { ...bearer('usertoken'), 'x-request-id': 'r1', 'user-agent': 'test', cookie: 'c=secret-cookie' }
    await app.inject({ method: 'DELETE', url: '/api/v1/items/5?videoFileToken=secret-token', headers })
    expect(last()).toMatchObject({
      msg: 'DELETE /api/v1/items/5?videoFileToken=[hidden] 204',
      reqId: 'r1',
      method: 'DELETE',
      url: '/api/v1/items/5?videoFileToken=[hidden]',
      status: 204,
      ip: '127.0.0.1',
      userAgent: 'test',
      userId: 3,
    })
    expect(typeof last().ms).toBe('number')
    expect(lines.join('')).not.toMatch(/usertoken|secret-token|secret-cookie/)
  })

  it.each([
    [{ log: { log_http_requests: false } }, '/api/v1/none', 0],
    [{ log: { log_ping_requests: false } }, '/api/v1/ping', 0],
    [{ log: { log_ping_requests: true } }, '/api/v1/ping', 1],
  ])('with %j has for %s %i lines', async (config, url, count) => {
    const written: string[] = []
    const logger = makeLogger({ level: 'info', destination: { write: (line) => void written.push(line) } })
    const other = await makeFrame({ config, logger })
    await other.inject({ url })
    expect(written.filter((line) => line.includes('"reqId"'))).toHaveLength(count)
    await other.close()
  })

  it('shortens addresses if it is configured', async () => {
    const written: string[] = []
    const logger = makeLogger({ level: 'info', destination: { write: (line) => void written.push(line) } })
    const other = await makeFrame({ config: { log: { anonymize_ip: true } }, logger })
    await other.inject({ url: '/api/v1/none', headers: { 'x-forwarded-for': '192.0.2.77' } })
    expect(written.join('')).toContain('"192.0.2.0"')
    expect(written.join('')).not.toContain('192.0.2.77')
    await other.close()
  })
})

describe('the OpenAPI document', () => {
  it('has every route with its parts', async () => {
    const answer = await app.inject({ url: '/api/v1/openapi.json' })
    const document = answer.json()
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.2.3' },
      servers: [{ url: 'http://localhost:9000' }],
    })
    expect(document.paths['/api/v1/items/{id}'].post).toMatchObject({
      operationId: 'addItem',
      summary: 'Add an item',
      tags: ['Items'],
      parameters: [
        { name: 'id', in: 'path', required: true },
        { name: 'tags', in: 'query', required: false },
      ],
      requestBody: { content: { 'application/json': { schema: { required: ['name'] } } } },
      // Scopes of application tokens.
      security: [{}, { bearer: ['manage'] }],
      responses: {
        200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } } },
        default: { content: { 'application/problem+json; charset=utf-8': expect.anything() } },
      },
    })
    expect(document.components.schemas.Item.properties.name.type ?? document.components.schemas.Item.properties.name.anyOf).toEqual(
      expect.arrayContaining([]),
    )
    const image = document.paths['/api/v1/items/{id}/image'].put
    expect(image.requestBody.content['multipart/form-data'].schema.properties).toMatchObject({
      title: { type: 'string' },
      image: { type: 'string', format: 'binary' },
    })
    expect(image.security).toEqual([{ bearer: ['admin'] }])
    expect(Object.keys(document.paths)).not.toContain('/api/v1/openapi.json')
    expect(JSON.stringify(document)).not.toContain('#/$defs')
  })

  it('has an ETag', async () => {
    const { headers } = await app.inject({ url: '/api/v1/openapi.json' })
    const again = await app.inject({ url: '/api/v1/openapi.json', headers: { 'if-none-match': String(headers.etag) } })
    expect(again.statusCode).toBe(304)
  })

  it('has a page that loads all its assets from this server', async () => {
    for (const url of ['/api/docs', '/api/docs/']) {
      const page = await app.inject({ url })
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
      expect(page.body).toContain('src="/api/docs/js/scalar.js"')
      expect(page.body).toContain('/api/v1/openapi.json')
      expect(page.body).not.toMatch(/https?:\/\//)
    }
    const script = await app.inject({ url: '/api/docs/js/scalar.js' })
    expect(script.headers['content-type']).toContain('javascript')
    expect(script.rawPayload.length).toBeGreaterThan(1_000_000)
    expect((await app.inject({ url: '/api/docs/other' })).statusCode).toBe(404)
  })
})
