// Two-factor login of a user, by the user and by those who manage users.

import { generate } from 'otplib'
import type { Caller } from '../caller.ts'
import { type Cast, PASSWORD } from '../cast.ts'
import { row, signedIn } from '../row.ts'

const TWO_FACTOR = '/api/v1/users/:id/two-factor'

/** The caller is `user`, or acts on somebody whom no other call is about. */
async function targetOf(cast: Cast, caller: Caller): Promise<number> {
  if (caller !== 'user') return await cast.bystander(2)
  await cast.usesPassword('user')
  return cast.users.user.id
}

/** What an administrator asked for a user, with the code that the user's app shows now. */
async function requested(cast: Cast, id: number) {
  const answer = await post(cast, `${TWO_FACTOR}/request`, id, {})
  const { otpRequest } = (await answer.json()) as { otpRequest: { requestToken: string; secret: string } }
  const { requestToken, secret } = otpRequest
  return { requestToken, otpToken: await generate({ secret }) }
}

const post = (cast: Cast, route: string, id: number, body: object): Promise<Response> =>
  cast.send('admin', route.replace(':id', String(id)), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const withPassword = { currentPassword: PASSWORD }

export const twoFactorRows = [
  row(`POST ${TWO_FACTOR}/request`, signedIn(200, { other: 403 }), async (cast, caller) => ({
    params: { id: await targetOf(cast, caller) },
    body: withPassword,
  })),
  row(`POST ${TWO_FACTOR}/confirm-request`, signedIn(204, { other: 403 }), async (cast, caller) => {
    const id = await targetOf(cast, caller)
    return { params: { id }, body: await requested(cast, id) }
  }),
  row(`POST ${TWO_FACTOR}/disable`, signedIn(204, { other: 403 }), async (cast, caller) => {
    const id = await targetOf(cast, caller)
    await post(cast, `${TWO_FACTOR}/confirm-request`, id, await requested(cast, id))
    return { params: { id }, body: withPassword }
  }),
]
