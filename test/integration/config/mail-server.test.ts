// The mail server that an administrator sets while the server runs, over the API and on the pages.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { makeBrowser, partIn } from '../../support/browser.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { run } from '../../support/postgres.ts'

const PATH = '/api/v1/vireo/mail-server'
const USER = { username: 'vireo', password: 'a secret of the mail server' }

let node: TestNode
let root: Client
let [first, second]: MailServer[] = []

beforeAll(async () => {
  ;[node, first, second] = await Promise.all([startTestNode(), startMailServer({ user: USER }), startMailServer()])
  root = await login(node.base, node.username, node.password)
})
afterAll(async () => {
  await Promise.all([node?.stop(), first?.close(), second?.close()])
})

let serial = 0
/** Asks for a new password of a new user; returns the address. */
async function askForPassword(): Promise<string> {
  serial += 1
  const email = `person${serial}@example.com`
  await root.send('POST', '/api/v1/users', { username: `person${serial}`, email, password: 'a good password', role: 2 })
  await root.send('POST', '/api/v1/users/ask-reset-password', { email })
  return email
}

const put = async (body: object) => {
  const headers = { 'content-type': 'application/json' }
  const answer = await root.raw(PATH, { method: 'PUT', headers, body: JSON.stringify(body) })
  return { status: answer.status, body: await answer.json() }
}

it('sends mails with it, and with the next one, and never shows its password', async () => {
  expect(await root.get(PATH)).toEqual({
    hostname: null,
    port: 465,
    username: null,
    tls: true,
    from_address: 'admin@example.com',
    pinned: [],
  })
  const settings = { hostname: '127.0.0.1', port: first?.port, username: USER.username, tls: false, from_address: 'videos@example.org' }
  expect(await put({ ...settings, password: USER.password })).toEqual({ status: 200, body: { ...settings, pinned: [] } })
  expect(await root.get(PATH)).toEqual({ ...settings, pinned: [] })
  const stored = await run(node.databaseUrl, 'select * from runtime_config')
  expect(JSON.stringify(stored)).toContain('videos@example.org')
  expect(JSON.stringify(stored)).not.toContain(USER.password)
  expect(await root.get('/api/v1/config')).toMatchObject({ email: { enabled: true } })
  expect((await first?.next(await askForPassword()))?.from).toBe('videos@example.org')

  // The password stays with its server, and goes to no other one.
  expect((await put({ from_address: 'others@example.org' })).status).toBe(200)
  expect((await first?.next(await askForPassword()))?.from).toBe('others@example.org')
  expect(await put({ port: second?.port })).toMatchObject({ status: 400, body: { detail: expect.stringContaining('password is missing') } })
  expect((await put({ port: second?.port, username: null, password: null })).status).toBe(200)
  expect((await second?.next(await askForPassword()))?.from).toBe('others@example.org')
})

describe('a password', () => {
  const FILE = { hostname: '127.0.0.1', username: 'me', password: 'the password of the files', tls: false }
  let strict: TestNode
  let admin: Client
  const change = async (body: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await admin.raw(PATH, { method: 'PUT', headers, body: JSON.stringify(body) })
    return answer.status
  }
  beforeAll(async () => {
    strict = await startTestNode({ config: { smtp: { ...FILE, port: first?.port, from_address: 'Videos of the lake' } } })
    admin = await login(strict.base, strict.username, strict.password)
  })
  afterAll(() => strict?.stop())

  it('of the files goes to no other server', async () => {
    expect(await admin.get(PATH)).toMatchObject({ from_address: 'Videos of the lake' })
    expect(await change({ port: second?.port })).toBe(400)
    expect(await change({ username: 'other' })).toBe(400)
    expect(await change({ tls: true })).toBe(400)
    // None at all, instead of the one of the files.
    expect(await change({ port: second?.port, password: null, from_address: 'lake@example.org' })).toBe(200)
    const email = 'strict@example.com'
    await admin.send('POST', '/api/v1/users', { username: 'strict', email, password: 'a good password', role: 2 })
    await admin.send('POST', '/api/v1/users/ask-reset-password', { email })
    await second?.next(email)
    const stored = await run<{ overrides: object }>(strict.databaseUrl, 'select overrides from runtime_config')
    expect(JSON.stringify(stored)).not.toContain(FILE.password)
    // Nor does one that was set meanwhile, to the server of the files.
    expect(await change({ password: 'another' })).toBe(200)
    expect(await change({ hostname: null })).toBe(200)
    expect(await admin.get(PATH)).toMatchObject({ hostname: null })
    expect(await change({ hostname: FILE.hostname })).toBe(400)
  })

  it('is not needed without a user', async () => {
    expect(await change({ hostname: FILE.hostname, port: second?.port, username: null })).toBe(200)
    expect(await change({ port: first?.port })).toBe(200)
    expect(await change({ username: 'me' })).toBe(400)
  })

  it('is not written back by changes beside it', async () => {
    expect(await change({ ...FILE, port: first?.port })).toBe(200)
    const rounds = Array.from({ length: 8 }, (_none, round) => round)
    await Promise.all(
      rounds.flatMap((round) => [
        change({ port: second?.port, password: `decoy ${round}` }),
        change({ from_address: `round${round}@example.org` }),
        change({ from_address: `again${round}@example.org` }),
      ]),
    )
    const [row] = await run<{ sealed: boolean; port: number }>(
      strict.databaseUrl,
      `select overrides #>> '{smtp,password}' is not null as sealed, (overrides #>> '{smtp,port}')::int as port from runtime_config`,
    )
    // The password of the files would be no override.
    expect(row).toEqual({ sealed: true, port: second?.port })
  })
})

it('refuses nonsense by field, and changes nothing', async () => {
  const before = await root.get(PATH)
  const { status, body } = await put({ port: 70_000, from_address: 'nobody', tls: 'perhaps', hostname: 1 })
  expect([status, Object.keys(body['invalid-params']).sort()]).toEqual([400, ['from_address', 'hostname', 'port', 'tls']])
  expect(await root.get(PATH)).toEqual(before)
})

it('is set on the page of the configuration, where an empty password stays', async () => {
  await put({ hostname: '127.0.0.1', port: first?.port, username: USER.username, password: USER.password })
  const browser = makeBrowser(node.base)
  await browser.login(node.username, node.password)
  const page = await browser.open('/admin/config')
  expect(page.html).not.toContain(USER.password)
  const form = partIn(page.html, 'mail')
  expect(form.fields).toMatchObject({ hostname: '127.0.0.1', port: String(first?.port), username: USER.username, password: '' })
  expect((await browser.send(form, { from_address: 'page@example.org' })).status).toBe(200)
  expect((await first?.next(await askForPassword()))?.from).toBe('page@example.org')
  const refused = await browser.send(form, { from_address: 'nobody' })
  expect([refused.status, /id="mail-from_address-note">([^<]*)</.exec(refused.html)?.[1]]).toEqual([400, 'Should be an e-mail address'])
  expect((await browser.send(form, { hostname: '' })).status).toBe(200)
  expect(await root.get(PATH)).toMatchObject({ hostname: null })
})

it('has no fields on the pages for what the environment sets, nor has the setup', async () => {
  const pinning = { smtp__port: 2525, smtp__tls: false, smtp__password: 'a secret', signup__limit: 7, signup__enabled: true }
  const pinned = await startTestNode({ config: { smtp: { hostname: '127.0.0.1' }, ...pinning } })
  try {
    const admin = await login(pinned.base, pinned.username, pinned.password)
    expect(await admin.get(PATH)).toMatchObject({ port: 2525, tls: false, pinned: ['port', 'password', 'tls'] })
    const browser = makeBrowser(pinned.base)
    await browser.login(pinned.username, pinned.password)
    for (const path of ['/admin/setup', '/admin/config']) {
      const { html } = await browser.open(path)
      const isLocked = (name: string) => new RegExp(`<input [^>]*name="${name}"[^>]* disabled`).test(html)
      const names = ['port', 'tls', 'password', 'signup.limit', 'signup.enabled', 'hostname', 'username', 'instance.name']
      expect(names.filter(isLocked)).toEqual(['port', 'tls', 'password', 'signup.limit', 'signup.enabled'])
      expect(html).toMatch(/<p class="soft" id="mail-port-note">Set in the environment of the server, and locked here.</)
      expect(html).toMatch(/id="(setup|config)-signup.limit-note">[^<]* Set in the environment of the server, and locked here.</)
      // What is sent nevertheless is left out, and the rest is saved.
      const mail = partIn(html, 'mail')
      expect((await browser.send(mail, { port: '25', tls: 'true', from_address: 'lake@example.org', password: 'another' })).path).toBe(
        `${path}?done=mail`,
      )
      expect(await admin.get(PATH)).toMatchObject({ port: 2525, tls: false, from_address: 'lake@example.org' })
      const part = partIn(html, path === '/admin/setup' ? 'setup' : 'config')
      expect((await browser.send(part, { 'instance.name': `By ${path}`, 'signup.limit': '8' })).path).toContain(`${path}?done=`)
      expect(await admin.get('/api/v1/config/custom')).toMatchObject({
        instance: { name: `By ${path}` },
        signup: { enabled: true, limit: 7 },
      })
    }
  } finally {
    await pinned.stop()
  }
})
