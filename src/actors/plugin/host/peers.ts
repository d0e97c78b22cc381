// Calls between the processes of one server, to the one that runs a plugin: HTTP on an internal address. The secret of the installation,
// which all of them have, proves who asks.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { z } from 'zod'
import type { GuardedFetch } from '../../../platform/fetch/index.ts'
import type { Secrets } from '../../../platform/secrets.ts'
import { ChannelError } from './channel.ts'

export interface PeerCall {
  npmName: string
  name: string
  args: unknown
  withinMs: number
}

const MAX_BYTES = 2 * 1024 * 1024
const VALID_MS = 30_000
/** For the way there and back. */
const EXTRA_MS = 1_000

const callSchema = z.object({ npmName: z.string(), name: z.string(), args: z.unknown(), withinMs: z.number().max(60_000) })
const answerSchema = z.union([
  z.object({ value: z.unknown() }),
  z.object({ error: z.string(), reason: z.enum(['late', 'refused', 'closed', 'full']) }),
])

export type Peers = Awaited<ReturnType<typeof startPeers>>

export async function startPeers(options: {
  hostname: string
  secrets: Pick<Secrets, 'seal' | 'open'>
  http: Pick<GuardedFetch, 'fetch'>
  answer: (call: PeerCall) => Promise<unknown>
}) {
  const { hostname, secrets, http, answer } = options

  function isPeer(request: IncomingMessage): boolean {
    try {
      return Number(secrets.open(request.headers.authorization?.slice('Bearer '.length) ?? '')) > Date.now()
    } catch {
      return false
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isPeer(request) || Number(request.headers['content-length'] ?? MAX_BYTES + 1) > MAX_BYTES) {
      response.writeHead(403, { connection: 'close' }).end()
      return
    }
    const call = callSchema.parse(JSON.parse((await buffer(request)).toString('utf8')))
    const body = await answer({ ...call, args: call.args }).then(
      (value) => ({ value: value ?? null }),
      (error: unknown) => ({
        reason: error instanceof ChannelError ? error.reason : 'refused',
        error: error instanceof Error ? error.message : String(error),
      }),
    )
    const text = JSON.stringify(body)
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => (response.headersSent ? response.destroy() : response.writeHead(400).end()))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, hostname, resolve)
  })
  const { port } = server.address() as AddressInfo

  return {
    /** `host:port`, for the others. */
    address: `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`,

    /** Throws ChannelError. */
    async ask(address: string, call: PeerCall): Promise<unknown> {
      const found = await http
        .fetch(`http://${address}/`, {
          method: 'POST',
          headers: { authorization: `Bearer ${secrets.seal(String(Date.now() + VALID_MS))}`, 'content-type': 'application/json' },
          body: JSON.stringify(call),
          maxBytes: MAX_BYTES,
          timeoutMs: call.withinMs + EXTRA_MS,
        })
        .catch(() => undefined)
      if (found?.status !== 200) throw new ChannelError('closed')
      const said = answerSchema.parse(JSON.parse(found.body.toString('utf8')))
      if ('error' in said) throw new ChannelError(said.reason, said.error)
      return said.value
    },

    close(): Promise<void> {
      return new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}
