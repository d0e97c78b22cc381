// Login with an LDAP directory on loopback: injection, groups, outages, and the end of sessions.

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { generate } from 'otplib'
import { makeLdap } from '../../../src/actors/external-login/ldap.ts'
import type { LdapProvider, Values } from '../../../src/config/index.ts'
import { makeBrowser } from '../../support/browser.ts'
import { fakeClock } from '../../support/clock.ts'
import { type LdapEntry, type LdapServer, startLdapServer } from '../../support/ldap-server.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { freePort } from '../../support/ports.ts'
import { until } from '../../support/until.ts'

const BASE = 'ou=people,dc=example,dc=org'
const STAFF = 'cn=staff,ou=groups,dc=example,dc=org'
const SERVICE = { dn: 'cn=vireo,dc=example,dc=org', password: 'a secret of the service' }
const provider: Omit<LdapProvider, 'url'> = {
  name: 'company',
  link_by_email: false,
  trust_email: true,
  allowed_groups: [],
  administrator_groups: [],
  moderator_groups: [],
  start_tls: false,
  ca: null,
  bind_dn: SERVICE.dn,
  bind_password: SERVICE.password,
  search_base: BASE,
  filter: '(uid={username})',
  attributes: { id: 'entryUUID', username: 'uid', email: 'mail', display_name: 'cn', groups: 'memberOf', quota: null },
}
const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/ldap/${name}`, import.meta.url))
const PASSWORD = 'a password of the directory'

let directory: LdapServer
/** The first directory, without users. */
let branch: LdapServer
let config: Values
let node: TestNode
let root: string

beforeAll(async () => {
  directory = await startLdapServer({ port: await freePort(), service: SERVICE })
  branch = await startLdapServer({ port: await freePort(), service: SERVICE })
  const common = { bind_dn: SERVICE.dn, bind_password: SERVICE.password, search_base: BASE }
  const company = {
    ...common,
    name: 'company',
    url: directory.url,
    filter: '(&(objectClass=person)(|(uid={username})(mail={username})))',
    link_by_email: true,
    moderator_groups: [STAFF],
    attributes: { quota: 'quota' },
  }
  config = { rates_limit: { login: { max: 1000 } }, vireo: { auth: { ldap: [{ ...common, name: 'branch', url: branch.url }, company] } } }
  node = await startTestNode({ config })
  root = (await login(node.username, node.password)).body.access_token
})
afterAll(async () => {
  await node?.stop()
  await directory?.down()
  await branch?.down()
})

let serial = 0
function person(attributes: Record<string, string | string[]> = {}) {
  const name = `member${++serial}`
  const dn = `uid=${name},${BASE}`
  const email = `${name}@example.com`
  const usual = { objectClass: 'person', uid: name, entryUUID: `uuid-${serial}`, mail: email, cn: `Member ${serial}` }
  directory.entries.set(dn, { password: PASSWORD, attributes: { ...usual, ...attributes } })
  return { name, dn, email }
}

function change(dn: string, attributes: Record<string, string | string[]>): void {
  const entry = directory.entries.get(dn)
  if (entry) directory.entries.set(dn, { ...entry, attributes: { ...entry.attributes, ...attributes } })
}

async function token(fields: Record<string, string>, headers: Record<string, string> = {}) {
  const client = await (await fetch(`${node.base}/api/v1/oauth-clients/local`)).json()
  const body = new URLSearchParams({ ...client, ...fields })
  const answer = await fetch(`${node.base}/api/v1/users/token`, { method: 'POST', body, headers })
  return { status: answer.status, body: await answer.json() }
}
const login = (username: string, password: string, headers?: Record<string, string>) =>
  token({ grant_type: 'password', username, password }, headers)
const refresh = (refresh_token: string) => token({ grant_type: 'refresh_token', refresh_token })

async function ask(accessToken: string, method: string, path: string, body?: object) {
  const answer = await fetch(`${node.base}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${accessToken}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  return { status: answer.status, body: text ? JSON.parse(text) : undefined }
}
const me = (accessToken: string) => ask(accessToken, 'GET', '/users/me')

describe('a directory user', () => {
  it('logs in with the same request as local users', async () => {
    const { name, email } = person({ quota: '3GB' })
    const { status, body } = await login(name, PASSWORD)
    expect(status).toBe(200)
    const user = (await me(body.access_token)).body
    expect(user).toMatchObject({
      username: name,
      email,
      role: { id: 2 },
      videoQuota: 3 * 1024 ** 3,
      pluginAuth: 'peertube-plugin-vireo-ldap',
      account: { displayName: `Member ${serial}` },
    })
    const again = await login(name.toUpperCase(), PASSWORD)
    expect((await me(again.body.access_token)).body.id).toBe(user.id)
    expect((await fetch(`${node.base}/api/v1/config`).then((answer) => answer.json())).plugin.registeredIdAndPassAuths[1]).toEqual({
      name: 'vireo-ldap',
      npmName: 'peertube-plugin-vireo-ldap',
      version: expect.any(String),
      authName: 'company',
      weight: 100,
    })
  })

  it('is created once, also by several first logins at once', async () => {
    const { name } = person()
    const answers = await Promise.all([1, 2, 3].map(() => login(name, PASSWORD)))
    const ids = await Promise.all(answers.map(async ({ body }) => (await me(body.access_token)).body.id))
    expect(new Set(ids)).toEqual(new Set([expect.any(Number)]))
  })

  it('logs in on the page without a script', async () => {
    const { name } = person()
    const browser = makeBrowser(node.base)
    await browser.login(name, PASSWORD)
    expect((await browser.open('/my-account/settings')).html).toContain(name)
  })

  it('gets the role of the groups, ignoring case, and loses it', async () => {
    const { name, dn } = person({ memberOf: ['cn=others,dc=example', STAFF.toUpperCase()] })
    const roleNow = async () => (await me((await login(name, PASSWORD)).body.access_token)).body.role.id
    expect(await roleNow()).toBe(1)
    change(dn, { memberOf: [] })
    expect(await roleNow()).toBe(2)
  })

  it('is linked to the local user with the same verified address', async () => {
    const { name, email } = person()
    const made = await ask(root, 'POST', '/users', {
      username: `here${serial}`,
      password: 'a good password',
      email,
      role: 2,
      videoQuota: 5,
    })
    await ask(root, 'PUT', `/users/${made.body.user.id}`, { emailVerified: true })
    expect((await me((await login(name, PASSWORD)).body.access_token)).body).toMatchObject({ username: `here${serial}`, pluginAuth: null })
    expect((await login(`here${serial}`, 'a good password')).status).toBe(200)
  })

  it('needs the code of two-factor login too', async () => {
    const { name } = person()
    const { access_token } = (await login(name, PASSWORD)).body
    const { id } = (await me(access_token)).body
    await ask(root, 'PUT', `/users/${id}`, { password: 'a password of here' })
    const session = (await login(name, 'a password of here')).body.access_token
    const requested = await ask(session, 'POST', `/users/${id}/two-factor/request`, { currentPassword: 'a password of here' })
    const { requestToken, secret } = requested.body.otpRequest
    const confirmed = { requestToken, otpToken: await generate({ secret }) }
    expect((await ask(session, 'POST', `/users/${id}/two-factor/confirm-request`, confirmed)).status).toBe(204)
    expect((await login(name, PASSWORD)).body).toMatchObject({ status: 401, code: 'missing_two_factor' })
  })
})

describe('a login is refused for', () => {
  it('a wrong password, an empty one, and an unknown name', async () => {
    const { name } = person()
    expect((await login(name, 'wrong')).body).toMatchObject({ status: 400, code: 'invalid_grant' })
    expect((await login('nobody', PASSWORD)).body).toMatchObject({ status: 400, code: 'invalid_grant' })
    const { searches } = directory
    const before = searches.length
    expect((await login(name, '')).body).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(searches.length).toBe(before)
  })

  it.each([
    ['*'],
    ['member*'],
    ['x)(uid=*'],
    ['*)(|(uid=*'],
    ['member1)(objectClass=*))(|(uid=x'],
    ['\\2a'],
    ['x\u0000*'],
    ['x'.repeat(300)],
  ])('the name %j, which is not used as a pattern', async (name) => {
    person()
    const before = directory.searches.length
    expect((await login(name, PASSWORD)).status).toBe(400)
    const searches = directory.searches.slice(before)
    expect(searches).toHaveLength(name.length > 255 || name.includes('\u0000') ? 0 : 1)
    for (const filter of searches) {
      const value = String.raw`(?:[^()*\\]|\\[0-9a-f]{2})*`
      expect(filter).toMatch(new RegExp(String.raw`^\(&\(objectClass=person\)\(\|\(uid=${value}\)\(mail=${value}\)\)\)$`, 'i'))
    }
  })

  it('a name with two entries', async () => {
    const { name } = person()
    person({ uid: name })
    expect((await login(name, PASSWORD)).body).toMatchObject({ status: 400, code: 'invalid_grant' })
  })

  it('a user without an email address', async () => {
    const { name } = person({ mail: [] })
    expect((await login(name, PASSWORD)).body).toMatchObject({ status: 400, code: 'access_denied' })
  })

  it('a user who is blocked locally', async () => {
    const { name } = person()
    const { access_token } = (await login(name, PASSWORD)).body
    await ask(root, 'POST', `/users/${(await me(access_token)).body.id}/block`, {})
    expect((await login(name, PASSWORD)).body).toMatchObject({ status: 400, code: 'access_denied' })
  })
})

describe('an unavailable directory', () => {
  it('answers 503, and does not affect local passwords and sessions', async () => {
    const { name } = person()
    const session = (await login(name, PASSWORD)).body
    await directory.down()
    try {
      expect((await login(name, PASSWORD)).status).toBe(503)
      expect((await login(node.username, node.password)).status).toBe(200)
      expect((await refresh(session.refresh_token)).status).toBe(503)
      expect((await me(session.access_token)).status).toBe(200)
    } finally {
      await directory.up()
    }
    expect((await refresh(session.refresh_token)).status).toBe(200)
  })

  it('does not affect users of another directory', async () => {
    const { name } = person()
    await branch.down()
    try {
      expect((await login(name, PASSWORD)).status).toBe(200)
      // Nobody knows whether the first directory has the user.
      expect((await login(name, 'wrong')).status).toBe(503)
    } finally {
      await branch.up()
    }
  })

  it('receives nothing without the required TLS, or with an untrusted certificate', async () => {
    const { name, dn } = person()
    const before = directory.binds.length
    const withTls = { ...provider, url: directory.url, start_tls: true }
    await expect(makeLdap().check(withTls, name, PASSWORD)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(directory.binds.length).toBe(before)
    expect(await makeLdap().check({ ...withTls, start_tls: false }, name, PASSWORD)).toMatchObject({ username: name })

    const [key, cert] = await Promise.all([readFile(fixture('key.pem')), readFile(fixture('certificate.pem'))])
    const secure = await startLdapServer({ port: await freePort(), service: SERVICE, tls: { key, cert } })
    try {
      secure.entries.set(dn, directory.entries.get(dn) as LdapEntry)
      const known = { ...withTls, url: secure.url, ca: fixture('certificate.pem') }
      expect(await makeLdap().check(known, name, PASSWORD)).toMatchObject({ username: name })
      expect(await makeLdap().check(known, name, 'wrong')).toBeUndefined()
      const { length } = secure.binds
      await expect(makeLdap().check({ ...known, ca: null }, name, PASSWORD)).rejects.toMatchObject({ kind: 'unavailable' })
      expect(secure.binds.length).toBe(length)
    } finally {
      await secure.down()
    }
  })

  it('times out if it never answers', async () => {
    const { name } = person()
    directory.isSilent = true
    const begun = performance.now()
    try {
      expect((await login(name, PASSWORD)).status).toBe(503)
      expect(performance.now() - begun).toBeLessThan(20_000)
    } finally {
      directory.isSilent = false
    }
  })
})

describe('a session refresh', () => {
  it('succeeds for an existing directory user, and ends the session of a removed one', async () => {
    const { name, dn } = person()
    const first = (await login(name, PASSWORD)).body
    const second = await refresh(first.refresh_token)
    expect(second.status).toBe(200)
    directory.entries.delete(dn)
    expect((await refresh(second.body.refresh_token)).body).toMatchObject({ code: 'invalid_grant' })
    expect((await me(second.body.access_token)).status).toBe(401)
  })

  it('ends only itself when the entry is ambiguous', async () => {
    const { name } = person()
    const [first, second] = [(await login(name, PASSWORD)).body, (await login(name, PASSWORD)).body]
    const { dn } = person({ uid: name })
    expect((await refresh(first.refresh_token)).body).toMatchObject({ code: 'invalid_grant' })
    expect([(await me(first.access_token)).status, (await me(second.access_token)).status]).toEqual([401, 200])
    directory.entries.delete(dn)
    expect((await refresh(second.refresh_token)).status).toBe(200)
  })

  it('looks up the name of the last login', async () => {
    const { name, dn, email } = person()
    expect((await login(email, PASSWORD)).status).toBe(200)
    change(dn, { mail: `new-${email}` })
    const { refresh_token } = (await login(name, PASSWORD)).body
    expect((await refresh(refresh_token)).status).toBe(200)
  })

  const clock = fakeClock()
  /** Runs in another process, until `isDone`. */
  async function aDayLater(isDone: () => Promise<boolean>): Promise<void> {
    clock.pass(25 * 3_600_000)
    const other = await startTestNode({ config, beside: node, clock })
    try {
      await until(isDone)
    } finally {
      await other.stop()
    }
  }

  it('is not needed to end the application tokens of a removed directory user', async () => {
    const withToken = async () => {
      const user = person()
      const session = (await login(user.name, PASSWORD)).body.access_token
      const requested = { name: 'A script', scopes: ['read'], expiresAt: '2999-01-01T00:00:00Z' }
      const { token: script } = (await ask(session, 'POST', '/vireo/application-tokens', requested)).body
      const { id } = (await me(session)).body
      await ask(session, 'POST', '/users/revoke-token')
      return { ...user, id, script }
    }
    const [removed, present, away] = [await withToken(), await withToken(), await withToken()]
    const open = async () => Promise.all([removed, present, away].map(async ({ script }) => (await me(script)).status))
    directory.entries.delete(removed.dn)
    expect(await open()).toEqual([200, 200, 200])
    await aDayLater(async () => (await me(removed.script)).status === 401)
    expect(await open()).toEqual([401, 200, 200])

    // A user with a local password is not looked up again.
    await ask(root, 'PUT', `/users/${removed.id}`, { password: 'a password of here' })
    const session = (await login(removed.name, 'a password of here')).body.access_token
    const requested = { name: 'Another', scopes: ['read'], expiresAt: '2999-01-01T00:00:00Z' }
    const { token: later } = (await ask(session, 'POST', '/vireo/application-tokens', requested)).body
    directory.entries.delete(away.dn)
    await aDayLater(async () => (await me(away.script)).status === 401)
    expect([(await me(later)).status, (await me(present.script)).status]).toEqual([200, 200])
  })

  it('ends the session of another user with the same name, and applies new groups', async () => {
    const { name, dn } = person()
    const first = (await login(name, PASSWORD)).body
    change(dn, { memberOf: STAFF })
    const second = (await refresh(first.refresh_token)).body
    expect((await me(second.access_token)).body.role.id).toBe(1)
    change(dn, { entryUUID: 'of somebody else' })
    expect((await refresh(second.refresh_token)).status).toBe(400)
  })
})
