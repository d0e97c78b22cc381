// Registration on the page without scripts, in all modes.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Browser, type Form, formIn, makeBrowser, type Shown } from '../../support/browser.ts'
import { linkOf, type MailNode, startMailNode } from '../registrations/node.ts'

const PASSWORD = 'a good password'
const MAX_SIGNUPS = 3

let at: MailNode
beforeAll(async () => {
  at = await startMailNode({ config: { rates_limit: { signup: { max: MAX_SIGNUPS } } } })
})
afterAll(() => at?.stop())

let addresses = 1
/** Each request has a different address, so that only one test reaches the limit. */
const visitor = (): Browser => makeBrowser(at.node.base, { 'x-forwarded-for': `198.51.100.${addresses++}` })

async function opened(browser: Browser): Promise<Form> {
  const page = await browser.open('/signup')
  expect(page.status).toBe(200)
  return formIn(page.html, '/signup')
}

const typed = (name: string, more: Record<string, string> = {}): Record<string, string> => ({
  username: name,
  password: PASSWORD,
  email: `${name}@example.com`,
  terms: 'true',
  ...more,
})

const users = async (name: string): Promise<number> => (await at.query('select id from users where username = $1', [name])).length

/** Fields that the page marks as invalid. */
const wrongIn = ({ html }: Shown): string[] =>
  [...html.matchAll(/<(?:input|textarea) id="\w+-([^"]+)"[^>]*aria-invalid="true"/g)].map(([, name = '']) => name)

describe('direct registration', () => {
  it('creates a user who can log in, with the requested channel', async () => {
    const browser = visitor()
    const login = await browser.open('/login')
    expect(login.html).toContain('<a href="/signup">')
    const form = await opened(browser)
    const channel = { displayName: 'Ina <b>', 'channel.name': 'ina_films', 'channel.displayName': 'Films of Ina' }
    const done = await browser.send(form, typed('ina', channel))
    expect([done.status, done.path]).toEqual([200, '/signup'])
    expect(done.html).toContain('Your account is there')
    expect(done.headers.get('cache-control')).toBe('no-store')
    expect((await browser.login('ina', PASSWORD)).path).toBe('/')
    expect((await browser.open('/a/ina')).html).toContain('Ina &lt;b&gt;')
    expect((await browser.open('/c/ina_films')).html).toContain('Films of Ina')
    expect((await browser.open('/signup')).html).toContain('You are logged in as <strong>ina</strong>')
  })

  it('names every invalid field, keeps the input except the password, and creates no user', async () => {
    const browser = visitor()
    const form = await opened(browser)
    const bad = {
      username: 'Not Good',
      email: '"><script>alert(1)</script>',
      password: 'short',
      terms: '',
      displayName: 'x'.repeat(121),
      'channel.name': '-no-',
      'channel.displayName': 'x'.repeat(121),
    }
    const refused = await browser.send(form, bad)
    expect(refused.status).toBe(400)
    const all = ['username', 'email', 'password', 'displayName', 'channel.name', 'channel.displayName', 'terms']
    expect(wrongIn(refused)).toEqual(all)
    for (const id of all) expect(refused.html).toContain(`<p class="problem" id="signup-${id}-note">`)
    expect(refused.html).toContain('value="Not Good"')
    expect(refused.html).not.toContain('<script>alert')
    expect(refused.html).not.toContain('short"')
    expect(wrongIn(await browser.send(form, {}))).toEqual(['username', 'email', 'password', 'terms'])
    // NUL characters, the same name for two actors, and a channel without a name.
    expect(wrongIn(await browser.send(form, typed('zero', { displayName: 'a\0b' })))).toEqual(['displayName'])
    expect(wrongIn(await browser.send(form, typed('twin', { 'channel.name': 'twin' })))).toEqual(['channel.name'])
    expect(wrongIn(await browser.send(form, typed('half', { 'channel.displayName': 'Half' })))).toEqual(['channel.name'])
    expect((await users('twin')) + (await users('zero')) + (await users('half'))).toBe(0)
  })

  it('is refused for names and addresses in use', async () => {
    const browser = visitor()
    const refused = await browser.send(await opened(browser), typed('ina', { email: 'other@example.com' }))
    expect(refused.status).toBe(409)
    expect(refused.html).toContain('User with this username or email already exists.')
    expect(refused.html).toContain('value="other@example.com"')
  })

  it('is refused for forms of other sites, of other browsers, and without a token', async () => {
    const browser = visitor()
    const form = await opened(browser)
    expect((await browser.send(form, typed('forged'), { origin: 'https://evil.example' })).status).toBe(403)
    expect((await browser.send({ ...form, fields: { token: 'f00' } }, typed('forged'))).status).toBe(403)
    expect((await visitor().send(form, typed('forged'))).status).toBe(403)
    expect(await users('forged')).toBe(0)
  })

  it('has the limit of the API: refused ones do not count', async () => {
    const browser = visitor()
    const form = await opened(browser)
    for (let tries = 0; tries <= MAX_SIGNUPS; tries += 1) expect((await browser.send(form, {})).status).toBe(400)
    for (let made = 0; made < MAX_SIGNUPS; made += 1) {
      expect((await browser.send(form, typed(`many${made}`))).status).toBe(200)
    }
    const refused = await browser.send(form, typed('toomany'))
    expect(refused.status).toBe(429)
    expect(refused.html).toContain('Too many requests')
    expect(await users('toomany')).toBe(0)
  })
})

describe('registration with approval', () => {
  beforeAll(async () => {
    await at.setSignup({ requires_approval: true, requires_email_verification: true })
  })

  it('needs a reason, verifies the address, and allows a login after the approval', async () => {
    const browser = visitor()
    const form = await opened(browser)
    const refused = await browser.send(form, typed('rosa'))
    expect([refused.status, wrongIn(refused)]).toEqual([400, ['registrationReason']])
    const requested = await browser.send(form, typed('rosa', { registrationReason: 'I film <birds>.' }))
    expect(requested.status).toBe(200)
    expect(requested.html).toContain('Your request is there')
    expect(requested.html).toContain('rosa@example.com')
    expect(await users('rosa')).toBe(0)
    const { path, query } = linkOf(await at.mail.next('rosa@example.com'))
    const link = await browser.open(`${path}?${new URLSearchParams(query)}`)
    expect((await browser.send(formIn(link.html, path))).html).toContain('The address is verified')
    const again = await browser.send(form, typed('rosa', { registrationReason: 'Once more' }))
    expect([again.status, again.html.includes('already exists')]).toEqual([409, true])
    const [request] = await at.query<{ id: number; reason: string; verified: boolean }>(
      `select id, registration_reason as reason, (context->>'emailVerified')::boolean as verified
       from registration where username = 'rosa'`,
    )
    expect(request).toMatchObject({ reason: 'I film <birds>.', verified: true })
    const decision = { moderationResponse: 'Welcome', preventEmailDelivery: true }
    const accepted = await at.ask('POST', `/users/registrations/${request?.id}/accept`, decision, at.root)
    expect(accepted.status).toBe(204)
    expect((await browser.login('rosa', PASSWORD)).path).toBe('/')
  })
})

describe('closed registration', () => {
  it('is not offered, is explained, and refuses an old form', async () => {
    const browser = visitor()
    const form = await opened(browser)
    await at.setSignup({ enabled: false })
    const page = await browser.open('/signup')
    expect(page.status).toBe(200)
    expect(page.html).toContain('Nobody can sign up here now: User registration is not allowed')
    expect(page.html).not.toContain('action="/signup"')
    const refused = await browser.send(form, typed('late', { registrationReason: 'Too late' }))
    expect([refused.status, refused.html.includes('Nobody can sign up here now')]).toEqual([403, true])
    for (const path of ['/', '/login']) expect((await browser.open(path)).html).not.toContain('href="/signup"')
    expect(await users('late')).toBe(0)
  })

  it('is explained when the limit of users is reached', async () => {
    await at.setSignup({ limit: 1 })
    expect((await visitor().open('/signup')).html).toContain('This server has reached its limit of users.')
  })
})
