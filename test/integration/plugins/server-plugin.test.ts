// The example plugin on a whole server: filters, actions, settings, stored values, constants, its router, and logins.

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import pino from 'pino'
import { CONSTANTS, REFUSALS, RESULTS } from '../../../src/http/plugins/plugin-filters.ts'
import { formIn, linksIn, makeBrowser } from '../../support/browser.ts'
import { startTestNode } from '../../support/node.ts'
import { type PluginNode, startPluginNode, WITH_PLUGINS } from '../../support/plugin-node.ts'
import { run } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const PLUGIN = 'peertube-plugin-example'
const ROUTER = '/plugins/example/router'

let server: PluginNode
/** Reasons of refused logins, for the administrator. */
const reasons: string[] = []
beforeAll(async () => {
  // Tests of filters; late filters are tested in hostile.test.ts.
  const config = {
    ...WITH_PLUGINS,
    signup: { enabled: true, requires_approval: false },
    vireo: { plugins: { filter_timeout: '10 seconds' } },
  }
  const logger = pino({ level: 'warn' }, { write: (line) => void reasons.push(JSON.parse(line).err?.message ?? line) })
  server = await startPluginNode(config, { logger })
  await server.install(PLUGIN)
})
afterAll(() => server?.stop())

const ask: PluginNode['ask'] = (...requested) => server.ask(...requested)

/** A waiting live is a video without files. */
async function newVideo(name: string): Promise<string> {
  const channels = await ask('GET', '/api/v1/users/me')
  const form = new FormData()
  form.set('channelId', String(channels.body.videoChannels[0].id))
  form.set('name', name)
  form.set('privacy', '1')
  const answer = await fetch(`${server.node.base}/api/v1/videos/live`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}` },
    body: form,
  })
  return (await answer.json()).video.uuid
}

describe('the router', () => {
  it('gets the request with its user, and answers with stored values and settings of the plugin', async () => {
    const answer = await ask('GET', `${ROUTER}/greeting/you?a=1&a=2`)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        text: 'Hello you',
        started: true,
        query: { a: ['1', '2'] },
        user: 'root',
        visits: 1,
        setting: 'Hello',
        constants: ['French', 'Films', null, 'Public'],
        settings: { greeting: 'Hello', tone: 'cold' },
        origin: server.node.base,
        added: [true, true, true, false, false, false],
        refusal: expect.stringMatching(/does not offer transcoding profiles/),
      },
    })
    expect(answer.body.headers).not.toContain('authorization')
    const anonymous = await ask('GET', '/plugins/example/1.0.0/router/greeting/you', undefined, { token: '' })
    expect(anonymous.body).toMatchObject({ user: null, visits: 2 })
  })

  it('passes bodies and headers, but no cookies', async () => {
    const answer = await ask('POST', `${ROUTER}/echo`, { some: ['thing'] })
    expect(answer).toMatchObject({ status: 201, body: { some: ['thing'] } })
    expect(answer.headers.get('x-example')).toBe('yes')
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  it('refuses invalid tokens, large bodies, other versions and unknown paths', async () => {
    expect((await ask('GET', `${ROUTER}/greeting/you`, undefined, { token: 'wrong' })).status).toBe(401)
    expect((await ask('POST', `${ROUTER}/echo`, { text: 'x'.repeat(600_000) })).status).toBe(413)
    expect((await ask('GET', '/plugins/example/2.0.0/router/greeting/you')).status).toBe(404)
    expect((await ask('GET', '/plugins/none/router/greeting/you')).status).toBe(404)
    expect((await ask('GET', `${ROUTER}/nothing`)).status).toBe(404)
  })

  it('supports any method, wildcard paths, and its own error handlers', async () => {
    for (const method of ['PATCH', 'DELETE']) {
      expect(await ask(method, `${ROUTER}/any/one/two`)).toMatchObject({ status: 200, body: [method, 'one/two'] })
    }
    expect(await ask('GET', `${ROUTER}/broken/bridge`)).toMatchObject({ status: 418, body: 'mended' })
  })

  it('passes forms, and refuses malformed JSON', async () => {
    const echo = async (type: string, body: string) => {
      const answer = await fetch(`${server.node.base}${ROUTER}/echo`, { method: 'POST', headers: { 'content-type': type }, body })
      return { status: answer.status, body: await answer.text() }
    }
    const form = 'application/x-www-form-urlencoded'
    expect(await echo(form, 'a=1&b=2&b=3')).toEqual({ status: 201, body: '{"a":"1","b":["2","3"]}' })
    expect(await echo(`${form}; charset=utf-8`, 'a=%C3%BC')).toEqual({ status: 201, body: '{"a":"ü"}' })
    expect(await echo('text/plain', 'as it is')).toEqual({ status: 201, body: 'as it is' })
    expect(await echo('multipart/form-data; boundary=x', '--x--')).toEqual({ status: 201, body: '--x--' })
    expect((await echo('application/json', '{"a":')).status).toBe(400)
  })

  it('gets raw paths, and its mount point', async () => {
    const { hostname } = new URL(server.node.base)
    expect((await ask('GET', `${ROUTER}/place/a%2Fb%252F?c=d?e`)).body).toEqual({
      params: { name: 'a/b%2F' },
      path: '/place/a%2Fb%252F',
      url: '/place/a%2Fb%252F?c=d?e',
      baseUrl: ROUTER,
      originalUrl: `${ROUTER}/place/a%2Fb%252F?c=d?e`,
      ip: '127.0.0.1',
      protocol: 'http',
      secure: false,
      hostname,
    })
    const versioned = (await ask('GET', '/plugins/example/1.0.0/router/Place/x')).body
    expect(versioned).toMatchObject({ baseUrl: '/plugins/example/1.0.0/router', path: '/Place/x' })
    expect((await ask('GET', `${ROUTER}/mounted/here/and/there?a=1`)).body).toEqual([
      'here',
      `${ROUTER}/mounted/here`,
      '/and/there',
      '/and/there?a=1',
    ])
    expect((await ask('GET', `${ROUTER}/mounted/here`)).body).toEqual(['here', `${ROUTER}/mounted/here`, '/', '/'])
  })

  it('answers HEAD like GET, and with the status of an error', async () => {
    const head = await ask('HEAD', `${ROUTER}/place/x`)
    expect([head.status, head.headers.get('content-type'), head.body]).toEqual([200, 'application/json; charset=utf-8', ''])
    expect((await ask('GET', `${ROUTER}/busy`)).status).toBe(503)
  })

  it('answers 502 for responses that are too large, and continues', async () => {
    const { pid } = (await ask('GET', `${ROUTER}/pid`)).body
    expect((await ask('GET', `${ROUTER}/large/700000`)).body).toHaveLength(700_000)
    expect((await ask('GET', `${ROUTER}/large/800000`)).status).toBe(502)
    expect((await ask('GET', `${ROUTER}/pid`)).body).toEqual({ pid })
  })

  it('answers 502 if its handler throws', async () => {
    expect((await ask('GET', `${ROUTER}/error`)).status).toBe(502)
    expect((await ask('GET', `${ROUTER}/greeting/you`)).status).toBe(200)
  })
})

describe('settings', () => {
  it('are registered, and public ones are shown to everybody', async () => {
    const { body } = await ask('GET', `/api/v1/plugins/${PLUGIN}/registered-settings`)
    expect(body.registeredSettings.slice(0, 2)).toEqual([
      { name: 'greeting', label: 'Greeting', type: 'input', default: 'Hello', private: false },
      { name: 'secret', label: 'Secret', type: 'input-password', private: true },
    ])
    expect(body.registeredSettings.slice(2).map(({ type }: { type: string }) => type)).toEqual([
      'input-checkbox',
      'input-textarea',
      'select',
      'html',
      'markdown-text',
      'markdown-enhanced',
    ])
    const open = await ask('GET', `/api/v1/plugins/${PLUGIN}/public-settings`, undefined, { token: '' })
    expect(open.body).toEqual({ publicSettings: { greeting: 'Hello' } })
  })

  it('are passed to the plugin when an administrator changes them, and the plugin can change them', async () => {
    await ask('PUT', `/api/v1/plugins/${PLUGIN}/settings`, { settings: { greeting: 'Good day', secret: 'x' } })
    await until(async () => (await ask('GET', `${ROUTER}/greeting/you`)).body.text === 'Good day you')
    expect((await ask('PUT', `${ROUTER}/setting`, { greeting: 'Hi' })).status).toBe(204)
    await until(async () => (await ask('GET', `${ROUTER}/greeting/you`)).body.text === 'Hi you')
    expect((await ask('GET', `/api/v1/plugins/${PLUGIN}`)).body.settings).toEqual({ greeting: 'Hi', secret: 'x' })
  })
})

describe('hooks', () => {
  it('change results in order of priority', async () => {
    const uuid = await newVideo('Filtered')
    expect((await ask('GET', `/api/v1/videos/${uuid}`)).body.name).toBe('Filtered (1) (2)')
  })

  it.each([
    ['without a tag', {}],
    ['with another tag', { 'if-none-match': '"an-older-one"' }],
  ])('change a cached response once, for a request %s', async (_name, headers: Record<string, string>) => {
    const uuid = await newVideo('Kept')
    await until(async () => (await run(server.node.databaseUrl, 'select from outbox')).length === 0)
    const fresh = await fetch(`${server.node.base}/api/v1/videos/${uuid}`)
    const kept = await fetch(`${server.node.base}/api/v1/videos/${uuid}`, { headers })
    const [first, second] = [await fresh.json(), await kept.json()]
    expect([first.name, second.name]).toEqual(['Kept (1) (2)', 'Kept (1) (2)'])
    expect(kept.headers.get('etag')).toBe(fresh.headers.get('etag'))
  })

  it('refuse requests with a reason', async () => {
    const uuid = await newVideo('Commented')
    const threads = `/api/v1/videos/${uuid}/comment-threads`
    expect(await ask('POST', threads, { text: 'buy spam' })).toMatchObject({ status: 403, body: { detail: 'No spam here' } })
    expect((await ask('POST', threads, { text: 'well done' })).status).toBe(200)
  })

  it('refuse registrations', async () => {
    const signUp = (username: string) =>
      ask('POST', '/api/v1/users/register', { username, password: 'a good password', email: `${username}@plugin.example` }, { token: '' })
    expect(await signUp('spammer')).toMatchObject({ status: 403, body: { detail: 'Not you' } })
    expect((await signUp('gardener')).status).toBe(204)
  })

  it('are notified of events', async () => {
    const uuid = await newVideo('Updated')
    expect((await ask('PUT', `/api/v1/videos/${uuid}`, { name: 'Updated again' })).status).toBe(204)
    await until(async () => {
      const seen: { target: string }[] = (await ask('GET', `${ROUTER}/seen`)).body
      return ['action:application.listening', 'action:api.video.updated', 'action:api.video-thread.created'].every((name) =>
        seen.some(({ target }) => target === name),
      )
    })
  })

  it('exist for existing routes', () => {
    const named = [RESULTS, REFUSALS, CONSTANTS].flatMap((table) => Object.keys(table))
    expect(named.filter((route) => !server.routes.has(route))).toEqual([])
  })

  it('remove constants from the lists', async () => {
    const { body } = await ask('GET', '/api/v1/videos/languages')
    expect(body).toMatchObject({ fr: 'French' })
    expect(body).not.toHaveProperty('tlh')
    expect((await ask('GET', '/api/v1/videos/privacies')).body).not.toHaveProperty('5')
    expect((await ask('GET', '/api/v1/video-playlists/privacies')).body).toEqual({ 1: 'Public', 2: 'Unlisted' })
    expect((await ask('GET', '/api/v1/videos/categories')).body).toMatchObject({ 2: 'Films' })
  })

  it('add constants, which videos can use', async () => {
    expect((await ask('GET', '/api/v1/videos/languages')).body).toMatchObject({ fr: 'French', 'x-mine': 'Mine' })
    expect((await ask('GET', '/api/v1/videos/categories')).body).toMatchObject({ 1: 'Music', 1000: 'Gardening' })
    expect((await ask('GET', '/api/v1/videos/licences')).body).toMatchObject({ 1001: 'All mine' })
    expect((await ask('GET', '/api/v1/videos/privacies')).body).not.toHaveProperty('17')
    const uuid = await newVideo('In the garden')
    const change = (fields: object) => ask('PUT', `/api/v1/videos/${uuid}`, fields)
    expect((await change({ category: 1002 })).status).toBe(400)
    expect((await change({ category: 1000, licence: 1001, language: 'x-mine' })).status).toBe(204)
    expect((await ask('GET', `/api/v1/videos/${uuid}`)).body).toMatchObject({
      category: { id: 1000, label: 'Gardening' },
      licence: { id: 1001, label: 'All mine' },
      language: { id: 'x-mine', label: 'Mine' },
    })
  })
})

describe('the helpers', () => {
  it('find videos and users, build URLs, and report unsupported ones', async () => {
    const uuid = await newVideo('Helped')
    const me = (await ask('GET', '/api/v1/users/me')).body
    const { body } = await ask('GET', `${ROUTER}/helpers/${uuid}/${me.id}`)
    expect(body).toMatchObject({
      video: { uuid, name: 'Helped', isLive: true },
      user: { id: me.id, username: 'root', role: 0 },
      routes: ['/plugins/example/1.0.0/static/', '/plugins/example/1.0.0/router/', '/plugins/example/1.0.0/ws/'],
      refused: Array(3).fill(expect.stringMatching(/^This server does not offer/)),
    })
    expect(Object.keys(body.user)).not.toContain('password_hash')
  })
})

const seenBy = async (target: string): Promise<{ username: string }[]> => {
  const all: { target: string; params: { username: string } }[] = (await ask('GET', `${ROUTER}/seen`)).body
  return all.filter((one) => one.target === target).map(({ params }) => params)
}
const oauth = async (fields: Record<string, string>) => {
  const client = await (await fetch(`${server.node.base}/api/v1/oauth-clients/local`)).json()
  const answer = await fetch(`${server.node.base}/api/v1/users/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...client, ...fields }),
  })
  return { status: answer.status, body: await answer.json() }
}
/** Logs in on the pages of the other system. */
async function throughTheDoor(name: string) {
  const back = await ask('GET', `${ROUTER}/callback?name=${name}`, undefined, { token: '' })
  const query = new URLSearchParams((back.headers.get('location') ?? '').split('?')[1])
  return (await oauth({ grant_type: 'password', ...Object.fromEntries(query) })).body
}
const logOut = (token: string) => ask('POST', '/api/v1/users/revoke-token', undefined, { token })
const meWith = (token: string) => ask('GET', '/api/v1/users/me', undefined, { token })

describe('logins', () => {
  it('with a name and a password known to the plugin create a user, who is no administrator', async () => {
    const answer = await server.login('ali', 'open sesame')
    expect(answer.status).toBe(200)
    const me = await ask('GET', '/api/v1/users/me', undefined, { token: answer.body.access_token })
    expect(me.body).toMatchObject({ username: 'ali', email: 'ali@plugin.example', pluginAuth: PLUGIN, role: { id: 2 } })
    expect((await server.login('ali', 'open barley')).status).toBe(400)
    // A user with the same name belongs to the plugin, not to the server.
    const other = await server.login('root', 'open sesame')
    const named = await ask('GET', '/api/v1/users/me', undefined, { token: other.body.access_token })
    expect(named.body).toMatchObject({ username: expect.stringMatching(/^root.+/), role: { id: 2 } })
  })

  it('on pages of another system end at the login page, with a token for this user', async () => {
    const begun = await ask('GET', '/plugins/example/1.0.0/auth/door', undefined, { token: '' })
    expect(begun.status).toBe(302)
    expect(begun.headers.get('location')).toBe('/plugins/example/1.0.0/router/callback?code=1')
    const back = await ask('GET', begun.headers.get('location') ?? '', undefined, { token: '' })
    expect(back.status).toBe(302)
    const [path, query] = (back.headers.get('location') ?? '').split('?')
    expect(path).toBe('/login')
    const { externalAuthToken = '', username = '' } = Object.fromEntries(new URLSearchParams(query))
    expect(username).toBe('guest')
    const form = { grant_type: 'password', username, externalAuthToken }
    expect((await oauth(form)).status).toBe(200)
    expect((await oauth(form)).status).toBe(400)
    expect((await ask('GET', '/plugins/example/1.0.0/auth/none')).status).toBe(404)
    expect((await ask('GET', '/plugins/example/1.0.0/auth/gone')).status).toBe(404)
  })

  const said = (user: object) => server.login('somebody', JSON.stringify(user))

  it.each([
    ['an address that somebody else has', { username: 'eve', email: 'admin@example.com' }, 'email'],
    ['no address', { username: 'eve' }, 'has verified no e-mail address'],
    ['a name that nobody can store', { username: 'e\0ve', email: 'eve@plugin.example' }, 'names no user'],
    ['a name that is no text', { username: '\ud800', email: 'eve@plugin.example' }, 'names no user'],
    ['no name', { email: 'eve@plugin.example' }, 'names no user'],
  ])('of users with %s are refused with a reason', async (_what, user, reason) => {
    expect(await said(user)).toMatchObject({ status: 400, body: { code: 'access_denied', detail: expect.stringContaining(reason) } })
    expect(reasons.at(-1)).toContain(reason)
  })

  it('ignore invalid roles, display names and quotas of a plugin', async () => {
    const odd = { toString: 1, valueOf: 1 }
    const user = { username: 'fay', email: 'fay@plugin.example', role: odd, displayName: 'Fa\0y', videoQuota: odd }
    const { status, body } = await said(user)
    expect(status).toBe(200)
    expect((await meWith(body.access_token)).body).toMatchObject({ username: 'fay', role: { id: 2 }, account: { displayName: 'fay' } })
  })

  it('on pages of another system are refused with a reason in the log', async () => {
    const back = await ask('GET', `${ROUTER}/callback?name=gus&email=admin@example.com`, undefined, { token: '' })
    expect(back.headers.get('location')).toBe('/login?externalAuthError=true')
    expect(reasons.at(-1)).toContain('email')
  })

  it('are in the client configuration', async () => {
    const { plugin } = (await ask('GET', '/api/v1/config')).body
    const shared = { npmName: PLUGIN, name: 'example', version: '1.0.0' }
    expect(plugin.registeredIdAndPassAuths).toEqual([
      { ...shared, authName: 'words', weight: 10 },
      { ...shared, authName: 'as said: here/there', weight: 0 },
    ])
    expect(plugin.registeredExternalAuths).toEqual([{ ...shared, authName: 'door', authDisplayName: 'The door' }])
  })
})

describe('a logout', () => {
  it('is passed to the plugin with its user, once, and redirects to its URL', async () => {
    const { access_token } = (await server.login('ada', 'open sesame')).body
    expect((await logOut(access_token)).body).toEqual({ success: true })
    expect(await seenBy('logout')).toMatchObject([{ username: 'ada', email: 'ada@plugin.example', role: 2, pluginAuth: PLUGIN }])
    expect((await meWith(access_token)).status).toBe(401)
    expect(await run(server.node.databaseUrl, `select 1 from job where type = 'plugin-logout' and state = 'delayed'`)).toEqual([])

    expect((await logOut((await throughTheDoor('guest')).access_token)).body).toEqual({
      success: true,
      redirectUrl: 'https://door.example/out?name=guest',
    })
    // Only to http(s) URLs, and never for local users.
    expect((await logOut((await throughTheDoor('mallory')).access_token)).body).toEqual({ success: true })
    const own = (await server.login(server.node.username, server.node.password)).body
    expect((await logOut(own.access_token)).body).toEqual({ success: true })
    expect(await seenBy('logout')).toHaveLength(1)
  })

  it('on the page redirects too, without a form', async () => {
    const browser = makeBrowser(server.node.base)
    await browser.open('/plugins/example/1.0.0/auth/door')
    const page = await browser.send(formIn((await browser.open('/logout')).html, '/logout'))
    expect(page).toMatchObject({ status: 200, path: '/logout' })
    expect(page.headers.get('refresh')).toBe('0; url=https://door.example/out?name=guest')
    expect(linksIn(page.html, 'Log out there too')).toEqual(['https://door.example/out?name=guest'])
    expect((await browser.open('/my-account/settings')).path).toContain('/login')
  })

  it('while the process is unavailable is passed later', async () => {
    const { access_token } = (await server.login('bea', 'open sesame')).body
    process.kill((await ask('GET', `${ROUTER}/pid`)).body.pid, 'SIGKILL')
    expect((await logOut(access_token)).body).toEqual({ success: true })
    await until(async () => (await ask('GET', `${ROUTER}/pid`)).status === 200)
    expect(await seenBy('logout')).toEqual([])
    await run(server.node.databaseUrl, `update job set due_at = now() where type = 'plugin-logout' and state = 'delayed'`)
    await until(async () => (await seenBy('logout')).length > 0)
    expect(await seenBy('logout')).toMatchObject([{ username: 'bea' }])
  })
})

describe('a session that the plugin calls invalid', () => {
  const end = (ended: string) => ask('PUT', `${ROUTER}/ended`, { ended })
  afterEach(() => end(''))

  it('ends at its refresh', async () => {
    const { access_token, refresh_token } = (await server.login('cid', 'open sesame')).body
    const next = await oauth({ grant_type: 'refresh_token', refresh_token })
    expect(next.status).toBe(200)
    expect((await meWith(access_token)).status).toBe(401)
    await end('refresh')
    expect(await oauth({ grant_type: 'refresh_token', refresh_token: next.body.refresh_token })).toMatchObject({
      status: 400,
      body: { code: 'invalid_grant' },
    })
    expect((await meWith(next.body.access_token)).status).toBe(401)
    expect((await meWith(server.token)).status).toBe(200)
  })

  it('may belong to a username with any letters', async () => {
    const { refresh_token } = (await server.login('x', JSON.stringify({ username: 'hal', email: 'hal@plugin.example' }))).body
    const next = await oauth({ grant_type: 'refresh_token', refresh_token })
    expect(next.status).toBe(200)
    await end('refresh')
    expect((await oauth({ grant_type: 'refresh_token', refresh_token: next.body.refresh_token })).status).toBe(400)
  })

  it('ends when its token is used', async () => {
    const { access_token, refresh_token } = await throughTheDoor('guest')
    expect((await meWith(access_token)).status).toBe(200)
    await end('access')
    await until(async () => (await meWith(access_token)).status === 401)
    await end('')
    expect((await oauth({ grant_type: 'refresh_token', refresh_token })).status).toBe(400)
    expect((await meWith(server.token)).status).toBe(200)
  })

  it('continues if the plugin cannot tell', async () => {
    const { access_token, refresh_token } = (await server.login('dan', 'open sesame')).body
    await end('error')
    expect((await meWith(access_token)).status).toBe(200)
    expect((await oauth({ grant_type: 'refresh_token', refresh_token })).status).toBe(200)
  })
})

/** A connection to the chat of the example, which sends messages in sequence. */
async function openChat(name: string, base = server.node.base) {
  const socket = new WebSocket(`${base.replace('http', 'ws')}/plugins/example/1.0.0/ws/chat?name=${name}`)
  socket.binaryType = 'arraybuffer'
  const said: unknown[] = []
  socket.addEventListener('message', ({ data }) => void said.push(data instanceof ArrayBuffer ? [...new Uint8Array(data)] : data))
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason })),
  )
  await until(async () => said.length > 0)
  return { socket, said, closed }
}

describe('a WebSocket', () => {
  it('passes messages both ways, in order', async () => {
    const { socket, said, closed } = await openChat('Ann')
    socket.send('one two three')
    socket.send(new Uint8Array([1, 2, 3]))
    await until(async () => said.length === 5)
    expect(said).toEqual(['Welcome, Ann', 'one', 'two', 'three', [3, 2, 1]])
    socket.send('bye')
    expect(await closed).toEqual({ code: 4000, reason: 'as asked' })
    const seen = async () => (await ask('GET', `${ROUTER}/seen`)).body
    await until(async () => (await seen()).some((one: { target: string }) => one.target === 'chat'))
    expect(await seen()).toContainEqual({ target: 'chat', params: { name: 'Ann', code: 4000 } })
  })

  it('is refused at other URLs, and closes at messages that are too large and when the plugin restarts', async () => {
    for (const path of ['/plugins/example/ws/other', '/plugins/example/2.0.0/ws/chat', '/plugins/none/ws/chat']) {
      expect((await ask('GET', path)).status).toBe(404)
    }
    expect((await ask('GET', '/plugins/example/ws/chat')).status).toBe(400)
    const large = await openChat('Bob')
    large.socket.send('x'.repeat(600_000))
    expect((await large.closed).code).toBe(1009)
    const { closed } = await openChat('Eve')
    process.kill((await ask('GET', `${ROUTER}/pid`)).body.pid, 'SIGKILL')
    expect((await closed).code).toBe(1012)
    await until(async () => (await ask('GET', `${ROUTER}/pid`)).status === 200)
  })
})

describe('several processes', () => {
  it('share one process of the plugin, and take it over when its server stops', async () => {
    const beside = await startTestNode({ beside: server.node, config: WITH_PLUGINS })
    const pidAt = async (base: string): Promise<number | undefined> => (await ask('GET', `${ROUTER}/pid`, undefined, { base })).body.pid
    const owners = () => run<{ owner: string }>(server.node.databaseUrl, 'select host_owner as owner from plugin')
    try {
      const first = await pidAt(server.node.base)
      expect(first).toBeGreaterThan(0)
      expect(await pidAt(beside.base)).toBe(first)
      const { socket, said, closed } = await openChat('Dan', beside.base)
      socket.send('one two three')
      await until(async () => said.length === 4)
      expect(said).toEqual(['Welcome, Dan', 'one', 'two', 'three'])
      const before = await owners()

      await server.node.server.stop()
      await until(async () => ![undefined, first].includes(await pidAt(beside.base)))
      expect(await owners()).not.toEqual(before)
      expect((await closed).code).toBe(1012)
    } finally {
      await beside.stop()
      await server.node.restart()
    }
    await until(async () => (await pidAt(server.node.base)) !== undefined)
  })
})

describe('a killed process', () => {
  it('answers the request with 502, filters are skipped meanwhile, and it restarts', async () => {
    const uuid = await newVideo('Killed')
    const { pid } = (await ask('GET', `${ROUTER}/pid`)).body
    const slow = ask('GET', `${ROUTER}/slow`)
    process.kill(pid, 'SIGKILL')
    expect((await slow).status).toBe(502)
    expect((await ask('GET', `/api/v1/videos/${uuid}`)).body.name).toMatch(/^Killed/)
    await until(async () => {
      const answer = await ask('GET', `${ROUTER}/pid`)
      return answer.status === 200 && answer.body.pid !== pid
    })
    expect((await ask('GET', `/api/v1/videos/${uuid}`)).body.name).toBe('Killed (1) (2)')
  })
})

describe('a disabled plugin', () => {
  it('has no process, hooks, routes or logins', async () => {
    const uuid = await newVideo('Off')
    const { pid } = (await ask('GET', `${ROUTER}/pid`)).body
    expect((await ask('POST', `/api/v1/vireo/plugins/${PLUGIN}/disable`)).status).toBe(204)
    await until(async () => {
      try {
        process.kill(pid, 0)
        return false
      } catch {
        return true
      }
    })
    expect((await ask('GET', `/api/v1/videos/${uuid}`)).body.name).toBe('Off')
    expect((await ask('GET', `${ROUTER}/pid`)).status).toBe(404)
    expect((await server.login('ali', 'open sesame')).status).toBe(400)
    expect((await ask('GET', '/api/v1/videos/categories')).body).not.toHaveProperty('1000')
  })
})
