// Socket.IO of one process. It is attached to an HTTP server without a port: the routes pass requests of clients to it, and requests that
// arrived at another process are replayed over a connection in memory.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Server, type Socket } from 'socket.io'
import type { Logger } from '../../platform/logger.ts'
import { type InnerAnswer, type InnerRequest, requestInternally } from '../plugins/inner-requests.ts'
import { makePlaces } from './connection-slots.ts'
import { addNamespaces, type SocketNamespace } from './namespaces.ts'

export const PATH = '/socket.io/'

/** Maximum bytes of a client message, which names a namespace or a video. */
export const MAX_MESSAGE = 2_000
const MAX_SESSIONS = 20_000
const MAX_OF_AN_ADDRESS = 100
/** How often a client may join a namespace on one connection: each time a token is looked up. */
const MAX_JOINS = 10
/** Timeout of clients in no namespace: at first, and after they have left the last one. */
const JOIN_WITHIN_MS = 10_000
const JOIN_AGAIN_WITHIN_MS = 1_000
const PING_EVERY_MS = 25_000
const PONG_WITHIN_MS = 20_000
/** For closing messages: to clients that may poll once more, and to all at the end. */
const LAST_POLL_WITHIN_MS = 1_000
const CLOSING_MS = 500

export type Engine = ReturnType<typeof makeEngine>

type Connection = Socket['conn']

interface Session {
  connection: Connection
  /** As long as it can be replayed elsewhere. */
  said: string[] | undefined
  /** Messages that the client is sending. */
  posts: Set<Promise<void>>
  /** Number of join requests, and joined namespaces. */
  asked: number
  joined: number
}

export function makeEngine(options: { newSid: () => string; namespaces: readonly SocketNamespace[]; logger: Logger }) {
  const { newSid, namespaces, logger } = options
  const sessions = new Map<string, Session>()
  const byConnection = new WeakMap<Connection, Session>()
  const places = makePlaces<string>({ most: MAX_SESSIONS, mostOfOne: MAX_OF_AN_ADDRESS })
  const addresses = new WeakMap<IncomingMessage, string>()
  const arranged = new WeakMap<Duplex, { sid: string; address: string }>()
  const upgraded = new Set<Duplex>()

  const hub = createServer()
  const io = new Server(hub, {
    path: PATH,
    serveClient: false,
    maxHttpBufferSize: MAX_MESSAGE,
    connectTimeout: JOIN_WITHIN_MS,
    pingInterval: PING_EVERY_MS,
    pingTimeout: PONG_WITHIN_MS,
    httpCompression: false,
  })
  io.engine.generateId = (request: IncomingMessage) => arranged.get(request.socket)?.sid ?? newSid()
  io.engine.on('connection', begin)
  hub.on('request', notePost)
  addNamespaces(io, {
    namespaces,
    logger,
    joining: {
      mayAsk(connection) {
        const session = byConnection.get(connection)
        if (session) session.asked += 1
        return session !== undefined && session.asked <= MAX_JOINS
      },
      joined(connection) {
        const session = byConnection.get(connection)
        if (session) session.joined += 1
      },
      left(connection) {
        const session = byConnection.get(connection)
        if (!session) return
        session.joined -= 1
        setTimeout(() => session.joined === 0 && connection.close(), JOIN_AGAIN_WITHIN_MS).unref()
      },
    },
  })

  function begin(connection: Connection): void {
    const { request, transport } = connection
    const { sid } = transport
    const leave = places.take(arranged.get(request.socket)?.address ?? addresses.get(request) ?? '')
    const said = transport.name === 'polling' ? [] : undefined
    const session: Session = { connection, said, posts: new Set(), asked: 0, joined: 0 }
    sessions.set(sid, session)
    byConnection.set(connection, session)
    connection.on('data', (message: unknown) => {
      if (typeof message === 'string' && session.said && session.said.length < MAX_JOINS) session.said.push(message)
      else session.said = undefined
    })
    connection.once('upgrade', () => {
      session.said = undefined
    })
    // The default of 30 s would keep the session of a client that is gone.
    if ('closeTimeout' in transport) transport.closeTimeout = LAST_POLL_WITHIN_MS
    connection.once('close', () => {
      sessions.delete(sid)
      leave()
    })
  }

  function notePost(request: IncomingMessage, response: ServerResponse): void {
    const session = request.method === 'POST' ? sessions.get(sidOf(request) ?? '') : undefined
    if (!session) return
    const over = new Promise<void>((resolve) => response.once('close', resolve)).then(() => {
      session.posts.delete(over)
    })
    session.posts.add(over)
  }

  return {
    /** True if the session is here. */
    has(sid: string) {
      return sessions.has(sid)
    },
    /** True if one more session may begin; `address` is the key under which its client is counted. */
    hasPlace(address: string) {
      return places.hasPlace(address)
    },
    // The end of a client that disconnected meanwhile would not be noticed.
    answer(request: IncomingMessage, response: ServerResponse, address: string) {
      if (response.destroyed) return
      addresses.set(request, address)
      hub.emit('request', request, response)
    },
    upgrade(request: IncomingMessage, { socket, head }: { socket: Duplex; head: Buffer }, address: string) {
      if (socket.destroyed) return
      addresses.set(request, address)
      upgraded.add(socket)
      socket.once('close', () => upgraded.delete(socket))
      hub.emit('upgrade', request, socket, head)
    },
    /** A request of a client of another process. `session` names the one that begins with it. */
    ask(
      request: Omit<InnerRequest, 'path' | 'onConnection'> & { query: Record<string, string>; session?: { sid: string; address: string } },
    ): Promise<InnerAnswer> {
      const { query, session, ...inner } = request
      return requestInternally(hub, {
        ...inner,
        path: `${PATH}?${new URLSearchParams(query)}`,
        onConnection: (socket) => session && arranged.set(socket, session),
      })
    },
    /**
     * Removes a session without notifying its client, which is about to continue it at another process. Returns what the client has sent in
     * it; undefined if it cannot move.
     */
    async release(sid: string): Promise<string[] | undefined> {
      await Promise.all(sessions.get(sid)?.posts ?? [])
      const session = sessions.get(sid)
      if (!session?.said || session.connection.upgrading || session.connection.transport.name !== 'polling') return
      const { connection, said } = session
      // The client waits for the end of its poll before it continues.
      if (connection.transport.writable) connection.transport.send([{ type: 'noop' }])
      connection.close(true)
      return said
    },
    async close() {
      for (const { close } of namespaces) close()
      await io.close()
      setTimeout(() => {
        for (const socket of upgraded) socket.destroy()
      }, CLOSING_MS).unref()
    },
  }
}

/** The session of a request, parsed like the library does. */
export const sidOf = ({ url = '' }: IncomingMessage): string | undefined =>
  queryOf(url).findLast(([name]) => name === 'sid')?.[1] || undefined

/** Never throws, whatever the client sends. */
export const queryOf = (url: string): [string, string][] => [...new URLSearchParams(url.split('?').slice(1).join('?'))]
