// What a namespace of Socket.IO is here, and how the server comes by those that there are: one line of the table for each.

import type { Server, Socket } from 'socket.io'
import type { Logger } from '../../platform/logger.ts'

export interface SocketNamespace {
  name: `/${string}`
  /** Lets a client in. What it throws as `Refused` is sent to the client, anything else is a fault of this server. */
  admit(socket: Socket): Promise<void>
  /** Told of each client that is in. */
  joined(socket: Socket): void
  /** Clients that are in. */
  count(): number
  /** Ends what it does by itself. */
  close(): void
}

/** Why a client may not come in, in words for it. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

/** Who joins and leaves namespaces on a connection. */
export interface Joining {
  /** Before a client is let in; false when it has asked too often. */
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
        // The library writes to the console when nobody listens; the close follows.
        socket.on('error', () => undefined)
        socket.once('disconnect', () => joining.left(socket.conn))
        joining.joined(socket.conn)
        namespace.joined(socket)
      })
  }
}
