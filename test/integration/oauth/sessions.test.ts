// Sessions on two processes of one installation: a session that ends in one process ends in the other at once.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { makePasswords, type Passwords } from '../../../src/platform/passwords.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { until } from '../../support/until.ts'
import { bearer, PASSWORD, type SessionServer, startSessionServer, tokensOf } from './server.ts'

const HOUR = 3_600_000
const config = { oauth2: { token_lifetime: { access_token: '1 hour', refresh_token: '2 hours' } } }

let clock: FakeClock
let one: SessionServer
let other: SessionServer
beforeAll(async () => {
  clock = fakeClock()
  one = await startSessionServer({ clock, config })
  other = await startSessionServer({ clock, config, url: one.url, bus: one.bus })
})
afterAll(async () => {
  await other?.stop()
  await one?.stop()
})

let serial = 0
/** A new user with a session. */
async function member() {
  serial += 1
  const username = `member${serial}`
  const { id } = await one.addUser({ username })
  return { id, username, ...tokensOf(await one.login(username)) }
}

const sessionsOf = async (userId: number): Promise<number> => {
  const [row] = await one.db.query<{ count: number }>('select count(*) from session where user_id = $1', [userId])
  return row?.count ?? 0
}
const isOver = { status: 401, code: 'invalid_token' }
const noGrant = { status: 400, code: 'invalid_grant' }

describe('a session', () => {
  it('is valid in every process, with the configured lifetimes', async () => {
    const { access_token, expires_in, refresh_token_expires_in } = await member()
    expect({ expires_in, refresh_token_expires_in }).toEqual({ expires_in: 3599, refresh_token_expires_in: 7199 })
    expect((await other.me(access_token)).statusCode).toBe(200)
  })

  it('is queried from the database once a second', async () => {
    const { id, access_token } = await member()
    expect((await one.me(access_token)).statusCode).toBe(200)
    // No process is notified of this change.
    await one.db.query('delete from session where user_id = $1', [id])
    clock.pass(999)
    expect((await one.me(access_token)).statusCode).toBe(200)
    clock.pass(1)
    expect((await one.me(access_token)).json()).toMatchObject(isOver)
  })

  it('that another process has cached ends there at once', async () => {
    const { access_token } = await member()
    expect((await other.me(access_token)).statusCode).toBe(200)
    await one.post('/api/v1/users/revoke-token', access_token)
    expect((await other.me(access_token)).json()).toMatchObject(isOver)
  })

  it('leaves none of its tokens in the database', async () => {
    const { id, access_token, refresh_token } = await member()
    const rotated = tokensOf(await one.refresh(refresh_token))
    const rows = await one.db.query<{ text: string }>(
      `select s::text from session s where user_id = $1
       union all select t::text from spent_refresh_token t join session s on s.id = t.session_id where s.user_id = $1`,
      [id],
    )
    const text = rows.map((row) => row.text).join()
    for (const token of [access_token, refresh_token, rotated.access_token, rotated.refresh_token]) {
      expect(token).toMatch(/^[0-9a-f]{40}$/)
      expect(text).not.toContain(token)
      expect(text).not.toContain(Buffer.from(token).toString('hex'))
    }
  })

  it('ends with both of its tokens in every process when it is revoked, and others do not', async () => {
    const { username, access_token, refresh_token } = await member()
    const second = tokensOf(await one.login(username))
    expect((await one.post('/api/v1/users/revoke-token', access_token)).json()).toEqual({ success: true })
    expect((await other.me(access_token)).json()).toMatchObject(isOver)
    expect((await other.refresh(refresh_token)).json()).toMatchObject(noGrant)
    expect((await other.me(second.access_token)).statusCode).toBe(200)
  })

  it('of a user who is blocked ends with the next request', async () => {
    const { id, username, access_token, refresh_token } = await member()
    await one.block(id)
    expect((await other.me(access_token)).json()).toMatchObject(isOver)
    expect((await other.refresh(refresh_token)).json()).toMatchObject(noGrant)
    expect((await other.login(username)).json()).toMatchObject({ status: 400, code: 'access_denied' })
    const wrong = await one.token({ grant_type: 'password', username, password: 'not the password' })
    expect(wrong.json()).toMatchObject(noGrant)
  })

  it('marks its user as active when it is refreshed, also while the user is locked', async () => {
    const { id, refresh_token } = await member()
    const activeAt = async () => (await one.db.query<{ at: Date }>('select last_login_at as at from users where id = $1', [id]))[0]?.at
    clock.pass(HOUR)
    const next = tokensOf(await one.refresh(refresh_token))
    const refreshedAt = clock.now()
    expect(await activeAt()).toEqual(refreshedAt)
    clock.pass(HOUR)
    await one.db.transaction(async (tx) => {
      await tx.query('select 1 from users where id = $1 for no key update', [id])
      expect((await one.refresh(next.refresh_token)).statusCode).toBe(200)
    })
    expect(await activeAt()).toEqual(refreshedAt)
  })

  it('lasts as long as it is refreshed', async () => {
    const { id, access_token, refresh_token } = await member()
    clock.pass(HOUR)
    expect((await one.me(access_token)).json()).toMatchObject(isOver)
    const next = tokensOf(await one.refresh(refresh_token))
    clock.pass(2 * HOUR - 1)
    const last = tokensOf(await one.refresh(next.refresh_token))
    expect((await one.me(last.access_token)).statusCode).toBe(200)
    clock.pass(2 * HOUR)
    expect((await one.refresh(last.refresh_token)).json()).toMatchObject(noGrant)
    clock.pass(HOUR)
    await one.sweep()
    expect(await sessionsOf(id)).toBe(0)
  })
})

describe('a refresh token', () => {
  it('is exchanged with the access token, which ends in every process', async () => {
    const { id, access_token, refresh_token } = await member()
    const next = tokensOf(await one.refresh(refresh_token))
    expect((await other.me(access_token)).json()).toMatchObject(isOver)
    expect((await other.me(next.access_token)).statusCode).toBe(200)
    expect(await sessionsOf(id)).toBe(1)
  })

  it('that is reused after its successors were used ends the session', async () => {
    const { refresh_token } = await member()
    const next = tokensOf(await one.refresh(refresh_token))
    await one.me(next.access_token)
    expect((await other.refresh(refresh_token)).json()).toMatchObject(noGrant)
    expect((await one.me(next.access_token)).json()).toMatchObject(isOver)
    expect((await one.refresh(next.refresh_token)).json()).toMatchObject(noGrant)
  })

  it('that is reused later ends the session, even if its successors were not used', async () => {
    const { refresh_token } = await member()
    const next = tokensOf(await one.refresh(refresh_token))
    clock.pass(10_000)
    expect((await other.refresh(refresh_token)).json()).toMatchObject(noGrant)
    expect((await one.me(next.access_token)).json()).toMatchObject(isOver)
  })

  it('from long before the last one ends the session as well', async () => {
    const { refresh_token } = await member()
    const second = tokensOf(await one.refresh(refresh_token))
    const third = tokensOf(await one.refresh(second.refresh_token))
    expect((await other.refresh(refresh_token)).json()).toMatchObject(noGrant)
    expect((await one.me(third.access_token)).json()).toMatchObject(isOver)
  })

  it('that two processes get at once is exchanged once, and the session continues', async () => {
    const { refresh_token } = await member()
    const answers = await Promise.all([one.refresh(refresh_token), other.refresh(refresh_token)])
    expect(answers.map((answer) => answer.statusCode).toSorted()).toEqual([200, 400])
    const winner = answers.find((answer) => answer.statusCode === 200)
    if (!winner) throw new Error('nobody was answered')
    expect((await one.me(tokensOf(winner).access_token)).statusCode).toBe(200)
  })

  it('is valid for its own client only', async () => {
    const { refresh_token } = await member()
    await one.db.query("insert into oauth_client (client_id, client_secret) values ('another', 'secret') on conflict do nothing")
    const fields = { client_id: 'another', client_secret: 'secret', grant_type: 'refresh_token', refresh_token }
    expect((await one.token(fields)).json()).toMatchObject(noGrant)
    expect((await one.refresh(refresh_token)).statusCode).toBe(200)
  })
})

describe('a login', () => {
  it('with an old password, during a change of the password, opens no session', async () => {
    const { id, username } = await member()
    let login: ReturnType<SessionServer['login']> | undefined
    await one.db.transaction(async ({ query }) => {
      await query('select id from users where id = $1 for no key update', [id])
      login = other.login(username)
      await until(async () => {
        const waiting = await one.db.query(
          "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
        return waiting.length > 0
      })
      await query("update users set password_hash = 'another' where id = $1", [id])
      await query('delete from session where user_id = $1', [id])
    })
    expect((await login)?.json()).toMatchObject(noGrant)
    expect(await sessionsOf(id)).toBe(0)
  })

  it('with an unknown name takes the same password check', async () => {
    const { username } = await member()
    const checked: (string | undefined)[] = []
    const real = makePasswords()
    const passwords: Passwords = {
      ...real,
      verify(hash, password) {
        checked.push(hash)
        return real.verify(hash, password)
      },
    }
    const counting = await startSessionServer({ url: one.url, passwords })
    const attempt = async (name: string) => (await counting.token({ grant_type: 'password', username: name, password: 'wrong' })).json()
    expect(await attempt('nobody_has_it')).toEqual(await attempt(username))
    expect(checked).toEqual([undefined, expect.stringContaining('$argon2id$')])
    await counting.stop()
  })

  it('waits for the verification of the address if it is required', async () => {
    const strict = await startSessionServer({ url: one.url, config: { signup: { requires_email_verification: true } } })
    try {
      await one.addUser({ username: 'unverified', emailVerified: false })
      expect((await strict.login('unverified')).json()).toMatchObject({ status: 400, code: 'access_denied' })
      const wrong = await strict.token({ grant_type: 'password', username: 'unverified', password: 'x' })
      expect(wrong.json()).toMatchObject(noGrant)
      expect((await one.login('unverified')).statusCode).toBe(200)
      // Created by an administrator, without a verification.
      await one.addUser({ username: 'made_by_admin' })
      expect((await strict.login('made_by_admin')).statusCode).toBe(200)
    } finally {
      await strict.stop()
    }
  })

  it('is limited in number, for any name', async () => {
    const limited = await startSessionServer({ url: one.url, config: { rates_limit: { login: { max: 2 } } } })
    try {
      const { username } = await member()
      for (const name of [username, 'nobody']) {
        const wrong = await limited.token({ grant_type: 'password', username: name, password: 'wrong' })
        expect(wrong.statusCode).toBe(400)
      }
      const right = await limited.token({ grant_type: 'password', username, password: PASSWORD })
      expect(right.statusCode).toBe(429)
      expect(right.headers['retry-after']).toBeDefined()
    } finally {
      await limited.stop()
    }
  })
})

describe('the token of private feeds', () => {
  const path = '/api/v1/users/scoped-tokens'
  const read = async (server: SessionServer, token: string) =>
    (await server.app.inject({ url: path, headers: bearer(token) })).json<{ feedToken: string }>().feedToken

  it('is one per user, also when two processes create it at once', async () => {
    const [una, bob] = [await member(), await member()]
    const tokens = await Promise.all([one, other, one].map((server) => read(server, una.access_token)))
    expect(new Set(tokens).size).toBe(1)
    expect(await read(one, bob.access_token)).not.toBe(tokens[0])
  })

  it('is replaced when it is renewed', async () => {
    const { access_token } = await member()
    const first = await read(one, access_token)
    const renewed = (await other.post(path, access_token)).json<{ feedToken: string }>().feedToken
    expect(renewed).not.toBe(first)
    expect(await read(one, access_token)).toBe(renewed)
  })

  it('is not readable in the database', async () => {
    const { id, access_token } = await member()
    const token = await read(one, access_token)
    const [row] = await one.db.query<{ text: string }>('select t::text as text from feed_token t where user_id = $1', [id])
    expect(row?.text).not.toContain(token)
    expect(row?.text).not.toContain(Buffer.from(token).toString('hex'))
    expect(row?.text).not.toContain(Buffer.from(token).toString('base64url'))
  })
})
