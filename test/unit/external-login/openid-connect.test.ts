// Effects of a provider's responses to a refresh on sessions.

import { expect, it } from '@jest/globals'
import { makeOpenIdConnect } from '../../../src/actors/external-login/openid-connect.ts'
import type { OpenIdProvider } from '../../../src/config/index.ts'
import type { FetchedBody } from '../../../src/platform/fetch/index.ts'

const ISSUER = 'https://sso.example.org'
const provider: OpenIdProvider = {
  name: 'company',
  label: 'The company',
  discovery_url: ISSUER,
  client_id: 'vireo',
  client_secret: 'a secret',
  scopes: 'openid',
  pkce: true,
  link_by_email: false,
  trust_email: false,
  allowed_groups: [],
  administrator_groups: [],
  moderator_groups: [],
  post_logout_redirect_uri: null,
  claims: { username: 'preferred_username', email: 'email', display_name: 'name', groups: 'groups', quota: null },
}
const document = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/auth`,
  token_endpoint: `${ISSUER}/token`,
  userinfo_endpoint: `${ISSUER}/me`,
  jwks_uri: `${ISSUER}/keys`,
}
const grant = { refreshToken: 'a refresh token', idToken: '', groupsAt: 0 }

interface Said {
  status?: number
  headers?: Record<string, string>
  body: object
}

/** Checks the subject `ann` at a provider with these responses. `kept` gets the next refresh tokens. */
function again(said: { token: Said; me?: Said }, kept: string[] = []) {
  const answers: Record<string, Said | undefined> = {
    '/.well-known/openid-configuration': { body: document },
    '/token': said.token,
    '/me': said.me,
  }
  const http = {
    fetch: async (url: string): Promise<FetchedBody> => {
      const { status = 200, headers = {}, body } = answers[new URL(url).pathname] ?? { status: 404, body: {} }
      return { url, status, headers: { 'content-type': 'application/json', ...headers }, body: Buffer.from(JSON.stringify(body)) }
    },
  }
  return makeOpenIdConnect({ http, now: () => 1000 }).again(
    provider,
    'ann',
    grant,
    async ({ refreshToken }) => void kept.push(refreshToken),
  )
}

const token = { body: { access_token: 'an access token', token_type: 'bearer', refresh_token: 'the next one' } }
const challenge = (status: number, value: string): Said => ({ status, headers: { 'www-authenticate': value }, body: {} })

it('an existing user continues with the next token', async () => {
  expect(await again({ token, me: { body: { sub: 'ann', email: 'ann@example.org', groups: ['staff'] } } })).toMatchObject({
    claims: { subject: 'ann', groups: ['staff'] },
    grant: { refreshToken: 'the next one', groupsAt: 1000 },
  })
})

it('a user whose claims are refused to a new access token is removed', async () => {
  expect(await again({ token, me: challenge(401, 'Bearer error="invalid_token"') })).toBeUndefined()
})

it('an expired refresh token says nothing about the user', async () => {
  expect(await again({ token: { status: 400, body: { error: 'invalid_grant' } } })).toBeNull()
})

it.each([
  ['the secret of this server is wrong', { token: { ...challenge(401, 'Basic realm="x"'), body: { error: 'invalid_client' } } }],
  ['the secret is wrong, without a challenge', { token: { status: 401, body: { error: 'invalid_client' } } }],
  ['the claims need another scope', { token, me: challenge(403, 'Bearer error="insufficient_scope"') }],
  ['the claims are of somebody else', { token, me: { body: { sub: 'bob' } } }],
  ['the provider fails', { token: { status: 500, body: {} } }],
])('no session ends while %s', async (_what, said) => {
  await expect(again(said)).rejects.toMatchObject({ kind: 'unavailable' })
})

it('stores the next refresh token in any case', async () => {
  const kept: string[] = []
  await expect(again({ token, me: { status: 503, body: {} } }, kept)).rejects.toMatchObject({ kind: 'unavailable' })
  expect(kept).toEqual(['the next one'])
})
