// Stands between a server and its database: it may fall silent, as a machine does whose cable is cut, or be gone.

import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

export interface Gate {
  /** The database's URL by way of the gate. */
  url: string
  /** Nothing goes through, and nobody is told. */
  fallSilent(): void
  /** Connections end, and new ones are refused at once. */
  shut(): void
  /** As at the start; what was kept back goes on. */
  open(): void
  close(): Promise<void>
}

/** Where `pg` connects to: a host that begins with a slash is the folder of a socket. */
export function placeOf({ hostname, port }: URL): NetConnectOpts {
  const host = decodeURIComponent(hostname)
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port: Number(port) }
}

/** By TCP on this machine, to somewhere else. */
export function byWayOf(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return url.href
}

export async function startGate(databaseUrl: string): Promise<Gate> {
  const target = placeOf(new URL(databaseUrl))
  const pairs = new Set<[Socket, Socket]>()
  let state: 'open' | 'silent' | 'shut' = 'open'

  const server = createServer((client) => {
    if (state === 'shut') {
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
      if (state === 'silent') socket.pause()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const sockets = () => [...pairs].flat()
  const end = () => {
    for (const socket of sockets()) socket.destroy()
  }

  return {
    url: byWayOf(databaseUrl, typeof address === 'object' && address ? address.port : 0),
    fallSilent() {
      state = 'silent'
      for (const socket of sockets()) socket.pause()
    },
    shut() {
      state = 'shut'
      end()
    },
    open() {
      state = 'open'
      for (const socket of sockets()) socket.resume()
    },
    async close() {
      end()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
