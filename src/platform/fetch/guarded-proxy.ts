// A forward proxy on loopback for programs that make their own requests: each request passes the address guard, and its bytes are counted.
// Each proxy has its own password, and ends with the work that it was opened for.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type Duplex, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Logger } from '../logger.ts'
import type { Dial } from './dial.ts'
import { FetchError } from './errors.ts'

export type GuardedProxy = Awaited<ReturnType<typeof openGuardedProxy>>

export interface GuardedProxyOptions {
  dial: Dial
  /** Maximum bytes from other hosts. */
  maxBytes: number
  /** How long a connection may be silent, in ms. */
  silenceMs: number
  logger: Logger
  /** Listens only on this UNIX socket; clients reach it on this port of their own loopback. */
  socket?: { path: string; port: number } | undefined
}

const NAME = 'vireo'

export async function openGuardedProxy({ dial, maxBytes, silenceMs, logger, socket }: GuardedProxyOptions) {
  const password = randomBytes(24).toString('hex')
  const expected = Buffer.from(`Basic ${Buffer.from(`${NAME}:${password}`).toString('base64')}`)
  const open = new Set<Duplex>()
  const ending = new AbortController()
  let left = maxBytes

  const server = createServer((asked, answer) => {
    forward(asked, answer).catch((error) => {
      logger.debug({ err: error }, 'a request through the proxy failed')
      if (answer.headersSent) answer.destroy()
      else answer.writeHead(statusOf(error)).end()
    })
  })
  server.on('connect', (asked: IncomingMessage, socket: Socket, head: Buffer) => {
    tunnel(asked, socket, head).catch((error) => {
      logger.debug({ err: error }, 'a connection through the proxy failed')
      if (socket.writable) socket.end(`HTTP/1.1 ${statusOf(error)} Refused\r\n\r\n`)
    })
  })
  server.on('connection', keep)

  function keep(socket: Socket): void {
    open.add(socket)
    socket.setTimeout(silenceMs, () => socket.destroy())
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
  }

  async function dialled(hostname: string, port: number): Promise<Socket> {
    if (left <= 0) throw new FetchError('too-large', hostname)
    const socket = await dial({ hostname, port }, ending.signal)
    keep(socket)
    if (ending.signal.aborted) socket.destroy()
    return socket
  }

  async function tunnel(asked: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    assertKnown(asked)
    // URL would drop the default port of its scheme, which is not that of a tunnel.
    const [, host, port] = /^([^/?#@]+):(\d{1,5})$/.exec(asked.url ?? '') ?? []
    const target = URL.parse(`http://${host ?? ''}`)
    if (!target) throw new FetchError('refused-url', 'CONNECT')
    const socket = await dialled(target.hostname, Number(port))
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) socket.write(head)
    await Promise.allSettled([pipeline(client, socket), pipeline(socket, counting(), client)])
  }

  async function forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    assertKnown(asked)
    const target = URL.parse(asked.url ?? '')
    if (target?.protocol !== 'http:') throw new FetchError('refused-url', 'a request')
    const socket = await dialled(target.hostname, Number(target.port || 80))
    const headers = Object.fromEntries(
      Object.entries(asked.headers).filter(([name]) => !name.startsWith('proxy-') && name !== 'connection'),
    )
    await new Promise<void>((resolve, reject) => {
      const sent = request({
        method: asked.method,
        path: target.pathname + target.search,
        createConnection: () => socket,
        headers: { ...headers, host: target.host, connection: 'close' },
      })
      sent.once('error', reject)
      sent.once('response', (found) => {
        answer.writeHead(found.statusCode ?? 502, found.headers)
        pipeline(found, counting(), answer).then(resolve, reject)
      })
      asked.pipe(sent)
    })
  }

  function assertKnown({ headers }: IncomingMessage): void {
    const given = Buffer.from(headers['proxy-authorization'] ?? '')
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new NotKnown()
  }

  function counting(): Transform {
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        left -= chunk.length
        if (left >= 0) return done(null, chunk)
        cut()
        done(new FetchError('too-large', 'a download'))
      },
    })
  }

  function cut(): void {
    for (const socket of open) socket.destroy()
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    if (socket) server.listen(socket.path, () => resolve())
    else server.listen(0, '127.0.0.1', () => resolve())
  })
  const port = socket?.port ?? (server.address() as AddressInfo).port
  return {
    /** With credentials. */
    url: `http://${NAME}:${password}@127.0.0.1:${port}`,
    /** True after more bytes than allowed arrived; then no more are passed. */
    get isOver() {
      return left < 0
    },
    /** Closes all connections. */
    async close() {
      ending.abort(new FetchError('aborted', 'a download'))
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      cut()
      await closed
    },
  }
}

class NotKnown extends Error {}

function statusOf(error: unknown): number {
  if (error instanceof NotKnown) return 407
  if (!(error instanceof FetchError)) return 502
  return ['refused-address', 'refused-url', 'too-large'].includes(error.reason) ? 403 : 502
}
