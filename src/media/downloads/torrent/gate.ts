// HTTP gateway of the torrent client: the client gets only addresses of this gateway on loopback, each of which stands for one tracker or
// web seed, requested with the guards of the fetcher.

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { FetchError, type GuardedFetch } from '../../../platform/fetch/index.ts'

export type Gate = Awaited<ReturnType<typeof openGate>>

/** Largest response to one request: a piece of a file. */
const MAX_ANSWER = 64 * 1024 * 1024
const LONGEST_MS = 120_000
const FORWARDED_HEADERS = ['content-type', 'content-length', 'content-range', 'accept-ranges']

export async function openGate({ http }: { http: Pick<GuardedFetch, 'stream'> }) {
  const secret = randomBytes(24).toString('hex')
  const targets: string[] = []
  const ending = new AbortController()

  const server = createServer((asked, answer) => {
    pass(asked, answer).catch((error) => {
      if (answer.headersSent) answer.destroy()
      else answer.writeHead(error instanceof FetchError && error.reason === 'refused-address' ? 403 : 502).end()
    })
  })

  async function pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const [path = '', query] = (asked.url ?? '').split(/\?(.*)/s)
    const [, given, index] = path.split('/')
    const target = given === secret ? targets[Number(index)] : undefined
    if (asked.method !== 'GET' || target === undefined) {
      answer.writeHead(404).end()
      return
    }
    const found = await http.stream(query === undefined ? target : `${target}${target.includes('?') ? '&' : '?'}${query}`, {
      maxBytes: MAX_ANSWER,
      timeoutMs: LONGEST_MS,
      signal: ending.signal,
      headers: { 'accept-encoding': 'identity', ...(asked.headers.range ? { range: asked.headers.range } : {}) },
    })
    const headers = Object.entries(found.headers).filter(
      // A decoded response has another length.
      ([name]) => FORWARDED_HEADERS.includes(name) && !(name === 'content-length' && found.headers['content-encoding']),
    )
    answer.writeHead(found.status, Object.fromEntries(headers))
    await pipeline(found.body, answer)
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve())
  })
  const { port } = server.address() as AddressInfo
  return {
    /** The gateway's address for `target`, which may get a query. */
    to(target: string) {
      return `http://127.0.0.1:${port}/${secret}/${targets.push(target) - 1}/announce`
    },
    async close() {
      ending.abort(new FetchError('aborted', 'a torrent'))
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
