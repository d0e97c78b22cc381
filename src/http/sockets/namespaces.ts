// Namespaces of Socket.IO: their interface, and their registration from one table.

import type { Server, Socket } from 'socket.io'
import type { Session } from '../../actors/session/index.ts'
import type { Logger } from '../../platform/logger.ts'

export interface SocketNamespace {
  name: `/${string}`
  /** Admits a client. A thrown `Refused` is sent to the client; any other error is one of this server. */
  admit(socket: Socket): Promise<void>
  /** Called for each admitted client. */
  joined(socket: Socket): void
  /** Admitted clients. */
  count(): number
  /** Stops its own activity. */
  close(): void
}

/** Why a client is refused; the message is sent to it. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

export interface SocketSessions {
  authenticate(accessToken: string): Promise<Session | null>
  /** Which of these sessions have ended. */
  ended(ids: readonly number[]): Promise<number[]>
}

const MAX_TOKEN = 200

/** The session of a client that sent its access token; undefined without one. Throws `Refused` for a wrong one. */
export async function sessionIn(socket: Socket, sessions: Pick<SocketSessions, 'authenticate'>): Promise<Session | undefined> {
  const { accessToken } = socket.handshake.query
  if (typeof accessToken !== 'string' || accessToken === '' || accessToken.length > MAX_TOKEN) return undefined
  const session = await sessions.authenticate(accessToken)
  if (!session || session.scopes) throw new Refused('The access token is not valid.')
  return session
}

/** Hooks for joining and leaving namespaces on a connection. */
export interface Joining {
  /** Called before a client is admitted; false if it has asked too often. */
  mayAsk(connection: Socket['conn']): boolean
  joined(connection: Socket['conn']): void
  left(connection: Socket['conn']): void
}

/** Adds the namespaces; any other is refused, also the main one, which Socket.IO always has. */
export function addNamespaces(
  io: Server,
  { namespaces, joining, logger }: { namespaces: readonly SocketNamespace[]; joining: Joining; logger: Logger },
): void {
  io.of('/').use((_socket, next) => next(new Error('Invalid namespace')))
  for (const namespace of namespaces) {
    const { name } = namespace
    const refusal = (error: unknown): Error => {
      if (error instanceof Refused) return error
      logger.warn({ err: error, namespace: name }, 'a client could not be let in')
      return new Error('The server cannot answer now, try again later.')
    }
    io.of(name)
      .use((socket, next) => {
        if (!joining.mayAsk(socket.conn)) return socket.conn.close(true)
        namespace.admit(socket).then(
          () => next(),
          (error: unknown) => next(refusal(error)),
        )
      })
      .on('connection', (socket: Socket) => {
        // Without a listener the library writes to the console; the close follows.
        socket.on('error', () => undefined)
        socket.once('disconnect', () => joining.left(socket.conn))
        joining.joined(socket.conn)
        namespace.joined(socket)
      })
  }
}
