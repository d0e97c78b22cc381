// Direct registration: permissions, the created objects, and verification of the email address.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { applicant, linkOf, type MailNode, secretOf, startMailNode } from './node.ts'

const BAD = 'b'.repeat(64)

describe('direct registration', () => {
  let at: MailNode
  beforeAll(async () => {
    at = await startMailNode()
  })
  afterAll(() => at?.stop())

  const register = (body: object) => at.ask('POST', '/users/register', body)

  it('creates a user with account and channel, who can log in at once', async () => {
    const channel = { name: 'berta_films', displayName: 'Films of Berta' }
    expect((await register(applicant('berta', { displayName: 'Berta B.', channel }))).status).toBe(204)
    const { status, body } = await at.token('berta', 'a good password')
    expect(status).toBe(200)
    const me = (await at.ask('GET', '/users/me', undefined, `Bearer ${body.access_token}`)).body
    expect(me).toMatchObject({
      username: 'berta',
      email: 'berta@example.com',
      emailVerified: null,
      role: { id: 2 },
      account: { name: 'berta', displayName: 'Berta B.' },
      videoChannels: [{ name: 'berta_films', displayName: 'Films of Berta' }],
    })
    expect(at.mail.tries).toBe(0)
  })

  it('refuses usernames and addresses in use, in any spelling, and changes nothing', async () => {
    await register(applicant('carl', { channel: { name: 'carl_tv', displayName: 'Carl' } }))
    const before = await at.query('select count(*) from actor')
    for (const body of [
      applicant('carl', { email: 'other@example.com' }),
      applicant('carlos', { email: 'CARL@example.com' }),
      applicant('carlos', { channel: { name: 'carl_tv', displayName: 'x' } }),
      applicant('carl_tv'),
      applicant('peertube'),
      applicant('root'),
    ]) {
      expect(await register(body)).toMatchObject({ status: 409, body: { type: 'about:blank', status: 409 } })
    }
    expect(await at.query('select count(*) from actor')).toEqual(before)
  })

  it('never reuses a name, even after its user is removed', async () => {
    await register(applicant('emil'))
    await at.query("delete from users where username = 'emil'")
    expect((await register(applicant('emil', { email: 'emil2@example.com' }))).status).toBe(409)
  })

  it('uses a free name for the default channel when the usual one is taken', async () => {
    await register(applicant('fritz', { channel: { name: 'gerda_channel', displayName: 'x' } }))
    expect((await register(applicant('gerda'))).status).toBe(204)
    const names = await at.query<{ preferred_username: string }>(
      "select preferred_username from actor where preferred_username like 'gerda%' order by id",
    )
    expect(names.map((row) => row.preferred_username)).toEqual(['gerda_channel', 'gerda', 'gerda_channel-1'])
  })

  it('creates one user for two simultaneous requests', async () => {
    const answers = await Promise.all([register(applicant('hanna')), register(applicant('hanna'))])
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409])
  })

  it.each([
    ['nothing', {}, ['username', 'password', 'email']],
    ['a name with capitals', applicant('Ida'), ['username']],
    ['a name that ends in a dot', applicant('ida.'), ['username']],
    ['a long name', applicant('i'.repeat(51)), ['username']],
    ['a name without end', { ...applicant('ida'), username: `${'a.'.repeat(40_000)}!` }, ['username']],
    ['a short password', applicant('ida', { password: '12345' }), ['password']],
    ['a number as password', applicant('ida', { password: 123456 }), ['password']],
    ['an address without a host', applicant('ida', { email: 'ida@' }), ['email']],
    ['a channel without a title', applicant('ida', { channel: { name: 'ida_tv' } }), ['channel.displayName']],
    ['a bad channel', applicant('ida', { channel: { name: 'a b', displayName: '' } }), ['channel.name', 'channel.displayName']],
    ['an empty display name', applicant('ida', { displayName: '' }), ['displayName']],
  ])('names the invalid fields of %s', async (_what, body, names) => {
    const { status, body: problem } = await register(body)
    expect(status).toBe(400)
    expect(Object.keys(problem['invalid-params'])).toEqual(expect.arrayContaining(names))
    expect(await at.query("select 1 from users where username like 'i%'")).toEqual([])
  })

  it('refuses the same name for account and channel', async () => {
    const answer = await register(applicant('jan', { channel: { name: 'jan', displayName: 'x' } }))
    expect(answer).toMatchObject({ status: 400, body: { status: 400 } })
  })

  it('accepts no requests without approval by moderators', async () => {
    const answer = await at.ask('POST', '/users/registrations/request', applicant('kurt', { registrationReason: 'please' }))
    expect(answer.status).toBe(400)
  })
})

describe('verification of an address', () => {
  let at: MailNode
  beforeAll(async () => {
    at = await startMailNode({ signup: { requires_email_verification: true } })
  })
  afterAll(() => at?.stop())

  const verify = (id: string | undefined, verificationString: string, more: object = {}) =>
    at.ask('POST', `/users/${id}/verify-email`, { verificationString, ...more })
  const registered = async (name: string) => {
    expect((await at.ask('POST', '/users/register', applicant(name))).status).toBe(204)
    const mail = await at.mail.next(`${name}@example.com`)
    return { mail, ...linkOf(mail) }
  }

  it('is required by mail before the first login, and the link works once', async () => {
    const { path, query } = await registered('lena')
    expect(path).toBe('/verify-account/email')
    expect(Object.keys(query)).toEqual(['userId', 'verificationString'])
    expect(query.verificationString).toMatch(/^[0-9a-f]+$/)
    expect(await at.token('lena', 'a good password')).toMatchObject({ status: 400, body: { code: 'access_denied' } })
    expect((await verify(query.userId, BAD)).status).toBe(403)
    expect((await verify(query.userId, query.verificationString ?? '')).status).toBe(204)
    expect((await at.token('lena', 'a good password')).status).toBe(200)
    expect((await verify(query.userId, query.verificationString ?? '')).status).toBe(403)
  })

  it('is only revealed to those who know the password', async () => {
    await registered('lisa')
    expect(await at.token('lisa', 'a guess')).toMatchObject({ status: 400, body: { code: 'invalid_grant' } })
  })

  it('can be requested again, and then only the newest link is valid', async () => {
    const first = await registered('mona')
    expect((await at.ask('POST', '/users/ask-send-verify-email', { email: 'Mona@example.com' })).status).toBe(204)
    const second = await at.mail.next('mona@example.com')
    expect((await verify(first.query.userId, first.query.verificationString ?? '')).status).toBe(403)
    expect((await verify(first.query.userId, secretOf(second))).status).toBe(204)
  })

  it('refuses links of other users and purposes, and expired ones', async () => {
    const nora = await registered('nora')
    const olga = await registered('olga')
    const secret = nora.query.verificationString ?? ''
    expect((await verify(olga.query.userId, secret)).status).toBe(403)
    expect((await verify(nora.query.userId, secret, { isPendingEmail: true })).status).toBe(403)
    const reset = { verificationString: secret, password: 'another one' }
    expect((await at.ask('POST', `/users/${nora.query.userId}/reset-password`, reset)).status).toBe(403)
    expect((await verify('424242', secret)).status).toBe(404)
    at.clock.pass(3_600_000)
    expect((await verify(nora.query.userId, secret)).status).toBe(403)
  })

  it('is void when the address changed meanwhile', async () => {
    const { query } = await registered('paul')
    await at.query("update users set email = 'paul2@example.com' where username = 'paul'")
    expect((await verify(query.userId, query.verificationString ?? '')).status).toBe(403)
  })

  it('replaces the old address with a new one', async () => {
    const { query } = await registered('rosa')
    await verify(query.userId, query.verificationString ?? '')
    // Like a change of one's own settings.
    await at.query("update users set pending_email = 'rosa2@example.com' where username = 'rosa'")
    expect((await at.ask('POST', '/users/ask-send-verify-email', { email: 'rosa2@example.com' })).status).toBe(204)
    const mail = await at.mail.next('rosa2@example.com')
    expect(linkOf(mail)).toMatchObject({ path: '/verify-account/email', query: { isPendingEmail: 'true' } })
    const secret = secretOf(mail)
    expect((await verify(query.userId, secret)).status).toBe(403)
    expect((await verify(query.userId, secret, { isPendingEmail: 'hello' })).status).toBe(400)
    expect((await verify(query.userId, secret, { isPendingEmail: true })).status).toBe(204)
    expect(await at.query("select email, pending_email, email_verified from users where username = 'rosa'")).toEqual([
      { email: 'rosa2@example.com', pending_email: null, email_verified: true },
    ])
    expect((await verify(query.userId, secret, { isPendingEmail: true })).status).toBe(403)
  })

  it('does not give an address to two users', async () => {
    const { query } = await registered('sara')
    await at.query("update users set pending_email = 'tina@example.com' where username = 'sara'")
    await at.ask('POST', '/users/ask-send-verify-email', { email: 'tina@example.com' })
    const secret = secretOf(await at.mail.next('tina@example.com'))
    await registered('tina')
    expect((await verify(query.userId, secret, { isPendingEmail: true })).status).toBe(409)
  })

  it('has the same answer for known and unknown addresses, and sends mail to known ones only', async () => {
    const tries = at.mail.tries
    for (const path of ['ask-send-verify-email', 'ask-reset-password', 'registrations/ask-send-verify-email']) {
      const answer = await at.ask('POST', `/users/${path}`, { email: 'nobody@example.com' })
      expect(answer).toMatchObject({ status: 204, body: undefined })
      expect((await at.ask('POST', `/users/${path}`, { email: 'nomail' })).body['invalid-params']).toHaveProperty('email')
    }
    expect(at.mail.tries).toBe(tries)
  })
})
