// Receiving servers in a separate process: many ports, some of which accept requests and never answer.

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface SinkOrder {
  ports: number
  /** The number of ports that hang, starting with the first. */
  hanging: number
}

export interface SinkReport {
  /** Wall-clock time of each answered delivery, in ms. */
  answered: number[]
  /** Maximum number of simultaneous connections. */
  sockets: number
  /** Distinct bodies. */
  bodies: number
  /** Repeated deliveries of a body to the same inbox. */
  repeated: number
}

let answered: number[] = []
let bodies = new Set<string>()
const pairs = new Set<string>()
let repeated = 0
const open = new Set<Socket>()
let sockets = 0

process.on('message', async (order: SinkOrder | 'report') => {
  if (order === 'report') {
    process.send?.({ answered, sockets, bodies: bodies.size, repeated } satisfies SinkReport)
    answered = []
    bodies = new Set()
    repeated = 0
    sockets = open.size
    return
  }
  const ports: number[] = []
  for (let at = 0; at < order.ports; at += 1) ports.push(await listen(at < order.hanging))
  process.send?.(ports)
})
process.once('disconnect', () => process.exit(0))

async function listen(hangs: boolean): Promise<number> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      if (hangs) return
      answered.push(Date.now())
      const body = createHash('sha256').update(Buffer.concat(parts)).digest('base64')
      const pair = `${request.headers.host}${request.url} ${body}`
      if (pairs.has(pair)) repeated += 1
      pairs.add(pair)
      bodies.add(body)
      response.writeHead(202).end()
    })
  })
  server.on('connection', (socket) => {
    open.add(socket)
    sockets = Math.max(sockets, open.size)
    socket.on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
