// Counts the SQL statements of a server with a proxy before PostgreSQL: the server itself is unchanged.

import { connect, createServer, type Socket } from 'node:net'
import { connectOptions, proxiedUrl } from '../test/support/database-proxy.ts'

export interface StatementCounter {
  /** The URL of the database through the counter. */
  url: string
  /** Texts of the statements since the last call, in order. */
  take(): string[]
  close(): Promise<void>
}

export async function startStatementCounter(databaseUrl: string): Promise<StatementCounter> {
  const target = connectOptions(new URL(databaseUrl))
  let seen: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(target)
    const read = makeReader((text) => seen.push(text))
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        database.destroy()
      })
    }
    client.on('data', read)
    client.pipe(database)
    database.pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: proxiedUrl(databaseUrl, typeof address === 'object' && address ? address.port : 0),
    take() {
      const taken = seen
      seen = []
      return taken
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const HEADER = 5

/**
 * Reads the messages of a client (PostgreSQL's protocol 3): Query and Execute are statements, Parse has the text of the
 * latter. The first message has no type.
 */
function makeReader(onStatement: (text: string) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let started = false
  let parsed = ''
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    if (!started) {
      if (rest.length < 4 || rest.length < rest.readInt32BE(0)) return
      rest = rest.subarray(rest.readInt32BE(0))
      started = true
    }
    while (rest.length >= HEADER && rest.length > rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1)
      const type = String.fromCharCode(rest[0] ?? 0)
      const body = rest.toString('utf8', HEADER, end)
      if (type === 'Q') onStatement(body.replaceAll('\0', ''))
      if (type === 'P') parsed = body.split('\0')[1] ?? ''
      if (type === 'E') onStatement(parsed)
      rest = rest.subarray(end)
    }
  }
}
