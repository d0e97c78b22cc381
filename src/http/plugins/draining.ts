// Graceful shutdown: while the server drains, each response is the last one of its connection; on close, running requests may finish, idle
// connections are closed, and late ones are cut.

import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { App } from './types.ts'

/** How often idle connections are closed while draining, in ms. */
const CLOSE_IDLE_EVERY = 50

/**
 * While `isDraining`, and on close, responses contain `connection: close`. Requests that still run `timeoutMs` after the close are cut off.
 */
export function addDraining(app: App, options: { timeoutMs: number; isDraining: () => boolean }): void {
  const { timeoutMs, isDraining } = options
  // The latest reply of each connection: cheaper per request than a hook before each response.
  const latest = new Map<Socket, FastifyReply | undefined>()
  app.server.on('connection', (socket) => {
    latest.set(socket, undefined)
    socket.once('close', () => latest.delete(socket))
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (latest.has(request.raw.socket)) latest.set(request.raw.socket, reply)
    if (isDraining()) reply.header('connection', 'close')
    done()
  })

  app.addHook('preClose', (done) => {
    for (const reply of latest.values()) {
      if (reply && !reply.raw.headersSent) reply.header('connection', 'close')
    }
    const idle = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_EVERY)
    const late = setTimeout(() => app.server.closeAllConnections(), timeoutMs)
    app.server.once('close', () => {
      clearInterval(idle)
      clearTimeout(late)
    })
    if (!app.server.listening) {
      clearInterval(idle)
      clearTimeout(late)
    }
    done()
  })
}
