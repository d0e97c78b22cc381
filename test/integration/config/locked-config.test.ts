// A server with a read-only configuration, without mail, and with registration closed to some networks.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { login } from '../../../scripts/demo/client.ts'
import { makeBrowser } from '../../support/browser.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'

let node: TestNode
let headers: Record<string, string>

beforeAll(async () => {
  node = await startTestNode({
    config: {
      webadmin: { configuration: { edition: { allowed: false } } },
      signup: { enabled: true, filters: { cidr: { blacklist: ['127.0.0.0/8'] } } },
      transcoding: { enabled: false },
      live: { enabled: true, transcoding: { enabled: true, resolutions: { '480p': true, '0p': true } } },
      client: { videos: { resumable_upload: { max_chunk_size: '5MB' } } },
    },
  })
  headers = { authorization: (await login(node.base, node.username, node.password)).authorization }
})
afterAll(async () => {
  await node?.stop()
})

it('refuses changes with 405, and shows the current configuration', async () => {
  const custom = await fetch(`${node.base}/api/v1/config/custom`, { headers })
  expect(custom.status).toBe(200)
  const put = await fetch(`${node.base}/api/v1/config/custom`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: await custom.text(),
  })
  expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET'])
  expect(put.headers.get('content-type')).toContain('application/problem+json')
  const removed = await fetch(`${node.base}/api/v1/config/custom`, { method: 'DELETE', headers })
  expect(removed.status).toBe(405)
})

it('locks the fields of its pages', async () => {
  const browser = makeBrowser(node.base)
  await browser.login(node.username, node.password)
  for (const path of ['/admin/setup', '/admin/config']) {
    const { html } = await browser.open(path)
    const fields = [...html.matchAll(/<(?:input|select|textarea)[^>]* name="(?:instance|signup)\.\w+"[^>]*>/g)].map(([field]) => field)
    expect(fields.length).toBeGreaterThan(5)
    expect(fields.filter((field) => !field.includes(' disabled'))).toEqual([])
    expect(html).toContain('Locked by webadmin.configuration.edition.allowed.')
  }
})

it('shows clients the configuration of the files', async () => {
  const answer = await fetch(`${node.base}/api/v1/config`)
  expect(await answer.json()).toMatchObject({
    webadmin: { configuration: { edition: { allowed: false } } },
    email: { enabled: false },
    signup: { allowed: true, allowedForCurrentIP: false },
    transcoding: { hls: { enabled: false }, web_videos: { enabled: false }, enabledResolutions: [] },
    live: { enabled: true, transcoding: { enabled: true, enabledResolutions: [0, 480] } },
    video: { file: { extensions: ['.webm', '.ogv', '.mp4'] } },
    client: { videos: { resumableUpload: { maxChunkSize: 5 * 2 ** 20 } } },
  })
})

it('ignores a forwarding header written by the client', async () => {
  // The test's own address is a trusted proxy, so the client is the last untrusted address in the header.
  const requested = async (forwarded: string) => {
    const answer = await fetch(`${node.base}/api/v1/config`, { headers: { 'x-forwarded-for': forwarded } })
    return ((await answer.json()) as { signup: { allowedForCurrentIP: boolean } }).signup.allowedForCurrentIP
  }
  expect(await requested('127.0.0.9, 203.0.113.7')).toBe(true)
  expect(await requested('203.0.113.7, 127.0.0.9')).toBe(true)
  expect(await requested('127.0.0.9')).toBe(false)
})

it('answers a ping', async () => {
  const answer = await fetch(`${node.base}/api/v1/ping`)
  expect([answer.status, await answer.text()]).toEqual([200, 'pong'])
})
