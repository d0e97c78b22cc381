// Requests to make a connection a WebSocket go through the routes as all others do: what a route needs to take one over. Other
// upgrades, such as to HTTP/2, are offers that no answer has to follow: those requests are as any.

import { type IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './types.ts'

export interface Upgrade {
  socket: Duplex
  /** The first bytes after the request. */
  head: Buffer
}

/** Silence of such a connection that nobody has taken over, in ms: no limit of the server counts for it any more. */
const MAX_SILENCE_MS = 60_000

const upgrades = new WeakMap<IncomingMessage, Upgrade & { release(): void }>()

/**
 * Whether a request is routed by `addUpgrades`: what Node takes for an upgrade has no body.
 */
export const shouldUpgradeCallback = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

/** Routes requests to upgrade. A route that takes none answers as ever, and the connection ends. */
export function addUpgrades(app: App): void {
  // Node counts them among its connections no more, so that it closes none of them at the end.
  const open = new Set<Socket>()
  let isEnding = false

  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    if (isEnding || !(socket instanceof Socket)) return socket.destroy()
    const cut = () => socket.destroy()
    const forget = () => open.delete(socket)
    open.add(socket)
    socket.once('close', forget)
    socket.setTimeout(MAX_SILENCE_MS, cut)
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    // A client that never ends its side must not keep the connection.
    const end = () => socket.destroySoon()
    response.once('finish', end)
    const release = () => {
      forget()
      socket.off('close', forget)
      socket.setTimeout(0, cut)
      response.off('finish', end)
      response.detachSocket(socket)
    }
    upgrades.set(request, { socket, head, release })
    app.routing(request, response)
  })

  app.addHook('preClose', (done) => {
    isEnding = true
    for (const socket of open) socket.destroy()
    done()
  })
}

/** Takes the connection of the request over; undefined when it asks for no upgrade. */
export function takeUpgrade(request: FastifyRequest, reply: FastifyReply): Upgrade | undefined {
  const upgrade = upgrades.get(request.raw)
  if (!upgrade) return undefined
  reply.hijack()
  upgrade.release()
  return upgrade
}
