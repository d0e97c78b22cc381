// SSRF: no request of the server, of any kind, connects to a forbidden address, in any notation.

import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { outgoingRequests } from './outgoing-requests.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

let node: FederatedNode
let sink: Server
let port: number
let connections = 0

beforeAll(async () => {
  sink = createServer((_request, response) => response.end('{}'))
  sink.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => sink.listen(0, '::', resolve))
  const bound = sink.address()
  port = typeof bound === 'object' ? (bound?.port ?? 0) : 0
  node = await startFederatedNode({
    vireo: {
      federation: {
        allow_private_addresses: false,
        delivery: { initial_backoff: '1 hour' },
        fetch: { timeout: '4 seconds' },
      },
    },
  })
})
afterAll(async () => {
  await node?.stop()
  await new Promise((resolve) => sink.close(resolve))
})
beforeEach(() => {
  connections = 0
})

const hosts = [
  '127.0.0.1',
  '127.1',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '2130706433',
  '127.0.0.1.',
  'localhost',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '10.0.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '224.0.0.1',
]
const AT_ONCE = 4

it.each(outgoingRequests(() => node))('%s never connects to an internal address', async (what, ask) => {
  // Several of these are one host, whose deliveries wait for each other.
  const atOnce = what === 'a delivery' ? 1 : AT_ONCE
  for (let at = 0; at < hosts.length; at += atOnce) {
    const some = hosts.slice(at, at + atOnce)
    await Promise.all(some.map((host) => ask(`http://${host}:${port}`, `${host}:${port}`)))
  }
  expect(connections).toBe(0)
})
