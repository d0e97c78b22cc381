// OAuth clients, tokens and their revocation.

import type { Person, RouteFixtures } from '../fixtures.ts'
import { everybody, row, signedIn, staff } from '../row.ts'

const refreshOf = (person: Person) => async (fixtures: RouteFixtures) => {
  const { refresh } = await fixtures.session(person)
  const fields = { ...(await fixtures.client()), grant_type: 'refresh_token', refresh_token: refresh }
  return { body: new URLSearchParams(fields) }
}

const token = (scopes: string[]) => () => ({ body: { name: 'A script', scopes, expiresAt: '2100-01-01T00:00:00Z' } })

export const sessionRows = [
  row('GET /api/v1/oauth-clients/local', everybody(200)),
  row('POST /api/v1/users/token', everybody(200), refreshOf('user'), 'with a refresh token'),
  row('POST /api/v1/users/token', everybody(400), refreshOf('blocked'), 'with a refresh token of a blocked user'),
  row('POST /api/v1/users/revoke-token', signedIn(200)),
  row('GET /api/v1/users/scoped-tokens', signedIn(200)),
  row('POST /api/v1/users/scoped-tokens', signedIn(200)),
  // Logins are tested with a provider.
  row('GET /plugins/vireo-openid-connect/:version/auth/:authName', everybody(404), () => ({
    params: { version: '1', authName: 'nobody' },
  })),
  row('GET /plugins/vireo-openid-connect/router/:authName/callback', everybody(302), () => ({ params: { authName: 'nobody' } })),
  row('GET /api/v1/vireo/sessions', signedIn(200)),
  row('DELETE /api/v1/vireo/sessions/:id', signedIn(404), () => ({ params: { id: 2_000_000_000 } })),
  row('GET /api/v1/vireo/application-tokens', signedIn(200)),
  row('POST /api/v1/vireo/application-tokens', signedIn(200), token(['read', 'upload', 'manage'])),
  row('POST /api/v1/vireo/application-tokens', staff(200), token(['admin']), 'for administration'),
  row('DELETE /api/v1/vireo/application-tokens/:id', signedIn(404), () => ({ params: { id: 2_000_000_000 } }), 'that is not there'),
  row('DELETE /api/v1/vireo/application-tokens/:id', signedIn(404, { user: 204 }), async (fixtures) => ({
    params: { id: await fixtures.applicationToken() },
  })),
]
