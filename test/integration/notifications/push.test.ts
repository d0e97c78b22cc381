// Push notifications to browsers, as received by a push service and the browsers behind it.

import { readFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { decodeJwt } from 'jose'
import type { Client } from '../../../scripts/demo/client.ts'
import { notificationDefaults } from '../../../src/actors/notification-setting/index.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { type FederatedNode, newcomer, startFederatedNode, uploadBy } from '../../federation/support.ts'
import { makeBrowser, partIn } from '../../support/browser.ts'
import { media } from '../../support/media.ts'
import { makePushBrowser, type PushBrowser } from '../../support/push-browser.ts'
import { until } from '../../support/until.ts'

const PATH = '/api/v1/vireo/push-subscriptions'

interface Pushed {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A push service that answers with the statuses of a path in turn, then repeats the last; 201 by default. */
async function startPushService() {
  const pushed: Pushed[] = []
  const statuses = new Map<string, number[]>()
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    pushed.push({ path, headers: request.headers, body: await buffer(request) })
    const [status = 201, ...later] = statuses.get(path) ?? []
    if (later.length > 0) statuses.set(path, later)
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    pushed,
    statuses,
    port,
    to: (path: string) => pushed.filter((one) => one.path === path),
    browser: (path: string) => makePushBrowser(`http://127.0.0.1:${port}${path}`),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

let node: FederatedNode
let service: Awaited<ReturnType<typeof startPushService>>
let alice: Client
let bob: Client
let video: { id: number; uuid: string }

beforeAll(async () => {
  service = await startPushService()
  node = await startFederatedNode({
    instance: { name: 'Videos & more' },
    vireo: { jobs: { initial_backoff: '10 ms' }, federation: { allow_http: true, allow_private_addresses: true } },
  })
  alice = await newcomer(node, 'alice')
  bob = await newcomer(node, 'bob')
  video = await uploadBy(alice, await readFile(await media('small.mp4')), { name: 'Birds <of> "prey" & more' })
})
afterAll(async () => {
  await node?.stop()
  await service?.close()
})

/** Waits until alice is notified. */
async function comment(text = 'Nice'): Promise<void> {
  await bob.send('POST', `/api/v1/videos/${video.id}/comment-threads`, { text })
  await node.settled()
}
const wants = (settings: number) =>
  alice.send('PUT', '/api/v1/users/me/notification-settings', { ...notificationDefaults, newCommentOnMyVideo: settings })
const jobs = (verb: 'pause' | 'resume') => node.client.send('POST', `/api/v1/jobs/${verb}`)

async function devices(of: Client): Promise<{ createdAt: string; lastSentAt: string | null }[]> {
  return (await of.get<{ data: { createdAt: string; lastSentAt: string | null }[] }>(PATH)).data
}

async function added(of: Client, path: string, more: object = {}): Promise<PushBrowser> {
  const browser = service.browser(path)
  await of.send('POST', PATH, { ...browser.subscription, ...more })
  return browser
}

const removedFrom = (of: Client, browser?: PushBrowser) =>
  of.send('POST', `${PATH}/remove`, browser ? { endpoint: browser.subscription.endpoint } : {})

const pushedTo = (path: string, count = 1): Promise<Pushed[]> =>
  until(() => (service.to(path).length >= count ? service.to(path) : undefined), { what: `${count} at ${path}` })

const messageOf = (browser: PushBrowser, { body }: Pushed) => JSON.parse(browser.read(body)) as Record<string, unknown>

describe('a notification', () => {
  it('is encrypted, and has a text and a URL, in the language of the browser or the user', async () => {
    const [english, german] = [await added(alice, '/words-1'), await added(alice, '/words-2', { language: 'de' })]
    await comment()
    const [[first], [second]] = await Promise.all([pushedTo('/words-1'), pushedTo('/words-2')])
    if (!first || !second) throw new Error('Nothing was pushed.')
    const [notified] = (await alice.get<{ data: { id: number; comment: { threadId: number } }[] }>('/api/v1/users/me/notifications')).data
    const { shortUUID } = await alice.get<{ shortUUID: string }>(`/api/v1/videos/${video.uuid}`)
    expect(messageOf(english, first)).toEqual({
      id: notified?.id,
      title: 'Videos & more',
      text: 'bob @bob wrote a comment on Birds <of> "prey" & more.',
      path: `/w/${shortUUID};threadId=${notified?.comment.threadId}`,
    })
    expect(messageOf(german, second).text).toBe('bob @bob hat Birds <of> "prey" & more kommentiert.')
    expect(first.body.toString('latin1')).not.toContain('Birds')
    expect(first.headers).toMatchObject({ ttl: '172800', urgency: 'normal', topic: String(notified?.id), 'content-encoding': 'aes128gcm' })
    const [, token = '', key] = /^vapid t=(\S+), k=(\S+)$/.exec(String(first.headers.authorization)) ?? []
    expect(decodeJwt(token)).toMatchObject({ aud: `http://127.0.0.1:${service.port}`, sub: node.base })
    expect(key).toBe((await alice.get<{ publicKey: string }>(PATH)).publicKey)
    await until(async () => (await devices(alice)).every(({ lastSentAt }) => lastSentAt !== null), { what: 'the time of the push' })
    const pages = makeBrowser(node.base)
    await pages.login('alice', 'the password of alice')
    await pages.send({ action: '/language', method: 'post', fields: { language: 'fr' } })
    await comment()
    const [, third] = await pushedTo('/words-2', 2)
    expect(third && messageOf(german, third).text).toBe('bob @bob a commenté Birds <of> "prey" & more.')
    await removedFrom(alice)
  })

  it('is not pushed if its type is off on the site, it is already read, or the browser was removed', async () => {
    const [browser, other] = [await added(alice, '/off'), await added(alice, '/removed')]
    await removedFrom(alice, other)
    await wants(2)
    await comment('Off')
    await wants(1)
    await jobs('pause')
    await comment('Read')
    await alice.send('POST', '/api/v1/users/me/notifications/read-all')
    await jobs('resume')
    await comment('Shown')
    await pushedTo('/off')
    await until(async () => (await node.query("select 1 from job where type = 'web-push' and finished_at is null")).length === 0)
    expect([service.to('/off').length, service.to('/removed').length]).toEqual([1, 0])
    const [notified] = (await alice.get<{ data: { id: number }[] }>('/api/v1/users/me/notifications')).data
    const [only] = service.to('/off')
    expect(only && messageOf(browser, only).id).toBe(notified?.id)
    await removedFrom(alice)
  })

  it('is retried if the service is busy, without a second message to other browsers', async () => {
    service.statuses.set('/busy', [503, 429, 201])
    await added(alice, '/busy')
    await added(alice, '/well')
    await comment()
    await pushedTo('/busy', 3)
    await until(async () => (await node.query("select 1 from job where type = 'web-push' and finished_at is null")).length === 0)
    expect([service.to('/busy').length, service.to('/well').length]).toEqual([3, 1])
    await removedFrom(alice)
  })

  it.each([401, 403, 404, 410])('ends the subscription if the service answers %d', async (status) => {
    service.statuses.set(`/gone-${status}`, [status])
    await added(alice, `/gone-${status}`)
    await comment()
    await until(async () => (await devices(alice)).length === 0, { what: 'the end of the subscription' })
    expect(service.to(`/gone-${status}`)).toHaveLength(1)
  })

  it('removes a subscription that was sealed with another secret', async () => {
    await added(alice, '/sealed')
    const foreign = makeSecrets({ secret: 'another secret' }).seal('{}')
    await node.query('update push_subscription set sealed = $1', [foreign])
    await comment()
    await until(async () => (await devices(alice)).length === 0, { what: 'the end of the subscription' })
    expect(service.to('/sealed')).toEqual([])
  })

  it('fails at once if the service refuses it, and job logs do not contain the URL', async () => {
    service.statuses.set('/refused', [400])
    await added(alice, '/refused')
    await comment()
    const [failed] = await until(async () => {
      const rows = await node.query<{ error: string }>("select error from job where type = 'web-push' and state = 'failed'")
      return rows.length > 0 ? rows : undefined
    })
    expect(failed?.error).toBe(`The push service 127.0.0.1:${service.port} answered 400.`)
    expect(service.to('/refused')).toHaveLength(1)
    await removedFrom(alice)
  })
})

describe('a push subscription', () => {
  const { endpoint, keys } = makePushBrowser('https://push.example/x').subscription

  it.each([
    ['endpoint', { endpoint: 'ftp://push.example/x', keys }],
    ['endpoint', { endpoint: 'https://user:word@push.example/x', keys }],
    ['endpoint', { endpoint: `https://push.example/${'x'.repeat(1000)}`, keys }],
    ['keys.p256dh', { endpoint, keys: { ...keys, p256dh: keys.p256dh.slice(0, -1) } }],
    ['keys.p256dh', { endpoint, keys: { ...keys, p256dh: Buffer.alloc(65, 4).toString('base64url') } }],
    ['keys.auth', { endpoint, keys: { ...keys, auth: 'short' } }],
  ])('is refused with an invalid %s', async (field, body) => {
    const answer = await alice.raw(PATH, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    expect(answer.status).toBe(400)
    expect(Object.keys(((await answer.json()) as { 'invalid-params': object })['invalid-params'])).toEqual([field])
  })

  it('is stored sealed, once for each browser, and the oldest of 21 is removed', async () => {
    for (let nth = 0; nth <= 20; nth += 1) await added(alice, `/many-${nth}`)
    await added(alice, '/many-20')
    expect(await devices(alice)).toHaveLength(20)
    const rows = await node.query<object>('select * from push_subscription order by id')
    expect(JSON.stringify(rows)).not.toContain('many-')
    await comment()
    await pushedTo('/many-20')
    await until(async () => (await node.query("select 1 from job where type = 'web-push' and finished_at is null")).length === 0)
    expect(service.to('/many-0')).toEqual([])
    await removedFrom(alice)
    expect(await devices(alice)).toEqual([])
  })

  it('is removed by its user only, and moves to another user of the same browser', async () => {
    const browser = await added(alice, '/shared')
    await removedFrom(bob, browser)
    await removedFrom(bob)
    expect(await devices(alice)).toHaveLength(1)
    await bob.send('POST', PATH, browser.subscription)
    expect([await devices(alice), (await devices(bob)).length]).toEqual([[], 1])
    await removedFrom(bob)
  })

  it('ends with a new password, and with its user', async () => {
    const carol = await newcomer(node, 'carol')
    await added(carol, '/carol')
    await carol.send('PUT', '/api/v1/users/me', { password: 'another password', currentPassword: 'the password of carol' })
    expect(await devices(carol)).toEqual([])
    await added(carol, '/carol')
    const { id } = await carol.get<{ id: number }>('/api/v1/users/me')
    await node.client.send('DELETE', `/api/v1/users/${id}`)
    await until(async () => (await node.query('select 1 from push_subscription')).length === 0, { what: 'the end of the subscription' })
  })
})

describe('the settings page', () => {
  it('has what its script needs, and a form that works without', async () => {
    const browser = makeBrowser(node.base, { 'accept-language': 'de' })
    await browser.login('bob', 'the password of bob')
    const page = await browser.open('/my-account/settings')
    expect(page.html).toContain(`data-push="${(await bob.get<{ publicKey: string }>(PATH)).publicKey}"`)
    expect(page.html).toMatch(/<p hidden><label><input type="checkbox"> Dieses Gerät benachrichtigen/)
    expect(page.html).not.toContain('Kein Gerät')
    expect(page.headers.get('content-security-policy')).toContain("worker-src 'self'")
    const { token = '' } = partIn(page.html, 'notifications').fields
    const form = { action: '/my-account/settings', method: 'post', fields: { token, part: 'push' } } as const
    const { endpoint, keys } = service.browser('/page').subscription
    const fields = { endpoint, ...keys }
    expect((await browser.send(form, fields, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await browser.send(form, { ...fields, token: 'x' })).status).toBe(403)
    expect((await browser.send(form, { ...fields, auth: 'x' })).status).toBe(400)
    expect(await devices(bob)).toEqual([])
    const added = await browser.send(form, fields)
    expect(added.path).toBe('/my-account/settings?done=push')
    expect(added.html).toContain('Gerät wird benachrichtigt.')
    expect(await node.query('select language from push_subscription')).toEqual([{ language: 'de' }])
    const removal = partIn(added.html, 'no-push')
    await browser.send(removal, { endpoint: 'none' })
    expect(await devices(bob)).toHaveLength(1)
    await browser.send(removal)
    expect(await devices(bob)).toEqual([])
  })

  it('has a service worker at the root, which browsers revalidate', async () => {
    const worker = await fetch(`${node.base}/push-worker.js`)
    expect(worker.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(worker.headers.get('cache-control')).toBe('no-cache')
  })
})

it('a push service at a private address gets no request, and plain HTTP is refused, with production settings', async () => {
  const strict = await startFederatedNode({ vireo: { federation: { allow_http: false, allow_private_addresses: false } } })
  try {
    const { port } = service
    const before = service.pushed.length
    await expect(strict.client.send('POST', PATH, service.browser('/strict').subscription)).rejects.toThrow('400')
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433']) {
      await strict.client.send('POST', PATH, makePushBrowser(`https://${host}:${port}/strict`).subscription)
    }
    expect(await devices(strict.client)).toHaveLength(4)
    const [{ id } = { id: 0 }] = await strict.query<{ id: number }>(
      `insert into notification (user_id, type, key, on_web, application_version, created_at, updated_at)
       select id, 18, '9.9.9', true, '9.9.9', now(), now() from users where username = 'root' returning id`,
    )
    await strict.query(
      `insert into job (type, queue, data)
       select 'web-push', 'io', jsonb_build_object('notificationId', $1::int, 'subscriptionId', id) from push_subscription`,
      [id],
    )
    await until(async () => (await devices(strict.client)).length === 0, { what: 'the end of the subscriptions' })
    expect(service.pushed).toHaveLength(before)
  } finally {
    await strict.stop()
  }
})
