// Plugin commands beside a running server, and the death of the server that runs a plugin.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { fixturePlugin } from '../support/plugin-registry.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'
import { type Child, dataFolder, start } from './support/child.ts'
import { queryVireo, runVireo } from './support/vireo.ts'

const ON = { VIREO__PLUGINS__ENABLED: 'true' }
const HOSTILE = 'peertube-plugin-hostile'
const folder = dataFolder({ prepared: true })
let options: Parameters<typeof start>[0]
let node: Child

beforeAll(async () => {
  options = { dataDir: folder.path, port: await freePort(), env: ON }
  node = await start(options)
})
afterAll(async () => {
  await node?.kill9({ database: true })
  await folder.remove()
})

const environment = () => ({
  PATH: process.env.PATH,
  VIREO_DATA_DIR: folder.path,
  VIREO__LISTEN__PORT: String(options.port),
  VIREO__WEBSERVER__HOSTNAME: '127.0.0.1',
  ...ON,
})
const vireo = (...args: string[]) => runVireo(environment(), args)
const registered = async (): Promise<string[]> =>
  (await (await fetch(`${node.base}/api/v1/config`)).json()).plugin.registered.map(({ npmName }: { npmName: string }) => npmName)
const pid = async (): Promise<number | undefined> => {
  const answer = await fetch(`${node.base}/plugins/hostile/router/pid`)
  return answer.status === 200 ? (await answer.json()).pid : undefined
}

describe('the command line', () => {
  it('installs a plugin from a folder, which the running server runs, and disables and enables it', async () => {
    expect(await vireo('plugin', 'list')).toEqual({ code: 0, said: 'None is installed.', complaint: '' })
    expect(await vireo('plugin', 'install', fixturePlugin(HOSTILE))).toEqual({
      code: 0,
      said: `${HOSTILE} is installed and enabled.`,
      complaint: '',
    })
    await until(async () => (await pid()) !== undefined)
    expect(await vireo('plugin', 'disable', HOSTILE)).toMatchObject({ code: 0 })
    await until(async () => (await registered()).length === 0)
    expect(await queryVireo(environment(), ['plugin', 'list'])).toEqual({
      plugins: [{ name: HOSTILE, version: '1.0.0', state: 'installed', failure: null }],
    })
    expect(await vireo('plugin', 'enable', HOSTILE)).toMatchObject({ code: 0 })
    await until(async () => (await pid()) !== undefined)
  })

  it('refuses what is no package, a version range, an unknown plugin, and everything while plugins are disabled', async () => {
    expect(await vireo('plugin', 'install', '/nowhere')).toMatchObject({ code: 1, complaint: 'There is no folder /nowhere.' })
    expect(await vireo('plugin', 'install', 'peertube-plugin-x@^1.0.0')).toMatchObject({ code: 2 })
    expect(await vireo('plugin', 'install', 'peertube-plugin-x')).toMatchObject({ code: 2 })
    expect(await vireo('plugin', 'uninstall', 'peertube-plugin-x')).toMatchObject({ code: 1, complaint: 'Plugin not found' })
    const off = await runVireo({ ...environment(), VIREO__PLUGINS__ENABLED: 'false' }, ['plugin', 'install', fixturePlugin(HOSTILE)])
    expect(off).toMatchObject({ code: 1, complaint: expect.stringContaining('plugins.enabled') })
  })
})

it('a busy plugin exits soon after its server dies, and runs again afterwards', async () => {
  const before = (await pid()) ?? 0
  fetch(`${node.base}/plugins/hostile/router/harm/loop`).catch(() => undefined)
  node.signal('SIGKILL', 'process')
  expect(await node.ended).toBeNull()
  node = await start(options)
  await until(async () => ![undefined, before].includes(await pid()))
  expect(() => process.kill(before, 0)).toThrow('ESRCH')
})
