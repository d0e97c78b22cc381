// Requests to an HTTP server of this process without a port: over a connection in memory.

import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from 'node:http'
import { type Duplex, duplexPair, finished, type Readable } from 'node:stream'

export interface InnerRequest {
  method: string
  path: string
  headers?: OutgoingHttpHeaders
  /** A stream is sent as it arrives; what is left of it after the response is read and discarded. */
  body?: string | Readable | undefined
  /** The client's address, as the server sees it. */
  address?: string
  /** Aborts the request. */
  signal?: AbortSignal | undefined
  /** Called with the server's side of the connection before the request is sent. */
  onConnection?: (socket: Duplex) => void
}

export interface InnerAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** Rejects if the connection ends before the response. */
export function requestInternally(server: Server, inner: InnerRequest): Promise<InnerAnswer> {
  const { method, path, headers = {}, body, address, signal, onConnection } = inner
  const [near, far] = duplexPair()
  if (address !== undefined) Object.defineProperty(far, 'remoteAddress', { value: address })
  onConnection?.(far)
  server.emit('connection', far)
  return new Promise<InnerAnswer>((resolve, reject) => {
    const options = { method, path, headers: { ...headers, connection: 'close' }, createConnection: () => near }
    const asked = httpRequest({ ...options, ...(signal ? { signal } : {}) }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('error', reject)
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 500, headers: answer.headers, body: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    asked.once('error', reject)
    asked.once('close', () => far.destroy())
    if (typeof body === 'object') send(body, asked)
    else asked.end(body)
  })
}

/** The response may come before the end of the body. Unread, the rest would block the next request of the client's connection. */
function send(body: Readable, asked: ClientRequest): void {
  const forget = finished(body, { writable: false }, (error) => error && asked.destroy(error))
  body.pipe(asked)
  asked.once('close', () => {
    forget()
    body.unpipe(asked).resume()
  })
}
