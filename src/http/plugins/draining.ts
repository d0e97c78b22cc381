// The end of the server: from the moment it drains each answer is the last one of its connection; when it closes, what is running
// may finish, connections close as soon as they are idle, and late ones are cut.

import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { App } from './types.ts'

/** How often connections that became idle are closed while draining, in ms. */
const CLOSE_IDLE_EVERY = 50

/** While `isDraining`, and on close: answers say `connection: close`. `timeoutMs` after the close what is still running is cut off. */
export function addDraining(app: App, options: { timeoutMs: number; isDraining: () => boolean }): void {
  const { timeoutMs, isDraining } = options
  // The latest reply of each connection: cheaper on each request than a hook before each answer.
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
