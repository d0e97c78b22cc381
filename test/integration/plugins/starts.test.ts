// Plugins that never finish starting are killed, and block nothing.

import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startHost } from '../../../src/actors/plugin/host/host.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { startPluginNode } from '../../support/plugin-node.ts'
import { run } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

let root: string
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'vireo-starts-')))
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** A package with this code as its library. */
async function pluginOf(name: string, code: string): Promise<string> {
  const folder = join(root, name)
  await mkdir(folder)
  const manifest = { name, version: '1.0.0', engine: { peertube: '>=5.0.0' }, library: './main.js' }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  await writeFile(join(folder, 'main.js'), code)
  return folder
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('the process of a plugin', () => {
  const pidFile = () => join(root, 'pid')
  const begin = (folder: string, signal: AbortSignal) =>
    startHost({
      folder,
      library: './main.js',
      about: {
        npmName: 'peertube-plugin-x',
        name: 'x',
        version: '1.0.0',
        origin: 'https://here.example',
        labels: { language: {}, licence: {}, category: {}, privacy: {}, playlistPrivacy: {} },
      },
      memory: 64 * 1024 * 1024,
      answer: async () => null,
      pidFile: pidFile(),
      signal,
      logger: silentLogger,
    })
  const startedPid = async (): Promise<number> => Number.parseInt(await readFile(pidFile(), 'utf8').catch(() => '0'), 10)

  it('that loops in its start is killed as one that loops later', async () => {
    const folder = await pluginOf('loops', 'module.exports = { register() { for (;;); } }')
    await expect(begin(folder, new AbortController().signal)).rejects.toThrow('It does not answer any more.')
    expect(isAlive(await startedPid())).toBe(false)
  })

  it.each([
    ['loops', 'module.exports = { register() { for (;;); } }'],
    ['waits for ever', 'module.exports = { register: () => new Promise(() => {}) }'],
  ])('that %s is killed when its start times out', async (what, code) => {
    await rm(pidFile(), { force: true })
    const folder = await pluginOf(`given-up-${what.replaceAll(' ', '-')}`, code)
    const ending = new AbortController()
    const starting = begin(folder, ending.signal)
    const pid = await until(startedPid)
    ending.abort()
    await expect(starting).rejects.toThrow('It was stopped.')
    expect(isAlive(pid)).toBe(false)
  })

  it('that exits during its start reports how', async () => {
    const folder = await pluginOf('ends', 'module.exports = { register() { process.exit(3) } }')
    await expect(begin(folder, new AbortController().signal)).rejects.toThrow('It ended with code 3.')
  })
})

describe('a plugin that never started', () => {
  it('can be disabled, and others keep their leases meanwhile', async () => {
    const server = await startPluginNode()
    const stuck = 'peertube-plugin-stuck'
    const lease = async (npmName: string): Promise<Date | null> => {
      const rows = await run<{ until: Date | null }>(
        server.node.databaseUrl,
        `select host_until as until from plugin where npm_name = '${npmName}'`,
      )
      return rows[0]?.until ?? null
    }
    try {
      await server.install('peertube-plugin-hostile')
      await server.node.server.operator.plugins.installFolder(
        await pluginOf(stuck, 'module.exports = { register: () => new Promise(() => {}), unregister() {} }'),
      )
      await until(() => lease(stuck))
      expect((await server.ask('POST', `/api/v1/vireo/plugins/${stuck}/disable`)).status).toBe(204)
      const left: number[] = []
      await until(async () => {
        left.push(Number(await lease('peertube-plugin-hostile')) - Date.now())
        return (await lease(stuck)) === null
      })
      expect(Math.min(...left)).toBeGreaterThan(0)
      expect((await server.ask('POST', `/api/v1/vireo/plugins/${stuck}/enable`)).status).toBe(204)
      await until(() => lease(stuck))
    } finally {
      await server.stop()
    }
  })
})
