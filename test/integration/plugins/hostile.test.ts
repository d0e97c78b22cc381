// A malicious plugin harms only itself.

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { type PluginNode, startPluginNode, WITH_PLUGINS } from '../../support/plugin-node.ts'
import { run } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const PLUGIN = 'peertube-plugin-hostile'
const ROUTER = '/plugins/hostile/router'
const STATS = '/api/v1/server/stats'

const ADMINISTRATOR = 'admin@plugins.example'

let mail: MailServer
let server: PluginNode
beforeAll(async () => {
  mail = await startMailServer()
  server = await startPluginNode({
    ...WITH_PLUGINS,
    admin: { email: ADMINISTRATOR },
    smtp: { hostname: '127.0.0.1', port: mail.port, tls: false, disable_starttls: true },
  })
  await server.install(PLUGIN)
})
afterAll(async () => {
  await server?.stop()
  await mail?.close()
})

const ask: PluginNode['ask'] = (...requested) => server.ask(...requested)
const isReady = async (): Promise<boolean> => (await ask('GET', `${ROUTER}/ready`)).status === 200

/** Enables it again, and resets its failures. */
async function begin(): Promise<void> {
  if ((await ask('GET', `/api/v1/plugins/${PLUGIN}`)).body.enabled) await ask('POST', `/api/v1/vireo/plugins/${PLUGIN}/disable`)
  await until(async () => (await run(server.node.databaseUrl, 'select 1 from plugin where host_owner is not null')).length === 0)
  expect((await ask('POST', `/api/v1/vireo/plugins/${PLUGIN}/enable`)).status).toBe(204)
  await until(isReady)
}

describe('the process', () => {
  it('has no access outside its sandbox', async () => {
    const { body } = await ask('GET', `${ROUTER}/tried`)
    expect(Object.keys(body).length).toBeGreaterThan(30)
    expect(Object.entries(body).filter(([, result]) => result === 'done')).toEqual([])
    expect((await ask('GET', `${ROUTER}/env`)).body).toEqual({})
  })

  it('stores no large values', async () => {
    expect((await ask('GET', `${ROUTER}/store`)).body).toEqual({ refused: true })
  })

  it('sets no headers that belong to the server', async () => {
    const answer = await ask('GET', `${ROUTER}/headers`)
    expect(answer.body).toBe('hello you')
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(answer.headers.get('strict-transport-security')).toBeNull()
    expect((await ask('GET', `${ROUTER}/split`)).status).toBe(502)
  })
})

describe('answers of a filter', () => {
  afterEach(begin)

  it.each(['wrong', 'huge', 'many', 'deep', 'none', 'late'])('that are %s are ignored', async (kind) => {
    const before = (await ask('GET', STATS)).body
    await ask('GET', `${ROUTER}/answer/${kind}`)
    const began = performance.now()
    const answer = await ask('GET', STATS)
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body)).toEqual(Object.keys(before))
    // 500 ms of the plugin, and the machine's own time.
    expect(performance.now() - began).toBeLessThan(3000)
  })

  it('that are wrong repeatedly disable the plugin, with the reason for the administrator', async () => {
    await ask('GET', `${ROUTER}/answer/wrong`)
    for (let at = 0; at < 10; at += 1) expect((await ask('GET', STATS)).status).toBe(200)
    await until(async () => !(await ask('GET', `/api/v1/plugins/${PLUGIN}`)).body.enabled)
    expect((await ask('GET', `/api/v1/plugins/${PLUGIN}`)).body.failure).toMatch(/late or wrong/)
    expect((await ask('GET', `${ROUTER}/ready`)).status).toBe(404)
    const told = await mail.next(ADMINISTRATOR)
    expect(told.subject).toMatch(/A plugin of .* was switched off/)
    expect(told.text).toContain(PLUGIN)
  })
})

describe.each([
  ['an endless loop', 'loop'],
  ['memory outside of its heap', 'memory'],
  ['a heap without end', 'heap'],
  ['a flood of messages', 'flood'],
  ['its exit', 'exit'],
])('%s', (_what, kind) => {
  beforeAll(begin)

  it('ends its process, and other routes stay fast', async () => {
    const calm = await latencies(300)
    const requested = ask('GET', `${ROUTER}/harm/${kind}`)
    const busy = await latencies(300)
    expect((await requested).status).toBe(502)
    // Twice the time without it, and the noise of a busy machine.
    expect(percentile(busy, 0.99)).toBeLessThan(2 * percentile(calm, 0.99) + 250)
    await until(isReady)
  })
})

describe('a process that keeps crashing', () => {
  it('is disabled', async () => {
    await begin()
    for (let at = 0; at < 5; at += 1) {
      await until(async () => (await isReady()) || !(await ask('GET', `/api/v1/plugins/${PLUGIN}`)).body.enabled)
      await ask('GET', `${ROUTER}/harm/exit`)
    }
    await until(async () => !(await ask('GET', `/api/v1/plugins/${PLUGIN}`)).body.enabled)
    expect((await ask('GET', `/api/v1/plugins/${PLUGIN}`)).body.failure).toBe('It ended with code 1.')
    expect((await ask('GET', STATS)).status).toBe(200)
  })
})

/** Durations of requests to another route, one at a time (ms). */
async function latencies(count: number): Promise<number[]> {
  const found: number[] = []
  for (let at = 0; at < count; at += 1) {
    const began = performance.now()
    expect((await ask('GET', '/api/v1/videos?count=1')).status).toBe(200)
    found.push(performance.now() - began)
  }
  return found
}

const percentile = (values: number[], share: number): number => values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
