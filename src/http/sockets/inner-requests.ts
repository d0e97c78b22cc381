// Requests to an HTTP server of this process without a port: over a connection in memory.

import { request as httpRequest, type Server } from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'

export interface InnerRequest {
  method: 'GET' | 'POST'
  path: string
  body?: string
  /** Aborts the request. */
  signal?: AbortSignal | undefined
  /** Called with the server's side of the connection before the request is sent. */
  onConnection?: (socket: Duplex) => void
}

export interface InnerAnswer {
  status: number
  body: string
}

/** Rejects if the connection ends before the response. */
export function requestInternally(server: Server, inner: InnerRequest): Promise<InnerAnswer> {
  const { method, path, body, signal, onConnection } = inner
  const [ours, theirs] = duplexPair()
  onConnection?.(theirs)
  server.emit('connection', theirs)
  return new Promise<InnerAnswer>((resolve, reject) => {
    const options = { method, path, headers: { connection: 'close' }, createConnection: () => ours }
    const asked = httpRequest({ ...options, ...(signal ? { signal } : {}) }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('error', reject)
      answer.once('end', () => resolve({ status: answer.statusCode ?? 500, body: Buffer.concat(chunks).toString('utf8') }))
    })
    asked.once('error', reject)
    asked.once('close', () => theirs.destroy())
    asked.end(body)
  })
}
