// Pages on a whole node: lists, channels, accounts, searches, and actions of a user without scripts.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { generate } from 'otplib'
import pg from 'pg'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { type Browser, type Form, formIn, linksIn, makeBrowser } from '../../support/browser.ts'
import { type MadeUser, makeChannel, makeRemoteChannel, makeUser, makeVideo } from '../../support/builders.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'

const LOGINS = 100
const PASSWORD = 'the password of anna'

let node: TestNode
let pool: pg.Pool
let root: Client
let maker: MadeUser
let remote: Awaited<ReturnType<typeof makeRemoteChannel>>

const db = {
  query: async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await pool.query<Row>(text, [...values])).rows,
}

beforeAll(async () => {
  node = await startTestNode({
    roles: ['web'],
    config: {
      instance: { default_nsfw_policy: 'do_not_list', description: 'A **lake** <b>x</b>', terms: 'Be kind.' },
      rates_limit: { login: { max: LOGINS } },
      // Nothing listens there, and this process sends no mails.
      smtp: { hostname: '127.0.0.1', port: 9, from_address: 'video@example.org' },
    },
  })
  pool = new pg.Pool({ connectionString: node.databaseUrl, max: 2 })
  pool.on('error', () => undefined)
  root = await login(node.base, node.username, node.password)
  maker = await makeUser(db, { username: 'maker', origin: node.base })
  for (let serial = 1; serial <= 26; serial += 1) {
    const columns = { name: `Bird ${serial}`, published_at: new Date(2026, 0, serial), likes: serial === 3 ? 9 : 0 }
    await makeVideo(db, { channelId: maker.channelId, columns })
  }
  await makeVideo(db, { channelId: maker.channelId, columns: { name: 'A sensitive bird', nsfw: true } })
  await makeVideo(db, { channelId: maker.channelId, columns: { name: 'A private bird', privacy: 3 } })
  remote = await makeRemoteChannel(db, { host: 'far.example', username: 'painter' })
  await makeVideo(db, {
    channelId: remote.channelId,
    remoteOrigin: 'https://far.example',
    columns: { name: 'Far off' },
  })
  await db.query(
    `insert into playlist (uuid, url, account_id, channel_id, name, type, privacy, elements_count)
     values ('5d3f8d06-6b83-4d8c-9a37-2bb0a1f3a001', 'x', $1, $2, 'All birds', 1, 1, 2)`,
    [maker.accountId, maker.channelId],
  )
  const user = { username: 'anna', password: PASSWORD, email: 'anna@example.org', role: 2, videoQuota: -1 }
  await root.send('POST', '/api/v1/users', { ...user, videoQuotaDaily: -1 })
})
afterAll(async () => {
  await pool?.end()
  await node?.stop()
})

const visitor = (): Browser => makeBrowser(node.base)
async function anna(): Promise<Browser> {
  const browser = makeBrowser(node.base)
  expect((await browser.login('anna', PASSWORD)).path).toBe('/')
  return browser
}

describe('lists of videos', () => {
  it('are sorted by date, in pages, and contain public videos only', async () => {
    const first = await visitor().open('/videos/browse')
    expect(first.html.match(/<h2 dir="auto">Bird \d+<\/h2>/g)?.[0]).toBe('<h2 dir="auto">Bird 26</h2>')
    expect(first.html).not.toContain('Bird 2<')
    expect(first.html).not.toMatch(/sensitive bird|private bird/)
    const [next = ''] = linksIn(first.html, 'Next page')
    expect(next).toBe('/videos/browse?page=2')
    const second = await visitor().open(next)
    expect(second.html).toContain('<h2 dir="auto">Bird 2</h2>')
    expect(linksIn(second.html, 'Previous page')).toEqual(['/videos/browse'])
    expect(linksIn(second.html, 'Next page')).toEqual([])
  })

  it.each([
    ['/videos/trending', '/videos/browse?sort=-trending', 'Trending videos'],
    ['/videos/most-liked', '/videos/browse?sort=-likes', 'Most liked videos'],
    ['/videos/recently-added', '/videos/browse', 'Latest videos'],
    ['/videos/local', '/videos/browse?scope=local', 'Videos of this server'],
    ['/videos/overview', '/', 'Latest videos'],
    ['/home', '/', 'Latest videos'],
  ])('redirect from the old URL %s', async (from, to, title) => {
    const { path, html, status } = await visitor().open(from)
    expect({ path, status }).toEqual({ path: to, status: 200 })
    expect(html).toContain(`<h1>${title}</h1>`)
  })

  it('ignore invalid parameters', async () => {
    for (const query of ['?sort=constructor', '?page=-1', '?page=1e9', '?page=1&page=2', '?sort[a]=b&scope[]=local']) {
      expect((await visitor().open(`/videos/browse${query}`)).status).toBe(200)
    }
  })

  it('of local videos contain no remote ones', async () => {
    expect((await visitor().open('/')).html).not.toContain('A private bird')
    expect((await visitor().open('/videos/browse?scope=local')).html).not.toContain('Far off')
  })
})

describe('the home page', () => {
  it("shows the administrator's text, without active content", async () => {
    const content = `# Welcome\n\n**our** lake <script>alert(1)</script><img src="https://evil.example/x.png" onerror="alert(1)">
<a href="javascript:alert(1)" onclick="alert(1)" style="position:fixed">x</a><iframe src="https://evil.example"></iframe>

<peertube-container data-title="Start &lt;here&gt;" data-description="What to see">

<peertube-button data-href="javascript:alert(1)" data-label="bad"></peertube-button>
<peertube-button data-href="/videos/browse" data-label="All &quot;birds&quot;"></peertube-button>
<peertube-channel-miniature data-name="maker_channel"></peertube-channel-miniature>
<peertube-videos-list data-sort="-views" data-only-local="true"></peertube-videos-list>
<peertube-unknown data-x="y">inside</peertube-unknown>
</peertube-container>`
    await root.send('PUT', '/api/v1/custom-pages/homepage/instance', { content })
    const { html } = await visitor().open('/')
    const main = html.slice(html.indexOf('<main'), html.indexOf('<h2>Latest videos'))
    expect(main).toContain('<h2>Welcome</h2>')
    expect(main).toContain('<h2>Start &lt;here&gt;</h2><p>What to see</p>')
    expect(linksIn(main, 'birds')).toEqual(['/videos/browse'])
    expect(linksIn(main, 'maker_channel')).toEqual(['/c/maker_channel'])
    expect(linksIn(main, 'Open the list')).toEqual(['/videos/browse?sort=-views&scope=local'])
    expect(main).toContain('inside')
    expect(main).not.toMatch(/<script|<iframe|javascript:|onerror|onclick|style=|src="https:/)
    expect(html).toContain('Bird 26')
    await root.send('PUT', '/api/v1/custom-pages/homepage/instance', { content: '' })
    expect((await visitor().open('/')).html).not.toContain('Welcome')
  })
})

describe('the page of a channel', () => {
  it.each(['/c/maker_channel', '/c/maker_channel/videos', '/video-channels/maker_channel', '/@maker_channel'])('is at %s', async (path) => {
    const { status, html, headers } = await visitor().open(path)
    expect(status).toBe(200)
    expect(html).toContain('>Main maker_channel channel</h1>')
    expect(html).toContain(`@maker_channel@${new URL(node.base).host}`)
    expect(linksIn(html, 'maker')).toContain('/a/maker/video-channels')
    expect(html).toContain(`<link rel="canonical" href="${node.base}/c/maker_channel/videos">`)
    expect(html).toContain('application/rss+xml')
    expect(html).toContain('Bird 26')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('vary')).toBe('Accept, Accept-Language, Cookie')
  })

  it('has its playlists and description on separate pages', async () => {
    const playlists = await visitor().open('/c/maker_channel/video-playlists')
    expect(playlists.html).toContain('>All birds<')
    await db.query('update channel set description = $1, support = $2 where id = $3', [
      '*Herons* <img src=x onerror=alert(1)>',
      'Bring [seeds](javascript:alert(1))',
      maker.channelId,
    ])
    const { html } = await visitor().open('/c/maker_channel/about')
    expect(html).toContain('<em>Herons</em> &lt;img src=x onerror=alert(1)&gt;')
    expect(html).not.toContain('href="javascript:')
  })

  it('exists for known remote channels, and shows their origin', async () => {
    const { status, html } = await visitor().open('/c/painter_channel@far.example')
    expect(status).toBe(200)
    expect(html).toContain('Far off')
    expect(html).toContain('<meta name="robots" content="noindex">')
    expect(linksIn(html, 'Open on far.example')).toEqual(['https://far.example/video-channels/painter_channel'])
  })

  it('explains why a remote channel without videos is empty', async () => {
    await makeRemoteChannel(db, { host: 'silent.example', username: 'silent' })
    const { html } = await visitor().open('/c/silent_channel@silent.example')
    expect(html).toContain('This server has no videos of this channel from silent.example yet.')
  })

  it('is 404 for unknown names, without a request to other servers', async () => {
    for (const path of ['/c/nobody', '/c/nobody@far.example', '/c/x@unknown.example', '/a/nobody', '/@nobody', '/c/maker']) {
      const { status, headers } = await visitor().open(path)
      expect({ path, status, type: headers.get('content-type') }).toEqual({
        path,
        status: 404,
        type: 'text/html; charset=utf-8',
      })
    }
    expect(await db.query("select 1 from remote_host where host = 'unknown.example'")).toEqual([])
  })
})

describe('the page of an account', () => {
  it.each(['/a/maker', '/a/maker/video-channels', '/accounts/maker', '/@maker'])('is at %s, with its channels', async (path) => {
    const { status, html } = await visitor().open(path)
    expect(status).toBe(200)
    expect(html).toContain('>maker</h1>')
    expect(linksIn(html, 'Main maker_channel channel')).toEqual(['/c/maker_channel/videos'])
    expect(html).toContain(`<link rel="canonical" href="${node.base}/a/maker/video-channels">`)
  })

  it('has its videos, playlists and description on separate pages', async () => {
    expect((await visitor().open('/a/maker/videos')).html).toContain('Bird 26')
    expect((await visitor().open('/a/maker/video-playlists')).html).toContain('All birds')
    expect((await visitor().open('/a/maker/about')).html).toContain('There is no description.')
    expect((await visitor().open('/a/painter@far.example')).status).toBe(200)
  })
})

describe('searches', () => {
  it('find videos, channels and playlists', async () => {
    const videos = await visitor().open('/search?search=Bird+13')
    expect(videos.html).toContain('<h2 dir="auto">Bird 13</h2>')
    expect(videos.html).toContain('value="Bird 13"')
    expect((await visitor().open('/search?search=maker&type=channels')).html).toContain('Main maker_channel channel')
    expect((await visitor().open('/search?search=nothing-like-it&type=playlists')).html).toContain('No playlist was found.')
    expect((await visitor().open('/search')).status).toBe(200)
  })

  it('redirect to the page of a pasted URL', async () => {
    const host = new URL(node.base).host
    expect((await visitor().open(`/search?search=@maker_channel@${host}`)).path).toBe('/c/maker_channel/videos')
    const own = encodeURIComponent(`${node.base}/@maker_channel`)
    expect((await visitor().open(`/search?search=${own}`)).path).toBe('/c/maker_channel/videos')
    expect((await visitor().open('/search?search=painter@far.example')).path).toBe('/a/painter@far.example/video-channels')
    const address = encodeURIComponent('https://far.example/video-channels/painter_channel')
    expect((await visitor().open(`/search?search=${address}`)).path).toBe('/c/painter_channel@far.example/videos')
    const [video] = await db.query<{ url: string }>("select url from video where name = 'Far off'")
    const found = await visitor().open(`/search?search=${encodeURIComponent(video?.url ?? '')}`)
    expect(found.path).toMatch(/^\/w\//)
    expect(found.html).toContain('Far off')
  })

  it('by visitors send no request to other servers', async () => {
    for (const text of ['x@unknown.example', 'https://unknown.example/videos/watch/1']) {
      const { status, path, html } = await visitor().open(`/search?search=${encodeURIComponent(text)}`)
      expect({ status, isSearch: path.startsWith('/search') }).toEqual({ status: 200, isSearch: true })
      // The page explains who may search other servers.
      expect(linksIn(html, 'Log in')).toContain(
        `/login?next=${encodeURIComponent(`/search?${new URLSearchParams({ search: text, type: 'videos' })}`)}`,
      )
    }
    expect((await visitor().open('/search?search=words')).html).not.toContain('on other servers')
    expect(await db.query("select 1 from remote_host where host = 'unknown.example'")).toEqual([])
  })
})

describe('hostile text', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '</title><script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</textarea><svg onload=alert(1)>',
    '[x](javascript:alert(1))',
    '![x" onerror="alert(1)](x)',
    '&lt;script&gt;',
    '\u2028</script>\u2029',
    '\u202etxt.exe',
  ]
  it.each(hostile)('%j stays text on every page', async (text) => {
    const user = await makeUser(db, { origin: node.base })
    const name = user.username
    await makeVideo(db, { channelId: user.channelId, columns: { name: text, description: text } })
    await makeChannel(db, { accountId: user.accountId, username: `${name}_second`, name: text, origin: node.base })
    await db.query('update channel set name = $1, description = $1, support = $1 where id = $2', [text, user.channelId])
    await db.query('update account set name = $1, description = $1 where id = $2', [text, user.accountId])
    await db.query(
      `insert into playlist (uuid, url, account_id, channel_id, name, type, privacy, elements_count)
       values (gen_random_uuid(), $1, $2, $3, $4, 1, 1, 1)`,
      [`${node.base}/${name}`, user.accountId, user.channelId, text],
    )
    const query = new URLSearchParams({ search: text })
    const channel = `/c/${name}_channel`
    const pages = [channel, `${channel}/about`, `${channel}/video-playlists`, `/a/${name}`, `/a/${name}/about`, '/videos/browse']
    const others = [`/search?${query}`, `/search?${query}&type=channels`, `/login?${new URLSearchParams({ next: text })}`]
    for (const path of [...pages, ...others, '/']) {
      const { status, html, headers } = await visitor().open(path)
      expect({ path, status }).toEqual({ path, status: 200 })
      expect(strange(html)).toEqual([])
      expect(headers.get('content-security-policy')).toContain("script-src 'self';")
      expect(Buffer.byteLength(html)).toBeLessThan(100_000)
    }
    await db.query('delete from video where channel_id = $1', [user.channelId])
  })

  /** Elements and attributes that no page contains. */
  const strange = (html: string): string[] =>
    [...html.matchAll(/<([a-z][\w-]*)((?:\s+[\w:-]+(?:="[^"]*")?)*)\s*>/gi)].flatMap(([tag, name = '', attributes = '']) => {
      const names = [...attributes.matchAll(/\s([\w:-]+)="/g)].map(([, attribute = '']) => attribute)
      const isStrange =
        /^(?:iframe|object|svg|style|embed|base)$/i.test(name) ||
        names.some((attribute) => /^on|^style$|^srcdoc$/i.test(attribute)) ||
        /(?:href|src|action)="\s*(?:javascript|data|vbscript):/i.test(attributes) ||
        (name === 'script' && !/src="\/assets\//.test(attributes) && !/type="application\/ld\+json"/.test(attributes)) ||
        (name === 'img' && !/src="\/lazy-static\//.test(attributes))
      return isStrange ? [tag] : []
    })
})

describe('information about the server', () => {
  it.each(['/about', '/about/instance'])('is at %s', async (path) => {
    const { html } = await visitor().open(path)
    expect(html).toContain('<strong>lake</strong> &lt;b&gt;x&lt;/b&gt;')
    expect(html).toContain('Be kind.')
  })

  it('includes a contact form, which accepts one message in a while', async () => {
    const browser = visitor()
    const form = formIn((await browser.open('/about/contact')).html, '/about/contact')
    const typed = { fromName: 'Anna', fromEmail: 'anna@example.org', subject: 'Hello', body: 'A long enough message' }
    const wrong = await browser.send(form, { ...typed, fromEmail: '"><script>', body: 'a' })
    expect(wrong.status).toBe(400)
    expect(wrong.html).toContain('Look at the marked fields again.')
    expect([...wrong.html.matchAll(/name="(\w+)"[^>]*aria-invalid/g)].map(([, name]) => name)).toEqual(['fromEmail', 'body'])
    expect(wrong.html).toContain('value="&quot;&gt;&lt;script&gt;"')
    expect((await browser.send(form, typed, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await browser.send(form, typed)).html).toContain('Your message is on its way.')
    expect(await db.query('select from_name, subject from contact_message')).toEqual([{ from_name: 'Anna', subject: 'Hello' }])
    const again = await browser.send(form, typed)
    expect(again.status).toBe(403)
    expect(again.html).toContain('A message was sent from this address a short while ago.')
  })
})

describe('security.txt', () => {
  it("has the contact form instead of the administrator's address, and expires", async () => {
    const answer = await fetch(`${node.base}/.well-known/security.txt`)
    const [contact, expires] = (await answer.text()).split('\n')
    expect(contact).toBe(`Contact: ${node.base}/about/contact`)
    const days = (Date.parse(expires?.replace('Expires: ', '') ?? '') - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(100)
    expect(days).toBeLessThan(365)
  })
})

describe('login', () => {
  it('redirects to the requested page, with a cookie that is hidden from scripts and other sites', async () => {
    const browser = visitor()
    const requested = await browser.open('/videos/subscriptions')
    expect(requested.path).toBe('/login?next=%2Fvideos%2Fsubscriptions')
    expect(requested.headers.get('cache-control')).toBe('no-store')
    const form = formIn(requested.html, '/login')
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(`${node.base}/login`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin: node.base },
      body: new URLSearchParams({ ...form.fields, username: 'anna', password: PASSWORD }),
    })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('/videos/subscriptions')
    const [line = ''] = answer.headers.getSetCookie()
    expect(line).toMatch(/^vireo-session=[0-9a-f]{40}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/)
  })

  it('shows the user, and ends with the session', async () => {
    const browser = await anna()
    const page = await browser.open('/videos/subscriptions')
    expect(page.html).toContain('Your subscriptions')
    expect(page.html).toContain('href="/logout"')
    expect(linksIn(page.html, 'Your account')).toEqual(['/my-account/settings'])
    expect((await browser.open('/login')).html).toContain('You are <strong>anna</strong>')
    const token = browser.cookies.get('vireo-session') ?? ''
    const { html } = await browser.open('/logout')
    expect((await browser.send(formIn(html, '/logout'))).path).toBe('/')
    expect(browser.cookies.has('vireo-session')).toBe(false)
    browser.cookies.set('vireo-session', token)
    expect((await browser.open('/videos/subscriptions')).path).toContain('/login')
  })

  it('has a session like those of the API, whose cookie the API ignores', async () => {
    const browser = await anna()
    const token = browser.cookies.get('vireo-session') ?? ''
    const me = (headers: Record<string, string>) => fetch(`${node.base}/api/v1/users/me`, { headers })
    expect((await me({ authorization: `Bearer ${token}` })).status).toBe(200)
    expect((await me({ cookie: `vireo-session=${token}` })).status).toBe(401)
    const write = await fetch(`${node.base}/api/v1/users/me/subscriptions`, {
      method: 'POST',
      headers: { cookie: `vireo-session=${token}`, 'content-type': 'application/json', origin: node.base },
      body: JSON.stringify({ uri: `maker_channel@${new URL(node.base).host}` }),
    })
    expect(write.status).toBe(401)
    expect((await fetch(`${node.base}/feeds/subscriptions.xml`, { headers: { cookie: `vireo-session=${token}` } })).status).not.toBe(200)
  })

  it('is refused with a wrong password, an unknown user, and empty fields, with an error', async () => {
    for (const [username, password] of [
      ['anna', 'wrong'],
      ['nobody', PASSWORD],
      ['', ''],
    ] as const) {
      const browser = visitor()
      const { status, html } = await browser.login(username, password)
      expect(status).toBe(400)
      expect(html).toContain('The user name or the password is not right.')
      expect(html).not.toContain('value="wrong"')
      expect(browser.cookies.has('vireo-session')).toBe(false)
    }
  })

  it('is refused for a blocked user, whose sessions have ended', async () => {
    const user = { username: 'bad', password: PASSWORD, email: 'bad@example.org', role: 2, videoQuota: -1 }
    const made = await root.send<{ user: { id: number } }>('POST', '/api/v1/users', { ...user, videoQuotaDaily: -1 })
    const browser = visitor()
    await browser.login('bad', PASSWORD)
    expect((await browser.open('/videos/subscriptions')).path).toBe('/videos/subscriptions')
    await root.send('POST', `/api/v1/users/${made.user.id}/block`, { reason: 'spam' })
    expect((await browser.open('/videos/subscriptions')).path).toContain('/login')
    const again = await visitor().login('bad', PASSWORD)
    expect(again.html).toContain('User is blocked.')
  })

  it('asks for the two-factor code', async () => {
    const user = { username: 'careful', password: PASSWORD, email: 'careful@example.org', role: 2, videoQuota: -1 }
    const made = await root.send<{ user: { id: number } }>('POST', '/api/v1/users', { ...user, videoQuotaDaily: -1 })
    const careful = await login(node.base, 'careful', PASSWORD)
    const path = `/api/v1/users/${made.user.id}/two-factor`
    const { otpRequest } = await careful.send<{ otpRequest: { requestToken: string; secret: string } }>('POST', `${path}/request`, {
      currentPassword: PASSWORD,
    })
    const { requestToken, secret } = otpRequest
    await careful.send('POST', `${path}/confirm-request`, { requestToken, otpToken: await generate({ secret }) })
    const without = await visitor().login('careful', PASSWORD)
    expect(without.status).toBe(400)
    expect(without.html).toContain('Type the one-time code')
    expect((await visitor().login('careful', PASSWORD, { code: '000000' })).html).toContain('one-time code is not right')
    // The code is used: the next one is valid too.
    const epoch = Math.floor(Date.now() / 1000) + 30
    const right = await visitor().login('careful', PASSWORD, { code: await generate({ secret, epoch }) })
    expect(right.path).toBe('/')
  })

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    '/%09/evil.example/..//x',
    'javascript:alert(1)',
    '\\\\evil.example',
    '/\t/evil.example',
    '@evil.example',
  ])('never redirects to another site: %j', async (next) => {
    const browser = visitor()
    const { html } = await browser.open(`/login?${new URLSearchParams({ next })}`)
    const form = formIn(html, '/login')
    expect(form.fields.next).toMatch(/^\/(?!\/)/)
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(`${node.base}/login`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin: node.base },
      body: new URLSearchParams({ ...form.fields, next, username: 'anna', password: PASSWORD }),
    })
    expect(new URL(answer.headers.get('location') ?? '', node.base).origin).toBe(node.base)
  })

  it('is refused for forms of other sites, of other browsers, and without a token', async () => {
    const browser = visitor()
    const form = formIn((await browser.open('/login')).html, '/login')
    const typed = { username: 'anna', password: PASSWORD }
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: node.base, 'sec-fetch-site': 'cross-site' },
      { origin: node.base, 'sec-fetch-site': 'same-site' },
      {},
    ] as Record<string, string>[]) {
      const { status, html } = await browser.send(form, typed, headers)
      expect({ headers, status }).toEqual({ headers, status: 403 })
      expect(html).toContain('not sent from a page of this site')
    }
    expect((await browser.send({ ...form, fields: { ...form.fields, token: 'f00' } }, typed)).status).toBe(403)
    const other = visitor()
    await other.open('/login')
    expect((await other.send(form, typed)).status).toBe(403)
    expect((await visitor().send(form, typed)).status).toBe(403)
    expect((await browser.send(form, typed)).path).toBe('/')
  })

  it('is rate-limited', async () => {
    const browser = makeBrowser(node.base, { 'x-forwarded-for': '203.0.113.7' })
    const { html } = await browser.open('/login')
    const form = formIn(html, '/login')
    for (let tries = 0; tries < LOGINS; tries += 1) {
      expect((await browser.send(form, { username: 'anna', password: 'x' })).status).toBe(400)
    }
    const refused = await browser.send(form, { username: 'anna', password: PASSWORD })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(refused.headers.get('content-type')).toContain('text/html')
    expect(refused.html).toContain('Too many requests')
  })
})

describe('watching', () => {
  let own: { accountId: number; channelId: number }
  beforeAll(async () => {
    const [row] = await db.query<typeof own>(
      `select a.id as "accountId", c.id as "channelId" from users u join account a on a.user_id = u.id
       join channel c on c.account_id = a.id where u.username = 'anna'`,
    )
    if (!row) throw new Error('Anna has no channel.')
    own = row
  })

  const isHidden = async (browser: Browser, path: string) => {
    const { status, html } = await browser.open(path)
    expect({ path, status }).toEqual({ path, status: 404 })
    expect(html).not.toContain('Quiet bird')
  }
  const add = (channelId: number, privacy: number) =>
    makeVideo(db, {
      channelId,
      columns: { name: 'Quiet bird', privacy },
      webVideo: { resolution: 240 },
    })

  it('a private video is for its owner, with a file token, and is not cached', async () => {
    const { uuid } = await add(own.channelId, 3)
    const path = `/w/${uuid}`
    await isHidden(visitor(), path)
    const browser = await anna()
    const { status, html, headers } = await browser.open(path)
    expect(status).toBe(200)
    expect(html).toContain('<h1 dir="auto">Quiet bird</h1>')
    expect(html).toMatch(/<source src="[^"]+\?videoFileToken=[\w.-]+"/)
    expect(html).not.toMatch(/og:title|ld\+json/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('etag')).toBeNull()
    await isHidden(browser, `/videos/embed/${uuid}`)
    await isHidden(browser, `/w/${(await add(maker.channelId, 3)).uuid}`)
  })

  it('an internal video is for every local user', async () => {
    const { uuid } = await add(maker.channelId, 4)
    await isHidden(visitor(), `/w/${uuid}`)
    const browser = await anna()
    expect((await browser.open(`/w/${uuid}`)).html).toContain('videoFileToken=')
    browser.cookies.set('vireo-session', 'f'.repeat(40))
    await isHidden(browser, `/w/${uuid}`)
  })

  it('comments of muted accounts are hidden', async () => {
    const { id, uuid } = await add(maker.channelId, 1)
    const loud = await makeUser(db, { origin: node.base })
    await db.query(`insert into comment (video_id, account_id, url, text) values ($1, $2, $3, 'So loud')`, [
      id,
      loud.accountId,
      `${node.base}/comments/${uuid}`,
    ])
    const browser = await anna()
    expect((await browser.open(`/w/${uuid}`)).html).toContain('So loud')
    const client = await login(node.base, 'anna', PASSWORD)
    await client.send('POST', '/api/v1/users/me/blocklist/accounts', { accountName: loud.username })
    const muted = await browser.open(`/w/${uuid}`)
    expect(muted.html).not.toContain('So loud')
    expect(muted.headers.get('cache-control')).toBe('no-store')
    expect((await visitor().open(`/w/${uuid}`)).html).toContain('So loud')
  })

  /** Requests that the player of a page sends. */
  const reportOf = (html: string, currentTime: number): Form => {
    const data = (name: string) => new RegExp(` data-${name}="([^"]*)"`).exec(html)?.[1] ?? ''
    return {
      action: data('reports'),
      method: 'post',
      fields: { token: data('token'), currentTime: String(currentTime), sessionId: 'a'.repeat(32) },
    }
  }
  const watched = async (uuid: string): Promise<number | undefined> =>
    (
      await db.query<{ seconds: number }>(
        `select h.seconds from history h join video v on v.id = h.video_id
         where h.account_id = $1 and v.uuid = $2`,
        [own.accountId, uuid],
      )
    )[0]?.seconds

  it("is stored in the user's history, and resumes at the last position", async () => {
    const browser = await anna()
    for (const { uuid } of [await add(maker.channelId, 1), await add(own.channelId, 3), await add(maker.channelId, 4)]) {
      const path = `/w/${uuid}`
      const { html } = await browser.open(path)
      expect(html).not.toContain('data-start=')
      expect(html).toContain(`data-video="${uuid}"`)
      const report = reportOf(html, 2)
      expect(report.action).toMatch(/^\/w\/\w+\/views$/)
      expect((await browser.send(report)).status).toBe(204)
      expect(await watched(uuid)).toBe(2)
      expect((await browser.open(path)).html).toContain('data-start="2"')
    }
    const client = await login(node.base, 'anna', PASSWORD)
    const history = await client.send('GET', '/api/v1/users/me/history/videos')
    // Lists of the API have no private videos.
    expect(history).toMatchObject({ total: 2 })
  })

  it('is not stored for other sites, other sessions and visitors', async () => {
    const { uuid } = await add(maker.channelId, 1)
    const browser = await anna()
    const report = reportOf((await browser.open(`/w/${uuid}`)).html, 3)
    expect((await browser.send(report, {}, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await browser.send(report, { token: 'f00' })).status).toBe(403)
    expect((await (await anna()).send(report)).status).toBe(403)
    expect((await visitor().send(report)).status).toBe(403)
    const wrong = await browser.send(report, { currentTime: '-1' })
    expect([wrong.status, wrong.html.includes('currentTime')]).toEqual([400, true])
    expect((await browser.send(report, { currentTime: '100000' })).status).toBe(400)
    expect(await watched(uuid)).toBeUndefined()
    const page = await visitor().open(`/w/${uuid}`)
    expect(page.html).toContain(`data-video="${uuid}"`)
    expect(page.html).not.toMatch(/data-(?:reports|token)=/)
    expect((await browser.open(`/videos/embed/${uuid}`)).html).not.toMatch(/data-(?:reports|token)=/)
  })

  it('own videos play in own playlists, and are gaps for others', async () => {
    const [secret, open, foreign] = [await add(own.channelId, 3), await add(maker.channelId, 1), await add(maker.channelId, 3)]
    const [playlist] = await db.query<{ id: number; uuid: string }>(
      `insert into playlist (uuid, url, account_id, name, type, privacy, elements_count)
       values (gen_random_uuid(), 'own', $1, 'Mixed birds', 1, 1, 3) returning id, uuid`,
      [own.accountId],
    )
    for (const [index, video] of [secret, open, foreign].entries()) {
      await db.query('insert into playlist_element (playlist_id, video_id, position) values ($1, $2, $3)', [
        playlist?.id,
        video.id,
        index + 1,
      ])
    }
    const path = `/w/p/${playlist?.uuid}`
    const browser = await anna()
    const mine = await browser.open(path)
    expect(mine.html).toContain(`data-video="${secret.uuid}"`)
    expect(mine.html).toContain('videoFileToken=')
    expect(mine.html).toContain('playlistPosition=2&amp;autoplay=1')
    expect(mine.html.match(/not there any more/g)).toHaveLength(1)
    expect(mine.headers.get('cache-control')).toBe('no-store')
    expect((await browser.send(reportOf(mine.html, 2))).status).toBe(204)
    expect(await watched(secret.uuid)).toBe(2)
    const remoteOne = await visitor().open(path)
    expect(remoteOne.html).toContain(`data-video="${open.uuid}"`)
    expect(remoteOne.html).not.toContain(secret.uuid)
    expect(remoteOne.html.match(/not there any more/g)).toHaveLength(2)
    expect((await browser.open(`/video-playlists/embed/${playlist?.uuid}`)).html).not.toContain(secret.uuid)
  })

  it('a private playlist is for its owner, and has no machine-readable data', async () => {
    const playlist = '5d3f8d06-6b83-4d8c-9a37-2bb0a1f3a002'
    await db.query(
      `insert into playlist (uuid, url, account_id, name, type, privacy, elements_count)
       values ($1, 'y', $2, 'Quiet birds', 1, 3, 0)`,
      [playlist, own.accountId],
    )
    await isHidden(visitor(), `/w/p/${playlist}`)
    const browser = await anna()
    const { status, html, headers } = await browser.open(`/w/p/${playlist}`)
    expect(status).toBe(200)
    expect(html).toContain('Quiet birds')
    expect(html).not.toContain('og:title')
    expect(headers.get('cache-control')).toBe('no-store')
    await isHidden(browser, `/video-playlists/embed/${playlist}`)
  })
})

describe('subscribing', () => {
  const followers = async () =>
    (
      await db.query(
        `select 1 from follow f join users u on u.username = 'anna' join account a on a.user_id = u.id
         where f.follower_id = a.actor_id and f.target_id = $1 and f.state in ('pending', 'accepted')`,
        [maker.channelActorId],
      )
    ).length

  it('is a button on the page of a channel, and beside each channel of an account', async () => {
    const browser = await anna()
    const page = await browser.open('/c/maker_channel')
    expect(page.headers.get('cache-control')).toContain('private')
    const done = await browser.send(formIn(page.html, '/subscriptions'))
    expect(done.path).toBe('/c/maker_channel')
    expect(await followers()).toBe(1)
    expect(done.html).toContain('Unsubscribe')
    expect(done.html).toMatch(/\b1\ssubscriber</)
    expect((await browser.open('/videos/subscriptions')).html).toContain('Bird 26')
    const account = await browser.open('/a/maker')
    const ended = await browser.send(formIn(account.html, '/subscriptions'))
    expect(ended.path).toBe('/a/maker')
    const second = await browser.open('/c/maker_channel/videos?page=2')
    expect(formIn(second.html, '/subscriptions').fields.next).toBe('/c/maker_channel/videos?page=2')
    expect(await followers()).toBe(0)
    expect(ended.html).not.toContain('Unsubscribe')
    expect(ended.html).toMatch(/\b0\ssubscribers</)
  })

  it('is refused for forms of other sites and of another session', async () => {
    const browser = await anna()
    const form = formIn((await browser.open('/c/maker_channel')).html, '/subscriptions')
    const cross = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await browser.send(form, {}, cross)).status).toBe(403)
    expect((await (await anna()).send(form)).status).toBe(403)
    expect((await browser.send({ ...form, fields: { ...form.fields, channel: 'x' } })).status).toBe(400)
    expect(await followers()).toBe(0)
  })

  it('redirects to the login after a logout, and back', async () => {
    const browser = await anna()
    const form = formIn((await browser.open('/c/maker_channel')).html, '/subscriptions')
    await db.query("delete from session where user_id = (select id from users where username = 'anna')")
    // Sessions are cached for a second.
    await until(async () => (await browser.open('/my-account/settings')).path.startsWith('/login'))
    expect((await browser.send(form)).path).toBe('/login?next=%2Fc%2Fmaker_channel')
    expect(await followers()).toBe(0)
  })

  it("from the user's own server asks for a handle, and explains errors in it", async () => {
    const browser = visitor()
    const form = formIn((await browser.open('/c/maker_channel')).html, '/remote-subscribe')
    const wrong = await browser.send(form, { handle: '"><script>alert(1)</script>' })
    expect(wrong.status).toBe(400)
    expect(wrong.html).toContain('Type your name and your server')
    expect(wrong.html).not.toContain('<script>alert')
    const local = await browser.send(form, { handle: `@anna@${new URL(node.base).host}` })
    expect(local.path).toBe('/login?next=%2Fc%2Fmaker_channel%2Fvideos')
    expect((await browser.send({ ...form, fields: { ...form.fields, actor: 'nobody' } }, { handle: 'a@b.example' })).status).toBe(404)
    expect((await browser.send(form, { handle: 'a@b.example' }, { origin: 'https://evil.example' })).status).toBe(403)
  })
})
