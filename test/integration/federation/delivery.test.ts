import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { enqueueDocument, enqueueDocuments, registerDeliveries, retryHost } from '../../../src/actors/delivery/index.ts'
import { makeRemoteHosts, type RemoteHosts } from '../../../src/actors/remote-host/index.ts'
import type { ActorDeps } from '../../../src/actors/runtime/index.ts'
import { makeBlocked } from '../../../src/federation/blocked.ts'
import { makeSend } from '../../../src/federation/delivery/send.ts'
import { importPrivateKey, makeDocumentChecks, verifyInbound } from '../../../src/federation/security/index.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { makeGuardedFetch } from '../../../src/platform/fetch/index.ts'
import type { ActorKeys } from '../../../src/platform/keys.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { generateKeys } from '../../support/fast-crypto.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'
import { until } from '../../support/until.ts'

interface Received {
  path: string
  body: string
  headers: Record<string, string | string[] | undefined>
  url: string
}

type Answer = { status: number; headers?: Record<string, string> } | 'hang' | 'reset'

let clock: FakeClock
let t: TestRuntime
let keys: ActorKeys
let peer: Server
let peerHost: string
let received: Received[]
let answer: (request: Received) => Answer
let hostId: number
let actorIds: number[]
let hosts: RemoteHosts

beforeEach(async () => {
  // Rows use the time of the database, so that the clock of one test does not affect the next.
  clock = fakeClock()
  keys ??= await generateKeys()
  t = await makeTestRuntime({ clock })
  received = []
  answer = () => ({ status: 204 })
  peer = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const one = { path: request.url ?? '', body, headers: request.headers, url: `http://${peerHost}${request.url}` }
    received.push(one)
    const said = answer(one)
    if (said === 'hang') return
    if (said === 'reset') return request.socket.destroy()
    response.writeHead(said.status, said.headers).end()
  })
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve))
  const address = peer.address()
  peerHost = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`

  const config = testConfig({ vireo: { federation: { delivery: { timeout: '500 ms' } } } })
  const http = makeGuardedFetch({
    allowHttp: true,
    allowPrivateAddresses: true,
    timeoutMs: 2000,
    maxRedirects: 5,
    userAgent: 'Vireo',
    logger: silentLogger,
  })
  const deps: ActorDeps = {
    db: t.db,
    tell: t.runtime.tell,
    registry: t.runtime.registry,
    clock,
    logger: silentLogger,
    config: () => config,
    secrets: makeSecrets({ secret: 'test' }),
    urls: makeUrls('http://ours.example'),
  }
  const privateKey = await importPrivateKey(keys.rsa.privatePem)
  const send = makeSend({
    ...deps,
    urls: makeUrls('http://ours.example'),
    http,
    blocked: makeBlocked(t.db),
    checks: makeDocumentChecks({ logger: silentLogger }),
    keys: {
      find: async () => null,
      findFresh: async () => null,
      forRequests: async (id) => ({ keyId: `http://ours.example/accounts/${id}#main-key`, privateKey }),
      forDocuments: async (id) => ({ rsa: { keyId: `http://ours.example/accounts/${id}`, privateKey } }),
    },
  })
  hosts = makeRemoteHosts(deps)
  registerDeliveries({ ...deps, hosts, send })
  const [host] = await t.db.query<{ id: number }>("insert into remote_host (host, state) values ($1, 'healthy') returning id", [peerHost])
  hostId = host?.id ?? 0
  const actors = await t.db.query<{ id: number }>(
    `insert into actor (type, preferred_username, url, inbox_url)
     select 'Person', 'actor' || n, 'http://ours.example/accounts/' || n, 'http://ours.example/inbox' from generate_series(1, 3) n returning id`,
  )
  actorIds = actors.map((actor) => actor.id)
  await t.runtime.start()
})
afterEach(async () => {
  await t.stop()
  peer.closeAllConnections()
  await new Promise((resolve) => peer.close(resolve))
})

const send = (n: number, options: { actor?: number; type?: string; inbox?: string } = {}) =>
  t.runtime.tell.create((unit) =>
    enqueueDocument(
      unit,
      {
        activityId: `http://ours.example/activities/${n}`,
        type: options.type ?? 'Create',
        body: JSON.stringify({ n }),
        senderId: actorIds[options.actor ?? 0] ?? 0,
      },
      [{ inboxUrl: new URL(options.inbox ?? '/inbox', `http://${peerHost}`).href, hostId }],
    ),
  )
const sendSeveral = (types: string[]) =>
  t.runtime.tell.create((unit) =>
    enqueueDocuments(
      unit,
      types.map((type, n) => ({
        document: {
          activityId: `http://ours.example/${n}`,
          type,
          body: JSON.stringify({ n }),
          senderId: actorIds[0] ?? 0,
        },
        recipients: [{ inboxUrl: `http://${peerHost}/inbox`, hostId }],
      })),
    ),
  )
const numbers = () => received.map((one) => JSON.parse(one.body).n)
const deliveries = () => t.db.query<{ state: string; error: string }>('select state, error from delivery order by id')
const putOff = () => t.db.query<{ due_at: Date | null }>("select due_at from delivery where state = 'waiting'")
const host = async () =>
  (
    await t.db.query<{ state: string; unsupported_types: string[]; signature_profile: string; due_at: Date }>('select * from remote_host')
  )[0]

describe('a delivery', () => {
  it('of several documents arrives in their order, and documents without recipients are not stored', async () => {
    await t.db.query("update remote_host set software = 'mastodon', unsupported_types = '{Move}'")
    await sendSeveral(['Create:CacheFile', 'Move'])
    expect([await deliveries(), await t.db.query('select 1 from document')]).toEqual([[], []])
    await sendSeveral(['Create', 'Create:CacheFile', 'Update', 'Move', 'Delete'])
    await until(async () => (await deliveries()).length === 0 && received.length === 3)
    expect(numbers()).toEqual([0, 2, 4])
  })

  it('arrives signed by its actor, and leaves nothing behind', async () => {
    await send(1)
    await until(async () => (await deliveries()).length === 0 && received.length === 1)
    const [one] = received
    const verdict = await verifyInbound({
      method: 'POST',
      url: one?.url ?? '',
      headers: one?.headers ?? {},
      rawBody: Buffer.from(one?.body ?? ''),
      now: clock.now(),
      findKey: async (keyId) => ({ pem: keys.rsa.publicPem, owner: keyId.split('#')[0] ?? '', fetchedAt: clock.now() }),
    })
    expect(verdict).toMatchObject({ ok: true, owner: `http://ours.example/accounts/${actorIds[0]}` })
    expect(await t.db.query('select * from document')).toEqual([])
  })

  it('of one actor never overtakes an earlier one', async () => {
    let busy = true
    answer = () => (busy ? { status: 503 } : { status: 204 })
    for (let n = 1; n <= 10; n += 1) await send(n)
    await until(async () => (await host())?.state === 'failing')
    busy = false
    clock.pass(61_000)
    await until(async () => (await deliveries()).length === 0)
    const last = numbers().slice(-10)
    expect(last).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('to a failing host waits longer each time, and is not lost', async () => {
    answer = () => ({ status: 500 })
    await send(1)
    await until(async () => (await host())?.state === 'failing')
    const tries = received.length
    expect(tries).toBe(1)
    clock.pass(59_000)
    await t.runtime.sweeper.sweep()
    expect(received).toHaveLength(1)
    clock.pass(2000)
    await until(() => received.length === 2)
    await until(async () => ((await host())?.due_at.getTime() ?? 0) >= clock.now().getTime() + 119_000)
    expect(await deliveries()).toMatchObject([{ state: 'waiting', error: 'The inbox answered 500.' }])
  })

  it('respects Retry-After', async () => {
    answer = () => ({ status: 429, headers: { 'retry-after': '3600' } })
    await send(1)
    await until(async () => (await host())?.state === 'failing')
    expect((await host())?.due_at.getTime()).toBeGreaterThanOrEqual(clock.now().getTime() + 3_599_000)
  })

  it('refused for its signature is tried once with the other profile, which is remembered', async () => {
    answer = (one) => ({ status: one.headers['signature-input'] ? 204 : 401 })
    await send(1)
    await until(async () => (await deliveries()).length === 0)
    expect(received).toHaveLength(2)
    expect((await host())?.signature_profile).toBe('rfc9421')
    await send(2)
    await until(async () => (await deliveries()).length === 0)
    expect(received).toHaveLength(3)
  })

  it('refused with both profiles is parked, and the host stays healthy', async () => {
    answer = () => ({ status: 403 })
    await send(1)
    await until(async () => (await deliveries())[0]?.state === 'parked')
    expect(received).toHaveLength(2)
    expect((await host())?.state).toBe('healthy')
  })

  it('of a PeerTube-specific type is not repeated to a host that answers 400', async () => {
    answer = () => ({ status: 400 })
    await send(1, { type: 'Create:CacheFile' })
    await until(async () => (await deliveries())[0]?.state === 'parked')
    expect((await host())?.unsupported_types).toEqual(['Create:CacheFile'])
    await send(2, { type: 'Create:CacheFile' })
    expect(await deliveries()).toHaveLength(1)
    await send(3)
    await until(() => numbers().includes(3))
  })

  it('to an inbox that is gone is parked with all others to it', async () => {
    answer = () => ({ status: 503 })
    for (const n of [1, 2, 3]) await send(n)
    await until(async () => ((await host())?.due_at ?? clock.now()) > clock.now())
    const before = received.length
    answer = () => ({ status: 410 })
    clock.pass(61_000)
    await until(async () => (await deliveries()).every((one) => one.state === 'parked'))
    expect(received).toHaveLength(before + 1)
  })

  it('to an inbox that is not found is tried three times with pauses, and then parked with all others to it', async () => {
    answer = (one) => ({ status: one.path === '/lost/inbox' ? 404 : 204 })
    const tries = () => received.filter(({ path }) => path === '/lost/inbox').length
    await send(1, { inbox: '/lost/inbox' })
    await until(async () => (await deliveries())[0]?.error !== null)
    await send(2, { inbox: '/lost/inbox' })
    // Deliveries of the same actor to other inboxes do not wait.
    await send(3)
    await until(() => numbers().includes(3))
    for (const [minutes, wanted] of [
      [1, 2],
      [2, 3],
    ] as const) {
      clock.pass(minutes * 60_000 - 2000)
      await t.runtime.sweeper.sweep()
      expect(tries()).toBe(wanted - 1)
      clock.pass(3000)
      await until(() => tries() === wanted)
      await until(async () => (await putOff()).every(({ due_at }) => due_at === null || due_at > clock.now()))
    }
    await until(async () => (await deliveries()).every(({ state }) => state === 'parked'))
    expect(await deliveries()).toHaveLength(2)
    expect(numbers()).toEqual([1, 3, 1, 1])
    expect((await host())?.state).toBe('healthy')
  })

  it('to a silent host times out, and is retried', async () => {
    answer = () => 'hang'
    await send(1)
    await until(async () => (await host())?.state === 'failing')
    expect(await deliveries()).toMatchObject([{ state: 'waiting' }])
  })

  it('arrives once and in order while the clock jumps by an hour, back and forth', async () => {
    const HOUR = 3_600_000
    for (const [n, jump] of [0, -HOUR, 2 * HOUR, -HOUR, HOUR].entries()) {
      clock.pass(jump)
      await send(n)
      await until(async () => (await deliveries()).length === 0, { what: `delivery ${n}` })
    }
    expect(numbers()).toEqual([0, 1, 2, 3, 4])
    // A failure before a jump back is retried after the jump and the back-off, at the latest.
    answer = () => ({ status: 503 })
    await send(5)
    await until(async () => (await host())?.state === 'failing')
    answer = () => ({ status: 204 })
    clock.pass(-HOUR)
    clock.pass(HOUR + 61_000)
    await until(async () => (await deliveries()).length === 0)
    expect(numbers()).toEqual([0, 1, 2, 3, 4, 5, 5])
  })

  it('is given up after the host failed for 7 days, and nothing new is stored until the host sends something', async () => {
    answer = () => ({ status: 500 })
    await send(1)
    for (let halfDay = 0; halfDay < 40 && (await host())?.state !== 'dormant'; halfDay += 1) {
      const before = received.length
      // The next attempt is known once the previous failure is stored.
      await until(async () => ((await host())?.due_at ?? clock.now()) > clock.now())
      clock.pass(12 * 3_600_000)
      await until(async () => received.length > before)
      await until(async () => (await host())?.state === 'dormant' || ((await host())?.due_at ?? clock.now()) > clock.now())
    }
    expect((await host())?.state).toBe('dormant')
    await send(2)
    expect(await deliveries()).toHaveLength(1)
    answer = () => ({ status: 204 })
    await hosts.heard(peerHost)
    // Deliveries from before the dormancy are sent by themselves.
    await until(async () => (await deliveries()).length === 0)
    expect(numbers().at(-1)).toBe(1)
    await send(3)
    await until(async () => (await deliveries()).length === 0)
    expect(numbers().slice(-2)).toEqual([1, 3])
  })
})

describe('a host that was down for six days', () => {
  it('gets everything once, in order for each actor, actors without backlog first', async () => {
    answer = () => ({ status: 503 })
    const said: [actor: number, n: number][] = []
    const say = async (actor: number, n: number) => {
      said.push([actor, n])
      await send(n, { actor })
    }
    await say(0, 1)
    for (let day = 0; day < 6; day += 1) {
      await until(async () => ((await host())?.due_at ?? clock.now()) > clock.now())
      const before = received.length
      await say(0, 10 + day)
      await say(1, 20 + day)
      clock.pass(24 * 3_600_000)
      await until(async () => received.length > before)
    }
    await until(async () => ((await host())?.due_at ?? clock.now()) > clock.now())
    expect((await host())?.state).toBe('failing')
    await say(2, 30)
    received = []
    answer = () => ({ status: 204 })
    clock.pass(12 * 3_600_000)
    await until(async () => (await deliveries()).length === 0)
    expect(new Set(numbers()).size).toBe(received.length)
    for (const actor of [0, 1, 2]) {
      const ofActor = said.filter(([by]) => by === actor).map(([, n]) => n)
      expect(numbers().filter((n) => ofActor.includes(n))).toEqual(ofActor)
    }
    expect(numbers()[0]).toBe(30)
    expect((await host())?.state).toBe('healthy')
  })
})

describe('a delivery that fails while others succeed', () => {
  const MINUTE = 60_000
  const tries = (n: number) => numbers().filter((one) => one === n).length
  const poisoned = (one: Received) => ({ status: JSON.parse(one.body).n === 1 ? 500 : 204 })

  it('blocks only its actor, and is parked after eight attempts; then its actor continues', async () => {
    answer = poisoned
    await send(1)
    await until(async () => (await host())?.state === 'failing')
    await send(2)
    await send(3, { actor: 1 })
    clock.pass(MINUTE + 1000)
    await until(() => numbers().includes(3))
    await until(async () => (await host())?.state === 'healthy')
    await until(async () => (await putOff()).some(({ due_at }) => due_at !== null))
    for (let round = 0; round < 20 && (await deliveries()).length > 1; round += 1) {
      clock.pass(1000)
      const before = tries(1)
      expect(numbers()).not.toContain(2)
      // Others are sent at once, however long this one waits.
      await send(10 + round, { actor: 2 })
      await until(() => numbers().includes(10 + round))
      await until(async () => (await deliveries()).length <= 2)
      clock.pass(2 ** (before - 2) * MINUTE + 1000)
      await until(() => tries(1) > before)
      await until(
        async () =>
          (await deliveries()).some(({ state }) => state === 'parked') ||
          (await putOff()).some(({ due_at }) => due_at !== null && due_at > clock.now()),
      )
      expect((await host())?.state).toBe('healthy')
      // Blocked deliveries are sent as soon as it is parked.
      if ((await deliveries())[0]?.state === 'parked') await until(async () => (await deliveries()).length === 1)
    }
    expect(await deliveries()).toEqual([{ state: 'parked', error: 'The inbox answered 500.' }])
    expect(numbers()).toContain(2)
    expect(tries(1)).toBe(9)
    // An administrator retries it.
    answer = () => ({ status: 204 })
    await retryHost(hosts, peerHost)
    await until(async () => (await deliveries()).length === 0)
  })

  it('does not mark the host as failing when it fails again alone', async () => {
    answer = poisoned
    await send(1)
    await until(async () => (await host())?.state === 'failing')
    await send(2, { actor: 1 })
    clock.pass(MINUTE + 1000)
    await until(async () => (await putOff()).some(({ due_at }) => due_at !== null))
    for (let round = 0; round < 12; round += 1) {
      const before = tries(1)
      clock.pass(13 * 60 * MINUTE)
      await until(() => tries(1) > before)
      await until(async () => (await putOff()).some(({ due_at }) => due_at !== null && due_at > clock.now()))
    }
    // New deliveries do not wait for it; otherwise nothing shows whether the host accepts others.
    await send(3, { actor: 1 })
    await until(() => numbers().includes(3))
    await until(async () => (await deliveries()).length === 1)
    expect(await deliveries()).toMatchObject([{ state: 'waiting' }])
  })

  it('is not the only one that is tried while the host fails', async () => {
    answer = () => ({ status: 503 })
    await send(1)
    await until(async () => (await host())?.state === 'failing')
    await send(2, { actor: 1 })
    await send(3, { actor: 2 })
    for (let probe = 1; probe <= 5; probe += 1) {
      clock.pass(13 * 60 * MINUTE)
      await until(() => received.length === 1 + probe)
      await until(async () => ((await host())?.due_at ?? clock.now()) > clock.now())
    }
    expect(numbers()).toEqual([1, 2, 3, 1, 2, 3])
    expect(await deliveries()).toMatchObject([{ state: 'waiting' }, { state: 'waiting' }, { state: 'waiting' }])
  })
})

describe('the answer to a delivery', () => {
  const MINUTE = 60_000
  /** The expected state of the delivery; undefined when it succeeded. `wait`: pause of the host, in ms. */
  const SENT = { delivery: undefined, host: 'healthy', wait: null, tries: 1 }
  const LATER = { delivery: 'waiting', host: 'failing', wait: MINUTE, tries: 1 }
  const PARKED = { delivery: 'parked', host: 'healthy', wait: null, tries: 1 }
  const table: [string, Answer | (() => Answer), typeof SENT | typeof LATER | typeof PARKED, string?][] = [
    ['200', { status: 200 }, SENT],
    ['202', { status: 202 }, SENT],
    ['204', { status: 204 }, SENT],
    ['301', { status: 301, headers: { location: '/elsewhere' } }, PARKED],
    ['400', { status: 400 }, PARKED],
    ['401', { status: 401 }, { ...PARKED, tries: 2 }],
    ['403', { status: 403 }, { ...PARKED, tries: 2 }],
    ['404', { status: 404 }, { ...PARKED, delivery: 'waiting' }],
    ['408', { status: 408 }, LATER],
    ['410', { status: 410 }, PARKED],
    ['413', { status: 413 }, PARKED],
    ['429', { status: 429 }, LATER],
    ['429 with seconds', { status: 429, headers: { 'retry-after': '300' } }, { ...LATER, wait: 5 * MINUTE }],
    [
      '429 with a date',
      () => ({ status: 429, headers: { 'retry-after': new Date(clock.now().getTime() + 10 * MINUTE).toUTCString() } }),
      { ...LATER, wait: 10 * MINUTE },
    ],
    ['500', { status: 500 }, LATER],
    ['503', { status: 503 }, LATER],
    ['503 with seconds', { status: 503, headers: { 'retry-after': '120' } }, { ...LATER, wait: 2 * MINUTE }],
    ['a reset', 'reset', LATER],
    ['silence', 'hang', LATER],
    ['no TLS', { status: 204 }, { ...LATER, tries: 0 }, 'https'],
    ['no such name', { status: 204 }, { ...LATER, tries: 0 }, 'http://nowhere.invalid/inbox'],
  ]

  const cases = table.map(([what, said, wanted, address]) => [what, { said, wanted, address }] as const)
  it.each(cases)('%s is handled by the policy', async (_what, { said, wanted, address }) => {
    const given = typeof said === 'function' ? said() : said
    answer = () => given
    const inbox = address === 'https' ? `https://${peerHost}/inbox` : address
    const begun = clock.now().getTime()
    await send(1, inbox === undefined ? {} : { inbox })
    const outcome = async () => {
      const [delivery] = await deliveries()
      const now = await host()
      const wait = now?.due_at ? now.due_at.getTime() - begun : null
      return { delivery: delivery?.state, host: now?.state, wait, tries: received.length }
    }
    await until(async () => {
      const { delivery, host: state, tries } = await outcome()
      return delivery === wanted.delivery && state === wanted.host && tries === wanted.tries
    })
    const found = await outcome()
    // Dates in headers have no milliseconds.
    const isNear = found.wait !== null && wanted.wait !== null && Math.abs(found.wait - wanted.wait) < 1000
    expect({ ...found, wait: isNear ? wanted.wait : found.wait }).toEqual(wanted)
  })
})

describe('PeerTube-specific activities', () => {
  const software = (name: string | null) => t.db.query('update remote_host set software = $1', [name])

  it.each([null, 'peertube', 'PeerTube', 'vireo'])('are sent to a host with the software %s', async (name) => {
    await software(name)
    await send(1, { type: 'Create:CacheFile' })
    await until(() => received.length === 1)
  })

  it.each(['mastodon', 'lemmy'])('are not sent to a host with the software %s, other activities are', async (name) => {
    await software(name)
    await send(1, { type: 'Create:CacheFile' })
    await send(2)
    await until(() => received.length === 1)
    expect(numbers()).toEqual([2])
  })
})

describe('a host that an administrator retries', () => {
  it('gets pending deliveries without the rest of its back-off, and parked ones', async () => {
    answer = () => ({ status: 400 })
    await send(1)
    await until(async () => (await deliveries())[0]?.state === 'parked')
    answer = () => ({ status: 503 })
    await send(2)
    await until(async () => (await host())?.state === 'failing')
    received = []
    answer = () => ({ status: 204 })
    await retryHost(hosts, peerHost.toUpperCase())
    await until(async () => (await deliveries()).length === 0)
    expect(numbers()).toEqual([1, 2])
    expect((await host())?.state).toBe('healthy')
    await expect(retryHost(hosts, 'unknown.example')).rejects.toMatchObject({ kind: 'not_found' })
  })
})
