// Two-factor login, on two processes of one installation.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { generate } from 'otplib'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { bearer, PASSWORD, type SessionServer, startSessionServer, tokensOf } from '../oauth/server.ts'

const MINUTE = 60_000
const STEP = 30_000

let clock: FakeClock
let one: SessionServer
let other: SessionServer
beforeAll(async () => {
  // In the middle of a time step, so that the previous and next steps are exactly one step away.
  clock = fakeClock(new Date(Math.floor(Date.now() / STEP) * STEP + STEP / 2))
  one = await startSessionServer({ clock })
  other = await startSessionServer({ clock, url: one.url, bus: one.bus })
})
afterAll(async () => {
  await other?.stop()
  await one?.stop()
})

interface Member {
  id: number
  username: string
  token: string
}
interface OtpRequest {
  requestToken: string
  secret: string
  uri: string
}

let serial = 0
async function member(role: 0 | 1 | 2 = 2): Promise<Member> {
  serial += 1
  const username = `member${serial}`
  const { id } = await one.addUser({ username, role })
  return { id, username, token: tokensOf(await one.login(username)).access_token }
}

const path = (id: number, verb: string) => `/api/v1/users/${id}/two-factor/${verb}`
const codeOf = (secret: string, later = 0) => generate({ secret, epoch: (clock.now().getTime() + later) / 1000 })
const own = { currentPassword: PASSWORD }

async function request(user: Member, server = one): Promise<OtpRequest> {
  const answer = await server.post(path(user.id, 'request'), user.token, own)
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['cache-control']).toBe('no-store')
  return answer.json<{ otpRequest: OtpRequest }>().otpRequest
}

async function confirm(user: Member, requested: OtpRequest, server = one) {
  const otpToken = await codeOf(requested.secret)
  return await server.post(path(user.id, 'confirm-request'), user.token, { requestToken: requested.requestToken, otpToken })
}

/** A user with two-factor login by a code of the secret. */
async function enrolled(): Promise<Member & { secret: string }> {
  const user = await member()
  const requested = await request(user)
  expect((await confirm(user, requested)).statusCode).toBe(204)
  return { ...user, secret: requested.secret }
}

const isOn = async (user: Member, server = one) => (await server.me(user.token)).json<{ twoFactorEnabled: boolean }>().twoFactorEnabled

const wrongCode = { status: 400, code: 'invalid_two_factor' }
const wrongRequest = { status: 403, detail: 'Invalid request token' }

describe('two-factor login', () => {
  it('is requested in one process, confirmed in another, and required by both', async () => {
    const user = await member()
    const requested = await request(user, one)
    expect(requested).toEqual({
      requestToken: expect.stringMatching(/^[0-9a-f]{40}$/),
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      uri: `otpauth://totp/localhost%3A9000:${user.username}%40example.com?issuer=localhost%3A9000&secret=${requested.secret}&algorithm=SHA1&digits=6&period=30`,
    })
    expect(await isOn(user)).toBe(false)
    expect((await one.login(user.username)).statusCode).toBe(200)
    expect((await confirm(user, requested, other)).statusCode).toBe(204)

    for (const server of [one, other]) {
      expect(await isOn(user, server)).toBe(true)
      const without = await server.login(user.username)
      expect(without.json()).toMatchObject({ status: 401, code: 'missing_two_factor' })
      expect(without.headers['x-peertube-otp']).toBe('required; app')
    }
    expect((await one.login(user.username, await codeOf(requested.secret))).statusCode).toBe(200)

    expect((await other.post(path(user.id, 'disable'), user.token, own)).statusCode).toBe(204)
    expect(await isOn(user)).toBe(false)
    expect((await one.login(user.username)).statusCode).toBe(200)
  })

  it('can be confirmed after a restart', async () => {
    const user = await member()
    const before = await startSessionServer({ clock, url: one.url, bus: one.bus })
    const requested = await request(user, before)
    await before.stop()
    const after = await startSessionServer({ clock, url: one.url, bus: one.bus })
    expect((await confirm(user, requested, after)).statusCode).toBe(204)
    await after.stop()
  })

  it('discards a request that was not confirmed within ten minutes', async () => {
    const user = await member()
    const requested = await request(user)
    clock.pass(10 * MINUTE)
    expect((await confirm(user, requested)).json()).toMatchObject(wrongRequest)
    await one.sweep()
    const [row] = await one.db.query('select state, due_at, secret_sealed, request_token_hash from two_factor where user_id = $1', [
      user.id,
    ])
    expect(row).toEqual({ state: 'off', due_at: null, secret_sealed: null, request_token_hash: null })
    expect((await confirm(user, requested)).json()).toMatchObject(wrongRequest)
    expect((await confirm(user, await request(user))).statusCode).toBe(204)
  })

  it('accepts the last request only', async () => {
    const user = await member()
    const [first, last] = [await request(user), await request(user)]
    expect((await confirm(user, first)).json()).toMatchObject(wrongRequest)
    expect((await confirm(user, { ...first, secret: last.secret })).json()).toMatchObject(wrongRequest)
    expect((await confirm(user, { ...last, secret: first.secret })).json()).toMatchObject({ status: 403 })
    expect((await confirm(user, last)).statusCode).toBe(204)
  })

  it('is confirmed once, also by two processes at once', async () => {
    const user = await member()
    const requested = await request(user)
    const answers = await Promise.all([confirm(user, requested, one), confirm(user, requested, other)])
    expect(answers.map((answer) => answer.statusCode).toSorted()).toEqual([204, 400])
  })

  it('is disabled once, also by two processes at once', async () => {
    const user = await enrolled()
    const answers = await Promise.all([one, other].map((server) => server.post(path(user.id, 'disable'), user.token, own)))
    expect(answers.map((answer) => answer.statusCode).toSorted()).toEqual([204, 400])
  })

  it('stores neither the secret nor the request token in plain text', async () => {
    const user = await member()
    const { secret, requestToken } = await request(user)
    const [row] = await one.db.query<{ text: string }>('select t::text as text from two_factor t where user_id = $1', [user.id])
    expect(row?.text).not.toContain(secret)
    expect(row?.text).not.toContain(requestToken)
  })
})

describe('a code', () => {
  let drifting: Awaited<ReturnType<typeof enrolled>>
  beforeAll(async () => {
    drifting = await enrolled()
  })

  it('works once', async () => {
    const { username, secret } = await enrolled()
    const code = await codeOf(secret)
    expect((await one.login(username, code)).statusCode).toBe(200)
    for (const server of [one, other]) expect((await server.login(username, code)).json()).toMatchObject(wrongCode)
    clock.pass(STEP)
    expect((await other.login(username, code)).json()).toMatchObject(wrongCode)
    expect((await other.login(username, await codeOf(secret))).statusCode).toBe(200)
  })

  it('works once for two simultaneous logins in two processes', async () => {
    const { id, username, secret } = await enrolled()
    const code = await codeOf(secret)
    const answers = await Promise.all([one, other, one, other].map((server) => server.login(username, code)))
    expect(answers.map((answer) => answer.statusCode).toSorted()).toEqual([200, 400, 400, 400])
    const [row] = await one.db.query('select count(*) from session where user_id = $1', [id])
    expect(row).toEqual({ count: 2 })
  })

  it.each([
    [-2, 400],
    [-1, 200],
    [0, 200],
    [1, 200],
    [2, 400],
  ])('of a clock that is %i steps off is answered with %i', async (steps, status) => {
    clock.pass(10 * STEP)
    const { username, secret } = drifting
    expect((await one.login(username, await codeOf(secret, steps * STEP))).statusCode).toBe(status)
  })

  it('that is older than a used one is invalid too', async () => {
    const { username, secret } = await enrolled()
    expect((await one.login(username, await codeOf(secret, STEP))).statusCode).toBe(200)
    expect((await one.login(username, await codeOf(secret))).json()).toMatchObject(wrongCode)
  })

  it('is neither checked nor used up with a wrong password', async () => {
    const { username, secret } = await enrolled()
    const code = await codeOf(secret)
    for (const sent of [code, '000000', undefined]) {
      const headers: Record<string, string> = sent === undefined ? {} : { 'x-peertube-otp': sent }
      const wrong = await one.token({ grant_type: 'password', username, password: 'wrong' }, headers)
      expect(wrong.json()).toMatchObject({ status: 400, code: 'invalid_grant' })
    }
    expect((await one.login(username, code)).statusCode).toBe(200)
  })

  it('that is empty counts as missing', async () => {
    const { username } = await enrolled()
    expect((await one.login(username, '')).json()).toMatchObject({ status: 401, code: 'missing_two_factor' })
  })

  it('has exactly six digits', async () => {
    const { username } = await enrolled()
    for (const code of ['abcdef', '12345', '1234567', '123 456', 'x'.repeat(5000)]) {
      expect((await one.login(username, code)).json()).toMatchObject(wrongCode)
    }
  })

  it('is not required by a refresh token grant', async () => {
    const { username, secret } = await enrolled()
    const { refresh_token } = tokensOf(await one.login(username, await codeOf(secret)))
    expect((await one.refresh(refresh_token)).statusCode).toBe(200)
  })

  it('of an earlier secret is invalid', async () => {
    const { secret: earlier, ...user } = await enrolled()
    expect((await one.post(path(user.id, 'disable'), user.token, own)).statusCode).toBe(204)
    const requested = await request(user)
    expect((await confirm(user, requested)).statusCode).toBe(204)
    expect((await one.login(user.username, await codeOf(earlier))).json()).toMatchObject(wrongCode)
    expect((await one.login(user.username, await codeOf(requested.secret))).statusCode).toBe(200)
  })

  it('has a limited number of attempts, after which the right one is refused too', async () => {
    const { username, secret } = await enrolled()
    const limited = await startSessionServer({ clock, url: one.url, config: { rates_limit: { login: { max: 3 } } } })
    for (const guess of ['000000', '111111', '222222']) {
      expect((await limited.login(username, guess)).json()).toMatchObject(wrongCode)
    }
    expect((await limited.login(username, await codeOf(secret))).statusCode).toBe(429)
    await limited.stop()
  })
})

describe('attempts for one user, each from another address,', () => {
  let limited: SessionServer
  let attempts = 0
  beforeAll(async () => {
    limited = await startSessionServer({ clock, url: one.url, config: { rates_limit: { login: { max: 3 } } } })
  })
  afterAll(() => limited?.stop())

  const send = (url: string, { token, ...request }: { token?: string; payload: object | string; headers?: object }) => {
    attempts += 1
    return limited.app.inject({
      method: 'POST',
      url,
      remoteAddress: `198.51.100.${attempts}`,
      ...request,
      headers: { ...(token === undefined ? {} : bearer(token)), ...request.headers },
    })
  }

  /** Three wrong codes, then the right one. */
  async function statuses(wrong: () => ReturnType<typeof send>, right: () => ReturnType<typeof send>): Promise<number[]> {
    const answers = [await wrong(), await wrong(), await wrong(), await right()]
    return answers.map(({ statusCode }) => statusCode)
  }

  it('are limited at the login, which does not count without a code', async () => {
    const { username, secret } = await enrolled()
    const login = (code?: string) =>
      send('/api/v1/users/token', {
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...(code ? { 'x-peertube-otp': code } : {}) },
        payload: new URLSearchParams({
          ...limited.client,
          grant_type: 'password',
          username,
          password: PASSWORD,
        }).toString(),
      })
    for (let requested = 0; requested < 5; requested++) expect((await login()).statusCode).toBe(401)
    const right = await codeOf(secret)
    expect(
      await statuses(
        () => login('000000'),
        () => login(right),
      ),
    ).toEqual([400, 400, 400, 429])
    const retry = (await login(right)).headers['retry-after']
    expect(Number(retry)).toBeGreaterThan(0)
  })

  it('are limited at the confirmation', async () => {
    const user = await member()
    const requested = await request(user)
    const confirmBy = (otpToken: string) =>
      send(path(user.id, 'confirm-request'), { ...user, payload: { requestToken: requested.requestToken, otpToken } })
    const right = await codeOf(requested.secret)
    expect(
      await statuses(
        () => confirmBy('000000'),
        () => confirmBy(right),
      ),
    ).toEqual([403, 403, 403, 429])
  })

  it.each(['request', 'disable'] as const)('are limited where the current password is required: %s', async (verb) => {
    const user = verb === 'disable' ? await enrolled() : await member()
    const by = (currentPassword: string) => send(path(user.id, verb), { ...user, payload: { currentPassword } })
    expect(
      await statuses(
        () => by('wrong'),
        () => by(PASSWORD),
      ),
    ).toEqual([403, 403, 403, 429])
  })

  it('are limited at a change of the password, where right ones do not count', async () => {
    const { token } = await member()
    const change = (currentPassword: string) =>
      limited.app.inject({
        method: 'PUT',
        url: '/api/v1/users/me',
        headers: bearer(token),
        payload: { email: `${token.slice(0, 9)}@example.com`, currentPassword },
      })
    for (let requested = 0; requested < 5; requested++) expect((await change(PASSWORD)).statusCode).toBe(204)
    expect(
      await statuses(
        () => change('wrong'),
        () => change(PASSWORD),
      ),
    ).toEqual([401, 401, 401, 429])
  })

  it('are limited when they all come at once', async () => {
    const user = await member()
    const by = () => send(path(user.id, 'request'), { ...user, payload: { currentPassword: 'wrong' } })
    const answers = await Promise.all(Array.from({ length: 20 }, by))
    expect(answers.filter(({ statusCode }) => statusCode === 403)).toHaveLength(3)
  })
})

describe('permission to change it', () => {
  const verbs = ['request', 'disable'] as const

  it.each(verbs)('%s: users have it for themselves, with their password', async (verb) => {
    const user = verb === 'disable' ? await enrolled() : await member()
    const send = (body?: object) => one.post(path(user.id, verb), user.token, body)
    for (const body of [undefined, {}, { currentPassword: '' }]) {
      expect((await send(body)).json()).toMatchObject({ status: 400, detail: 'currentPassword is missing' })
    }
    expect((await send({ currentPassword: 'wrong' })).json()).toMatchObject({
      status: 403,
      code: 'current_password_is_invalid',
    })
    expect((await send(own)).statusCode).toBeLessThan(300)
  })

  it('users do not have it for others, and do not learn who exists', async () => {
    const [user, stranger] = [await member(), await member()]
    for (const id of [user.id, 4242424]) {
      for (const verb of verbs) {
        expect((await one.post(path(id, verb), stranger.token, own)).statusCode).toBe(403)
      }
      const body = { requestToken: 'x', otpToken: '000000' }
      expect((await one.post(path(id, 'confirm-request'), stranger.token, body)).statusCode).toBe(403)
    }
  })

  it('administrators have it for all users, moderators for users without a role, both without a password', async () => {
    const [admin, moderator] = [await member(0), await member(1)]
    const targets = { user: await member(), moderator: await member(1), admin: await member(0) }
    const statuses = async (asker: Member) =>
      await Promise.all(
        [targets.user.id, targets.moderator.id, targets.admin.id, 4242424].map(
          async (id) => (await one.post(path(id, 'request'), asker.token, {})).statusCode,
        ),
      )
    expect(await statuses(admin)).toEqual([200, 200, 200, 404])
    expect(await statuses(moderator)).toEqual([200, 403, 403, 404])
    for (const staff of [admin, moderator]) {
      expect((await one.post(path(staff.id, 'request'), staff.token, {})).statusCode).toBe(400)
    }
  })

  it('moderators can disable it for a user who lost the app', async () => {
    const [moderator, user] = [await member(1), await enrolled()]
    expect((await one.post(path(user.id, 'disable'), moderator.token, {})).statusCode).toBe(204)
    expect((await one.post(path(user.id, 'disable'), moderator.token, {})).statusCode).toBe(400)
    expect((await one.login(user.username)).statusCode).toBe(200)
  })
})

describe('a malformed request changes nothing and names the invalid field', () => {
  const bad = [42, true, null, [], {}] as const
  let user: Member
  beforeAll(async () => {
    user = await member()
  })

  it.each(bad)('currentPassword: %j', async (currentPassword) => {
    for (const verb of ['request', 'disable']) {
      const answer = await one.post(path(user.id, verb), user.token, { currentPassword })
      expect(answer.json()).toMatchObject({
        status: 400,
        'invalid-params': { currentPassword: { location: 'body' } },
      })
    }
    expect(await one.db.query('select id from two_factor where user_id = $1', [user.id])).toEqual([])
  })

  it.each([...bad, ''])('requestToken and otpToken: %j', async (value) => {
    const body = { requestToken: value, otpToken: value }
    const answer = await one.post(path(user.id, 'confirm-request'), user.token, body)
    expect(answer.statusCode).toBe(400)
    expect(Object.keys(answer.json()['invalid-params'])).toEqual(['requestToken', 'otpToken'])
  })

  it.each(['abc', '-1', '1.5', '99999999999', '%00', '0x1'])('id: %s', async (id) => {
    for (const verb of ['request', 'disable', 'confirm-request']) {
      const answer = await one.post(`/api/v1/users/${id}/two-factor/${verb}`, user.token, {
        requestToken: 'x',
        otpToken: 'x',
      })
      expect(answer.json()).toMatchObject({ status: 400, 'invalid-params': { id: { location: 'params' } } })
    }
  })
})
