// Application tokens: scopes, operations that need a session, and expiry.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { RouteOptions } from 'fastify'
import { io } from 'socket.io-client'
import { FIELDS_FOR_SESSIONS, FOR_SESSIONS, READING, REVEALING, scopeOf, UPLOADING } from '../../../src/http/plugins/token-scopes.ts'
import { formIn, makeBrowser, SURE } from '../../support/browser.ts'
import { fakeClock } from '../../support/clock.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'

const PATH = '/api/v1/vireo/application-tokens'
const PASSWORD = 'a good password'
const DAY = 86_400_000

const clock = fakeClock()
const routes = new Map<string, RouteOptions>()
let node: TestNode
let root: string

beforeAll(async () => {
  node = await startTestNode({
    clock,
    config: {
      live: { enabled: true },
      rates_limit: { login: { max: 1000 } },
      oauth2: { token_lifetime: { access_token: '1 year', refresh_token: '2 years' } },
    },
    onRoute: (route) => [route.method].flat().forEach((method) => void routes.set(`${method} ${route.url}`, route)),
  })
  root = await login(node.username, node.password)
})
afterAll(() => node?.stop())

async function ask(token: string, method: string, path: string, body?: object) {
  const answer = await fetch(`${node.base}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text ? JSON.parse(text) : undefined }
}
const statusOf = async (...requested: Parameters<typeof ask>): Promise<number> => (await ask(...requested)).status

async function login(username: string, password: string): Promise<string> {
  const client = await (await fetch(`${node.base}/api/v1/oauth-clients/local`)).json()
  const form = new URLSearchParams({ ...client, grant_type: 'password', username, password })
  const { access_token } = await (await fetch(`${node.base}/api/v1/users/token`, { method: 'POST', body: form })).json()
  return access_token
}

let serial = 0
/** A new user with a session. */
async function member(role = 2) {
  const username = `member${++serial}`
  const body = { username, password: PASSWORD, email: `${username}@example.com`, role, videoQuota: -1, videoQuotaDaily: -1 }
  const { id } = (await ask(root, 'POST', '/api/v1/users', body)).body.user
  return { id: id as number, username, session: await login(username, PASSWORD) }
}

const inDays = (days: number): string => new Date(clock.now().getTime() + days * DAY).toISOString()

async function made(session: string, scopes: string[], days = 30): Promise<{ id: number; token: string }> {
  const { status, body } = await ask(session, 'POST', PATH, { name: scopes.join(' and '), scopes, expiresAt: inDays(days) })
  expect({ status, body }).toMatchObject({ status: 200 })
  return body
}

describe('an application token', () => {
  it('is shown once, works as a bearer token, and is listed with its last use, updated once a minute', async () => {
    const { session, id: userId } = await member()
    const expiresAt = inDays(30)
    const created = await ask(session, 'POST', PATH, { name: 'Backup', scopes: ['read', 'upload'], expiresAt })
    const view = { id: expect.any(Number), name: 'Backup', scopes: ['read', 'upload'], expiresAt, createdAt: clock.now().toISOString() }
    expect(created.body).toEqual({ ...view, lastUsedAt: null, token: expect.stringMatching(/^vireo_[0-9a-f]{40}$/) })
    expect(created.headers.get('cache-control')).toBe('no-store')
    const { token } = created.body
    const listed = async () => (await ask(session, 'GET', PATH)).body
    expect(await listed()).toEqual({ total: 1, data: [{ ...view, lastUsedAt: null }] })

    const first = clock.now().toISOString()
    expect((await ask(token, 'GET', '/api/v1/users/me')).body).toMatchObject({ id: userId })
    expect((await listed()).data[0].lastUsedAt).toBe(first)
    clock.pass(59_000)
    expect(await statusOf(token, 'GET', '/api/v1/users/me')).toBe(200)
    expect((await listed()).data[0].lastUsedAt).toBe(first)
    clock.pass(1000)
    expect(await statusOf(token, 'GET', '/api/v1/users/me')).toBe(200)
    expect((await listed()).data[0].lastUsedAt).toBe(clock.now().toISOString())

    expect(JSON.stringify(await listed())).not.toContain(token)
  })

  it.each([
    ['no name', { name: '' }, 'name'],
    ['no scope', { scopes: [] }, 'scopes'],
    ['an unknown scope', { scopes: ['root'] }, 'scopes'],
    ['a scope twice', { scopes: ['read', 'read'] }, 'scopes'],
    ['an expiry in the past', { expiresAt: '2001-01-01T00:00:00Z' }, 'expiresAt'],
  ])('cannot be created with %s', async (_what, change, field) => {
    const { session } = await member()
    const body = { name: 'x', scopes: ['read'], expiresAt: inDays(1), ...change }
    const answer = await ask(session, 'POST', PATH, body)
    expect([answer.status, Object.keys(answer.body['invalid-params'])]).toEqual([400, [field]])
  })

  it('is limited to a hundred per user', async () => {
    const { session } = await member()
    for (let count = 0; count < 100; count += 1) await made(session, ['read'])
    expect(await statusOf(session, 'POST', PATH, { name: 'x', scopes: ['read'], expiresAt: inDays(1) })).toBe(409)
    expect((await ask(session, 'GET', `${PATH}?count=2&start=99`)).body).toMatchObject({ total: 100, data: [{ name: 'read' }] })
  })
})

describe('a scope', () => {
  /** Requests for each scope, with the status for a token that has it; any status but 403 shows that the scope was sufficient. */
  const requested = [
    ['read', 'GET', '/api/v1/users/me'],
    ['read', 'GET', '/api/v1/videos'],
    ['upload', 'POST', '/api/v1/videos/upload-resumable'],
    ['upload', 'PUT', '/api/v1/videos/1'],
    ['manage', 'PUT', '/api/v1/users/me'],
    ['manage', 'DELETE', '/api/v1/videos/1'],
    ['manage', 'POST', '/api/v1/video-channels'],
    ['admin', 'GET', '/api/v1/users'],
    ['admin', 'GET', '/api/v1/config/custom'],
    ['admin', 'POST', '/api/v1/jobs/pause'],
  ] as const

  it.each([
    ['read', ['read']],
    ['upload', ['upload']],
    ['manage', ['upload', 'manage']],
    ['admin', ['admin']],
  ])('%s allows exactly its own routes', async (scope, opened) => {
    const { token } = await made(root, [scope])
    for (const [needed, method, path] of requested) {
      const { status, body, headers } = await ask(token, method, path, method === 'GET' || path.endsWith('pause') ? undefined : {})
      const isOpen = opened.includes(needed)
      expect({ method, path, isOpen: status !== 403 }).toEqual({ method, path, isOpen })
      if (isOpen) continue
      expect(body).toMatchObject({ code: 'insufficient_scope' })
      expect(headers.get('www-authenticate')).toBe(`Bearer error="insufficient_scope", scope="${needed}"`)
    }
    await ask(root, 'POST', '/api/v1/jobs/resume')
  })

  it('admin is for the staff, and ends with the role', async () => {
    const { session } = await member()
    expect(await statusOf(session, 'POST', PATH, { name: 'x', scopes: ['admin'], expiresAt: inDays(1) })).toBe(403)
    const moderator = await member(1)
    const { token } = await made(moderator.session, ['admin'])
    expect(await statusOf(token, 'GET', '/api/v1/users')).toBe(200)
    expect(await statusOf(token, 'GET', '/api/v1/config/custom')).toBe(403)
    await ask(root, 'PUT', `/api/v1/users/${moderator.id}`, { role: 2 })
    expect(await statusOf(token, 'GET', '/api/v1/users')).toBe(403)
  })

  it('manage of an administrator does not cover objects of others', async () => {
    const { session } = await member()
    const channel = (await ask(session, 'GET', '/api/v1/users/me')).body.videoChannels[0].name
    const change = { displayName: 'Taken over' }
    const { token } = await made(root, ['read', 'manage'])
    expect(await statusOf(token, 'PUT', `/api/v1/video-channels/${channel}`, change)).toBe(403)
    const both = await made(root, ['manage', 'admin'])
    expect(await statusOf(both.token, 'PUT', `/api/v1/video-channels/${channel}`, change)).toBe(204)
  })

  it('read reveals nothing that outlives the token', async () => {
    const { body } = await ask(root, 'GET', '/api/v1/users/me')
    const live = { channelId: body.videoChannels[0].id, name: 'A live', permanentLive: true }
    const { id } = (await ask(root, 'POST', '/api/v1/videos/live', live)).body.video
    const [reader, maker] = [(await made(root, ['read'])).token, (await made(root, ['read', 'upload'])).token]
    const keyFor = async (token: string) => (await ask(token, 'GET', `/api/v1/videos/live/${id}`)).body.streamKey
    expect([await keyFor(root), await keyFor(maker), await keyFor(reader)]).toEqual([expect.any(String), expect.any(String), undefined])
    expect(await statusOf(reader, 'GET', `/api/v1/videos/${id}/passwords`)).toBe(403)
    expect(await statusOf(reader, 'GET', '/api/v1/users/1/exports')).toBe(403)
  })

  it('is documented for each route', async () => {
    const { paths } = await (await fetch(`${node.base}/api/v1/openapi.json`)).json()
    expect(paths['/api/v1/users/me'].put.security).toEqual([{ bearer: ['manage'] }])
    expect(paths['/api/v1/videos'].get.security).toEqual([{}, { bearer: ['read'] }])
    expect(paths['/api/v1/ping'].get.security).toBeUndefined()
  })

  it('is required by existing routes', () => {
    const named = [...FOR_SESSIONS, ...FIELDS_FOR_SESSIONS.keys(), ...UPLOADING, ...READING, ...REVEALING]
    expect(named.filter((name) => !routes.has(name))).toEqual([])
    const scopes = [...routes.values()].filter(({ config }) => config?.auth || config?.right).map(scopeOf)
    expect(new Set(scopes)).toEqual(new Set(['read', 'upload', 'manage', 'admin', 'session']))
  })
})

describe('a token with all scopes', () => {
  let token: string
  beforeAll(async () => {
    token = (await made(root, ['read', 'upload', 'manage', 'admin'])).token
  })

  it('cannot create, list or revoke tokens', async () => {
    const body = { name: 'x', scopes: ['read'], expiresAt: inDays(1) }
    expect(await statusOf(token, 'POST', PATH, body)).toBe(403)
    expect(await statusOf(token, 'GET', PATH)).toBe(403)
    expect(await statusOf(token, 'DELETE', `${PATH}/1`)).toBe(403)
    expect(await statusOf(token, 'GET', '/api/v1/users/scoped-tokens')).toBe(403)
    expect(await statusOf(token, 'POST', '/api/v1/users/revoke-token')).toBe(403)
  })

  it.each([
    ['the own password', 'PUT', '/api/v1/users/me', { currentPassword: 'test-password', password: 'another one' }],
    ['the own address', 'PUT', '/api/v1/users/me', { currentPassword: 'test-password', email: 'new@example.com' }],
    ['the password by the administration', 'PUT', '/api/v1/users/1', { password: 'another one' }],
    ['the address by the administration', 'PUT', '/api/v1/users/1', { email: 'new@example.com' }],
    ['two-factor login', 'POST', '/api/v1/users/1/two-factor/request', { currentPassword: 'test-password' }],
    ['the account, to remove it', 'DELETE', '/api/v1/users/me', undefined],
  ])('cannot change %s', async (_what, method, path, body) => {
    expect(await statusOf(token, method, path, body)).toBe(403)
    expect((await ask(root, 'GET', '/api/v1/users/me')).body.email).toBe('admin@example.com')
  })

  it.each([
    ['who logs in, and as what', 'PUT', '/api/v1/vireo/logins'],
    ['who logs in, by the files', 'DELETE', '/api/v1/config/custom'],
    ['the code of the server', 'POST', '/api/v1/plugins/install'],
    ['the code of the server by a newer one', 'POST', '/api/v1/plugins/update'],
    ['the logins of plugins', 'POST', '/api/v1/plugins/uninstall'],
    ['the logins of plugins by a switch', 'POST', '/api/v1/vireo/plugins/peertube-plugin-x/disable'],
    ['a plugin that is off', 'POST', '/api/v1/vireo/plugins/peertube-plugin-x/enable'],
    ['what plugins do', 'PUT', '/api/v1/plugins/peertube-plugin-x/settings'],
    ['which runners there are', 'POST', '/api/v1/runners/registration-tokens/generate'],
    ['where notifications go', 'POST', '/api/v1/vireo/push-subscriptions'],
  ])('cannot change %s', async (_what, method, path) => {
    const { status, body } = await ask(token, method, path, {})
    expect({ status, body }).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope', detail: 'Application tokens may not do this.' },
    })
  })

  it.each(['/api/v1/plugins', '/api/v1/plugins/peertube-plugin-x', '/api/v1/runners/registration-tokens'])(
    'cannot read the secrets of %s',
    async (path) => {
      expect((await ask(token, 'GET', path)).body).toMatchObject({ code: 'insufficient_scope' })
    },
  )

  it('changes the configuration, but not the custom JavaScript', async () => {
    const before = (await ask(root, 'GET', '/api/v1/config/custom')).body
    const changed = (customizations: object, name: string) => ({
      ...before,
      instance: { ...before.instance, name, customizations: { ...before.instance.customizations, ...customizations } },
    })
    const refused = await ask(token, 'PUT', '/api/v1/config/custom', changed({ javascript: 'steal()' }, 'Taken over'))
    expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    expect((await ask(root, 'GET', '/api/v1/config/custom')).body).toEqual(before)
    expect(await statusOf(token, 'PUT', '/api/v1/config/custom', changed({}, 'Renamed'))).toBe(200)
    expect(await statusOf(root, 'PUT', '/api/v1/config/custom', changed({ javascript: 'greet()' }, 'Renamed'))).toBe(200)
    expect(await statusOf(token, 'PUT', '/api/v1/config/custom', changed({ javascript: 'greet()' }, 'Again'))).toBe(200)
  })

  it('creates users without a role only, and assigns no role', async () => {
    const body = { username: 'plain', password: PASSWORD, email: 'plain@example.com', videoQuota: -1, videoQuotaDaily: -1 }
    for (const more of [{ role: 0 }, { role: 1 }, { role: 2, adminFlags: 1 }]) {
      expect(await statusOf(token, 'POST', '/api/v1/users', { ...body, ...more })).toBe(403)
    }
    const { status, body: answer } = await ask(token, 'POST', '/api/v1/users', { ...body, role: 2 })
    expect(status).toBe(200)
    for (const change of [{ role: 0 }, { adminFlags: 1 }]) {
      expect(await statusOf(token, 'PUT', `/api/v1/users/${answer.user.id}`, change)).toBe(403)
    }
  })

  it('works neither on pages nor for sockets', async () => {
    const page = await fetch(`${node.base}/my-account/settings`, { headers: { cookie: `vireo-session=${token}` }, redirect: 'manual' })
    expect(page.headers.get('location')).toContain('/login')
    const options = { transports: ['websocket'], reconnection: false, forceNew: true }
    const socket = io(`${node.base}/user-notifications`, { ...options, query: { accessToken: token } })
    const refusal = await new Promise<Error>((resolve, reject) => {
      socket.once('connect_error', resolve).once('connect', () => reject(new Error('The socket is open.')))
    })
    socket.disconnect()
    expect(refusal.message).toBe('The access token is not valid.')
  })
})

describe('an application token ends', () => {
  const works = async (token: string): Promise<boolean> => (await statusOf(token, 'GET', '/api/v1/users/me')) === 200

  it('when it expires, and is deleted then', async () => {
    const { session } = await member()
    const { token } = await made(session, ['read'], 1)
    expect(await works(token)).toBe(true)
    clock.pass(DAY)
    expect(await works(token)).toBe(false)
    clock.pass(DAY)
    await until(async () => (await ask(session, 'GET', PATH)).body.total === 0)
  })

  it('when its user revokes it, and nobody else can', async () => {
    const [mine, remote] = [await member(), await member()]
    const { id, token } = await made(mine.session, ['read'])
    const other = await made(mine.session, ['read'])
    expect(await works(token)).toBe(true)
    expect(await statusOf(remote.session, 'DELETE', `${PATH}/${id}`)).toBe(404)
    expect(await statusOf(mine.session, 'DELETE', `${PATH}/${id}`)).toBe(204)
    expect([await works(token), await works(other.token)]).toEqual([false, true])
    expect(await statusOf(mine.session, 'DELETE', `${PATH}/${id}`)).toBe(404)
  })

  it('when the password changes, or its user is blocked', async () => {
    const [one, two] = [await member(), await member()]
    const [first, second] = [await made(one.session, ['read']), await made(two.session, ['read'])]
    expect([await works(first.token), await works(second.token)]).toEqual([true, true])
    await ask(one.session, 'PUT', '/api/v1/users/me', { currentPassword: PASSWORD, password: 'another password' })
    await ask(root, 'POST', `/api/v1/users/${two.id}/block`, {})
    expect([await works(first.token), await works(second.token)]).toEqual([false, false])
    expect((await ask(one.session, 'GET', PATH)).body.total).toBe(0)
  })
})

it('is created and revoked on a page without scripts', async () => {
  const { username } = await member()
  const browser = makeBrowser(node.base)
  await browser.login(username, PASSWORD)
  const path = '/my-account/application-tokens'
  const page = await browser.open(path)
  expect(page.html).not.toContain('Administer the server')
  const form = page.html.match(/<form[^>]*method="post"[^>]*>.*?<\/form>/gs)?.find((one) => one.includes('value="create"')) ?? ''
  const created = await browser.send(formIn(form, path), { name: 'Script', scopes: 'read', expiresAt: inDays(3).slice(0, 16) })
  const token = /vireo_[0-9a-f]{40}/.exec(created.html)?.[0] ?? ''
  expect(await statusOf(token, 'GET', '/api/v1/users/me')).toBe(200)
  const list = await browser.open(path)
  expect(list.html).not.toContain(token)
  const act = /name="act" value="(revoke \d+)"/.exec(list.html)?.[1] ?? ''
  const rows = list.html.match(/<form[^>]*method="post"[^>]*>.*?<\/form>/gs)?.find((one) => one.includes('value="tokens"')) ?? ''
  expect((await browser.send(formIn(rows, path), { act, ...SURE })).html).toContain('Revoke: 1 done.')
  expect(await statusOf(token, 'GET', '/api/v1/users/me')).toBe(401)
})
