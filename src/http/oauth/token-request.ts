// The form of the token endpoint (RFC 6749, 4.3.2 and 6), refused with the codes and messages that clients know.

import { z } from 'zod'
import { DomainError } from '../../actors/runtime/index.ts'
import type { ClientCredentials } from '../../actors/session/index.ts'

export type TokenRequest =
  | { grant: 'password'; client: ClientCredentials; username: string; password: string }
  | { grant: 'external'; client: ClientCredentials; username: string; externalAuthToken: string }
  | { grant: 'refresh_token'; client: ClientCredentials; refreshToken: string }

/** Longest field in characters: more than any name, address, password or token has. */
const LONGEST = 1000

/** For the documentation; `readTokenRequest` names missing fields. */
export const tokenForm = z.object({
  client_id: z.string().max(LONGEST),
  client_secret: z.string().max(LONGEST),
  grant_type: z.enum(['password', 'refresh_token']),
  username: z.string().max(LONGEST).optional(),
  password: z.string().max(LONGEST).optional(),
  /** In place of the password, after a login with another system. */
  externalAuthToken: z.string().max(LONGEST).optional(),
  refresh_token: z.string().max(LONGEST).optional(),
})

/** The one-time code of users with two-factor login. */
export const tokenHeaders = z.looseObject({ 'x-peertube-otp': z.string().optional() })

/** Reads a token request. Throws DomainError `invalid` with an OAuth code (RFC 6749, 5.2). */
export function readTokenRequest(contentType: string | undefined, body: unknown): TokenRequest {
  if (!/^application\/x-www-form-urlencoded\b/i.test(contentType ?? '')) {
    throw refused('invalid_request', 'Invalid request: content must be application/x-www-form-urlencoded')
  }
  const field = fieldsOf(body)
  const clientId = field('client_id')
  const clientSecret = field('client_secret')
  if (!clientId || !clientSecret) {
    throw refused('invalid_client', 'Invalid client: cannot retrieve client credentials')
  }
  const client = { clientId, clientSecret }
  const grant = field('grant_type')
  if (!grant) throw missing('grant_type')
  const externalAuthToken = field('externalAuthToken')
  if (grant === 'password' && externalAuthToken !== undefined) {
    return { grant: 'external', client, username: demand(field, 'username'), externalAuthToken }
  }
  if (grant === 'password') return { grant, client, username: demand(field, 'username'), password: demand(field, 'password') }
  if (grant === 'refresh_token') return { grant, client, refreshToken: demand(field, 'refresh_token') }
  throw refused('unsupported_grant_type', 'Unsupported grant type: `grant_type` is invalid')
}

type Field = (name: string) => string | undefined

function fieldsOf(body: unknown): Field {
  const fields = z.record(z.string(), z.unknown()).catch({}).parse(body)
  return (name) => {
    const value = fields[name]
    if (typeof value !== 'string' || value === '') return undefined
    if (value.length > LONGEST) throw refused('invalid_request', `Invalid request: \`${name}\` is too long`)
    return value
  }
}

function demand(field: Field, name: string): string {
  const value = field(name)
  if (value === undefined) throw missing(name)
  return value
}

const missing = (name: string): DomainError => refused('invalid_request', `Missing parameter: \`${name}\``)

const refused = (code: string, message: string): DomainError => new DomainError('invalid', message, { code })
