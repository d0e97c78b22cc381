// Authorization of routes, and responses to unauthorized requests.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { App } from '../../../src/http/app.ts'
import { comparable, exchangeOf } from '../../support/recordings.ts'
import { bearer, makeFrame } from './frame.ts'

let app: App
const lookups: string[] = []
beforeAll(async () => {
  app = await makeFrame({ lookups })
})
afterAll(() => app.close())

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

describe('each role at each route', () => {
  const who = {
    visitor: {},
    user: bearer('usertoken'),
    moderator: bearer('moderatortoken'),
    admin: bearer('admintoken'),
  }
  it.each([
    ['/api/v1/none', 200, 200, 200, 200],
    ['/api/v1/optional', 200, 200, 200, 200],
    ['/api/v1/user', 401, 200, 200, 200],
    ['/api/v1/moderator', 401, 403, 200, 200],
    ['/api/v1/admin', 401, 403, 403, 200],
    ['/api/v1/abuses', 401, 403, 200, 200],
    ['/api/v1/logs', 401, 403, 403, 200],
  ])('%s answers visitors %i, users %i, moderators %i, administrators %i', async (url, ...statuses) => {
    const answers = await Promise.all(Object.values(who).map((headers) => get(url, headers)))
    expect(answers.map((answer) => answer.statusCode)).toEqual(statuses)
    const head = await app.inject({ method: 'HEAD', url })
    expect(head.statusCode).toBe(statuses[0])
  })
})

describe('a token is refused with the recorded answer', () => {
  it.each([
    ['me without token', '/api/v1/user', {}],
    ['me with bad token', '/api/v1/user', bearer('badtoken')],
    ['me with malformed authorization', '/api/v1/user', { authorization: 'badtoken' }],
    ['me with basic authorization', '/api/v1/user', { authorization: 'Basic dTpw' }],
    ['me with token in query string', '/api/v1/user?access_token=usertoken', {}],
    ['me with bad token', '/api/v1/optional', bearer('badtoken')],
  ])('%s at %s', async (name, url, headers) => {
    const { response } = exchangeOf('oauth', name)
    const answer = await get(url, headers)
    expect(answer.statusCode).toBe(response.status)
    expect(comparable(answer.json())).toEqual(comparable(response.body))
    expect(answer.headers['content-type']).toBe(response.headers['content-type'])
  })

  it.each(['Bearer', 'Bearer ', 'Bearer a b', 'Bearer "x"', 'bearerx', ' '])('%j is malformed', async (authorization) => {
    const answer = await get('/api/v1/user', { authorization })
    expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request' })
  })

  it('a 401 has a WWW-Authenticate header', async () => {
    expect((await get('/api/v1/user')).headers['www-authenticate']).toBe('Bearer')
    expect((await get('/api/v1/user', bearer('x'))).headers['www-authenticate']).toBe('Bearer error="invalid_token"')
  })
})

it('the scheme is case-insensitive', async () => {
  expect((await get('/api/v1/user', { authorization: 'bearer usertoken' })).statusCode).toBe(200)
})

it('a route without authentication ignores tokens', async () => {
  lookups.length = 0
  expect((await get('/api/v1/none', bearer('usertoken'))).json()).toEqual({ username: null })
  expect((await get('/api/v1/none', { authorization: 'nonsense' })).statusCode).toBe(200)
  expect(lookups).toEqual([])
})

it('a token is looked up once per request', async () => {
  lookups.length = 0
  expect((await get('/api/v1/optional', bearer('moderatortoken'))).json()).toEqual({ username: 'mo' })
  expect(lookups).toEqual(['moderatortoken'])
})
