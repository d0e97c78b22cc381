// Closed registration: by the settings, the number of users, the network, a missing mail server, and rate limits.

import { afterEach, expect, it } from '@jest/globals'
import { applicant, type MailNode, startMailNode } from './node.ts'

let at: MailNode | undefined
afterEach(() => at?.stop())

const start = async (options: Parameters<typeof startMailNode>[0]) => {
  at = await startMailNode(options)
  const { ask } = at
  return {
    at,
    register: async (name: string) => (await ask('POST', '/users/register', applicant(name))).status,
    request: async (name: string) =>
      (await ask('POST', '/users/registrations/request', applicant(name, { registrationReason: 'please' }))).status,
  }
}

it('nobody can register while registration is disabled', async () => {
  const { register, request } = await start({ signup: { enabled: false } })
  expect([await register('ann'), await request('ann')]).toEqual([403, 403])
})

it('registration closes at the limit of users', async () => {
  const { register } = await start({ signup: { limit: 2 } })
  const together = await Promise.all(['ann', 'bob', 'cid', 'dan'].map(register))
  expect(together.toSorted()).toEqual([204, 403, 403, 403])
  expect(await register('eve')).toBe(403)
})

it('denied networks cannot register', async () => {
  const { register } = await start({ signup: { filters: { cidr: { blacklist: ['127.0.0.0/8'] } } } })
  expect(await register('ann')).toBe(403)
})

it('a forged forwarding header is ignored', async () => {
  const { at } = await start({
    signup: { filters: { cidr: { whitelist: ['192.0.2.0/24'] } } },
    config: { trust_proxy: ['198.51.100.1'] },
  })
  const response = await fetch(`${at.node.base}/api/v1/users/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.7' },
    body: JSON.stringify(applicant('ann')),
  })
  expect(response.status).toBe(403)
})

it('nobody can register when addresses need verification without a mail server', async () => {
  const { register, at } = await start({
    signup: { requires_email_verification: true },
    config: { smtp: { hostname: null } },
  })
  expect(await register('ann')).toBe(403)
  expect((await at.ask('POST', '/users/ask-reset-password', { email: 'admin@example.com' })).status).toBe(204)
})

it('only successful registrations are counted, of both kinds together', async () => {
  const { register, request, at } = await start({
    signup: { enabled: true, requires_approval: false },
    config: {
      rates_limit: { signup: { max: 2, window: '5 minutes' }, ask_send_email: { max: 1, window: '5 minutes' } },
    },
  })
  for (let count = 0; count < 4; count += 1) expect(await register('Not A Name')).toBe(400)
  expect([await register('ann'), await register('ann'), await register('bob')]).toEqual([204, 409, 204])
  expect([await register('eve'), await request('eve')]).toEqual([429, 429])
  const ask = async (path: string) => (await at.ask('POST', `/users/${path}`, { email: 'nobody@example.com' })).status
  expect(await ask('ask-send-verify-email')).toBe(204)
  expect(await ask('registrations/ask-send-verify-email')).toBe(429)
  expect(await ask('ask-reset-password')).toBe(204)
})
