// The page of plugins and themes for administrators.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Browser, formIn, linksIn, makeBrowser, SURE } from '../../support/browser.ts'
import { type PluginNode, startPluginNode, WITH_PLUGINS } from '../../support/plugin-node.ts'
import { type FakeRegistry, packFixture, startRegistry } from '../../support/plugin-registry.ts'

const THEME = 'peertube-theme-example'
const PLUGIN = 'peertube-plugin-example'

let registry: FakeRegistry
let server: PluginNode
let root: Browser
beforeAll(async () => {
  registry = await startRegistry()
  await registry.publish(THEME, '1.0.0', await packFixture(THEME))
  server = await startPluginNode({
    ...WITH_PLUGINS,
    vireo: { plugins: { registry: registry.url }, federation: { allow_private_addresses: true } },
  })
  root = makeBrowser(server.node.base)
  await root.login(server.node.username, server.node.password)
})
afterAll(async () => {
  await server?.stop()
  await registry?.stop()
})

/** The form of the page with this hidden `part`. */
async function part(name: string, path = '/admin/plugins') {
  const { html } = await root.open(path)
  const form = (html.match(/<form[^>]*method="post"[^>]*>.*?<\/form>/gs) ?? []).find((one) => one.includes(`name="part" value="${name}"`))
  return formIn(form ?? '', path)
}

it('installs a theme with the password, disables and enables it, and uninstalls it', async () => {
  const typed = { npmName: THEME, pluginVersion: '' }
  let page = await root.send(await part('install'), { ...typed, currentPassword: 'wrong' })
  expect(page.status).toBe(403)
  expect(page.html).not.toContain('wrong"')
  page = await root.send(await part('install'), { ...typed, currentPassword: server.node.password })
  expect(page.html).toContain('It is installed.')
  expect(page.html).toContain('A theme for tests')
  for (const [act, said] of [
    ['disable', 'Switch off: 1 done.'],
    ['enable', 'Switch on: 1 done.'],
    ['uninstall', 'Uninstall: 1 done.'],
  ]) {
    page = await root.send(await part('plugins'), { act: `${act} ${THEME}`, ...SURE })
    expect(page.html).toContain(said)
  }
  expect(page.html).toContain('None is installed.')
})

it('shows the settings registered by a plugin, and stores the input', async () => {
  await server.install(PLUGIN)
  const path = `/admin/plugins/${PLUGIN}`
  const stored = async () => (await server.ask('GET', `/api/v1/plugins/${PLUGIN}`)).body.settings
  await server.ask('PUT', `/api/v1/plugins/${PLUGIN}/settings`, { settings: { secret: 'kept', notes: 'Two\nlines', beside: 7 } })
  expect(linksIn((await root.open('/admin/plugins')).html, 'example')).toContain(path)

  const { html } = await root.open(path)
  expect(html).toMatch(/type="checkbox" name="[\w-]+" value="true" checked/)
  expect(html).toMatch(/<option value="cold" selected>Cold<\/option>/)
  expect(html).toMatch(/<textarea [^>]*>\s*Two\nlines<\/textarea>/)
  expect(html).toContain('For you')
  // Text of the plugin is shown, without its scripts.
  expect(html).toContain('<h3>About</h3>')
  expect(html).not.toContain('alert(1)')
  expect(html).not.toContain('kept')

  const form = await part('settings', path)
  const name = (setting: string) => Buffer.from(setting).toString('base64url')
  const typed = {
    [name('greeting')]: 'Good day',
    [name('tone')]: 'warm',
    [name('about.page')]: '# Us',
    [name('notes')]: '',
    [name('rules')]: '',
  }
  const { [name('loud')]: _unchecked, ...fields } = form.fields
  expect((await root.send({ ...form, fields: { ...fields, token: 'f00' } }, typed)).status).toBe(403)
  expect((await root.send({ ...form, fields }, typed)).html).toContain('Saved.')
  expect(await stored()).toEqual({
    greeting: 'Good day',
    secret: 'kept',
    loud: false,
    notes: '',
    tone: 'warm',
    'about.page': '# Us',
    rules: '',
    beside: 7,
  })
  await root.send(await part('settings', path), { [name('secret')]: 'new', [name('tone')]: 'cold' })
  expect(await stored()).toMatchObject({ secret: 'new', tone: 'cold', loud: false })
  expect((await root.open('/admin/plugins/peertube-plugin-none')).status).toBe(404)
})
