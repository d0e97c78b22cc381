// Clients, tokens and their end.

import type { Cast, Person } from '../cast.ts'
import { everybody, row, signedIn } from '../row.ts'

const refreshOf = (person: Person) => async (cast: Cast) => {
  const { refresh } = await cast.session(person)
  const fields = { ...(await cast.client()), grant_type: 'refresh_token', refresh_token: refresh }
  return { body: new URLSearchParams(fields) }
}

export const sessionRows = [
  row('GET /api/v1/oauth-clients/local', everybody(200)),
  row('POST /api/v1/users/token', everybody(200), refreshOf('user'), 'with a refresh token'),
  row('POST /api/v1/users/token', everybody(400), refreshOf('blocked'), 'with a refresh token of a blocked user'),
  row('POST /api/v1/users/revoke-token', signedIn(200)),
  row('GET /api/v1/users/scoped-tokens', signedIn(200)),
  row('POST /api/v1/users/scoped-tokens', signedIn(200)),
]
