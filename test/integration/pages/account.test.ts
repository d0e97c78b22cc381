// Pages that mails link to, and pages of the own account, without scripts.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { generate } from 'otplib'
import { renderSVG } from 'uqr'
import { unescapeHtml } from '../../../src/platform/html.ts'
import { type Browser, formIn, linksIn, makeBrowser, partIn, SURE } from '../../support/browser.ts'
import { applicant, linkOf, type MailNode, startMailNode } from '../registrations/node.ts'

const PASSWORD = 'a good password'

let at: MailNode
beforeAll(async () => {
  at = await startMailNode({ signup: { requires_email_verification: true, requires_approval: true } })
})
afterAll(() => at?.stop())

const address = (name: string) => `${name}@example.com`
const visitor = (): Browser => makeBrowser(at.node.base)
const pathOf = (mail: Parameters<typeof linkOf>[0]): string => {
  const { path, query } = linkOf(mail)
  return `${path}?${new URLSearchParams(query)}`
}

async function user(name: string): Promise<number> {
  const body = {
    username: name,
    password: PASSWORD,
    email: address(name),
    role: 2,
    videoQuota: -1,
    videoQuotaDaily: -1,
  }
  const made = await at.ask('POST', '/users', body, at.root)
  expect(made.status).toBe(200)
  const [row] = await at.query<{ id: number }>('select id from users where username = $1', [name])
  return row?.id ?? 0
}

async function loggedIn(name: string, password = PASSWORD): Promise<Browser> {
  const browser = visitor()
  expect((await browser.login(name, password)).path).toBe(name === at.node.username ? '/admin/setup' : '/')
  return browser
}

describe('the link that verifies an email address', () => {
  const verified = async (name: string) =>
    (await at.query<{ ok: boolean }>('select email_verified as ok from users where username = $1', [name]))[0]?.ok

  it('verifies it with a button, once, and not when it is opened', async () => {
    await user('vera')
    await at.query("update users set email_verified = false where username = 'vera'")
    await at.ask('POST', '/users/ask-send-verify-email', { email: address('vera') })
    const path = pathOf(await at.mail.next(address('vera')))
    const browser = visitor()
    const page = await browser.open(path)
    expect(page.status).toBe(200)
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('referrer-policy')).toBe('same-origin')
    expect(await verified('vera')).toBe(false)
    const form = formIn(page.html, '/verify-account/email')
    expect((await browser.send(form, {}, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await browser.send(form)).html).toContain('The address is verified')
    expect(await verified('vera')).toBe(true)
    const again = await browser.send(form)
    expect(again.status).toBe(403)
    expect(again.html).toContain('of no use any more')
  })

  it('replaces the old address with a new one', async () => {
    await user('nora')
    const token = (await at.token('nora', PASSWORD)).body.access_token
    const change = { email: 'new-nora@example.com', currentPassword: PASSWORD }
    expect((await at.ask('PUT', '/users/me', change, `Bearer ${token}`)).status).toBe(204)
    const path = pathOf(await at.mail.next('new-nora@example.com'))
    expect(path).toContain('isPendingEmail=true')
    const browser = visitor()
    await browser.send(formIn((await browser.open(path)).html, '/verify-account/email'))
    expect(await at.query("select email from users where username = 'nora'")).toEqual([{ email: 'new-nora@example.com' }])
  })

  it('verifies the address of a registration request', async () => {
    const body = { ...applicant('rita'), registrationReason: 'I like birds' }
    expect((await at.ask('POST', '/users/registrations/request', body)).status).toBe(200)
    const path = pathOf(await at.mail.next(address('rita')))
    expect(path).toContain('registrationId=')
    const browser = visitor()
    const done = await browser.send(formIn((await browser.open(path)).html, '/verify-account/email'))
    expect(done.html).toContain('A moderator decides')
    const { body: listed } = await at.ask('GET', '/users/registrations?search=rita', undefined, at.root)
    expect(listed.data).toMatchObject([{ username: 'rita', emailVerified: true }])
  })

  it.each(['', '?userId=1', '?userId=x&verificationString=f00', '?userId=99999999999&verificationString=f00', '?verificationString=f00'])(
    'is invalid as %j',
    async (query) => {
      for (const path of ['/verify-account/email', '/reset-password']) {
        const { status, html } = await visitor().open(path + query)
        expect({ path, status }).toEqual({ path, status: 403 })
        expect(html).toContain('of no use any more')
      }
    },
  )
})

describe('a forgotten password', () => {
  it('is reset from the login page with the mailed link, and all sessions end', async () => {
    await user('paul')
    const before = await loggedIn('paul')
    const browser = visitor()
    const [ask = ''] = linksIn((await browser.open('/login')).html, 'Forgot your password?')
    const form = formIn((await browser.open(ask)).html, '/login/ask-reset-password')
    expect((await browser.send(form, { email: 'no address' })).status).toBe(400)
    const sent = await browser.send(form, { email: address('paul') })
    const page = await browser.open(pathOf(await at.mail.next(address('paul'))))
    expect(page.headers.get('cache-control')).toBe('no-store')
    const choice = formIn(page.html, '/reset-password')
    const short = await browser.send(choice, { password: 'short' })
    expect(short.status).toBe(400)
    expect(short.html).toContain('At least 6\u00a0characters.')
    expect((await browser.send(choice, { password: 'the second password' })).html).toContain('Your new password holds')
    expect((await before.open('/my-account/settings')).path).toContain('/login?next=')
    await loggedIn('paul', 'the second password')
    expect((await browser.send(choice, { password: 'the third password' })).status).toBe(403)
    // The response does not reveal who has an account.
    const nobody = await browser.send(form, { email: address('nobody') })
    expect(nobody.html.replace(address('nobody'), address('paul'))).toBe(sent.html)
  })

  it('escapes submitted text', async () => {
    const browser = visitor()
    const form = formIn((await browser.open('/login/ask-reset-password')).html, '/login/ask-reset-password')
    const { html } = await browser.send(form, { email: '"><script>alert(1)</script>' })
    expect(html).not.toContain('<script>alert')
  })
})

describe('the own account', () => {
  it.each(['settings', 'notifications', 'import-export'])('requires a login: %s', async (name) => {
    const { path } = await visitor().open(`/my-account/${name}`)
    expect(path).toBe(`/login?next=${encodeURIComponent(`/my-account/${name}`)}`)
  })

  it('changes the password with the old one, and is where password managers are redirected', async () => {
    await user('sara')
    const other = await loggedIn('sara')
    const browser = await loggedIn('sara')
    const page = await browser.open('/.well-known/change-password')
    expect(page.path).toBe('/my-account/settings')
    expect(page.headers.get('cache-control')).toBe('no-store')
    const form = formIn(page.html, '/my-account/settings')
    const wrong = await browser.send(form, { currentPassword: 'wrong', password: 'another password' })
    expect(wrong.status).toBe(400)
    expect(wrong.html).toContain('Your current password is not right.')
    expect((await browser.send(form, { currentPassword: PASSWORD, password: 'x' })).status).toBe(400)
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const typed = { currentPassword: PASSWORD, password: 'another password' }
    expect((await browser.send(form, typed, foreign)).status).toBe(403)
    expect((await browser.send(form, typed)).html).toContain('Your password is changed')
    expect((await browser.open('/my-account/settings')).path).toBe('/my-account/settings')
    expect((await other.open('/my-account/settings')).path).toContain('/login')
    await loggedIn('sara', 'another password')
  })

  it('keeps its email address after a wrong password', async () => {
    await user('una')
    const browser = await loggedIn('una')
    const form = partIn((await browser.open('/my-account/profile')).html, 'email')
    const wrong = await browser.send(form, { email: address('new'), currentPassword: 'wrong' })
    expect([wrong.status, wrong.path]).toEqual([400, '/my-account/profile'])
    expect(wrong.html).toContain('Your current password is not right.')
    expect((await browser.send(form, { email: address('new'), currentPassword: PASSWORD })).html).toContain('Saved.')
  })

  it('switches two-factor login on with a code, logs in with another, and switches it off', async () => {
    await user('tina')
    const browser = await loggedIn('tina')
    const open = async () => (await browser.open('/my-account/two-factor')).html
    const wrong = await browser.send(partIn(await open(), 'request'), { currentPassword: 'wrong' })
    expect(wrong.status).toBe(400)
    expect(wrong.html).toContain('Your current password is not right.')
    let page = await browser.send(partIn(wrong.html, 'request'), { currentPassword: PASSWORD })
    expect(page.status).toBe(200)
    expect(page.html).not.toContain('>Begin</button>')
    const [, secret = ''] = /<dt>Key<\/dt><dd>(?:<bdi>)?([A-Z2-7]+)</.exec(page.html) ?? []
    const [, address = ''] = /(otpauth:[^<]+)</.exec(page.html) ?? []
    expect(page.html).toContain(renderSVG(unescapeHtml(address), { border: 4 }))
    const code = async (later = 0) => await generate({ secret, epoch: (at.clock.now().getTime() + later) / 1000 })
    // A wrong code, and one that is too long.
    for (const otpToken of ['123', '1'.repeat(30)]) {
      page = await browser.send(partIn(page.html, 'confirm'), { otpToken })
      expect([400, 403]).toContain(page.status)
      expect(page.html).toMatch(/name="otpToken"[^>]*aria-invalid="true"[^>]*><p class="problem"[^>]*>This code is not right/)
      expect(page.html).toContain(renderSVG(unescapeHtml(address), { border: 4 }))
      expect(page.html).toContain(`>${secret}<`)
      expect(page.html).not.toContain('>Begin</button>')
    }
    const foreign = await browser.send(partIn(page.html, 'confirm'), { otpToken: '1', uri: 'javascript:alert(1)' })
    expect(foreign.html).not.toContain('javascript:')
    const ended = await browser.send(partIn(page.html, 'confirm'), { otpToken: '1', requestToken: 'another' })
    expect([ended.status, ended.html.includes('This set-up has ended')]).toEqual([403, true])
    expect(ended.html).not.toContain('name="otpToken"')
    expect((await browser.open(linksIn(ended.html, 'Go on')[0] ?? '')).html).toContain('>Begin</button>')
    // After a login in another tab the proof of the form is an old one.
    const stale = await browser.send(partIn(page.html, 'confirm'), { otpToken: '1', token: 'old' })
    expect(stale.html).not.toContain('This code is not right')
    expect(stale.html).toContain(renderSVG(unescapeHtml(address), { border: 4 }))
    page = stale
    const again = partIn(page.html, 'confirm')
    page = await browser.send(partIn(page.html, 'confirm'), { otpToken: await code() })
    expect(page.path).toBe('/my-account/two-factor?done=confirm')
    expect(page.html).toContain('Two-factor login is on.')
    const twice = await browser.send(again, { otpToken: await code() })
    expect([twice.status, twice.html.includes('Two factor is already enabled.')]).toEqual([400, true])
    expect(twice.html).not.toMatch(/This code is not right|class="qr"/)
    expect((await browser.open(linksIn(twice.html, 'Go on')[0] ?? '')).html).toContain('>Switch off</button>')
    expect((await visitor().login('tina', PASSWORD)).status).toBe(400)
    expect((await visitor().login('tina', PASSWORD, { code: await code() })).path).toBe('/')
    const refused = await browser.send(partIn(page.html, 'disable'), { currentPassword: 'wrong', ...SURE })
    expect([refused.status, refused.html.includes('Your current password is not right.')]).toEqual([400, true])
    page = await browser.send(partIn(await open(), 'disable'), { currentPassword: PASSWORD, ...SURE })
    expect(page.path).toBe('/my-account/two-factor?done=disable')
    expect(partIn(page.html, 'request').fields).toHaveProperty('currentPassword')
    await loggedIn('tina')
  })

  describe('notification settings', () => {
    /** Each select of the page with its value. */
    const chosenIn = (html: string): Record<string, number> =>
      Object.fromEntries(
        [...html.matchAll(/<select id="notifications-(\w+)".*?<\/select>/gs)].map(([select, name = '']) => [
          name,
          Number(/value="(\d)" selected/.exec(select)?.[1]),
        ]),
      )
    const settingsOf = async (name: string): Promise<Record<string, number>> => {
      const token = (await at.token(name, PASSWORD)).body.access_token
      return (await at.ask('GET', '/users/me', undefined, `Bearer ${token}`)).body.notificationSettings
    }

    it('change every type, on the site and by mail, like the API', async () => {
      const { username, password } = at.node
      const browser = await loggedIn(username, password)
      const page = await browser.open('/my-account/settings')
      const me = await at.ask('GET', '/users/me', undefined, at.root)
      const before = me.body.notificationSettings
      expect(Object.keys(before)).toHaveLength(18)
      expect(chosenIn(page.html)).toEqual(before)
      // Each to a new value, with all four values.
      const wanted = Object.fromEntries(Object.keys(before).map((name, index) => [name, index % 4]))
      const typed = Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, String(value)]))
      const kept = await browser.send(partIn(page.html, 'notifications'), typed)
      expect(kept.path).toBe('/my-account/settings?done=notifications')
      expect(kept.html).toContain('Saved.')
      expect(chosenIn(kept.html)).toEqual(wanted)
      expect((await at.ask('GET', '/users/me', undefined, at.root)).body.notificationSettings).toEqual(wanted)
      await at.ask('PUT', '/users/me/notification-settings', before, at.root)
    })

    it('leave out those of the staff, and keep omitted ones', async () => {
      await user('noel')
      const before = await settingsOf('noel')
      const browser = await loggedIn('noel')
      const { html } = await browser.open('/my-account/settings')
      const names = Object.keys(chosenIn(html))
      expect(names).toHaveLength(11)
      expect(names.filter((name) => /Moderator|Instance|Version|Registration/.test(name))).toEqual([])
      const sent = { newFollow: '3', commentMention: '0', newInstanceFollower: '3' }
      expect((await browser.send(partIn(html, 'notifications'), sent)).html).toContain('Saved.')
      expect(await settingsOf('noel')).toEqual({ ...before, newFollow: 3, commentMention: 0 })
    })

    it('name every invalid choice', async () => {
      await user('nele')
      const before = await settingsOf('nele')
      const browser = await loggedIn('nele')
      const form = partIn((await browser.open('/my-account/settings')).html, 'notifications')
      const bad = { newFollow: '4', commentMention: 'x">', myVideoPublished: '3', abuseNewMessage: '-1' }
      const refused = await browser.send(form, bad)
      expect(refused.status).toBe(400)
      const wrong = [...refused.html.matchAll(/<select id="notifications-(\w+)"[^>]* aria-invalid="true"/g)].map(([, name]) => name)
      expect(wrong.sort()).toEqual(['abuseNewMessage', 'commentMention', 'newFollow'])
      expect((await browser.send(form, { newFollow: '3' }, { origin: 'https://evil.example' })).status).toBe(403)
      expect((await visitor().send(form, { newFollow: '3' })).path).toMatch(/^\/login/)
      expect(await settingsOf('nele')).toEqual(before)
    })
  })

  it('shows notifications, until they are read', async () => {
    const { username, password } = at.node
    const [{ id } = { id: 0 }] = await at.query<{ id: number }>('select id from users where username = $1', [username])
    await at.query('delete from notification where user_id = $1', [id])
    const browser = await loggedIn(username, password)
    expect((await browser.open('/my-account/notifications')).html).toContain('No notifications.')
    await at.query("insert into notification (user_id, type, key, on_web, application_version) values ($1, 18, 'x', true, '1 <b>2</b>')", [
      id,
    ])
    const page = await browser.open('/my-account/notifications')
    expect(page.html).toContain('Version 1 &lt;b&gt;2&lt;/b&gt; of the software is there.')
    expect(page.html).toContain('New</span>')
    const read = await browser.send(partIn(page.html, 'read-all'))
    expect(read.path).toBe('/my-account/notifications?done=read-all')
    expect(read.html).not.toContain('New</span>')
  })

  it.each([
    ['/my-account/applications', '/my-account/settings'],
    ['/my-library/video-imports', '/videos/import'],
    ['/admin/moderation/abuses/list?search=1', '/admin/abuses'],
  ])('is redirected from the URLs of other web clients: %s', async (path, expected) => {
    expect((await visitor().open(path)).path).toBe(`/login?next=${encodeURIComponent(expected)}`)
  })
})

describe('the link to a comment', () => {
  it('redirects to its thread', async () => {
    const answer = await fetch(`${at.node.base}/w/abc;threadId=12`, {
      redirect: 'manual',
      headers: { accept: 'text/html' },
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/w/abc?threadId=12'])
  })
})
