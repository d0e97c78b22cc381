// Checks on the network before an import is retried, without locks.

import { expect, it } from '@jest/globals'
import { makeVideoImports, type VideoImportDeps } from '../../../src/actors/video-import/video-import.commands.ts'
import { testConfig } from '../../support/config.ts'

const row = {
  userId: 1,
  state: 'failed',
  targetUrl: 'https://inside.example/a.mp4',
  magnetUri: null,
  torrentName: null,
}

function make(found: Partial<typeof row>[]) {
  const requested: string[] = []
  const config = testConfig({ import: { videos: { http: { enabled: true } } } })
  const deps: Partial<VideoImportDeps> = {
    config: () => config,
    db: { query: async () => found } as never,
    registry: { timeout: () => {}, on: () => {} } as never,
    tell: (() => Promise.reject(new Error('The import is locked.'))) as never,
    async mayImportFrom(hostname) {
      requested.push(hostname)
      return false
    },
  }
  return { imports: makeVideoImports(deps as VideoImportDeps), requested }
}
const user = { userId: 1, role: 2 } as const

it('refuses a URL that is no longer public without a lock', async () => {
  const { imports, requested } = make([row])
  await expect(imports.retry(5, user)).rejects.toMatchObject({
    kind: 'forbidden',
    message: expect.stringMatching(/public addresses/),
  })
  expect(requested).toEqual(['inside.example'])
})

it.each([
  ['that is none', [], 'not_found'],
  ['of another user', [{ ...row, userId: 2 }], 'forbidden'],
  ['that did not fail', [{ ...row, state: 'success' }], 'conflict'],
])('checks nothing for an import %s', async (_, found, kind) => {
  const { imports, requested } = make(found)
  await expect(imports.retry(5, user)).rejects.toMatchObject({ kind })
  expect(requested).toEqual([])
})
