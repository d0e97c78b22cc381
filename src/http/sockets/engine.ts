// Socket.IO of one process. It hangs on an HTTP server without a port: the routes hand the requests of clients over, and those that
// came to another process are said to it over a connection in memory.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Server, type Socket } from 'socket.io'
import type { Logger } from '../../platform/logger.ts'
import { askInside, type InnerAnswer, type InnerRequest } from './inner-requests.ts'
import { addNamespaces, type SocketNamespace } from './namespaces.ts'
import { makePlaces } from './places.ts'

export const PATH = '/socket.io/'

/** Bytes that a client may send at once: all it has to say is which namespace it wants. */
export const MAX_MESSAGE = 2_000
const MAX_SESSIONS = 20_000
const MAX_OF_AN_ADDRESS = 100
/** How often a client may ask for a namespace on one connection: each time a token is looked up. */
const MAX_JOINS = 10
/** For clients that are in no namespace: at first, and when they have left the last one. */
const JOIN_WITHIN_MS = 10_000
const JOIN_AGAIN_WITHIN_MS = 1_000
const PING_EVERY_MS = 25_000
const PONG_WITHIN_MS = 20_000
/** For farewells: to clients that may poll once more, and to all at the end. */
const LAST_POLL_WITHIN_MS = 1_000
const CLOSING_MS = 500

export interface Engine {
  /** Whether the session is here. */
  has(sid: string): boolean
  /** Whether one more session may begin; `address` is what its client is counted as. */
  hasPlace(address: string): boolean
  answer(request: IncomingMessage, response: ServerResponse, address: string): void
  upgrade(request: IncomingMessage, upgrade: { socket: Duplex; head: Buffer }, address: string): void
  /** A request of a client of another process. `session` names the one that begins with it. */
  ask(
    inner: Omit<InnerRequest, 'path' | 'onConnection'> & {
      query: Record<string, string>
      session?: { sid: string; address: string }
    },
  ): Promise<InnerAnswer>
  /**
   * Forgets a session without a word to its client, which is about to go on with it at another process. Returns what the client has
   * said in it; undefined when it has to stay.
   */
  release(sid: string): Promise<string[] | undefined>
  close(): Promise<void>
}

type Connection = Socket['conn']

interface Session {
  connection: Connection
  /** While it can be said again elsewhere. */
  said: string[] | undefined
  /** What the client is just saying. */
  posts: Set<Promise<void>>
  /** Times that it asked for a namespace, and those that it is in. */
  asked: number
  joined: number
}

export function makeEngine(options: { newSid: () => string; namespaces: readonly SocketNamespace[]; logger: Logger }): Engine {
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
    // 30 s by default, in which a client that is gone keeps its session.
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
    has: (sid) => sessions.has(sid),
    hasPlace: (address) => places.hasPlace(address),
    // Of a client that hung up meanwhile, no end would be heard.
    answer(request, response, address) {
      if (response.destroyed) return
      addresses.set(request, address)
      hub.emit('request', request, response)
    },
    upgrade(request, { socket, head }, address) {
      if (socket.destroyed) return
      addresses.set(request, address)
      upgraded.add(socket)
      socket.once('close', () => upgraded.delete(socket))
      hub.emit('upgrade', request, socket, head)
    },
    ask: ({ query, session, ...inner }) =>
      askInside(hub, {
        ...inner,
        path: `${PATH}?${new URLSearchParams(query)}`,
        onConnection: (socket) => session && arranged.set(socket, session),
      }),
    async release(sid) {
      await Promise.all(sessions.get(sid)?.posts ?? [])
      const session = sessions.get(sid)
      if (!session?.said || session.connection.upgrading || session.connection.transport.name !== 'polling') return
      const { connection, said } = session
      // The client waits for the end of its poll before it goes on.
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

/** The session that a request is of; read as the library does. */
export const sidOf = ({ url = '' }: IncomingMessage): string | undefined =>
  queryOf(url).findLast(([name]) => name === 'sid')?.[1] || undefined

/** Never throws, whatever the client sends. */
export const queryOf = (url: string): [string, string][] => [...new URLSearchParams(url.split('?').slice(1).join('?'))]
