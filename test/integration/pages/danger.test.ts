// What cannot be undone asks first on a page of its own, where no script has asked.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Browser, type Form, makeBrowser, partIn as part, type Shown, SURE } from '../../support/browser.ts'
import { type MailNode, startMailNode } from '../registrations/node.ts'
import { addUser, loggedIn, PASSWORD } from './users.ts'

let at: MailNode
let root: Browser

beforeAll(async () => {
  at = await startMailNode({ config: { rates_limit: { login: { max: 1000 } } } })
  root = makeBrowser(at.node.base)
  await root.login(at.node.username, at.node.password)
})
afterAll(() => at?.stop())

/** A new user with a browser. */
async function somebody(name: string): Promise<Browser> {
  await addUser(at, name, 2)
  return await loggedIn(at, name)
}

const channelsOf = async (username: string) =>
  (
    await at.query<{ name: string }>(
      `select ca.preferred_username as name from channel c join actor ca on ca.id = c.actor_id join account a on a.id = c.account_id
       join users u on u.id = a.user_id where u.username = $1 and c.state = 'active' order by c.id`,
      [username],
    )
  ).map(({ name }) => name)

const users = async (name: string) => await at.query('select id from users where username = $1', [name])

/** The heading of a question, and its form with the button pressed. */
function question({ status, html }: Shown, name: string): { status: number; heading: string | undefined; form: Form } {
  return { status, heading: /<h1>([^<]*)<\/h1>/.exec(html)?.[1], form: part(html, name) }
}

describe('the button that deletes the own account', () => {
  it('asks, does nothing before the answer, and logs out with it', async () => {
    const leaver = await somebody('leaver')
    const path = '/my-account/profile'
    const asked = await leaver.send(part((await leaver.open(path)).html, 'delete'))
    const { status, heading, form } = question(asked, 'delete')
    expect({ status, path: asked.path, heading }).toEqual({ status: 200, path, heading: 'Delete the account?' })
    expect(asked.headers.get('cache-control')).toBe('no-store')
    expect(asked.html).toContain('It cannot be brought back.')
    expect(asked.html).toContain(`<a class="button" href="${path}">Cancel</a>`)
    expect(asked.html).not.toContain('data-confirm')
    expect(await users('leaver')).toHaveLength(1)

    const stranger = await somebody('stranger')
    expect((await stranger.send(form)).status).toBe(403)
    expect((await leaver.send(form, { token: 'f00' })).status).toBe(403)
    expect((await leaver.send(form, {}, { origin: 'https://evil.example' })).status).toBe(403)
    expect(await users('leaver')).toHaveLength(1)

    const left = await leaver.send(form)
    expect({ status: left.status, path: left.path }).toEqual({ status: 200, path: '/' })
    expect(left.html).toContain('href="/login"')
    expect(left.html).not.toContain('Log out')
    expect(await users('leaver')).toEqual([])
    expect(await users('stranger')).toHaveLength(1)
  })
})

describe('a dangerous button of a list', () => {
  it('asks for one row, names it, and keeps how the list is narrowed down', async () => {
    const maker = await somebody('maker')
    for (const name of ['herons', 'swans'])
      await maker.send(part((await maker.open('/my-library/video-channels')).html, 'new'), { name, displayName: `All ${name}` })
    const path = '/my-library/video-channels?channels.sort=-createdAt'
    const list = part((await maker.open(path)).html, 'channels')
    const asked = await maker.send(list, { act: 'delete herons' })
    expect(question(asked, 'channels')).toMatchObject({ status: 200, heading: 'Delete?', form: { action: path } })
    expect(asked.html).toContain('<bdi>All herons</bdi>')
    expect(asked.html).not.toContain('All swans')
    expect(await channelsOf('maker')).toEqual(['maker_channel', 'herons', 'swans'])
    const done = await maker.send(question(asked, 'channels').form)
    expect(done.path).toBe(path)
    expect(done.html).toContain('Delete: 1 done.')
    expect(await channelsOf('maker')).toEqual(['maker_channel', 'swans'])
  })

  it('asks once for many rows, and deletes those alone', async () => {
    const keeper = await somebody('keeper')
    for (const name of ['one', 'two', 'three'])
      await keeper.send(part((await keeper.open('/my-library/video-channels')).html, 'new'), { name, displayName: `Channel ${name}` })
    const { action, fields } = part((await keeper.open('/my-library/video-channels')).html, 'channels')
    const body = new URLSearchParams({ ...fields, act: 'delete' })
    body.delete('id')
    for (const id of ['one', 'two']) body.append('id', id)
    const cookie = [...keeper.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', cookie, origin: at.node.base, 'sec-fetch-site': 'same-origin' }
    const post = async (sent: URLSearchParams) =>
      await (await fetch(new URL(action, at.node.base), { method: 'POST', body: sent, headers })).text()
    const asked = await post(body)
    const hidden = [...asked.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ])
    expect(hidden).toEqual(
      expect.arrayContaining([
        ['act', 'delete'],
        ['id', 'one'],
        ['id', 'two'],
        ['confirmed', 'true'],
      ]),
    )
    expect(asked).toContain('Channel one')
    expect(asked).not.toContain('Channel three')
    expect(await channelsOf('keeper')).toHaveLength(4)
    expect(await post(new URLSearchParams(hidden))).toContain('Delete: 2 done.')
    expect(await channelsOf('keeper')).toEqual(['keeper_channel', 'three'])
  })

  it('does not ask about nothing', async () => {
    const idler = await somebody('idler')
    const list = part((await idler.open('/my-library/video-channels')).html, 'channels')
    delete list.fields.id
    expect((await idler.send(list, { act: 'delete' })).html).toContain('Nothing is selected.')
  })

  it('logs out who ends the own session', async () => {
    const guest = await somebody('guest')
    const page = await guest.open('/my-account/sessions')
    const act = /name="act" value="(end \d+)"/.exec(page.html)?.[1] ?? ''
    const left = await guest.send(question(await guest.send(part(page.html, 'sessions'), { act }), 'sessions').form)
    expect({ status: left.status, path: left.path }).toEqual({ status: 200, path: '/' })
    expect(left.html).not.toContain('Log out')
    expect((await guest.open('/my-account/sessions')).path).toContain('/login?next=')
  })
})

describe('a question', () => {
  it('keeps what was typed as text, whatever it is', async () => {
    const list = 'one.example\n"><script>alert(1)</script>'
    const asked = await root.send(part((await root.open('/admin/blocklist')).html, 'import-servers'), { list, skipBad: 'true' })
    expect(asked.html).not.toContain('<script>alert')
    const { heading, form } = question(asked, 'import-servers')
    expect(heading).toBe('Block these servers?')
    expect(form.fields).toMatchObject({ list, skipBad: 'true', ...SURE })
    expect((await root.send(form)).html).toContain('<dt>Newly blocked</dt><dd>1</dd>')
  })

  it('leads nowhere else', async () => {
    const turner = await somebody('turner')
    const form = part((await turner.open('/my-account/profile')).html, 'delete')
    const sent = { ...form, action: '/my-account/profile?next=https://evil.example&done=delete' }
    const asked = await turner.send(sent)
    expect(question(asked, 'delete').form.action).toBe('/my-account/profile?next=https%3A%2F%2Fevil.example')
    expect(asked.html).not.toMatch(/href="(?:https?:)?\/\/evil/)
  })

  it('asks for passwords again, which no page shows', async () => {
    const careful = await somebody('careful')
    const form = part((await careful.open('/my-account/two-factor')).html, 'request')
    const asked = await careful.send({ ...form, fields: { ...form.fields, part: 'disable' } }, { currentPassword: PASSWORD })
    expect(question(asked, 'disable').heading).toBe('Switch off?')
    expect(asked.html).not.toContain(PASSWORD)
    expect(asked.html).toMatch(/<input id="disable-currentPassword" type="password" name="currentPassword"/)
  })
})
