// Registration, and links in mails.

import type { RouteFixtures } from '../fixtures.ts'
import { everybody, row, staff } from '../row.ts'

let serial = 0
const somebody = () => {
  const username = `comes_by_row${++serial}`
  return { username, password: 'a long password', email: `${username}@example.org` }
}

const registration = async (fixtures: RouteFixtures) => ({ params: { registrationId: await fixtures.registration() } })
const address = { body: { email: 'nobody@example.org' } }
/** Of no sent mail. */
const verificationString = 'a1'.repeat(32)

export const registrationRows = [
  row('POST /api/v1/users/register', everybody(204), () => ({ body: somebody() })),
  row(
    'POST /api/v1/users/registrations/request',
    everybody(400),
    () => ({ body: { ...somebody(), registrationReason: 'I want to' } }),
    'where nobody has to ask',
  ),
  row('GET /api/v1/users/registrations', staff(200)),
  ...(['accept', 'reject'] as const).map((verb) =>
    row(`POST /api/v1/users/registrations/:registrationId/${verb}`, staff(204), async (fixtures) => ({
      ...(await registration(fixtures)),
      body: { moderationResponse: 'We thought about it', preventEmailDelivery: true },
    })),
  ),
  row('DELETE /api/v1/users/registrations/:registrationId', staff(204), registration),
  row('POST /api/v1/users/registrations/ask-send-verify-email', everybody(204), () => address),
  row('POST /api/v1/users/registrations/:registrationId/verify-email', everybody(403), async (fixtures) => ({
    ...(await registration(fixtures)),
    body: { verificationString },
  })),
  row('POST /api/v1/users/ask-send-verify-email', everybody(204), () => address),
  row('POST /api/v1/users/ask-reset-password', everybody(204), () => address),
  row('POST /api/v1/users/:id/verify-email', everybody(403), ({ users }) => ({
    params: { id: users.user.id },
    body: { verificationString },
  })),
  row('POST /api/v1/users/:id/reset-password', everybody(403), ({ users }) => ({
    params: { id: users.user.id },
    body: { verificationString, password: 'another password' },
  })),
]
