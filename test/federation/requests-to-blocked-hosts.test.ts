// Requests to a blocked host, in every way in which a server sends requests: directly, by a redirect, or from inside a playlist of a third
// server. Nothing connects to it.

import { createServer, type RequestListener, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { outgoingRequests } from './outgoing-requests.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

interface Place {
  server: Server
  base: string
  host: string
  asked: number
}

let node: FederatedNode
/** An open one, a blocked one, and open ones that redirect to the blocked one or to other URL schemes. */
let open: Place
let blocked: Place
let redirecting: Place
let toFiles: Place
let toData: Place
const places: Place[] = []

async function place(listener: RequestListener): Promise<Place> {
  const made: Place = { server: createServer(listener), base: '', host: '', asked: 0 }
  made.server.on('request', () => {
    made.asked += 1
  })
  await new Promise<void>((resolve) => made.server.listen(0, '127.0.0.1', resolve))
  const bound = made.server.address()
  made.host = `127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`
  made.base = `http://${made.host}`
  places.push(made)
  return made
}

beforeAll(async () => {
  const nothing: RequestListener = (_request, response) => response.writeHead(404).end()
  const leadingTo =
    (target: (path: string) => string): RequestListener =>
    ({ url }, response) =>
      response.writeHead(302, { location: target(url ?? '/') }).end()
  open = await place(nothing)
  blocked = await place(nothing)
  redirecting = await place(leadingTo((path) => `${blocked.base}${path}`))
  toFiles = await place(leadingTo(() => 'file:///etc/hostname'))
  toData = await place(leadingTo(() => 'data:application/json,{}'))
  node = await startFederatedNode({
    vireo: { federation: { delivery: { initial_backoff: '1 hour' }, fetch: { timeout: '4 seconds' } } },
  })
  await node.client.send('POST', '/api/v1/server/blocklist/servers', { host: blocked.host })
})
afterAll(async () => {
  await node?.stop()
  for (const { server } of places) await new Promise((resolve) => server.close(resolve))
})
beforeEach(() => {
  for (const one of places) one.asked = 0
})

const ways = outgoingRequests(() => node).filter(([what]) => what !== 'a context')
/** Deliveries follow no redirects, and none go to blocked hosts. */
const reads = ways.filter(([what]) => what !== 'a delivery')

describe.each(ways)('%s', (_what, ask) => {
  it('sends requests where that is allowed', async () => {
    await ask(open.base, open.host)
    expect(open.asked).toBeGreaterThan(0)
  })
})

describe.each(reads)('%s', (_what, ask) => {
  it('sends no request to a blocked host', async () => {
    await ask(blocked.base, blocked.host)
    expect(blocked.asked).toBe(0)
  })

  it('follows no redirect to a blocked host', async () => {
    await ask(redirecting.base, redirecting.host)
    expect(redirecting.asked).toBeGreaterThan(0)
    expect(blocked.asked).toBe(0)
  })

  it('follows no redirect to files or other URL schemes', async () => {
    for (const { base, host } of [toFiles, toData]) await ask(base, host)
    expect(toFiles.asked).toBeGreaterThan(0)
    expect(toData.asked).toBeGreaterThan(0)
  })
})

it('copies no segments of a blocked host from an HLS playlist of another server', async () => {
  const [, mirror] = ways.find(([what]) => what === 'an HLS playlist') ?? []
  const master = (to: string) => `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=320x240\n${to}\n`
  const media = (to: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n${to}\n#EXT-X-ENDLIST\n`
  const forged: Record<string, [string, string]> = {
    'a playlist': [master(`${blocked.base}/240.m3u8`), ''],
    'a segment': [master('240.m3u8'), media(`${blocked.base}/1.mp4`)],
    'the start of segments': [master('240.m3u8'), media('1.mp4').replace('#EXTINF', `#EXT-X-MAP:URI="${blocked.base}/init.mp4"\n#EXTINF`)],
    'a key': [master('240.m3u8'), media('1.mp4').replace('#EXTINF', `#EXT-X-KEY:METHOD=AES-128,URI="${blocked.base}/key"\n#EXTINF`)],
    'a file of this machine': [master('240.m3u8'), media('file:///etc/hostname')],
  }
  for (const [what, [first, second]] of Object.entries(forged)) {
    const origin = await place(({ url }, response) => {
      const body = url === '/m.m3u8' ? first : url === '/240.m3u8' ? second : undefined
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/vnd.apple.mpegurl' }).end(body)
    })
    await mirror?.(origin.base, origin.host)
    expect({ what, asked: origin.asked > 0, blocked: blocked.asked }).toEqual({ what, asked: true, blocked: 0 })
  }
  expect(await node.query("select 1 from redundancy where state = 'stored'")).toEqual([])
})
