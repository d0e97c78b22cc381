// A package registry and a plugin index on loopback, in the formats of npm and PeerTube.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { integrityOf, packFolder } from '../../src/actors/plugin/package.ts'

export interface FakeRegistry {
  url: string
  /** Publishes a package, with its true hash unless another is given. */
  publish(npmName: string, version: string, archive: Buffer, integrity?: string): Promise<void>
  /** Requests so far, as `GET /path?query`. */
  requests: string[]
  stop(): Promise<void>
}

/** The folder of a plugin of test/fixtures/plugins. */
export const fixturePlugin = (npmName: string): string => fileURLToPath(new URL(`../fixtures/plugins/${npmName}`, import.meta.url))
export const packFixture = (npmName: string): Promise<Buffer> => packFolder(fixturePlugin(npmName))

export async function startRegistry(): Promise<FakeRegistry> {
  const packages = new Map<string, { npmName: string; version: string; archive: Buffer; integrity: string }>()
  const requests: string[] = []

  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://registry')
    const json = (body: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    if (pathname === '/api/v1/plugins') return json(indexOf(searchParams.get('search') ?? ''))
    if (pathname === '/api/v1/plugins/latest-version') return json([{ npmName: 'peertube-theme-example', latestVersion: '9.0.0' }])
    const [, npmName = '', version = ''] = pathname.split('/')
    const known = packages.get(`${npmName}@${version}`) ?? [...packages.values()].filter((one) => one.npmName === npmName).at(-1)
    if (!known || (version !== 'latest' && version !== known.version)) return response.writeHead(404).end()
    if (pathname.endsWith('.tgz')) return response.end(known.archive)
    return json({ version: known.version, dist: { tarball: `${url}/${npmName}/${version}/package.tgz`, integrity: known.integrity } })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url,
    requests,
    async publish(npmName, version, archive, integrity) {
      packages.set(`${npmName}@${version}`, { npmName, version, archive, integrity: integrity ?? (await integrityOf(archive)) })
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const indexOf = (search: string) => {
  const one = {
    npmName: 'peertube-theme-example',
    description: 'A theme',
    homepage: 'https://example.org',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-02T00:00:00.000Z',
    popularity: 12,
    latestVersion: '1.0.0',
    official: false,
    recommended: true,
    unknown: 1,
  }
  return one.npmName.includes(search) ? { total: 1, data: [one] } : { total: 0, data: [] }
}
