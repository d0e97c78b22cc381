// Every refusal is a problem body in the format that clients expect.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { DomainError, type ErrorKind } from '../../../src/actors/runtime/index.ts'
import type { App } from '../../../src/http/app.ts'
import { HttpError } from '../../../src/http/plugins/http-error.ts'
import { coercedInteger, idOrUuid, integerText, paging } from '../../../src/http/plugins/schemas.ts'
import { makeLogger } from '../../../src/platform/logger.ts'
import { testConfig } from '../../support/config.ts'
import { comparable, exchangeOf } from '../../support/recordings.ts'
import { bearer, makeFrame } from './frame.ts'

const PROBLEM = 'application/problem+json; charset=utf-8'
const lines: string[] = []
let app: App

beforeAll(async () => {
  const logger = makeLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } })
  app = await makeFrame({ add: addRoutes, logger })
})
afterAll(() => app.close())

const channelName = z.string().min(1)
const resolutions = ['0p', '144p', '240p'] as const

function addRoutes(scope: App): void {
  const done = async () => null
  scope.get('/api/v1/accounts', { schema: { querystring: z.object(paging(testConfig())) } }, done)
  scope.post('/api/v1/video-channels', { schema: { body: z.object({ name: channelName, displayName: channelName }) } }, done)
  scope.put(
    '/api/v1/video-channels/:handle',
    {
      schema: {
        params: z.object({ handle: z.string() }),
        body: z.object({
          displayName: z.string().min(1),
          description: z.string().min(3).optional(),
          bulkVideosSupportUpdate: z.boolean().optional(),
        }),
      },
    },
    done,
  )
  scope.post(
    '/api/v1/abuses',
    {
      schema: {
        body: z.object({
          reason: z.string(),
          video: z.object({ startAt: z.int(), endAt: z.int() }).refine((video) => video.startAt < video.endAt, { path: ['endAt'] }),
        }),
      },
    },
    done,
  )
  scope.post(
    '/api/v1/users/:id/imports/import-resumable',
    {
      schema: {
        headers: z.object({ 'x-upload-content-length': integerText(), 'x-upload-content-type': z.string() }),
        body: z.object({ filename: z.string() }),
      },
    },
    done,
  )
  scope.put(
    '/api/v1/config/custom',
    {
      bodyLimit: 1000,
      schema: {
        operationId: 'putCustomConfig',
        body: z.object({
          user: z.object({ videoQuota: z.int().min(-1), videoQuotaDaily: z.int().min(-1) }),
          transcoding: z.object({
            enabled: z.boolean(),
            resolutions: z.object(Object.fromEntries(resolutions.map((name) => [name, z.boolean()]))),
          }),
        }),
      },
    },
    done,
  )
  scope.post(
    '/api/v1/everything/:id',
    {
      schema: {
        operationId: 'everything',
        params: z.object({ id: idOrUuid('video') }),
        querystring: z.object({ count: integerText({ max: 3 }), privacy: coercedInteger({ max: 5 }) }),
        headers: z.object({ 'x-length': integerText() }),
        body: z.object({ name: z.string(), tags: z.array(z.string()).max(2) }),
      },
    },
    done,
  )
  scope.put('/api/v1/users/me', { config: { auth: 'user' }, schema: { body: z.object({}) } }, async (_request, reply) =>
    reply.code(204).send(),
  )
  scope.get('/services/oembed', () => {
    throw new HttpError(501, 'Requested format is not implemented on server.', { extra: { format: 'xml' } })
  })
  scope.get('/api/v1/refuse/:kind', { schema: { params: z.object({ kind: z.string() }) } }, async (request, reply) => {
    reply.header('cache-control', 'public, max-age=300').header('etag', '"x"')
    throw failures[request.params.kind]?.() ?? new Error('unplanned')
  })
  scope.get('/api/v1/names/:name', () => {
    throw databaseError('22021')
  })
  scope.get('/api/v1/wrong', { schema: { response: { 200: z.object({ a: z.string() }) } } }, async () => wrongAnswer)
  scope.get('/api/v1/leaky', { schema: { response: { 200: z.object({ a: z.string() }) } } }, async () => leakyAnswer)
}

const wrongAnswer = JSON.parse('{"a": 5}')
const leakyAnswer = { a: 'x', password: 'hash' }
const databaseError = (code: string) => Object.assign(new Error('driver'), { code })
const failures: Record<string, () => unknown> = {
  bug: () => new Error('secret of /etc/passwd'),
  text: () => 'a thrown text',
  shutdown: () => new Error('query failed', { cause: databaseError('57P01') }),
  refused: () => databaseError('ECONNREFUSED'),
  lost: () => new Error('The commit failed', { cause: new Error('Connection terminated unexpectedly') }),
  unusable: () => new Error('Client has encountered a connection error and is not queryable'),
  unstorable: () => databaseError('22021'),
  coded: () => new DomainError('forbidden', 'It is locked', { code: 'video_requires_password' }),
  large: () => new DomainError('too_large', 'Too big', { headers: { 'X-File-Maximum-Size': '4M' } }),
  named: () => new DomainError('invalid', 'x', { invalidParams: [{ name: 'targetUrl', location: 'body', msg: 'No' }] }),
}

describe('a trailing slash', () => {
  it('is ignored, for existing and missing routes', async () => {
    const statusOf = async (method: 'GET' | 'POST', url: string) => (await app.inject({ method, url })).statusCode
    expect(await statusOf('GET', '/api/v1/accounts/')).toBe(200)
    expect(await statusOf('GET', '/api/v1/accounts/?count=5')).toBe(200)
    expect(await statusOf('POST', '/api/v1/accounts/')).toBe(405)
    expect(await statusOf('GET', '/api/v1/nothing/')).toBe(404)
  })
})

describe('bad parameters answer as recorded', () => {
  it.each([
    ['accounts', 'list: bad count'],
    ['accounts', 'list: bad start'],
    ['channels', 'create: empty'],
    ['channels', 'update: bad'],
    ['abuses', 'report: bad timestamps'],
  ])('%s: %s', async (area, name) => {
    const { request, response } = exchangeOf(area, name)
    const answer = await app.inject({
      method: request.method === 'GET' ? 'GET' : request.method === 'POST' ? 'POST' : 'PUT',
      url: request.path,
      query: Object.fromEntries(Object.entries(request.query ?? {}).map(([key, value]) => [key, String(value)])),
      ...(request.body ? { body: withNumbers(request.body) } : {}),
    })
    expect(answer.statusCode).toBe(response.status)
    expect(answer.headers['content-type']).toBe(response.headers['content-type'])
    expect(comparable(answer.json())).toEqual(comparable(response.body))
  })

  it('headers, with the decided location', async () => {
    const { request, response } = exchangeOf('user-export-import', 'import init: no length')
    const url = '/api/v1/users/33/imports/import-resumable'
    const answer = await app.inject({ method: 'POST', url, ...(request.body ? { body: request.body } : {}) })
    expect(comparable(answer.json())).toEqual(comparable(response.body))
    expect(answer.json()['invalid-params']['x-upload-content-type'].location).toBe('header')
  })

  it('quotas below the minimum', async () => {
    const body = {
      user: { videoQuota: 'x', videoQuotaDaily: -5 },
      transcoding: { enabled: true, resolutions: all(true) },
    }
    const answer = await app.inject({ method: 'PUT', url: '/api/v1/config/custom', body })
    expect(comparable(answer.json())).toEqual(comparable(exchangeOf('config', 'update: bad quota').response.body))
  })

  it('every field of missing sections', async () => {
    const answer = await app.inject({ method: 'PUT', url: '/api/v1/config/custom', body: {} })
    expect(answer.json().detail).toBe(
      'Incorrect request parameters: user.videoQuota, user.videoQuotaDaily, transcoding.enabled, ' +
        'transcoding.resolutions.0p, transcoding.resolutions.144p, transcoding.resolutions.240p',
    )
    const recorded: string = comparable(exchangeOf('config', 'update: empty body').response.body).detail
    for (const name of answer.json().detail.split(': ')[1].split(', ')) expect(recorded).toContain(name)
  })
})

describe('invalid parameters', () => {
  it('of all parts are listed in one response', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/v1/everything/bad?count=9&privacy=42',
      body: { tags: 'x' },
    })
    expect(answer.json()).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      detail: 'Incorrect request parameters: id, name, tags, count, privacy, x-length',
      instance: '/api/v1/everything/bad?count=9&privacy=42',
      status: 400,
      'invalid-params': {
        id: {
          type: 'field',
          value: 'bad',
          msg: 'Should have a valid video id (id, short UUID or UUID)',
          path: 'id',
          location: 'params',
        },
        name: { type: 'field', msg: expect.any(String), path: 'name', location: 'body' },
        tags: { type: 'field', value: 'x', msg: expect.any(String), path: 'tags', location: 'body' },
        count: { type: 'field', value: '9', msg: expect.any(String), path: 'count', location: 'query' },
        privacy: { type: 'field', value: 42, msg: expect.any(String), path: 'privacy', location: 'query' },
        'x-length': { type: 'field', msg: expect.any(String), path: 'x-length', location: 'header' },
      },
      docs: 'https://docs.joinpeertube.org/api-rest-reference.html#operation/everything',
      error: 'Incorrect request parameters: id, name, tags, count, privacy, x-length',
    })
  })

  it('do not echo valid parts', async () => {
    const url = '/api/v1/everything/5?count=1&privacy=1'
    const answer = await app.inject({ method: 'POST', url, headers: { 'x-length': '1' }, body: { name: 'x' } })
    expect(Object.keys(answer.json()['invalid-params'])).toEqual(['tags'])
  })

  it('that are huge are not echoed', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/v1/everything/5?count=1&privacy=1',
      headers: { 'x-length': '1' },
      body: { name: 5, tags: Array.from({ length: 20_000 }, () => 'x') },
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.body.length).toBeLessThan(2000)
  })

  it('refused by a command have the same format', async () => {
    const answer = await app.inject({ url: '/api/v1/refuse/named' })
    expect(answer.json()).toMatchObject({
      detail: 'Incorrect request parameters: targetUrl',
      'invalid-params': { targetUrl: { location: 'body', msg: 'No' } },
    })
  })
})

describe('a body', () => {
  const put = (payload: string, type = 'application/json') =>
    app.inject({
      method: 'PUT',
      url: '/api/v1/users/me',
      headers: { ...bearer('usertoken'), ...(type ? { 'content-type': type } : {}) },
      payload,
    })

  it.each(['{"a": ', '{bad', '{"a":1}x', '\u0000', '{"__proto__": {"isAdmin": true}}', '{"constructor":{"prototype":{"x":1}}}'])(
    'that is no JSON is refused: %s',
    async (payload) => {
      const answer = await put(payload)
      const recorded = comparable(exchangeOf('protocol', 'malformed JSON body').response.body)
      expect(comparable(answer.json())).toEqual({
        ...recorded,
        detail: 'The body is not valid JSON.',
        error: 'The body is not valid JSON.',
      })
      expect(answer.headers['content-type']).toBe(PROBLEM)
    },
  )

  it('that is no JSON is refused before authentication', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/v1/video-channels',
      headers: { 'content-type': 'application/json' },
      payload: '{bad',
    })
    expect(answer.json()).toMatchObject({ status: 400, code: 'SyntaxError' })
  })

  it.each(['[', '{"a":'])('with endless nesting is refused: %s', async (piece) => {
    const answer = await put(piece.repeat(99_000))
    expect(answer.json()).toMatchObject({ status: 400, code: 'SyntaxError', detail: 'The body is nested too deeply.' })
    // Brackets inside strings do not count.
    expect((await put(JSON.stringify({ displayName: piece.repeat(20) }))).statusCode).not.toBe(400)
  })

  it('that is too large is refused', async () => {
    const answer = await put(`"${'a'.repeat(600_000)}`)
    const recorded = comparable(exchangeOf('protocol', 'payload too large').response.body)
    expect(answer.statusCode).toBe(413)
    expect(comparable(answer.json())).toMatchObject({ type: recorded.type, code: recorded.code, status: 413 })
  })

  it('that is too large for its route is refused', async () => {
    const answer = await app.inject({ method: 'PUT', url: '/api/v1/config/custom', body: { a: 'x'.repeat(1000) } })
    expect(answer.statusCode).toBe(413)
  })

  it('of another type is ignored', async () => {
    expect((await put('<a/>', 'application/xml')).statusCode).toBe(204)
    expect((await put('', 'application/json')).statusCode).toBe(204)
    expect((await put('{}', 'application/merge-patch+json; charset=utf-8')).statusCode).toBe(204)
  })

  it('of another type has a size limit too', async () => {
    expect((await put('x'.repeat(600_000), 'application/xml')).statusCode).toBe(413)
  })

  it('with an invalid Content-Type is refused', async () => {
    const answer = await put('{}', 'no type')
    expect(answer.json()).toMatchObject({ status: 415, title: 'Unsupported Media Type' })
  })
})

describe('a refusal of the domain', () => {
  const kinds: [ErrorKind, number][] = [
    ['invalid', 400],
    ['unauthenticated', 401],
    ['forbidden', 403],
    ['not_found', 404],
    ['conflict', 409],
    ['gone', 410],
    ['too_large', 413],
    ['unsupported_media_type', 415],
    ['unprocessable', 422],
    ['busy', 503],
    ['unavailable', 503],
  ]
  it.each(kinds)('%s is %i', async (kind, status) => {
    failures[kind] = () => new DomainError(kind, 'why')
    const answer = await app.inject({ url: `/api/v1/refuse/${kind}` })
    expect(answer.statusCode).toBe(status)
    expect(answer.json()).toMatchObject({ type: 'about:blank', status, detail: 'why', error: 'why' })
    expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined)
  })

  it('with a code links to its documentation', async () => {
    const answer = await app.inject({ url: '/api/v1/refuse/coded' })
    expect(answer.json()).toEqual({
      type: 'https://docs.joinpeertube.org/api-rest-reference.html#section/Errors/video_requires_password',
      title: 'Forbidden',
      detail: 'It is locked',
      status: 403,
      code: 'video_requires_password',
      error: 'It is locked',
    })
  })

  it('keeps its own headers, and none of the success', async () => {
    const answer = await app.inject({ url: '/api/v1/refuse/large' })
    expect(answer.headers).toMatchObject({ 'x-file-maximum-size': '4M' })
    expect(answer.headers).not.toHaveProperty('cache-control')
    expect(answer.headers).not.toHaveProperty('etag')
  })
})

describe('an internal error', () => {
  it.each(['bug', 'text'])('reveals nothing, and is logged with the id of the request: %s', async (kind) => {
    const answer = await app.inject({
      url: `/api/v1/refuse/${kind}?token=hidden-one`,
      headers: { 'x-request-id': `id-${kind}` },
    })
    expect(answer.json()).toEqual({
      type: 'about:blank',
      title: 'Internal Server Error',
      detail: 'The server failed to handle this request.',
      status: 500,
      error: 'The server failed to handle this request.',
    })
    const logged = lines.filter((line) => line.includes(`id-${kind}`) && line.includes('request failed'))
    expect(logged).toHaveLength(1)
    expect(lines.join('')).not.toContain('hidden-one')
  })

  it.each(['shutdown', 'refused', 'lost', 'unusable'])('that is temporary has a Retry-After: %s', async (kind) => {
    const answer = await app.inject({ url: `/api/v1/refuse/${kind}` })
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('5')
  })

  it('is, in tests, a response that does not match its schema', async () => {
    expect((await app.inject({ url: '/api/v1/wrong' })).statusCode).toBe(500)
    expect((await app.inject({ url: '/api/v1/leaky' })).statusCode).toBe(500)
    const production = await makeFrame({ add: addRoutes, checkResponses: false })
    expect((await production.inject({ url: '/api/v1/wrong' })).json()).toEqual({ a: 5 })
    await production.close()
  })
})

it('text that cannot be stored is a client error', async () => {
  expect((await app.inject({ url: '/api/v1/refuse/unstorable' })).statusCode).toBe(400)
  expect((await app.inject({ url: '/api/v1/names/%00' })).statusCode).toBe(404)
})

it('an operation can add members', async () => {
  const { response } = exchangeOf('protocol', 'oembed: xml')
  const answer = await app.inject({ url: '/services/oembed' })
  expect(comparable(answer.json())).toEqual(comparable(response.body))
})

describe('an unknown route', () => {
  it.each(['/api/v1/unknown', '/api/v1/unknown/deep', '/api/v2/videos', '/api/', '/unknown', '/api/v1/user/x'])(
    '%s is 404',
    async (url) => {
      const answer = await app.inject({ url })
      expect(answer.statusCode).toBe(404)
      expect(answer.headers['content-type']).toBe(PROBLEM)
      expect(answer.json()).toMatchObject({ type: 'about:blank', title: 'Not Found', status: 404 })
    },
  )

  it('for this method is 405, with the allowed methods', async () => {
    const answer = await app.inject({
      method: 'PATCH',
      url: '/api/v1/users/me',
      headers: bearer('admintoken'),
      body: {},
    })
    expect(answer.statusCode).toBe(405)
    expect(answer.headers.allow).toBe('OPTIONS, PUT')
    const other = await app.inject({ method: 'DELETE', url: '/api/v1/everything/5?x=/' })
    expect(other.headers.allow).toBe('OPTIONS, POST')
  })

  it('with a body is 404 too', async () => {
    const answer = await app.inject({ method: 'POST', url: '/api/v1/unknown/deep', body: {} })
    expect(answer.statusCode).toBe(404)
  })

  it('with a malformed path is 400, with the headers of every response', async () => {
    const answer = await app.inject({ url: '/api/v1/everything/%E0%A4%A' })
    expect(answer.json()).toMatchObject({ status: 400, title: 'Bad Request' })
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*' })
  })

  it('with a very long name is refused', async () => {
    const answer = await app.inject({ url: `/api/v1/names/${'x'.repeat(500)}` })
    expect([404, 414]).toContain(answer.statusCode)
    expect(answer.headers['content-type']).toBe(PROBLEM)
  })
})

const all = <T>(value: T) => Object.fromEntries(resolutions.map((name) => [name, value]))

/** Captured ids of the recording as plain numbers. */
const withNumbers = (body: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(body).replace(/"\{\{id:[^}]+\}\}"/g, '1'))
