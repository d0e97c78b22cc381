// External logins that an administrator configures while the server runs.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { parseSetCookie } from 'cookie'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { CLIENT, type OpenIdServer, startOpenIdProvider } from '../../support/openid-provider.ts'
import { freePort } from '../../support/ports.ts'
import { run } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const LOGINS = '/api/v1/vireo/logins'

let node: TestNode
let provider: OpenIdServer
let root: string
let company: object

beforeAll(async () => {
  const port = await freePort()
  node = await startTestNode({ config: { rates_limit: { login: { max: 1000 } } } })
  provider = await startOpenIdProvider({ port, redirectUris: [`${node.base}/plugins/vireo-openid-connect/router/company/callback`] })
  company = {
    name: 'company',
    label: 'The company',
    discovery_url: provider.issuer,
    client_id: CLIENT.client_id,
    administrator_groups: ['bosses'],
  }
  root = (await token({ username: node.username, password: node.password })).body.access_token
})
afterAll(async () => {
  await node?.stop()
  await provider?.down()
})

async function token(fields: Record<string, string>) {
  const client = await (await fetch(`${node.base}/api/v1/oauth-clients/local`)).json()
  const answer = await fetch(`${node.base}/api/v1/users/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...client, grant_type: 'password', ...fields }),
  })
  return { status: answer.status, body: await answer.json() }
}

async function ask(method: string, path: string, body?: object, accessToken = root) {
  const answer = await fetch(`${node.base}${path}`, {
    method,
    headers: { authorization: `Bearer ${accessToken}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: answer.status, body: await answer.json() }
}

const put = (body: object, accessToken?: string) => ask('PUT', LOGINS, body, accessToken)

/** Logs a user in at the provider; returns the token of the local session. */
async function enter(sub: string, groups: string[]): Promise<string> {
  provider.accounts.set(sub, { preferred_username: sub, email: `${sub}@example.com`, email_verified: true, groups })
  provider.current = sub
  const cookies = new Map<string, string>()
  let url = new URL('/plugins/vireo-openid-connect/1/auth/company', node.base)
  while (url.pathname !== '/login') {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const { name, value = '' } of answer.headers.getSetCookie().map((line) => parseSetCookie(line))) cookies.set(name, value)
    url = new URL(answer.headers.get('location') ?? '', url)
  }
  return (await token(Object.fromEntries(url.searchParams))).body.access_token
}

it('apply at once in every process, and their secrets are never shown', async () => {
  const other = await startTestNode({ beside: node })
  try {
    const answer = await put({ openid_connect: [{ ...company, client_secret: CLIENT.client_secret }] })
    expect(answer).toMatchObject({ status: 200, body: { local_passwords: true, openid_connect: [{ ...company, pkce: true }], ldap: [] } })
    expect((await ask('GET', LOGINS)).body).toEqual(answer.body)
    expect(JSON.stringify(answer.body)).not.toContain('secret')
    const names = async (base: string) =>
      (await (await fetch(`${base}/api/v1/config`)).json()).plugin.registeredExternalAuths.map((one: { authName: string }) => one.authName)
    expect(await names(node.base)).toEqual(['company'])
    await until(async () => (await names(other.base)).length === 1)
  } finally {
    await other.stop()
  }
  const stored = await run(
    node.databaseUrl,
    'select row_to_json(c)::text as text from runtime_config c union all select row_to_json(a)::text from audit_log a',
  )
  expect(JSON.stringify(stored)).toContain('openid_connect')
  expect(JSON.stringify(stored)).not.toContain(CLIENT.client_secret)
})

it('keep a secret that is not sent again, but not for another URL', async () => {
  expect((await put({ openid_connect: [{ ...company, label: 'Everybody' }] })).status).toBe(200)
  expect(await enter('ann', [])).toMatch(/^[0-9a-f]{40}$/)
  const elsewhere = { ...company, discovery_url: 'http://127.0.0.1:1' }
  expect(await put({ openid_connect: [elsewhere] })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('client_secret') },
  })
  const directory = { name: 'directory', url: 'ldap://127.0.0.1:1', bind_dn: 'cn=x', search_base: 'dc=example' }
  expect((await put({ ldap: [{ ...directory, bind_password: 'hidden' }] })).status).toBe(200)
  expect((await put({ ldap: [{ ...directory, filter: '(mail={username})' }] })).status).toBe(200)
  expect((await put({ ldap: [{ ...directory, url: 'ldap://127.0.0.2:1' }] })).status).toBe(400)
  expect((await put({ ldap: [{ ...directory, bind_password: '', ca: '/etc/passwd' }] })).status).toBe(400)
  expect(await put({ ldap: [] })).toMatchObject({ status: 200, body: { ldap: [], openid_connect: [{ label: 'Everybody' }] } })
})

it.each([
  [
    'a value that makes no sense',
    { openid_connect: [{ name: 'Not a name', label: '', discovery_url: 'file:///etc/passwd', client_id: '' }] },
  ],
  ['an unknown key', { ldap: [{ name: 'x', url: 'ldap://x', search_base: 'x', filters: '' }] }],
  ['a name twice', { ldap: Array(2).fill({ name: 'x', url: 'ldap://x', search_base: 'x' }) }],
  ['a list of hundreds', { ldap: Array(51).fill({ name: 'x', url: 'ldap://x', search_base: 'x' }) }],
])('refuse %s', async (_what, body) => {
  const before = (await ask('GET', LOGINS)).body
  expect((await put(body)).status).toBe(400)
  expect((await ask('GET', LOGINS)).body).toEqual(before)
})

it('replace local passwords, once an administrator has logged in with one of them', async () => {
  expect(await put({ local_passwords: false })).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/administrate/) } })
  const boss = await enter('boss', ['bosses'])
  expect(await put({ local_passwords: false, openid_connect: [] }, boss)).toMatchObject({ status: 400 })
  expect((await put({ local_passwords: false }, boss)).status).toBe(200)
  expect((await token({ username: node.username, password: node.password })).body).toMatchObject({ code: 'invalid_grant' })
  expect((await ask('DELETE', '/api/v1/config/custom', undefined, boss)).status).toBe(200)
  expect((await ask('GET', LOGINS)).body).toEqual({ local_passwords: true, openid_connect: [], ldap: [] })
  expect((await token({ username: node.username, password: node.password })).status).toBe(200)
})
