// A TCP proxy between a server and its database, which can stall, as with a broken network, or refuse connections.

import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

export interface DatabaseProxy {
  /** The URL of the database through the proxy. */
  url: string
  /** Stops forwarding, without closing connections. */
  stall(): void
  /** Closes connections, and refuses new ones at once. */
  refuse(): void
  /** Forwards again, including what was buffered. */
  resume(): void
  close(): Promise<void>
}

/** Connection options as `pg` reads a URL: a host that begins with a slash is the folder of a Unix socket. */
export function connectOptions({ hostname, port }: URL): NetConnectOpts {
  const host = decodeURIComponent(hostname)
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port: Number(port) }
}

/** The same database through a TCP port of this machine. */
export function proxiedUrl(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return url.href
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = connectOptions(new URL(databaseUrl))
  const pairs = new Set<[Socket, Socket]>()
  let state: 'open' | 'stalled' | 'refusing' = 'open'

  const server = createServer((client) => {
    if (state === 'refusing') {
      client.resetAndDestroy()
      return
    }
    const pair: [Socket, Socket] = [client, connect(target)]
    pairs.add(pair)
    for (const [index, socket] of pair.entries()) {
      const other = pair[1 - index]
      socket.setNoDelay(true)
      socket.on('data', (bytes) => other?.write(bytes))
      socket.on('error', () => {})
      socket.on('close', () => {
        pairs.delete(pair)
        other?.destroy()
      })
      if (state === 'stalled') socket.pause()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const sockets = () => [...pairs].flat()
  const end = () => {
    for (const socket of sockets()) socket.destroy()
  }

  return {
    url: proxiedUrl(databaseUrl, typeof address === 'object' && address ? address.port : 0),
    stall() {
      state = 'stalled'
      for (const socket of sockets()) socket.pause()
    },
    refuse() {
      state = 'refusing'
      end()
    },
    resume() {
      state = 'open'
      for (const socket of sockets()) socket.resume()
    },
    async close() {
      end()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
