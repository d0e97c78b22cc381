// Two-factor login of a user, by the user and by those who manage users.

import { generate } from 'otplib'
import type { Caller } from '../caller.ts'
import { PASSWORD, type RouteFixtures } from '../fixtures.ts'
import { row, signedIn } from '../row.ts'

const TWO_FACTOR = '/api/v1/users/:id/two-factor'

/** The caller is `user`, or acts on a user that no other call uses. */
async function targetOf(fixtures: RouteFixtures, caller: Caller): Promise<number> {
  if (caller !== 'user') return await fixtures.bystander(2)
  await fixtures.usesPassword('user')
  return fixtures.users.user.id
}

/** A request by an administrator for a user, with the current code of the user's app. */
async function requested(fixtures: RouteFixtures, id: number) {
  const answer = await post(fixtures, `${TWO_FACTOR}/request`, id, {})
  const { otpRequest } = (await answer.json()) as { otpRequest: { requestToken: string; secret: string } }
  const { requestToken, secret } = otpRequest
  return { requestToken, otpToken: await generate({ secret }) }
}

const post = (fixtures: RouteFixtures, route: string, id: number, body: object): Promise<Response> =>
  fixtures.send('admin', route.replace(':id', String(id)), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const withPassword = { currentPassword: PASSWORD }

export const twoFactorRows = [
  row(`POST ${TWO_FACTOR}/request`, signedIn(200, { other: 403 }), async (fixtures, caller) => ({
    params: { id: await targetOf(fixtures, caller) },
    body: withPassword,
  })),
  row(`POST ${TWO_FACTOR}/confirm-request`, signedIn(204, { other: 403 }), async (fixtures, caller) => {
    const id = await targetOf(fixtures, caller)
    return { params: { id }, body: await requested(fixtures, id) }
  }),
  row(`POST ${TWO_FACTOR}/disable`, signedIn(204, { other: 403 }), async (fixtures, caller) => {
    const id = await targetOf(fixtures, caller)
    await post(fixtures, `${TWO_FACTOR}/confirm-request`, id, await requested(fixtures, id))
    return { params: { id }, body: withPassword }
  }),
]
