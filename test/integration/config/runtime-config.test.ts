// Changes of the configuration over REST: validation, storage, and propagation to every process.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { changesOf, nested, valueAt } from '../../../src/actors/runtime-config/index.ts'
import { fieldsOf } from '../../../src/http/config/custom-keys.ts'
import { type CustomView, customBody, customView } from '../../../src/http/config/custom-schemas.ts'
import { slowness } from '../../support/cpu-time.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'
import { addPeople, type Who, withDatabase } from './users.ts'

// No sweeper: the second process only learns of changes over the bus.
const NO_SWEEPER = { vireo: { runtime: { sweep_interval: '1 hour' } } }

let node: TestNode
let second: TestNode
let headersOf: Record<Who, Record<string, string>>

beforeAll(async () => {
  node = await startTestNode({ config: { instance: { name: 'From the file' }, ...NO_SWEEPER } })
  second = await startTestNode({ config: { instance: { name: 'From the file' }, ...NO_SWEEPER }, beside: node })
  headersOf = await addPeople(node, 'runtime')
})
afterAll(async () => {
  await second?.stop()
  await node?.stop()
})

const ask = (method: string, path: string, options: { as?: Who; body?: unknown; base?: string } = {}) =>
  fetch(`${options.base ?? node.base}/api/v1/config${path}`, {
    method,
    headers: {
      ...headersOf[options.as ?? 'admin'],
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  })

const readCustom = async (): Promise<CustomView> => customView.parse(await (await ask('GET', '/custom')).json())
const withField = (view: object, path: readonly string[], value: unknown) =>
  nested([...changesOf({ ...view }).filter((change) => change.path.join() !== path.join()), { path, value }])
const versions = () => withDatabase(node, async (db) => (await db.query('select version, overrides from runtime_config')).rows[0])

describe('an invalid value', () => {
  const fields = fieldsOf(customBody((name) => name === 'default'))

  it.each(fields.map((path) => [path.join('.'), path] as const))('of %s is named', async (name, path) => {
    const before = { view: await readCustom(), stored: await versions() }
    for (const bad of badValuesFor(name, valueAt(before.view, path))) {
      const answer = await ask('PUT', '/custom', { body: withField(before.view, path, bad) })
      const body = (await answer.json()) as { 'invalid-params'?: Record<string, { location: string }> }
      expect({ bad, status: answer.status, names: Object.keys(body['invalid-params'] ?? {}) }).toEqual({
        bad,
        status: 400,
        names: [name],
      })
      expect(body['invalid-params']?.[name]?.location).toBe('body')
    }
    expect({ view: await readCustom(), stored: await versions() }).toEqual(before)
  })

  const WORDS = new Set(['instance.defaultClientRoute', 'trending.videos.algorithms.enabled'])
  const NULLABLE = /fps\.max$|live\.max(Instance|User)Lives$/

  function badValuesFor(name: string, value: unknown): unknown[] {
    const always: unknown[] = [{ a: 1 }, true, ...(NULLABLE.test(name) ? [] : [null])]
    if (WORDS.has(name)) return [...always, 'x'.repeat(200_000)]
    if (typeof value === 'boolean' || name.endsWith('enabled')) return ['yes', '', 1, 0, null, {}, []]
    if (typeof value === 'number') return [...always, '', '5x', 1.5, -2, 2 ** 60, []]
    if (Array.isArray(value)) return [...always, 'x', [{}], [null], Array.from({ length: 600 }, () => 1)]
    return [...always, 5, ['x'], 'x'.repeat(200_000), 'a\0b', '\uD800']
  }
})

it('of several fields names each of them, and unknown fields are ignored', async () => {
  const view = await readCustom()
  const body = { ...view, signup: { ...view.signup, enabled: 'yes', limit: -7 }, theme: { default: 'none' } }
  const refused = await ask('PUT', '/custom', { body })
  expect(refused.status).toBe(400)
  expect(Object.keys(((await refused.json()) as Record<string, object>)['invalid-params'] ?? {})).toEqual([
    'signup.enabled',
    'signup.limit',
    'theme.default',
  ])
  const known = await ask('PUT', '/custom', { body: { ...view, unknown: { field: 1 }, listen: { port: 1 } } })
  expect(known.status).toBe(200)
  expect(await known.json()).toEqual(view)
})

it.each([
  ['verification of addresses without mail', { signup: { enabled: true, requiresEmailVerification: true } }, /smtp/],
  ['both formats off', { transcoding: { webVideos: { enabled: false }, hls: { enabled: false } } }, /hls/],
  ['synchronisation without import by URL', { import: { videoChannelSynchronization: { enabled: true } } }, /import\.videos\.http/],
  ['the studio without transcoding', { transcoding: { enabled: false }, videoStudio: { enabled: true } }, /transcoding/],
])('%s is refused with an explanation, and nothing changes', async (_what, patch, words) => {
  const [view, stored] = [await readCustom(), await versions()]
  let body: object = view
  for (const { path, value } of changesOf(patch)) body = withField(body, path, value)
  const answer = await ask('PUT', '/custom', { body })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ title: 'Bad Request', detail: expect.stringMatching(words) })
  expect([await readCustom(), await versions()]).toEqual([view, stored])
})

describe('a change', () => {
  it('reaches every process soon, over the bus alone', async () => {
    const view = await readCustom()
    const changed = withField(withField(view, ['instance', 'name'], 'New name'), ['signup', 'enabled'], true)
    const began = performance.now()
    expect((await ask('PUT', '/custom', { body: changed })).status).toBe(200)
    expect(await (await ask('GET', '')).json()).toMatchObject({ instance: { name: 'New name' } })
    await until(async () => (await nameAt(second.base)) === 'New name')
    expect(performance.now() - began).toBeLessThan(4_000 * slowness())
    expect(await (await ask('GET', '/custom', { base: second.base })).json()).toEqual(changed)
    const nodeInfo = await fetch(`${second.base}/nodeinfo/2.0.json`)
    expect(await nodeInfo.json()).toMatchObject({ metadata: { nodeName: 'New name' }, openRegistrations: true })
  })

  it('is stored with its author and its keys, without values', async () => {
    const rows = await withDatabase(
      node,
      async (db) => (await db.query('select * from runtime_config_change order by version desc limit 1')).rows,
    )
    expect(rows).toEqual([
      {
        version: expect.any(Number),
        user_id: expect.any(Number),
        username: 'root',
        keys: ['instance.name', 'signup.enabled'],
        created_at: expect.any(Date),
      },
    ])
    expect((await versions()).overrides).toEqual({ instance: { name: 'New name' }, signup: { enabled: true } })
  })

  it('to the same value is no change', async () => {
    const before = await versions()
    expect((await ask('PUT', '/custom', { body: await readCustom() })).status).toBe(200)
    expect(await versions()).toEqual(before)
  })

  it('survives a restart', async () => {
    await second.restart()
    expect(await nameAt(second.base)).toBe('New name')
  })

  it('by two administrators at once is stored in sequence', async () => {
    const view = await readCustom()
    const names = [['instance', 'terms'] as const, ['instance', 'businessModel'] as const]
    const answers = await Promise.all(
      names.map((path, index) =>
        ask('PUT', '/custom', { body: withField(view, path, `by ${index}`), base: [node, second][index]?.base ?? '' }),
      ),
    )
    expect(answers.map((answer) => answer.status)).toEqual([200, 200])
    const { version } = await versions()
    const { rows } = await withDatabase(node, (db) => db.query('select version from runtime_config_change'))
    expect(rows).toHaveLength(version)
  })

  it('is reverted by DELETE, everywhere', async () => {
    const answer = await ask('DELETE', '/custom')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ instance: { name: 'From the file', terms: 'No terms for now.' } })
    await until(async () => (await nameAt(second.base)) === 'From the file')
    expect((await versions()).overrides).toEqual({})
  })

  const nameAt = async (base: string) => ((await (await ask('GET', '', { base })).json()) as { instance: { name: string } }).instance.name
})

it.each([
  ['anonymous', 401],
  ['user', 403],
  ['moderator', 403],
] as const)('%s may neither read nor change it', async (as, status) => {
  const body = await readCustom()
  expect((await ask('GET', '/custom', { as })).status).toBe(status)
  expect((await ask('PUT', '/custom', { as, body })).status).toBe(status)
  expect((await ask('DELETE', '/custom', { as })).status).toBe(status)
})

describe('the configuration for clients', () => {
  it('is byte-identical until something changes', async () => {
    const first = await ask('GET', '', { as: 'anonymous' })
    const etag = first.headers.get('etag') ?? ''
    const again = await fetch(`${node.base}/api/v1/config`, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
    await ask('PUT', '/custom', { body: withField(await readCustom(), ['instance', 'shortDescription'], 'Other') })
    const changed = await fetch(`${node.base}/api/v1/config`, { headers: { 'if-none-match': etag } })
    expect(changed.status).toBe(200)
    expect(await changed.json()).toMatchObject({ instance: { shortDescription: 'Other' } })
  })

  it('shows the pictures of the instance', async () => {
    await withDatabase(node, (db) =>
      db.query(
        `insert into actor_image (actor_id, type, filename, width, height, on_disk)
         select a.id, i.type, i.filename, i.width, i.width, true
         from actor a, (values (1, 'small.png', 48), (1, 'large.png', 600), (2, 'banner.jpg', 1920)) i(type, filename, width)
         where a.type = 'Application' and a.host_id is null`,
      ),
    )
    const images = {
      avatars: [
        { width: 600, path: '/lazy-static/avatars/large.png' },
        { width: 48, path: '/lazy-static/avatars/small.png' },
      ],
      banners: [{ width: 1920, path: '/lazy-static/banners/banner.jpg' }],
    }
    expect(await (await ask('GET', '/about')).json()).toMatchObject({ instance: images })
    await until(async () => ((await (await ask('GET', '')).json()) as Shown).instance.avatars.length === 2)
    expect(await (await ask('GET', '')).json()).toMatchObject({ instance: images })
  })

  it('shows registration as closed at the limit of users', async () => {
    const view = await readCustom()
    const open = async (limit: number) => {
      const body = { ...view, signup: { ...view.signup, enabled: true, limit } }
      expect((await ask('PUT', '/custom', { body })).status).toBe(200)
      return ((await (await ask('GET', '')).json()) as Shown).signup
    }
    await until(async () => (await open(3)).allowed === false)
    await until(async () => (await open(4)).allowed === true)
    expect(await open(-1)).toMatchObject({ allowed: true, allowedForCurrentIP: true })
  })

  interface Shown {
    instance: { avatars: unknown[] }
    signup: { allowed: boolean }
  }
})
