// Administration of users.

import type { RouteFixtures } from '../fixtures.ts'
import { administrators, everybody, row, signedIn, staff } from '../row.ts'

let serial = 0
const newUser = (role: number) => () => {
  const username = `made_by_row${++serial}`
  return { body: { username, password: 'a long password', email: `${username}@example.org`, role } }
}

/** A user that no other row uses, since each call changes it. */
const about = (role: 0 | 1 | 2, body?: object) => async (fixtures: RouteFixtures) => ({
  params: { id: await fixtures.bystander(role) },
  ...(body ? { body } : {}),
})

const [ADMINISTRATOR, MODERATOR, USER] = [0, 1, 2] as const
const quota = { videoQuota: 1000 }

export const userRows = [
  row('GET /api/v1/users', staff(200)),
  row('GET /api/v1/users/autocomplete', everybody(200), () => ({ query: { search: 'us' } })),
  row('GET /api/v1/users/:id', staff(200), about(USER)),

  row('POST /api/v1/users', staff(200), newUser(USER), 'a user'),
  row('POST /api/v1/users', administrators(200), newUser(MODERATOR), 'a moderator'),
  row('POST /api/v1/users', administrators(200), newUser(ADMINISTRATOR), 'an administrator'),

  row('PUT /api/v1/users/:id', staff(204), about(USER, quota), 'a user'),
  row('PUT /api/v1/users/:id', administrators(204), about(MODERATOR, quota), 'a moderator'),
  row('PUT /api/v1/users/:id', administrators(204), about(USER, { role: MODERATOR }), 'a user who becomes a moderator'),

  ...(['block', 'unblock'] as const).flatMap((verb) => [
    row(`POST /api/v1/users/:id/${verb}`, staff(204), about(USER), 'a user'),
    row(`POST /api/v1/users/:id/${verb}`, administrators(204), about(MODERATOR), 'a moderator'),
  ]),

  row('DELETE /api/v1/users/:id', staff(204), about(USER), 'a user'),
  row('DELETE /api/v1/users/:id', administrators(204), about(MODERATOR), 'a moderator'),
  row('DELETE /api/v1/users/:id', administrators(204), about(ADMINISTRATOR), 'another administrator'),

  row('DELETE /api/v1/users/me', signedIn(204)),
  row('POST /api/v1/bulk/remove-comments-of', signedIn(204), (fixtures) => ({
    body: { accountName: fixtures.users.user.username, scope: 'my-videos' },
  })),
]
