// What moderators and administrators do on pages without scripts: registrations, watched words, other servers, and what is switched off.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { login } from '../../../scripts/demo/client.ts'
import { type Browser, makeBrowser, partIn, SURE } from '../../support/browser.ts'
import { makeRemoteChannel } from '../../support/builders.ts'
import { eventually } from '../../support/until.ts'
import { applicant, type MailNode, startMailNode } from '../registrations/node.ts'
import { addUser, loggedIn, PASSWORD } from './users.ts'

let at: MailNode
let root: Browser
let member: Browser

beforeAll(async () => {
  at = await startMailNode({ signup: { requires_approval: true }, config: { rates_limit: { login: { max: 1000 } } } })
  await addUser(at, 'member', 2)
  root = makeBrowser(at.node.base)
  await root.login(at.node.username, at.node.password)
  member = await loggedIn(at, 'member')
})
afterAll(() => at?.stop())

describe('registrations', () => {
  async function requested(name: string): Promise<number> {
    const { body } = await at.ask('POST', '/users/registrations/request', { ...applicant(name), registrationReason: 'I like birds' })
    return body.id
  }
  const open = async () => (await root.open('/admin/registrations')).html
  const buttonIn = (html: string, act: string) => html.match(new RegExp(`<button name="act" value="${act}"[^>]*>`))?.[0] ?? ''

  it('are accepted and rejected with an answer, which is mailed', async () => {
    const [wanted, refused] = [await requested('wanted'), await requested('refused')]
    let html = await open()
    expect(html).toContain('>Answer, which is mailed</label>')
    expect((await root.open('/admin/users')).html).toContain('Empty if a mail shall ask for it.')
    expect((await member.open('/my-account/import-export')).html).toContain('A mail tells you when it is ready.')
    expect(html).toMatch(/<textarea[^>]* name="moderationResponse"[^>]* required/)
    for (const act of ['accept', `accept ${wanted}`, `reject ${wanted}`]) expect(buttonIn(html, act)).not.toContain('formnovalidate')
    const without = await root.send(partIn(html, 'registrations'), { act: `accept ${wanted}`, moderationResponse: '' })
    expect(without.status).toBe(400)
    for (const [act, id, name] of [
      ['accept', wanted, 'wanted'],
      ['reject', refused, 'refused'],
    ] as const) {
      const answer = { act: `${act} ${id}`, moderationResponse: `We ${act} it` }
      html = (await root.send(partIn(html, 'registrations'), answer)).html
      expect(html).toContain(': 1 done.')
      expect((await at.mail.next(`${name}@example.com`)).text).toContain(`We ${act} it`)
    }
  })

  it('are deleted without an answer', async () => {
    const id = await requested('unwanted')
    const html = await open()
    for (const act of ['delete', `delete ${id}`]) expect(buttonIn(html, act)).toContain(' formnovalidate')
    const page = await root.send(partIn(html, 'registrations'), { act: `delete ${id}`, moderationResponse: '', ...SURE })
    expect(page.html).toContain('Delete: 1 done.')
    expect(await at.query('select id from registration where id = $1', [id])).toEqual([])
  })

  it('promise no mail of a server that sends none', async () => {
    await requested('patient')
    const mail = { port: 25, username: null, tls: false, from_address: 'admin@example.com' }
    expect((await at.ask('PUT', '/vireo/mail-server', { ...mail, hostname: null }, at.root)).status).toBe(200)
    const html = await open()
    expect(html).toContain('>Answer</label>')
    expect(html).toContain('This server sends no mails now.')
    expect(html).not.toContain('mailed')
    const users = await root.open('/admin/users')
    expect(users.html).not.toContain('Empty if a mail shall ask for it.')
    expect(users.html).toMatch(/<input id="new-password"[^>]* required/)
    expect((await member.open('/my-account/import-export')).html).not.toContain('mail')
  })
})

describe('a list of watched words', () => {
  it.each([
    ['of the server', () => root, '/admin/watched-words'],
    ['of a user', () => member, '/my-account/watched-words'],
  ])('%s is changed on its own page', async (_whose, by, path) => {
    let page = await by().send(partIn((await by().open(path)).html, 'list'), { listName: 'Spam', words: 'casino\npills' })
    const [, own = ''] = new RegExp(`href="(${path}/\\d+)"><bdi>Spam</bdi>`).exec(page.html) ?? []
    page = await by().open(own)
    expect(partIn(page.html, 'list').fields).toMatchObject({ listName: 'Spam', words: 'casino\npills' })
    page = await by().send(partIn(page.html, 'list'), { listName: 'Much spam', words: 'casino\nlottery' })
    expect(page.path).toBe(`${own}?done=list`)
    const [kept] = await at.query<{ name: string; words: string[] }>('select name, words from watched_words_list where id = $1', [
      own.split('/').at(-1),
    ])
    expect(kept).toEqual({ name: 'Much spam', words: ['casino', 'lottery'] })
    const refused = await by().send(partIn(page.html, 'list'), { listName: '', words: 'casino' })
    expect([refused.status, /aria-invalid="true"/.test(refused.html)]).toEqual([400, true])
  })

  it('of somebody else is not found', async () => {
    const [{ id } = { id: 0 }] = await at.query<{ id: number }>('select id from watched_words_list where account_id is null')
    const page = await member.open(`/my-account/watched-words/${id}`)
    expect([page.status, page.html.includes('There is no such list of watched words.')]).toEqual([404, true])
    expect((await member.open(`/admin/watched-words/${id}`)).status).toBe(403)
  })
})

it('another server is blocked from the list of servers', async () => {
  await makeRemoteChannel(at, { host: 'loud.example', username: 'loud' })
  const page = await root.send(partIn((await root.open('/admin/overview')).html, 'peers'), { act: 'block loud.example', ...SURE })
  expect(page.html).toContain('Block: 1 done.')
  expect((await root.open('/admin/blocklist')).html).toContain('loud.example')
})

it.each(['2026-01-01T10:00 was bad', '2026-99-99T10:00:00Z'])('the reason %j of a report is a text', async (reason) => {
  const [{ id: account } = { id: 0 }] = await at.query<{ id: number }>(
    "select a.id from account a join users u on u.id = a.user_id where u.username = 'member'",
  )
  expect((await at.ask('POST', '/abuses', { reason, account: { id: account } }, at.root)).status).toBe(200)
  const [{ id } = { id: 0 }] = await at.query<{ id: number }>('select id from abuse where reason = $1', [reason])
  const { status, html } = await root.open(`/admin/abuses/${id}`)
  expect([status, html.includes(`<dd><bdi>${reason}</bdi></dd>`)]).toEqual([200, true])
})

it('a report is decided on its own page, to which its notification leads', async () => {
  const [{ id: account } = { id: 0 }] = await at.query<{ id: number }>(
    "select a.id from account a join users u on u.id = a.user_id where u.username = 'member'",
  )
  await addUser(at, 'witness', 2)
  const { authorization } = await login(at.node.base, 'witness', PASSWORD)
  expect((await at.ask('POST', '/abuses', { reason: 'Rude to ducks', account: { id: account } }, authorization)).status).toBe(200)
  const [{ id } = { id: 0 }] = await at.query<{ id: number }>("select id from abuse where reason = 'Rude to ducks'")
  await eventually(async () =>
    expect((await root.open('/my-account/notifications')).html).toContain(`href="/admin/abuses/${id}">${id}</a>`),
  )
  const { html } = await root.open(`/admin/abuses/${id}`)
  const page = await root.send(partIn(html, 'abuses'), { act: `accept ${id}`, moderationComment: 'It was' })
  expect([page.path, page.html.includes('Accept: 1 done.')]).toEqual([expect.stringContaining(`/admin/abuses/${id}`), true])
  expect(await at.query('select state, moderation_comment from abuse where id = $1', [id])).toEqual([
    { state: 'accepted', moderation_comment: 'It was' },
  ])
})

it('the configuration has one heading for each section', async () => {
  const { html } = await root.open('/admin/config')
  const [form = ''] = html.match(/<form[^>]*data-swap>(?:(?!<\/form>).)*name="instance\.name".*?<\/form>/s) ?? []
  const headings = [...form.matchAll(/<h2>([^<]*)<\/h2>/g)].map(([, text]) => text)
  expect(headings.slice(0, 2)).toEqual(['Instance', 'Services'])
  expect(new Set(headings).size).toBe(headings.length)
})

describe('what the configuration has switched off', () => {
  const set = (custom: object) => at.ask('PUT', '/config/custom', custom, at.root)
  const PAGES = ['/videos/go-live', '/videos/import', '/my-library/video-channel-syncs']

  it('is not offered, and its page says so', async () => {
    const { html } = await member.open('/my-library/videos')
    for (const path of PAGES) {
      expect(html).not.toContain(`href="${path}"`)
      const page = await member.open(path)
      expect([page.status, page.html.includes('It is switched off on this server.')]).toEqual([200, true])
      expect(page.html).not.toContain('class="fields"')
    }
  })

  it('is offered when it is switched on, as far as it is', async () => {
    const imports = { videos: { http: { enabled: true } }, videoChannelSynchronization: { enabled: true } }
    expect((await set({ live: { enabled: true }, import: imports })).status).toBe(200)
    const { html } = await member.open('/my-library/videos')
    for (const path of PAGES) expect(html).toContain(`href="${path}"`)
    expect(partIn((await member.open('/videos/go-live')).html, 'live').fields).toHaveProperty('name')
    const form = partIn((await member.open('/videos/import')).html, 'import').fields
    expect([form.targetUrl, form.magnetUri, form.torrentfile]).toEqual(['', undefined, undefined])
  })
})

it('names of any direction stand apart', async () => {
  expect((await at.ask('PUT', '/config/custom', { instance: { name: 'Birds & <b>Bees</b>' } }, at.root)).status).toBe(200)
  const { html } = await member.open('/about')
  expect(html).toContain('<a class="name" href="/"><bdi>Birds &amp; &lt;b&gt;Bees&lt;/b&gt;</bdi></a>')
  expect(html).toContain('<h1>About <bdi>Birds &amp; &lt;b&gt;Bees&lt;/b&gt;</bdi></h1>')
})

it('captions of an upload have a heading, with the fields that need the script', async () => {
  const { html } = await member.open('/videos/upload')
  expect(html).toMatch(/<summary>More<\/summary><div>.*<div hidden data-scripted><h2>Captions<\/h2><label [^>]*>Language of the captions/s)
})
