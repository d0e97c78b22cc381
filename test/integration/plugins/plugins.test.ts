// Plugins and themes over the API: installed from a registry, listed, served, configured, disabled, updated, uninstalled.

import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { type FakeRegistry, fixturePlugin, packFixture, startRegistry } from '../../support/plugin-registry.ts'
import { run } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const THEME = 'peertube-theme-example'
const PLUGIN = 'peertube-plugin-example'
const API = '/api/v1/plugins'

let registry: FakeRegistry
let node: TestNode
let token: string

const configured = () => ({
  plugins: { enabled: true, index: { url: registry.url } },
  vireo: { plugins: { registry: registry.url }, federation: { allow_http: true, allow_private_addresses: true } },
  rates_limit: { login: { max: 1000 } },
})

beforeAll(async () => {
  registry = await startRegistry()
  await registry.publish(THEME, '1.0.0', await packFixture(THEME))
  node = await startTestNode({ config: configured() })
  token = await login()
})
afterAll(async () => {
  await node?.stop()
  await registry?.stop()
})

async function login(): Promise<string> {
  const client = await (await fetch(`${node.base}/api/v1/oauth-clients/local`)).json()
  const form = new URLSearchParams({ ...client, grant_type: 'password', username: node.username, password: node.password })
  return (await (await fetch(`${node.base}/api/v1/users/token`, { method: 'POST', body: form })).json()).access_token
}

async function ask(method: string, path: string, body?: object, base = node.base) {
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  const isJson = /json/.test(answer.headers.get('content-type') ?? '')
  return { status: answer.status, headers: answer.headers, body: isJson && text ? JSON.parse(text) : text }
}

const install = (npmName: string, more: object = {}) => ask('POST', `${API}/install`, { npmName, currentPassword: node.password, ...more })
const config = async (base = node.base) => (await ask('GET', '/api/v1/config', undefined, base)).body

describe('installing', () => {
  it("requires the administrator's password again", async () => {
    const { currentPassword: _none, ...without } = { npmName: THEME, currentPassword: '' }
    expect(await ask('POST', `${API}/install`, without)).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/currentPassword/) },
    })
    expect(await install(THEME, { currentPassword: 'wrong' })).toMatchObject({
      status: 403,
      body: { code: 'current_password_is_invalid' },
    })
    expect((await ask('GET', API)).body).toEqual({ total: 0, data: [] })
  })

  it('refuses folders, version ranges and unknown packages', async () => {
    expect((await ask('POST', `${API}/install`, { path: '/etc', currentPassword: node.password })).status).toBe(400)
    expect((await install(THEME, { pluginVersion: '^1.0.0' })).status).toBe(400)
    expect((await install('left-pad')).status).toBe(400)
    expect((await ask('POST', `${API}/install`, { currentPassword: node.password })).status).toBe(400)
    expect((await install('peertube-plugin-none')).status).toBe(404)
    expect((await install(THEME, { pluginVersion: '3.0.0' })).status).toBe(404)
  })

  it('refuses a package with another hash, and one with another name', async () => {
    const archive = await packFixture(PLUGIN)
    await registry.publish('peertube-plugin-forged', '1.0.0', archive, `sha512-${'A'.repeat(86)}==`)
    await registry.publish('peertube-plugin-renamed', '1.0.0', archive)
    expect((await install('peertube-plugin-forged')).status).toBe(422)
    expect((await install('peertube-plugin-renamed')).status).toBe(422)
    expect((await ask('GET', API)).body.total).toBe(0)
  })

  it('of a theme serves its files, and makes it selectable', async () => {
    expect((await ask('PUT', '/api/v1/users/me', { theme: 'example' })).status).toBe(400)
    expect((await install(THEME, { pluginVersion: '1.0.0' })).status).toBe(204)
    const installed = await ask('GET', `${API}/${THEME}`)
    expect(installed.body).toEqual({
      name: 'example',
      type: 2,
      version: '1.0.0',
      latestVersion: null,
      enabled: true,
      uninstalled: false,
      peertubeEngine: '>=6.0.0',
      description: 'A theme for tests',
      homepage: 'https://example.org/theme',
      settings: {},
      failure: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect((await ask('GET', `${API}?pluginType=2&sort=name`)).body).toEqual({ total: 1, data: [installed.body] })
    expect((await ask('GET', `${API}?pluginType=1`)).body).toEqual({ total: 0, data: [] })
    expect((await config()).theme.registered).toEqual([
      {
        npmName: THEME,
        name: 'example',
        version: '1.0.0',
        description: 'A theme for tests',
        css: ['styles/theme.css'],
        clientScripts: {},
      },
    ])
    const { metadata } = (await ask('GET', '/nodeinfo/2.0.json')).body
    const named = { npmName: THEME, name: 'example', version: '1.0.0', description: 'A theme for tests' }
    expect(metadata.nodeConfig).toMatchObject({ plugin: { registered: [] }, theme: { registered: [named] } })

    const css = await ask('GET', '/themes/example/1.0.0/css/styles/theme.css')
    expect(css).toMatchObject({ status: 200, body: 'body { color: teal; }\n' })
    expect(css.headers.get('cache-control')).toMatch(/immutable/)
    expect(css.headers.get('content-type')).toBe('text/css; charset=utf-8')
    const picture = await ask('GET', '/themes/example/1.0.0/static/images/dot.svg')
    expect(picture.headers.get('content-type')).toMatch(/^image\/svg/)

    expect((await ask('PUT', '/api/v1/users/me', { theme: 'example' })).status).toBe(204)
    expect((await ask('GET', '/api/v1/users/me')).body.theme).toBe('example')
    expect((await ask('PUT', '/api/v1/config/custom', { theme: { default: 'example' } })).status).toBe(200)
    expect((await ask('PUT', '/api/v1/config/custom', { theme: { default: 'none' } })).status).toBe(400)
  })

  it.each([
    '/themes/example/1.0.1/css/styles/theme.css',
    '/themes/example/1.0.0/css/package.json',
    '/themes/example/1.0.0/static/images/../package.json',
    '/themes/example/1.0.0/static/images/%2e%2e%2fpackage.json',
    '/themes/example/1.0.0/static/images',
    '/themes/none/1.0.0/static/images/dot.svg',
    '/plugins/example/1.0.0/client-scripts/package.json',
    '/plugins/example/1.0.0/client-scripts/client/common.js',
  ])('%s is 404', async (path) => {
    expect((await ask('GET', path)).status).toBe(404)
  })

  it('is in the audit log, with the hash', async () => {
    const [row] = await run<{ username: string; domain: string; action: string; entity: object }>(
      node.databaseUrl,
      `select username, domain, action, entity from audit_log where domain = 'plugins' order by id`,
    )
    expect(row).toMatchObject({
      username: 'root',
      action: 'create',
      entity: { npmName: THEME, version: '1.0.0', state: 'enabled', integrity: expect.stringMatching(/^sha512-/) },
    })
  })
})

describe('a client plugin from a folder', () => {
  beforeAll(async () => {
    expect(await node.server.operator.plugins.installFolder(fixturePlugin(PLUGIN))).toBe(PLUGIN)
  })

  it('is listed with its scripts, and its styles and translations are part of the combined ones', async () => {
    expect((await config()).plugin.registered).toEqual([
      {
        npmName: PLUGIN,
        name: 'example',
        version: '1.0.0',
        description: expect.any(String),
        clientScripts: { 'client/common.js': { script: 'client/common.js', scopes: ['common'] } },
      },
    ])
    expect((await ask('GET', '/plugins/example/1.0.0/client-scripts/client/common.js')).body).toMatch(/register/)
    const css = await ask('GET', '/plugins/global.css')
    expect(css.body).toBe('h1 { color: olive; }\n')
    expect(css.headers.get('cache-control')).toBe('public, max-age=0')
    const again = await fetch(`${node.base}/plugins/global.css`, { headers: { 'if-none-match': css.headers.get('etag') ?? '' } })
    expect(again.status).toBe(304)
    for (const locale of ['fr-FR', 'fr', 'fr-CA']) {
      expect((await ask('GET', `/plugins/translations/${locale}.json`)).body).toEqual({ [PLUGIN]: { Hello: 'Bonjour' } })
    }
    expect((await ask('GET', '/plugins/translations/de-DE.json')).body).toEqual({})
  })

  it('is audited as a change by the command line', async () => {
    const rows = await run<{ username: string }>(
      node.databaseUrl,
      `select username from audit_log where domain = 'plugins' and entity->>'npmName' = '${PLUGIN}'`,
    )
    expect(rows).toEqual([{ username: 'command line' }])
  })

  it('has files in another process that never unpacked it', async () => {
    await rm(join(node.dataDir, 'storage/plugins'), { recursive: true, force: true })
    const beside = await startTestNode({ beside: node, config: configured() })
    try {
      expect((await ask('GET', '/plugins/example/1.0.0/static/images/dot.svg', undefined, beside.base)).status).toBe(200)
    } finally {
      await beside.stop()
    }
  })

  it('loses unpacked folders of other packages, and of processes that were killed while unpacking', async () => {
    const folder = join(node.dataDir, 'storage/plugins/packages')
    const own = await readdir(folder)
    for (const name of ['unfinished-old', 'unfinished-recent', 'peertube-plugin-other-1.0.0-0']) {
      await mkdir(join(folder, name))
      await writeFile(join(folder, name, 'file'), '')
    }
    const twoHoursAgo = new Date(Date.now() - 7_200_000)
    await utimes(join(folder, 'unfinished-old'), twoHoursAgo, twoHoursAgo)
    await node.restart()
    await until(async () => !(await readdir(folder)).includes('unfinished-old'))
    await until(async () => !(await readdir(folder)).includes('peertube-plugin-other-1.0.0-0'))
    expect((await readdir(folder)).toSorted()).toEqual([...own, 'unfinished-recent'].toSorted())
    await rm(join(folder, 'unfinished-recent'), { recursive: true })
  })

  it('keeps settings, which are sealed, and shows public ones only', async () => {
    const settings = { secret: 'very secret', shown: true }
    expect((await ask('PUT', `${API}/${PLUGIN}/settings`, { settings })).status).toBe(204)
    expect((await ask('PUT', `${API}/${PLUGIN}/settings`, { settings: { a: { b: 1 } } })).status).toBe(400)
    expect((await ask('PUT', `${API}/${PLUGIN}/settings`, {})).status).toBe(400)
    expect((await ask('GET', `${API}/${PLUGIN}`)).body.settings).toEqual(settings)
    const stored = await run<{ text: string }>(node.databaseUrl, 'select row_to_json(p)::text as text from plugin p')
    expect(JSON.stringify(stored)).not.toContain('very secret')
    const audit = await run<{ text: string }>(node.databaseUrl, 'select row_to_json(l)::text as text from audit_log l')
    expect(JSON.stringify(audit)).not.toContain('very secret')
    // Its code declares public settings once it has started.
    const shown = async () => (await ask('GET', `${API}/${PLUGIN}/public-settings`)).body.publicSettings
    await until(async () => Object.keys(await shown()).length > 0)
    expect(await shown()).toEqual({ greeting: 'Hello' })
  })

  it('has no files while it is disabled', async () => {
    const path = '/plugins/example/1.0.0/static/images/dot.svg'
    expect((await ask('GET', path)).status).toBe(200)
    expect((await ask('POST', `/api/v1/vireo/plugins/${PLUGIN}/disable`)).status).toBe(204)
    expect((await ask('POST', `/api/v1/vireo/plugins/${PLUGIN}/disable`)).status).toBe(409)
    expect((await ask('GET', path)).status).toBe(404)
    expect((await ask('GET', `${API}/${PLUGIN}`)).body.enabled).toBe(false)
    expect((await config()).plugin.registered).toEqual([])
    expect((await ask('GET', '/plugins/global.css')).body).toBe('')
    expect((await ask('POST', `/api/v1/vireo/plugins/${PLUGIN}/enable`)).status).toBe(204)
    expect((await ask('GET', path)).status).toBe(200)
  })

  it('keeps its settings when it is uninstalled and installed again', async () => {
    expect((await ask('POST', `${API}/uninstall`, { npmName: PLUGIN })).status).toBe(204)
    expect((await ask('POST', `${API}/uninstall`, { npmName: PLUGIN })).status).toBe(404)
    expect((await ask('GET', `${API}?uninstalled=true`)).body).toMatchObject({ total: 1, data: [{ name: 'example', uninstalled: true }] })
    expect((await ask('GET', API)).body.total).toBe(1)
    expect((await ask('GET', `${API}/${PLUGIN}/registered-settings`)).status).toBe(404)
    await node.server.operator.plugins.installFolder(fixturePlugin(PLUGIN))
    expect((await ask('GET', `${API}/${PLUGIN}`)).body).toMatchObject({ enabled: true, settings: { shown: true } })
  })
})

describe('the index and updates', () => {
  it('lists available and installed packages', async () => {
    const { body } = await ask('GET', `${API}/available?search=theme&pluginType=2&sort=-popularity`)
    expect(body).toMatchObject({ total: 1, data: [{ npmName: THEME, name: 'example', type: 2, installed: true, popularity: 12 }] })
    expect(body.data[0]).not.toHaveProperty('unknown')
    expect(registry.requests.at(-1)).toBe(
      'GET /api/v1/plugins?start=0&count=15&sort=-popularity&pluginType=2&search=theme&currentPeerTubeEngine=7.0.0',
    )
  })

  it('is checked for newer versions periodically, and administrators are notified once', async () => {
    const notices = async () =>
      (await ask('GET', '/api/v1/users/me/notifications')).body.data.filter(({ type }: { type: number }) => type === 17)
    await node.restart()
    await until(async () => (await notices()).length > 0)
    expect((await ask('GET', `${API}/${THEME}`)).body.latestVersion).toBe('9.0.0')
    const requested = registry.requests.length
    await node.restart()
    await until(async () => registry.requests.slice(requested).some((request) => request.includes('latest-version')))
    expect(await notices()).toMatchObject([{ plugin: { name: 'example', type: 2, latestVersion: '9.0.0' } }])
  })

  it('updates installed packages only', async () => {
    const body = { npmName: 'peertube-plugin-none', currentPassword: node.password }
    expect((await ask('POST', `${API}/update`, body)).status).toBe(404)
    expect((await ask('POST', `${API}/update`, { npmName: THEME })).status).toBe(400)
    expect((await ask('POST', `${API}/update`, { npmName: THEME, currentPassword: node.password })).status).toBe(204)
    expect((await ask('GET', `${API}/${THEME}`)).body.latestVersion).toBeNull()
  })

  it('answers 503 when the index is unavailable', async () => {
    await registry.stop()
    expect((await ask('GET', `${API}/available`)).status).toBe(503)
    expect((await install(THEME)).status).toBe(503)
  })
})

describe('while plugins are disabled', () => {
  it('nothing is installed or active, and the index gets no requests', async () => {
    const off = await startTestNode({ beside: node })
    try {
      expect((await ask('POST', `${API}/install`, { npmName: THEME, currentPassword: node.password }, off.base)).status).toBe(400)
      expect((await ask('GET', `${API}/available`, undefined, off.base)).body).toEqual({ total: 0, data: [] })
      expect((await config(off.base)).theme.registered).toEqual([])
      expect((await ask('GET', '/themes/example/1.0.0/css/styles/theme.css', undefined, off.base)).status).toBe(404)
    } finally {
      await off.stop()
    }
  })
})
