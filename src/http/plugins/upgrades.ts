// Routes WebSocket upgrade requests like all others, so that a route can take over the connection. Other upgrades, such as to HTTP/2, are
// optional offers and are ignored.

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

/** Silence in ms after which an upgraded connection without a handler is closed: the limits of the server do not cover it any more. */
const MAX_SILENCE_MS = 60_000

const upgrades = new WeakMap<IncomingMessage, Upgrade & { release(): void }>()

/** True if `addUpgrades` routes a request: Node treats an upgrade as one without a body. */
export const shouldUpgradeCallback = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

/** Routes upgrade requests. A route that does not take over the connection responds as usual, and the connection ends. */
export function addUpgrades(app: App): void {
  // Node does not track these connections any more, so it does not close them.
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
    // A client that never closes its side must not keep the connection.
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

/** Takes over the connection of the request; undefined if it is not an upgrade. */
export function takeUpgrade(request: FastifyRequest, reply: FastifyReply): Upgrade | undefined {
  const upgrade = upgrades.get(request.raw)
  if (!upgrade) return undefined
  reply.hijack()
  upgrade.release()
  return upgrade
}
