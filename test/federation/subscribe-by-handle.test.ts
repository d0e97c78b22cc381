// A user of one node subscribes to a channel of another by handle, on pages without scripts; and hostile servers of a visitor's handle.

import { createServer, type Server, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { formIn, linksIn, makeBrowser, type Shown } from '../support/browser.ts'
import { makeUser, makeVideo } from '../support/builders.ts'
import { slowness } from '../support/cpu-time.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, newcomer, startFederatedNode } from './support.ts'

const SOON = { initial_backoff: '50 ms', max_backoff: '100 ms' }
const TIMEOUT_MS = 1000

let near: FederatedNode
let far: FederatedNode
let hostile: Server
let host: string
let answer: (response: ServerResponse, url: string) => void

beforeAll(async () => {
  const federation = { delivery: SOON, inbox: SOON, fetch: { timeout: `${TIMEOUT_MS} ms` } }
  ;[near, far] = await Promise.all([startFederatedNode({ vireo: { federation } }), startFederatedNode({ vireo: { federation } })])
  hostile = createServer((request, response) => answer(response, request.url ?? ''))
  await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve))
  const bound = hostile.address()
  host = `127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`
})
afterAll(async () => {
  hostile?.closeAllConnections()
  await new Promise((resolve) => hostile?.close(resolve))
  await Promise.all([near?.stop(), far?.stop()])
})

describe('a user of another node', () => {
  it('finds a video, opens its channel, and subscribes with their handle', async () => {
    const maker = await newcomer(near, 'maker')
    const { videoChannels } = await maker.get<{ videoChannels: { id: number; name: string }[] }>('/api/v1/users/me')
    const { id: channelId = 0, name = '' } = videoChannels[0] ?? {}
    await makeVideo({ query: near.query }, { channelId, columns: { name: 'A heron' } })
    await newcomer(far, 'reader')

    // On the node of the channel, as a visitor.
    const visitor = makeBrowser(near.base)
    const [watch = ''] = linksIn((await visitor.open('/')).html, 'A heron')
    expect((await visitor.open(watch)).html).toContain('>A heron</h1>')
    const channel = await visitor.open(`/c/${name}`)
    const leaving = await visitor.send(formIn(channel.html, '/remote-subscribe'), { handle: `@reader@${far.host}` })
    expect(leaving.status).toBe(200)
    const [address = ''] = linksIn(leaving.html, `continue on ${far.host}`)
    const uri = encodeURIComponent(`${near.base}/video-channels/${name}`)
    expect(address).toBe(`${far.base}/remote-interaction?uri=${uri}`)
    expect(leaving.html).toContain(`<meta http-equiv="refresh" content="0; url=${far.base}/remote-interaction?uri=${uri}">`)

    // On the user's node: first the login, then the channel, which is fetched.
    const reader = makeBrowser(far.base)
    const { pathname, search } = new URL(address)
    const requested = await reader.open(`${pathname}${search}`)
    expect(requested.path).toMatch(/^\/login\?next=/)
    const typed = { username: 'reader', password: 'the password of reader' }
    const found = await reader.send(formIn(requested.html, '/login'), typed)
    expect(decodeURIComponent(found.path)).toBe(`/c/${name}@${near.host}/videos`)
    const subscribed = await reader.send(formIn(found.html, '/subscriptions'))
    expect(decodeURIComponent(subscribed.path)).toBe(decodeURIComponent(found.path))
    expect(subscribed.html).toContain('Unsubscribe')
    const followers = () =>
      near.query("select 1 from follow f join actor x on x.id = f.follower_id where x.host_id is not null and f.state = 'accepted'")
    await until(async () => (await followers())[0], { what: 'the follow' })
    expect(await followers()).toHaveLength(1)

    const ended = await reader.send(formIn(subscribed.html, '/subscriptions'))
    expect(ended.html).not.toContain('Unsubscribe')
    await until(async () => (await followers()).length === 0, { what: 'the end of the follow' })
  })

  it('gets an error when nothing is at the URL', async () => {
    const reader = makeBrowser(far.base)
    await reader.login('reader', 'the password of reader')
    for (const uri of [`${near.base}/video-channels/nobody`, `acct:nobody@${near.host}`, 'javascript:alert(1)', '"><script>']) {
      const { status, html } = await reader.open(`/remote-interaction?uri=${encodeURIComponent(uri)}`)
      expect(status).toBe(404)
      expect(html).not.toContain('"><script>')
    }
  })
})

describe('the handle of a visitor', () => {
  async function subscribe(handle: string): Promise<Shown> {
    const { username } = await makeUser({ query: near.query }, { origin: near.base })
    const visitor = makeBrowser(near.base)
    const { html } = await visitor.open(`/c/${username}_channel`)
    return await visitor.send(formIn(html, '/remote-subscribe'), { handle })
  }

  const jrd = (template: string) => (response: ServerResponse) => {
    const links = [
      { rel: 'self', type: 'application/activity+json', href: `http://${host}/users/me` },
      { rel: 'http://ostatus.org/schema/1.0/subscribe', template },
    ]
    response.setHeader('content-type', 'application/jrd+json').end(JSON.stringify({ subject: `acct:me@${host}`, links }))
  }

  const hostileAnswers: [string, () => typeof answer][] = [
    ['a script in place of an address', () => jrd('javascript:alert(1)//{uri}')],
    ['data', () => jrd('data:text/html,<script>alert(1)</script>{uri}')],
    ['another host', () => jrd('http://evil.example/?uri={uri}')],
    ['a host that is made of the address', () => jrd('http://{uri}/')],
    ['credentials', () => jrd(`http://me:secret@${host}/?uri={uri}`)],
    ['no place for the address', () => jrd(`http://${host}/interact`)],
    ['what is no JSON', () => (response) => void response.end('<html>')],
    ['links that are no list', () => (response) => void response.end('{"subject":"acct:x","links":{"a":1}}')],
    ['an error', () => (response) => void response.writeHead(500).end()],
    ['nobody', () => (response) => void response.writeHead(404).end()],
    ['a circle', () => (response, url) => void response.writeHead(302, { location: `http://${host}${url}` }).end()],
    ['another scheme', () => (response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end()],
    ['nothing for ever', () => () => undefined],
    [
      'more than there can be',
      () => (response) => {
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
          if (!response.destroyed) response.once('drain', more)
        }
        response.on('error', () => undefined)
        more()
      },
    ],
  ]
  it.each(hostileAnswers)('of a server that answers %s leads nowhere, and fails soon', async (_what, make) => {
    answer = make()
    const begun = Date.now()
    const { status, html } = await subscribe(`me@${host}`)
    expect(status === 422 || status === 502).toBe(true)
    expect(html).toContain('role="alert"')
    expect(html).toContain(`value="me@${host}"`)
    expect(html).not.toMatch(/http-equiv|javascript:|evil\.example/)
    // One attempt over https, one over http.
    expect(Date.now() - begun).toBeLessThan(6 * TIMEOUT_MS * slowness())
  })

  it('may be of a server that is on another host', async () => {
    answer = jrd(`http://${host}/authorize_interaction?uri={uri}`)
    const { status, html } = await subscribe(`@me@${host}`)
    expect(status).toBe(200)
    expect(linksIn(html, 'continue on')[0]).toMatch(`http://${host}/authorize_interaction?uri=http%3A%2F%2F`)
  })
})
