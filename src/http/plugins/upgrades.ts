// Requests to upgrade a connection go through the routes as all others do: what a route needs to take one over.

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

const upgrades = new WeakMap<IncomingMessage, Upgrade>()

/** Routes requests to upgrade. A route that takes none answers as ever, and the connection ends. */
export function addUpgrades(app: App): void {
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    if (!(socket instanceof Socket)) return socket.destroy()
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.once('finish', () => socket.end())
    upgrades.set(request, { socket, head })
    app.routing(request, response)
  })
}

/** Takes the connection of the request over; undefined when it asks for no upgrade. */
export function takeUpgrade(request: FastifyRequest, reply: FastifyReply): Upgrade | undefined {
  const upgrade = upgrades.get(request.raw)
  if (!upgrade) return undefined
  reply.hijack()
  reply.raw.removeAllListeners('finish')
  if (upgrade.socket instanceof Socket) reply.raw.detachSocket(upgrade.socket)
  return upgrade
}
