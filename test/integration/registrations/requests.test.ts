// Registration with approval: the request, verification of the address, the decision, and permissions.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { until } from '../../support/until.ts'
import { applicant, linkOf, type MailNode, secretOf, startMailNode } from './node.ts'

let at: MailNode
let serial = 0

beforeAll(async () => {
  at = await startMailNode({ signup: { requires_approval: true, requires_email_verification: true } })
})
afterAll(() => at?.stop())

const request = (name: string, more: object = {}) =>
  at.ask('POST', '/users/registrations/request', applicant(name, { registrationReason: 'I make films', ...more }))

const decide = (id: number, verb: 'accept' | 'reject', body: object = { moderationResponse: 'as you wish' }) =>
  at.ask('POST', `/users/registrations/${id}/${verb}`, body, at.root)

const list = async (query = '') => (await at.ask('GET', `/users/registrations${query}`, undefined, at.root)).body

const verify = (id: number, verificationString: string) => at.ask('POST', `/users/registrations/${id}/verify-email`, { verificationString })

/** Notification settings of root for requests: 1 on the site, 3 by mail as well. */
async function wishOfRoot(newUserRegistration: number) {
  const { notificationSettings } = (await at.ask('GET', '/users/me', undefined, at.root)).body
  const wished = { ...notificationSettings, newUserRegistration }
  expect((await at.ask('PUT', '/users/me/notification-settings', wished, at.root)).status).toBe(204)
}

/** A request, with a unique name by default, and the token of its mail. */
async function requested(given?: string) {
  serial += 1
  const name = given ?? `applicant${serial}`
  const { status, body } = await request(name)
  expect(status).toBe(200)
  return { name, id: body.id, secret: secretOf(await at.mail.next(`${name}@example.com`)) }
}

describe('a registration request', () => {
  it('is shown as submitted, and notifies the staff who want that by mail', async () => {
    await wishOfRoot(3)
    const channel = { name: 'ada_films', displayName: 'Films of Ada' }
    const { status, body } = await request('ada', { displayName: 'Ada', channel })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.any(Number),
      state: { id: 1, label: 'Pending' },
      registrationReason: 'I make films',
      moderationResponse: null,
      username: 'ada',
      email: 'ada@example.com',
      emailVerified: false,
      accountDisplayName: 'Ada',
      channelHandle: 'ada_films',
      channelDisplayName: 'Films of Ada',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      user: null,
    })
    const mail = await at.mail.next('admin@example.com')
    expect(mail.text).toContain('> I make films')
    expect(mail.text).toContain('/admin/moderation/registrations/list')
    expect(mail.raw).not.toMatch(/^bcc:/im)
    await wishOfRoot(1)
  })

  it('is refused when its names or its address are in another request, or in use', async () => {
    await request('bea', { channel: { name: 'bea_tv', displayName: 'x' } })
    for (const [name, more] of [
      ['bea', { email: 'other@example.com' }],
      ['beate', { email: 'BEA@example.com' }],
      ['beate', { channel: { name: 'bea_tv', displayName: 'x' } }],
      ['bea_tv', {}],
      ['beate', { channel: { name: 'bea', displayName: 'x' } }],
      ['root', {}],
      ['beate', { channel: { name: 'root_channel', displayName: 'x' } }],
    ] as const) {
      expect((await request(name, more)).status).toBe(409)
    }
  })

  it('is stored once for two simultaneous ones', async () => {
    const answers = await Promise.all([request('cora'), request('cora')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('needs a reason', async () => {
    for (const registrationReason of [undefined, '', 'x', 'x'.repeat(3001), 5, null, ['why']]) {
      const { status, body } = await request('dora', { registrationReason })
      expect({ status, bad: Object.keys(body['invalid-params']) }).toEqual({ status: 400, bad: ['registrationReason'] })
    }
  })

  it('blocks direct registration', async () => {
    expect((await at.ask('POST', '/users/register', applicant('emma'))).status).toBe(403)
  })

  it('is pending, gets accepted, and then its name and password log in', async () => {
    const { name, id, secret } = await requested()
    expect(await at.token(name, 'a good password')).toMatchObject({
      status: 400,
      body: { code: 'account_waiting_for_approval' },
    })
    expect(await at.token(name, 'a guess')).toMatchObject({ status: 400, body: { code: 'invalid_grant' } })
    expect((await verify(id, secret)).status).toBe(204)
    expect((await decide(id, 'accept', { moderationResponse: 'welcome <b>here</b>' })).status).toBe(204)
    const mail = await at.mail.next(`${name}@example.com`)
    expect(mail.text).toContain('> welcome <b>here</b>')
    expect(mail.html).toContain('welcome &lt;b&gt;here&lt;/b&gt;')
    expect((await at.token(name, 'a good password')).status).toBe(200)
    expect((await list(`?search=${name}`)).data).toMatchObject([
      {
        state: { id: 3, label: 'Accepted' },
        moderationResponse: 'welcome <b>here</b>',
        user: { id: expect.any(Number) },
      },
    ])
    expect(await at.query('select password_hash from registration where id = $1', [id])).toEqual([{ password_hash: null }])
    for (const verb of ['accept', 'reject'] as const) expect((await decide(id, verb)).status).toBe(409)
  })

  it('is rejected, which is shown to those who know the password, and can be repeated once it is deleted', async () => {
    const { name, id } = await requested()
    expect((await decide(id, 'reject', { moderationResponse: 'sorry' })).status).toBe(204)
    expect((await at.mail.next(`${name}@example.com`)).text).toContain('> sorry')
    expect(await at.token(`${name}@example.com`, 'a good password')).toMatchObject({
      status: 400,
      body: { code: 'account_approval_rejected' },
    })
    expect((await request(name)).status).toBe(409)
    expect((await at.ask('DELETE', `/users/registrations/${id}`, undefined, at.root)).status).toBe(204)
    expect((await at.ask('DELETE', `/users/registrations/${id}`, undefined, at.root)).status).toBe(404)
    expect(await at.token(name, 'a good password')).toMatchObject({ body: { code: 'invalid_grant' } })
    expect((await request(name)).status).toBe(200)
  })

  it('is decided by one of two simultaneous moderators', async () => {
    const { id, name } = await requested()
    const answers = await Promise.all([decide(id, 'accept'), decide(id, 'reject'), decide(id, 'accept')])
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409, 409])
    const users = await at.query('select 1 from users where username = $1', [name])
    expect(users).toHaveLength(answers[1]?.status === 204 ? 0 : 1)
  })

  it('cannot be accepted when its name was taken meanwhile, and stays pending', async () => {
    const { id, name } = await requested()
    await at.query("update users set email = $1 where username = 'root'", [`${name}@example.com`])
    expect((await decide(id, 'accept')).status).toBe(409)
    await at.query("update users set email = 'admin@example.com' where username = 'root'")
    expect((await list(`?search=${name}`)).data[0]?.state.id).toBe(1)
    expect((await decide(id, 'accept')).status).toBe(204)
  })

  it('sends no mail about the decision if the moderator disables it', async () => {
    const { id, name, secret } = await requested()
    await verify(id, secret)
    expect((await decide(id, 'reject', { moderationResponse: 'no!', preventEmailDelivery: true })).status).toBe(204)
    const jobs = await at.query<{ data: object }>("select data from job where type = 'email' and data->>'registrationId' = $1", [
      String(id),
    ])
    expect(jobs.map(({ data }) => data)).not.toContainEqual({ mail: 'registration-rejected', registrationId: id })
    expect(at.mail.mails.filter((mail) => mail.to.includes(`${name}@example.com`))).toHaveLength(1)
  })

  it('is deleted without its account', async () => {
    const { id, name, secret } = await requested()
    await verify(id, secret)
    await decide(id, 'accept')
    expect((await at.ask('DELETE', `/users/registrations/${id}`, undefined, at.root)).status).toBe(204)
    expect((await at.token(name, 'a good password')).status).toBe(200)
  })
})

describe('the address of a registration request', () => {
  it('is verified by the link, also repeatedly, and not by an older link', async () => {
    const { id, name, secret } = await requested()
    expect((await at.ask('POST', '/users/registrations/ask-send-verify-email', { email: `${name}@EXAMPLE.com` })).status).toBe(204)
    const mail = await at.mail.next(`${name}@example.com`)
    expect(linkOf(mail)).toMatchObject({ path: '/verify-account/email', query: { registrationId: String(id) } })
    expect((await verify(id, secret)).status).toBe(403)
    expect((await verify(id, secretOf(mail))).status).toBe(204)
    expect((await verify(id, secretOf(mail))).status).toBe(204)
    expect((await verify(424242, secret)).status).toBe(404)
    expect((await list(`?search=${name}`)).data[0]?.emailVerified).toBe(true)
    const tries = at.mail.tries
    expect((await at.ask('POST', '/users/registrations/ask-send-verify-email', { email: `${name}@example.com` })).status).toBe(204)
    await until(async () => (await at.query("select 1 from job where type = 'email' and state <> 'completed'")).length === 0)
    expect(at.mail.tries).toBe(tries)
  })

  it('that was unverified at the acceptance is verified afterwards, by a link to the account', async () => {
    const { id, name, secret } = await requested()
    await decide(id, 'accept', { moderationResponse: 'welcome', preventEmailDelivery: true })
    expect((await verify(id, secret)).status).toBe(403)
    expect(await at.token(name, 'a good password')).toMatchObject({ body: { code: 'access_denied' } })
    const { query } = linkOf(await at.mail.next(`${name}@example.com`))
    const { verificationString } = query
    expect((await at.ask('POST', `/users/${query.userId}/verify-email`, { verificationString })).status).toBe(204)
    expect((await at.token(name, 'a good password')).status).toBe(200)
  })
})

describe('the list of registration requests', () => {
  it('has pages, an order and a search without wildcards', async () => {
    for (const name of ['zoe_a', 'zoe_b', 'zoexc']) await request(name)
    const all = await list('?search=zoe&sort=createdAt')
    expect(all.data.map((one) => one.username)).toEqual(['zoe_a', 'zoe_b', 'zoexc'])
    expect((await list('?search=zoe_')).total).toBe(2)
    expect((await list('?search=%25')).total).toBe(0)
    const page = await list('?search=zoe&start=1&count=1')
    expect({ total: page.total, names: page.data.map((one) => one.username) }).toEqual({
      total: 3,
      names: ['zoe_b'],
    })
    const states = (await list('?sort=-state&count=100')).data.map((one) => one.state.id)
    expect(states).toEqual(states.toSorted((a, b) => b - a))
    expect((await at.ask('GET', '/users/registrations?sort=hello&count=101', undefined, at.root)).body['invalid-params']).toMatchObject({
      sort: { location: 'query' },
      count: { location: 'query' },
    })
  })

  it('and decisions are for moderators and administrators', async () => {
    const tokens: Record<string, string> = {}
    for (const [name, role] of [
      ['plain', 2],
      ['moderator', 1],
    ] as const) {
      const { id, secret } = await requested(name)
      await verify(id, secret)
      await decide(id, 'accept')
      await at.query('update users set role = $2 where username = $1', [name, role])
      tokens[name] = `Bearer ${(await at.token(name, 'a good password')).body.access_token}`
    }
    const { id } = await requested()
    const routes: [string, string, object?][] = [
      ['GET', '/users/registrations'],
      ['POST', `/users/registrations/${id}/accept`, { moderationResponse: 'yes' }],
      ['POST', `/users/registrations/${id}/reject`, { moderationResponse: 'no!' }],
      ['DELETE', `/users/registrations/${id}`],
    ]
    for (const [method, path, body] of routes) {
      expect((await at.ask(method, path, body)).status).toBe(401)
      expect((await at.ask(method, path, body, tokens.plain)).status).toBe(403)
    }
    const byModerator = []
    for (const [method, path, body] of routes) byModerator.push((await at.ask(method, path, body, tokens.moderator)).status)
    expect(byModerator).toEqual([200, 204, 409, 204])
  })
})
