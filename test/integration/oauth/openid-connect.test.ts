// Login with OpenID Connect at a real provider: linking of users, refused logins, and the end of sessions.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parseSetCookie } from 'cookie'
import { decodeJwt } from 'jose'
import pino from 'pino'
import type { Values } from '../../../src/config/index.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { formIn, linksIn, makeBrowser } from '../../support/browser.ts'
import { fakeClock } from '../../support/clock.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { CLIENT, type OpenIdAccount, type OpenIdServer, startOpenIdProvider } from '../../support/openid-provider.ts'
import { freePort } from '../../support/ports.ts'
import { run } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

/** A registered redirect URI where nothing listens. */
const LOGOUT_URI = 'http://127.0.0.1:1/bye'
const SECRET = 'a secret that opens what sessions keep'
const REFUSED = '/login?externalAuthError=true'

let config: Values
let node: TestNode
let provider: OpenIdServer
let root: string
/** Reasons of refused logins, for the administrator. */
const reasons: string[] = []

beforeAll(async () => {
  const port = await freePort()
  const common = { label: 'The company', discovery_url: `http://127.0.0.1:${port}`, ...CLIENT }
  config = {
    rates_limit: { login: { max: 1000 } },
    secrets: { peertube: SECRET },
    vireo: {
      auth: {
        openid_connect: [
          {
            ...common,
            name: 'company',
            link_by_email: true,
            moderator_groups: ['staff'],
            administrator_groups: ['bosses'],
            claims: { quota: 'quota' },
            post_logout_redirect_uri: LOGOUT_URI,
          },
          { ...common, name: 'strict', label: 'Members', allowed_groups: ['members'] },
          { ...common, name: 'plain', label: 'Without PKCE', pkce: false, trust_email: true },
          // The issuer of the provider is its URL.
          { ...common, name: 'foreign', label: 'Wrong', discovery_url: `http://localhost:${port}` },
        ],
      },
    },
  }
  node = await startTestNode({
    logger: pino({ level: 'warn' }, { write: (line) => void reasons.push(JSON.parse(line).err?.message ?? line) }),
    config,
  })
  const callback = (name: string) => `${node.base}/plugins/vireo-openid-connect/router/${name}/callback`
  provider = await startOpenIdProvider({
    port,
    redirectUris: ['company', 'strict', 'plain', 'foreign'].map(callback),
    logoutUris: [LOGOUT_URI],
  })
  root = (await token({ username: node.username, password: node.password })).body.access_token
})
afterAll(async () => {
  await node?.stop()
  await provider?.down()
})

let serial = 0
/** A new user at the provider, who logs in next. */
function person(account: Partial<OpenIdAccount> = {}): { sub: string; name: string; email: string } {
  const name = `person${++serial}`
  const sub = `subject-${serial}`
  const email = `${name}@example.com`
  provider.accounts.set(sub, { preferred_username: name, email, email_verified: true, name: `Person ${serial}`, ...account })
  provider.current = sub
  return { sub, name, email }
}

/** A browser that crosses from one site to the other. `change` alters an address before it is opened. A client reads `/login` itself. Cookies do not know ports. */
function visitor({ isClient }: { isClient: boolean }) {
  const jars = new Map<string, Map<string, string>>()
  const cookiesOf = (hostname: string) => [...(jars.get(hostname) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  async function open(start: string, change = (url: URL): URL => url): Promise<URL> {
    let url = new URL(start, node.base)
    for (let hops = 0; hops < 12; hops += 1) {
      url = change(url)
      if (isClient && url.pathname === '/login') return url
      const jar = jars.get(url.hostname) ?? new Map<string, string>()
      jars.set(url.hostname, jar)
      const cookie = cookiesOf(url.hostname)
      const answer = await fetch(url, { redirect: 'manual', headers: { accept: 'text/html', ...(cookie ? { cookie } : {}) } })
      for (const line of answer.headers.getSetCookie()) {
        const { name, value = '', maxAge } = parseSetCookie(line)
        if (maxAge === 0) jar.delete(name)
        else jar.set(name, value)
      }
      const location = answer.headers.get('location')
      if (url.pathname === '/login' || location === null) return url
      url = new URL(location, url)
    }
    throw new Error(`${start} has no end.`)
  }
  return { open, cookiesOf }
}

const begin = (name: string): string => `/plugins/vireo-openid-connect/1.0.0/auth/${name}`

/** Logs in, and returns the URL to which the client is redirected. */
async function enter(name = 'company', change?: (url: URL) => URL): Promise<string> {
  const { pathname, search } = await visitor({ isClient: true }).open(begin(name), change)
  return `${pathname}${search}`
}

async function token(fields: Record<string, string>, base = node.base) {
  const client = await (await fetch(`${base}/api/v1/oauth-clients/local`)).json()
  const body = new URLSearchParams({ ...client, grant_type: 'password', ...fields })
  const answer = await fetch(`${base}/api/v1/users/token`, { method: 'POST', body })
  return { status: answer.status, body: await answer.json() }
}

const exchange = (path: string) => token(Object.fromEntries(new URL(path, node.base).searchParams))
const refresh = (refresh_token: string, base?: string) => token({ grant_type: 'refresh_token', refresh_token }, base)

async function me(accessToken: string) {
  const answer = await fetch(`${node.base}/api/v1/users/me`, { headers: { authorization: `Bearer ${accessToken}` } })
  return { status: answer.status, body: await answer.json() }
}

async function ask(method: string, path: string, body: object, accessToken = root) {
  const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' }
  return await fetch(`${node.base}/api/v1${path}`, { method, headers, body: JSON.stringify(body) })
}

async function localUser(email: string, emailVerified: boolean): Promise<string> {
  const username = `local${++serial}`
  const made = await ask('POST', '/users', { username, password: 'a good password', email, role: 2, videoQuota: 5 })
  const { id } = (await made.json()).user
  expect((await ask('PUT', `/users/${id}`, { emailVerified })).status).toBe(204)
  return username
}

describe('a login', () => {
  it('is listed in the client configuration, without its secrets', async () => {
    const text = await (await fetch(`${node.base}/api/v1/config`)).text()
    const { plugin, serverVersion } = JSON.parse(text)
    expect(plugin.registeredExternalAuths[0]).toEqual({
      name: 'vireo-openid-connect',
      npmName: 'peertube-plugin-vireo-openid-connect',
      version: serverVersion,
      authName: 'company',
      authDisplayName: 'The company',
    })
    expect(plugin.registeredIdAndPassAuths).toEqual([])
    expect(text).not.toContain(CLIENT.client_secret)
    const custom = await fetch(`${node.base}/api/v1/config/custom`, { headers: { authorization: `Bearer ${root}` } })
    expect(await custom.text()).not.toContain(CLIENT.client_secret)
  })

  it('creates a user once, with a token that is valid once and for that user', async () => {
    const { name, email } = person({ quota: '2GB' })
    const path = await enter()
    expect(path).toMatch(new RegExp(`^/login\\?externalAuthToken=[0-9a-f]{40}&username=${name}$`))
    expect((await exchange(path.replace(name, 'root'))).body).toMatchObject({ code: 'invalid_grant' })
    const { status, body } = await exchange(path)
    expect({ status, type: body.token_type }).toEqual({ status: 200, type: 'Bearer' })
    expect((await exchange(path)).body).toMatchObject({ code: 'invalid_grant' })
    const user = (await me(body.access_token)).body
    expect(user).toMatchObject({
      username: name,
      email,
      emailVerified: true,
      role: { id: 2 },
      videoQuota: 2 * 1024 ** 3,
      pluginAuth: 'peertube-plugin-vireo-openid-connect',
      account: { displayName: `Person ${serial}` },
    })
    const again = await exchange(await enter())
    expect((await me(again.body.access_token)).body.id).toBe(user.id)
  })

  it('ends with a logout, and the next one is a new session', async () => {
    person()
    const { access_token, refresh_token } = (await exchange(await enter())).body
    expect((await ask('POST', '/users/revoke-token', {}, access_token)).status).toBe(200)
    expect((await me(access_token)).status).toBe(401)
    expect((await refresh(refresh_token)).status).toBe(400)
    expect((await exchange(await enter())).status).toBe(200)
  })

  it('ends at the provider too, where the logout redirects to', async () => {
    const { sub } = person()
    const browser = visitor({ isClient: true })
    const { pathname, search } = await browser.open(begin('company'))
    const { access_token } = (await exchange(`${pathname}${search}`)).body
    const { success, redirectUrl } = (await (await ask('POST', '/users/revoke-token', {}, access_token)).json()) as {
      success: boolean
      redirectUrl: string
    }
    expect(success).toBe(true)
    const url = new URL(redirectUrl)
    expect(url.origin).toBe(provider.issuer)
    expect(url.searchParams.get('client_id')).toBe(CLIENT.client_id)
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(LOGOUT_URI)
    expect(decodeJwt(url.searchParams.get('id_token_hint') ?? '')).toMatchObject({ sub, iss: provider.issuer })
    // The provider asks its user, who is logged out there.
    const cookie = browser.cookiesOf('127.0.0.1')
    const page = await (await fetch(url, { headers: { cookie } })).text()
    const { action, fields } = formIn(page, `${provider.issuer}/session/end/confirm`)
    const done = await fetch(action, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body: new URLSearchParams({ ...fields, logout: 'yes' }),
    })
    expect(done.headers.get('location')).toBe(LOGOUT_URI)

    const own = (await token({ username: node.username, password: node.password })).body
    expect(await (await ask('POST', '/users/revoke-token', {}, own.access_token)).json()).toEqual({ success: true })
  })

  it('ends with a logout while the provider is unavailable', async () => {
    person()
    const { access_token } = (await exchange(await enter())).body
    const other = await startTestNode({ config, beside: node })
    await provider.down()
    try {
      // This process has not fetched the provider's metadata yet.
      const headers = { authorization: `Bearer ${access_token}` }
      const answer = await fetch(`${other.base}/api/v1/users/revoke-token`, { method: 'POST', headers })
      expect(await answer.json()).toEqual({ success: true })
    } finally {
      await provider.up()
      await other.stop()
    }
    expect((await me(access_token)).status).toBe(401)
  })

  it('may start in one process and end in another', async () => {
    const { name } = person()
    const other = await startTestNode({ config, beside: node })
    try {
      const path = await enter('company', (url) =>
        url.pathname.endsWith('/callback') ? new URL(url.pathname + url.search, other.base) : url,
      )
      expect(path).toContain(`username=${name}`)
      expect((await exchange(path)).status).toBe(200)
    } finally {
      await other.stop()
    }
  })

  it('works without PKCE if the provider does not support it', async () => {
    person({ email_verified: false })
    expect((await exchange(await enter('plain'))).status).toBe(200)
  })

  it('uses a free username if the name is taken locally', async () => {
    const { sub } = person()
    provider.accounts.set(sub, { ...provider.accounts.get(sub), preferred_username: 'Root' } as OpenIdAccount)
    const { body } = await exchange(await enter())
    expect((await me(body.access_token)).body).toMatchObject({ username: 'root-1', role: { id: 2 } })
  })

  it('assigns roles by group, and removes them', async () => {
    const { sub } = person({ groups: ['staff'] })
    const account = provider.accounts.get(sub) as OpenIdAccount
    const roleNow = async () => (await me((await exchange(await enter())).body.access_token)).body.role.id
    expect(await roleNow()).toBe(1)
    provider.accounts.set(sub, { ...account, groups: ['STAFF', 'bosses'] })
    expect(await roleNow()).toBe(0)
    provider.accounts.set(sub, { ...account, groups: [] })
    expect(await roleNow()).toBe(2)
  })
})

describe('a local user with the same address', () => {
  it('is linked if both sides have verified it', async () => {
    const { email } = person()
    const username = await localUser(email, true)
    const { body } = await exchange(await enter())
    expect((await me(body.access_token)).body).toMatchObject({ username, pluginAuth: null })
    expect((await token({ username, password: 'a good password' })).status).toBe(200)
  })

  it.each([
    ['it is not verified here', 'company', true, false],
    ['it is not verified there', 'company', false, true],
    ['the administrator has not allowed it', 'plain', true, true],
  ])('is not linked if %s', async (_what, name, isVerifiedThere, isVerifiedHere) => {
    const { email } = person({ email_verified: isVerifiedThere })
    await localUser(email, isVerifiedHere)
    expect(await enter(name)).toBe(REFUSED)
  })

  it('is not linked to the next owner of the address at the same provider', async () => {
    const { sub, email } = person()
    await exchange(await enter())
    provider.accounts.delete(sub)
    person({ email })
    expect(await enter()).toBe(REFUSED)
  })
})

describe('a login is refused for', () => {
  const isCallback = (url: URL): boolean => url.pathname.endsWith('/callback')
  const changed = (name: string, value: string, isAt: (url: URL) => boolean) => (url: URL) => {
    if (isAt(url) && url.searchParams.has(name)) url.searchParams.set(name, value)
    return url
  }

  it.each([
    ['a wrong nonce', 'unexpected ID Token "nonce" claim value', changed('nonce', 'another-nonce', (url) => url.pathname === '/auth')],
    ['a wrong state', 'unexpected "state" response parameter value', changed('state', 'another-state', isCallback)],
    ['a wrong issuer', 'unexpected "iss" (issuer) response parameter value', changed('iss', 'http://127.0.0.1:1', isCallback)],
    ['a wrong code', 'server responded with an error', changed('code', 'another-code', isCallback)],
    [
      'a wrong challenge',
      'server responded with an error',
      changed('code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', (url) => url.pathname === '/auth'),
    ],
  ])('%s', async (_what, reason, change) => {
    person()
    expect(await enter('company', change)).toBe(REFUSED)
    expect(reasons.at(-1)).toContain(reason)
  })

  it('a used code, in the same browser and in others', async () => {
    person()
    const { open, cookiesOf } = visitor({ isClient: true })
    let [callback, cookie] = ['', '']
    await open(begin('company'), (url) => {
      if (isCallback(url)) [callback, cookie] = [url.href, cookiesOf(url.hostname)]
      return url
    })
    expect(cookie).toContain('vireo-external-login=')
    const again = await fetch(callback, { redirect: 'manual', headers: { cookie } })
    expect(again.headers.get('location')).toBe(REFUSED)
    expect(reasons.at(-1)).toContain('server responded with an error')
    const elsewhere = await fetch(callback, { redirect: 'manual' })
    expect(elsewhere.headers.get('location')).toBe(REFUSED)
    expect(reasons.at(-1)).toContain('This browser has begun no such login')
  })

  it.each([
    ['a token that has expired', { exp: 1_000_000_000 }],
    ['a token of another issuer', { iss: 'http://127.0.0.1:1' }],
    ['a token for another client', { aud: 'another' }],
    ['a token without the nonce', { nonce: undefined }],
  ])('%s', async (_what, wrong) => {
    person()
    provider.wrong = wrong
    try {
      expect(await enter()).toBe(REFUSED)
      expect(reasons.at(-1)).toMatch(/JWT (?:"exp"|"iss"|"aud"|"nonce")|"nonce"|JWT claim/)
    } finally {
      provider.wrong = {}
    }
  })

  it('a user without a verified address, or without any', async () => {
    person({ email_verified: false })
    expect(await enter()).toBe(REFUSED)
    expect(reasons.at(-1)).toContain('has verified no e-mail address')
    person({ email: '' })
    expect(await enter()).toBe(REFUSED)
    expect(reasons.at(-1)).toContain('has verified no e-mail address')
  })

  it('a user outside the allowed groups, or who is blocked locally', async () => {
    person({ groups: ['others'] })
    expect(await enter('strict')).toBe(REFUSED)
    expect(reasons.at(-1)).toContain('No group of the user may log in')
    person()
    const { access_token } = (await exchange(await enter())).body
    const { id } = (await me(access_token)).body
    await ask('POST', `/users/${id}/block`, {})
    expect((await exchange(await enter())).body).toMatchObject({ code: 'access_denied' })
  })

  it('a provider with another issuer, and one that is not configured', async () => {
    expect((await fetch(`${node.base}${begin('foreign')}`, { redirect: 'manual' })).status).toBe(403)
    expect((await fetch(`${node.base}${begin('nobody')}`, { redirect: 'manual' })).status).toBe(404)
  })
})

describe('a session refresh', () => {
  it('refreshes at the provider, as often as it is due', async () => {
    person()
    let { refresh_token, access_token } = (await exchange(await enter())).body
    for (let count = 0; count < 3; count += 1) {
      const next = await refresh(refresh_token)
      expect(next.status).toBe(200)
      ;({ refresh_token, access_token } = next.body)
    }
    expect((await me(access_token)).status).toBe(200)
  })

  /** Two sessions and an application token of the user who logs in next. */
  async function twoSessions(name?: string) {
    const [first, second] = [(await exchange(await enter(name))).body, (await exchange(await enter(name))).body]
    const requested = { name: 'A script', scopes: ['read'], expiresAt: '2999-01-01T00:00:00Z' }
    const { token } = (await (await ask('POST', '/vireo/application-tokens', requested, first.access_token)).json()) as { token: string }
    const open = async () => {
      const answers = await Promise.all([first.access_token, second.access_token, token].map(me))
      return answers.map(({ status }) => status)
    }
    expect(await open()).toEqual([200, 200, 200])
    return { first, second, open }
  }

  it('ends everything for a user who is unknown to the provider', async () => {
    const { sub } = person()
    const { first, open } = await twoSessions()
    provider.closed.add(sub)
    expect((await refresh(first.refresh_token)).body).toMatchObject({ code: 'invalid_grant' })
    expect(await open()).toEqual([401, 401, 401])
  })

  it('ends everything for a user who has left the group', async () => {
    const { sub } = person({ groups: ['members'] })
    const { first, open } = await twoSessions('strict')
    provider.accounts.set(sub, { ...(provider.accounts.get(sub) as OpenIdAccount), groups: [] })
    expect((await refresh(first.refresh_token)).body).toMatchObject({ code: 'invalid_grant' })
    expect(await open()).toEqual([401, 401, 401])
    expect(await enter('strict')).toBe(REFUSED)
  })

  it('ends nothing else where the provider refuses its own refresh token', async () => {
    const { sub } = person()
    const { first, second, open } = await twoSessions()
    const account = provider.accounts.get(sub) as OpenIdAccount
    provider.accounts.delete(sub)
    expect((await refresh(first.refresh_token)).body).toMatchObject({ code: 'invalid_grant' })
    provider.accounts.set(sub, account)
    expect(await open()).toEqual([401, 200, 200])
    expect((await refresh(second.refresh_token)).status).toBe(200)
  })

  it('removes no role, and ends no session without group rules, while the provider sends no groups', async () => {
    const { sub } = person({ groups: ['staff'] })
    const first = (await exchange(await enter())).body
    const { groups: _none, ...silent } = provider.accounts.get(sub) as OpenIdAccount
    provider.accounts.set(sub, silent)
    const { status, body } = await refresh(first.refresh_token)
    expect(status).toBe(200)
    expect((await me(body.access_token)).body.role.id).toBe(1)
    // An empty list counts, and so does a login.
    provider.accounts.set(sub, { ...silent, groups: [] })
    const next = await refresh(body.refresh_token)
    expect((await me(next.body.access_token)).body.role.id).toBe(2)
  })

  it('is refused where group membership is required and the provider sends no groups, and nothing else ends', async () => {
    const { sub } = person({ groups: ['members'] })
    const [first, second] = [(await exchange(await enter('strict'))).body, (await exchange(await enter('strict'))).body]
    const { groups: _none, ...silent } = provider.accounts.get(sub) as OpenIdAccount
    provider.accounts.set(sub, silent)
    expect((await refresh(first.refresh_token)).body).toMatchObject({ code: 'invalid_grant' })
    expect((await me(first.access_token)).status).toBe(401)
    expect((await me(second.access_token)).status).toBe(200)
    expect(await enter('strict')).toBe(REFUSED)
  })

  it('is refused where the provider issues no refresh token', async () => {
    provider.refreshes = false
    try {
      person()
      const { refresh_token, access_token } = (await exchange(await enter())).body
      expect((await me(access_token)).status).toBe(200)
      expect((await refresh(refresh_token)).body).toMatchObject({ code: 'invalid_grant' })
      expect((await me(access_token)).status).toBe(401)
    } finally {
      provider.refreshes = true
    }
  })

  it('is refused where an earlier version stored the token alone', async () => {
    const { name } = person()
    const { refresh_token } = (await exchange(await enter())).body
    const sealed = makeSecrets({ secret: SECRET }).seal('a-token-of-the-provider')
    await run(
      node.databaseUrl,
      `update session set external_grant_sealed = '${sealed}' where user_id = (select id from users where username = '${name}')`,
    )
    expect((await refresh(refresh_token)).body).toMatchObject({ code: 'invalid_grant' })
  })

  it('is refused while the provider is unavailable, and works afterwards', async () => {
    person()
    const { refresh_token, access_token } = (await exchange(await enter())).body
    await provider.down()
    try {
      expect((await refresh(refresh_token)).status).toBe(503)
      expect((await me(access_token)).status).toBe(200)
    } finally {
      await provider.up()
    }
    expect((await refresh(refresh_token)).status).toBe(200)
  })
})

describe('an interrupted refresh', () => {
  it('continues with the token that the provider issued before the failure', async () => {
    person()
    const { refresh_token } = (await exchange(await enter())).body
    provider.failing.add('/me')
    try {
      expect((await refresh(refresh_token)).status).toBe(503)
    } finally {
      provider.failing.clear()
    }
    expect((await refresh(refresh_token)).status).toBe(200)
  })

  it('can be repeated in another process after a crash', async () => {
    const { name } = person()
    const { refresh_token, access_token } = (await exchange(await enter())).body
    const { promise, resolve: speak } = Promise.withResolvers<void>()
    provider.silence = promise
    const lost = refresh(refresh_token)
    const requested = `select external_asked_at as at from session where user_id = (select id from users where username = '${name}')`
    await until(async () => (await run<{ at: Date | null }>(node.databaseUrl, requested))[0]?.at !== null)
    // The provider must not get a token twice at once.
    expect((await refresh(refresh_token)).status).toBe(503)
    const clock = fakeClock()
    clock.pass(120_000)
    const other = await startTestNode({ config, beside: node, clock })
    try {
      provider.silence = undefined
      const next = await refresh(refresh_token, other.base)
      expect(next.status).toBe(200)
      expect((await me(access_token)).status).toBe(401)
      // The other process was only slow, and learns that its token was used meanwhile.
      speak()
      expect((await lost).body).toMatchObject({ code: 'invalid_grant' })
      expect((await me(next.body.access_token)).status).toBe(200)
    } finally {
      speak()
      await other.stop()
    }
  })
})

describe('the login page', () => {
  it('logs out locally and at the provider', async () => {
    const { sub } = person()
    const { open, cookiesOf } = visitor({ isClient: false })
    await open(begin('company'))
    const form = formIn(await (await fetch(`${node.base}/logout`, { headers: { cookie: cookiesOf('127.0.0.1') } })).text(), '/logout')
    const answer = await fetch(`${node.base}/logout`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: cookiesOf('127.0.0.1'), origin: node.base, 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams(form.fields),
    })
    // No redirect, which `form-action` of the form's page would block.
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-security-policy')).toContain("form-action 'self';")
    const [, address = ''] = /^0; url=(.*)$/.exec(answer.headers.get('refresh') ?? '') ?? []
    expect(address).toMatch(new RegExp(`^${provider.issuer}/session/end\\?`))
    expect(decodeJwt(new URL(address).searchParams.get('id_token_hint') ?? '').sub).toBe(sub)
    expect(linksIn(await answer.text(), 'Log out there too')).toEqual([address])
  })

  it('redirects to the provider, logs in without a script, and continues', async () => {
    const { name } = person()
    const { html } = await makeBrowser(node.base).open('/login?next=%2Fmy-account%2Fsettings')
    const [href = ''] = linksIn(html, 'The company')
    expect(href).toBe('/plugins/vireo-openid-connect/1/auth/company?next=%2Fmy-account%2Fsettings')
    const { open } = visitor({ isClient: false })
    const back = await open(href)
    expect(back.searchParams.get('next')).toBe('/my-account/settings')
    expect((await open('/my-account/settings')).pathname).toBe('/my-account/settings')
    // The page used the token.
    expect((await exchange(`${back.pathname}${back.search}`)).body).toMatchObject({ code: 'invalid_grant' })
    expect(back.searchParams.get('username')).toBe(name)
  })

  it('does not log in with a link of another user, nor redirect to other sites', async () => {
    person()
    const remote = await fetch(`${node.base}${begin('company')}?next=https://evil.example`, { redirect: 'manual' })
    expect(remote.status).toBe(302)
    const browser = makeBrowser(node.base)
    const page = await browser.open(`/login?externalAuthToken=${'0'.repeat(40)}&username=root`)
    expect(page.status).toBe(403)
    expect(page.html).toContain('This login did not work')
    expect((await browser.open('/my-account/settings')).path).toContain('/login')
    expect((await browser.open(REFUSED)).status).toBe(403)
  })
})
