import { describe, expect, it } from '@jest/globals'
import { DomainError } from '../../../src/actors/runtime/index.ts'
import { readTokenRequest } from '../../../src/http/oauth/token-request.ts'
import { problemBody } from '../../../src/http/plugins/problem.ts'
import { comparable, exchangesOf } from '../../support/recordings.ts'

const FORM = 'application/x-www-form-urlencoded'
const client = { client_id: 'id', client_secret: 'secret' }

describe('a token request', () => {
  it('with a password', () => {
    const body = { ...client, grant_type: 'password', username: 'una', password: 'pw', response_type: 'code' }
    expect(readTokenRequest(`${FORM}; charset=utf-8`, body)).toEqual({
      grant: 'password',
      client: { clientId: 'id', clientSecret: 'secret' },
      username: 'una',
      password: 'pw',
    })
  })

  it('with a refresh token', () => {
    expect(readTokenRequest(FORM, { ...client, grant_type: 'refresh_token', refresh_token: 'r' })).toMatchObject({
      grant: 'refresh_token',
      refreshToken: 'r',
    })
  })

  const refused = exchangesOf('oauth').filter(({ request, name }) => request.path.endsWith('/token') && name !== 'wrong password')
  it.each(refused.map((one) => [one.name, one] as const))('is refused with the recorded response: %s', (_name, { request, response }) => {
    const error = refusalOf(request.contentType, request.body)
    const body = problemBody({ status: 400, detail: error.message, code: error.code, operationId: 'getOAuthToken' })
    expect(response.status).toBe(400)
    expect(comparable(body)).toEqual(comparable(response.body))
  })

  it('with a repeated field, or an object, lacks that field', () => {
    const body = { ...client, grant_type: ['password', 'refresh_token'] }
    expect(refusalOf(FORM, body).message).toBe('Missing parameter: `grant_type`')
    expect(refusalOf(FORM, { ...client, grant_type: 'password', username: { $ne: '' } }).code).toBe('invalid_request')
  })
})

function refusalOf(contentType: string | undefined, body: unknown): DomainError {
  try {
    readTokenRequest(contentType, body)
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
  throw new Error('the request was accepted')
}
