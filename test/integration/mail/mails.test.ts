// Mails from the command to the mailbox: contents, password links, retries, and secrets that stay out of queues and logs.

import { Writable } from 'node:stream'
import { domainToUnicode } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { NOBODY } from '../../../src/actors/mail/index.ts'
import { makeLogger } from '../../../src/platform/logger.ts'
import { until } from '../../support/until.ts'
import { applicant, linkOf, type MailNode, secretOf, startMailNode } from '../registrations/node.ts'

let at: MailNode
let logged = ''

beforeAll(async () => {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk
      done()
    },
  })
  at = await startMailNode({
    signup: { requires_email_verification: false },
    logger: makeLogger({ level: 'debug', destination }),
    config: {
      instance: { name: 'Tom & <i>Jerry</i>' },
      email: { subject: { prefix: '[Cats]' }, body: { signature: 'The <mice>' } },
    },
  })
})
afterAll(() => at?.stop())

const address = (name: string) => `${name}@example.com`
const reset = (id: string | number | undefined, verificationString: string, password = 'a new password') =>
  at.ask('POST', `/users/${id}/reset-password`, { verificationString, password })

async function user(name: string): Promise<number> {
  expect((await at.ask('POST', '/users/register', applicant(name))).status).toBe(204)
  const [row] = await at.query<{ id: number }>('select id from users where username = $1', [name])
  return row?.id ?? 0
}

/** Requests it like a command, within a transaction. */
const queueMail = (data: object) =>
  at.query("insert into job (type, queue, data, max_attempts, due_at) values ('email', 'mail', $1, 5, $2)", [data, at.clock.now()])

async function requested(name: string) {
  expect((await at.ask('POST', '/users/ask-reset-password', { email: address(name) })).status).toBe(204)
  return await at.mail.next(address(name))
}

const jobs = () =>
  at.query<{ state: string; failures: number; data: object; error: string | null }>(
    "select state, failures, data, error from job where type = 'email' order by id desc",
  )

describe('a mail', () => {
  it('has two equivalent bodies with the configured names, escaped', async () => {
    const id = await user('tom')
    const mail = await requested('tom')
    expect(mail.from).toBe('admin@example.com')
    expect(mail.subject).toBe('[Cats] Reset the password of your account on Tom & <i>Jerry</i>')
    expect(mail.text).toContain('The <mice>')
    expect(mail.html).toContain('The &lt;mice&gt;')
    expect(mail.html).toContain('Tom &amp; &lt;i&gt;Jerry&lt;/i&gt;')
    expect(mail.html).not.toContain('<i>')
    expect(mail.text).toContain('expires in 1\u00a0hour')
    expect(linkOf(mail)).toEqual({
      path: '/reset-password',
      query: { userId: String(id), verificationString: expect.stringMatching(/^[0-9a-f]+$/) },
    })
  })

  it("is in the recipient's language", async () => {
    const id = await user('francophone')
    await at.query("update users set language = 'fr' where id = $1", [id])
    const { subject, text } = await requested('francophone')
    expect(subject).toContain('Réinitialisez le mot de passe de votre compte')
    expect(text).toContain('Bonjour francophone,')
    expect(text).toContain('expire dans 1\u00a0heure.')
  })

  it('keeps its secrets out of the queue and the log', async () => {
    await user('spike')
    const secret = secretOf(await requested('spike'))
    await until(async () => (await jobs()).every(({ state }) => state === 'completed'))
    expect(JSON.stringify(await at.query('select * from job'))).not.toMatch(/verificationString|@example/)
    expect((await at.query<{ all: string }>('select mail_link::text as all from mail_link')).join()).not.toContain(secret)
    const { status } = await reset(1, 'ab'.repeat(100))
    expect(status).toBe(403)
    expect(logged).toContain('"type":"email"')
    for (const hidden of [secret, Buffer.from(secret, 'hex').toString('latin1'), address('spike')]) {
      expect(logged).not.toContain(hidden)
    }
  })

  it('is retried for a day while the mail server defers it, and its link works', async () => {
    const id = await user('nibbles')
    at.mail.refuseWith = 451
    const tries = at.mail.tries
    await at.ask('POST', '/users/ask-reset-password', { email: address('nibbles') })
    await until(async () => (await jobs())[0]?.state === 'delayed')
    expect((await jobs())[0]).toMatchObject({ failures: 0, error: expect.stringContaining('451') })
    await at.query("update job set created_at = created_at - interval '1 day' where type = 'email'")
    at.clock.pass(60_000)
    await until(async () => (await jobs())[0]?.failures === 1)
    expect((await jobs())[0]).toMatchObject({ state: 'delayed', error: expect.stringContaining('451') })
    at.mail.refuseWith = null
    at.clock.pass(60_000)
    const mail = await at.mail.next(address('nibbles'))
    expect(at.mail.tries - tries).toBe(3)
    expect((await reset(id, secretOf(mail))).status).toBe(204)
  })

  it('sets no password for a user with an external login', async () => {
    const id = await user('quacker')
    expect((await at.ask('PUT', `/users/${id}`, { pluginAuth: 'peertube-plugin-vireo-ldap' }, at.root)).status).toBe(204)
    const before = (await jobs()).length
    expect((await at.ask('POST', '/users/ask-reset-password', { email: address('quacker') })).status).toBe(204)
    await until(async () => (await jobs()).length > before)
    expect((await jobs())[0]?.data).toMatchObject({ mail: 'reset-password', userId: NOBODY })
  })

  it('fails at once when the mail server does not know the recipient', async () => {
    await user('butch')
    at.mail.refuseWith = 550
    await at.ask('POST', '/users/ask-reset-password', { email: address('butch') })
    await until(async () => (await jobs())[0]?.state === 'failed')
    expect(await jobs()).toContainEqual(expect.objectContaining({ failures: 0, state: 'failed' }))
    at.mail.refuseWith = null
  })

  it('to a removed user is not sent', async () => {
    const tries = at.mail.tries
    for (const data of [
      { mail: 'reset-password', userId: 424242 },
      { mail: 'create-password', userId: 424242 },
      { mail: 'verify-email', userId: 424242, pending: 0 },
      { mail: 'verify-email', userId: 1, pending: 1 },
      { mail: 'verify-email', userId: 1, pending: 0 },
      { mail: 'verify-registration', registrationId: 424242 },
      { mail: 'notification', notificationId: 424242 },
      { mail: 'registration-accepted', registrationId: 424242 },
    ]) {
      await queueMail(data)
    }
    await until(async () => (await jobs()).every(({ state }) => state === 'completed' || state === 'failed'))
    expect((await jobs()).slice(0, 8).map(({ state }) => state)).toEqual(Array(8).fill('completed'))
    expect(at.mail.tries).toBe(tries)
  })
})

describe('a password link', () => {
  it('sets the password once and ends all sessions', async () => {
    const id = await user('toodles')
    const bearer = `Bearer ${(await at.token('toodles', 'a good password')).body.access_token}`
    const secret = secretOf(await requested('toodles'))
    expect((await reset(id, secret, 'short')).body['invalid-params']).toHaveProperty('password')
    expect((await reset(424242, secret)).status).toBe(404)
    expect((await reset(1, secret)).status).toBe(403)
    expect((await at.ask('GET', '/users/me', undefined, bearer)).status).toBe(200)
    expect((await reset(id, secret)).status).toBe(204)
    expect((await at.ask('GET', '/users/me', undefined, bearer)).status).toBe(401)
    expect((await at.token('toodles', 'a good password')).status).toBe(400)
    expect((await at.token('toodles', 'a new password')).status).toBe(200)
    expect((await reset(id, secret)).status).toBe(403)
  })

  it('sets one password of two that come together', async () => {
    const id = await user('meathead')
    const secret = secretOf(await requested('meathead'))
    const answers = await Promise.all([reset(id, secret, 'password one'), reset(id, secret, 'password two')])
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 403])
  })

  it('expires after an hour, by a newer link, or by another change of the password', async () => {
    const id = await user('topsy')
    const first = secretOf(await requested('topsy'))
    at.clock.pass(121_000)
    const second = secretOf(await requested('topsy'))
    expect((await reset(id, first)).status).toBe(403)
    at.clock.pass(3_600_000)
    expect((await reset(id, second)).status).toBe(403)
    const third = secretOf(await requested('topsy'))
    await at.query("update users set password_hash = password_hash || ' ' where id = $1", [id])
    expect((await reset(id, third)).status).toBe(403)
  })

  it('expires when the user changes the address', async () => {
    const id = await user('moved')
    const secret = secretOf(await requested('moved'))
    await at.query("update users set email = 'elsewhere@example.org' where id = $1", [id])
    expect((await reset(id, secret)).status).toBe(403)
  })

  it('is sent once for repeated requests, and again after two minutes', async () => {
    const id = await user('eager')
    const first = await requested('eager')
    for (let times = 0; times < 5; times += 1) {
      expect((await at.ask('POST', '/users/ask-reset-password', { email: address('eager') })).status).toBe(204)
    }
    await until(async () => (await jobs()).every(({ state }) => state === 'completed' || state === 'failed'))
    const count = async () => (await jobs()).filter(({ data }) => 'userId' in data && data.userId === id).length
    expect(await count()).toBe(1)
    at.clock.pass(121_000)
    const second = await requested('eager')
    expect(await count()).toBe(2)
    expect((await reset(id, secretOf(first))).status).toBe(403)
    expect((await reset(id, secretOf(second))).status).toBe(204)
  })

  it('for a user created without a password is valid for a week', async () => {
    const id = await user('george')
    await queueMail({ mail: 'create-password', userId: id })
    const mail = await at.mail.next(address('george'))
    expect(mail.text).toContain('expires in 7\u00a0days')
    expect(linkOf(mail)).toMatchObject({ path: '/reset-password', query: { userId: String(id) } })
    at.clock.pass(7 * 86_400_000 - 60_000)
    expect((await reset(id, secretOf(mail))).status).toBe(204)
  })

  it.each(['анна@пример.рф', 'ann@bücher.example'])('goes to %s', async (email) => {
    const username = `user_${Buffer.from(email).toString('hex').slice(0, 12)}`
    expect((await at.ask('POST', '/users/register', applicant(username, { email }))).status).toBe(204)
    expect((await at.ask('POST', '/users/ask-reset-password', { email })).status).toBe(204)
    const mail = await until(() => at.mail.mails.find(({ text }) => text.includes(username)), { what: 'the mail' })
    expect(mail.subject).toContain('Reset the password')
    // A host is sent in Punycode.
    expect(mail.to.map((to) => to.replace(/@.*/, (host) => `@${domainToUnicode(host.slice(1))}`))).toEqual([email])
  })

  it('is requested with either form of an international address, which belongs to one user', async () => {
    const [unicode, punycode] = ['Zoë@smörgås.example', 'zoe\u0308@XN--smrgs-pra0j.example']
    expect((await at.ask('POST', '/users/register', applicant('zoe', { email: unicode }))).status).toBe(204)
    expect((await at.ask('POST', '/users/register', applicant('zoe_too', { email: punycode }))).status).toBe(409)
    expect((await at.ask('POST', '/users/ask-reset-password', { email: punycode })).status).toBe(204)
    const mail = await until(() => at.mail.mails.find(({ text }) => text.includes('zoe')), { what: 'the mail' })
    const { path, query } = linkOf(mail)
    expect(path).toBe('/reset-password')
    expect((await reset(query.userId, secretOf(mail), 'a new password of hers')).status).toBe(204)
    for (const username of [unicode, punycode]) {
      expect((await at.token(username, 'a new password of hers')).status).toBe(200)
    }
  })

  it('is a secret that cannot be forged', async () => {
    const id = await user('joan')
    for (const forged of ['', 'zz', 'x'.repeat(2001), 5, null, ['a']]) {
      const answer = await at.ask('POST', `/users/${id}/reset-password`, {
        verificationString: forged,
        password: 'long enough',
      })
      expect([answer.status, forged]).toEqual([forged === 'zz' ? 403 : 400, forged])
    }
    const unsigned = Buffer.from(
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ to: id })).toString('base64url')}.`,
    ).toString('hex')
    expect((await reset(id, unsigned)).status).toBe(403)
  })
})
