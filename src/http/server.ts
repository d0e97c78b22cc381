// Listens, or reports in one line why it cannot.

import type { AddressInfo } from 'node:net'
import type { App } from './app.ts'

export interface Listening {
  hostname: string
  /** The port in use, also if 0 was configured. */
  port: number
  /** Stops accepting, lets requests finish (up to `vireo.runtime.drain_timeout`), and closes every connection. */
  close(): Promise<void>
}

/** The keys of the configuration that hold an address. */
export interface ConfigKeys {
  hostname: string
  port: string
}

/** Why the server cannot listen, in one line with a remedy. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

/** Starts accepting connections. Throws ListenError if the address cannot be used. */
export async function listen(app: App, options: { hostname: string; port: number }): Promise<Listening> {
  const { hostname, port } = options
  try {
    await app.listen({ host: hostname, port })
  } catch (error) {
    const keys = { hostname: 'listen.hostname', port: 'listen.port' }
    throw listenError(error, { hostname, port, keys })
  }
  return { hostname, port: portOf(app.server.address(), port), close: () => app.close() }
}

export const listenError = (error: unknown, where: { hostname: string; port: number; keys: ConfigKeys }): ListenError =>
  new ListenError(reasonOf(error, where), { cause: error })

function reasonOf(error: unknown, where: { hostname: string; port: number; keys: ConfigKeys }): string {
  const { hostname, port, keys } = where
  const address = `${hostname}:${port}`
  const code = typeof error === 'object' && error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return `Cannot listen on ${address}: another program uses this port. Stop it, or set \`${keys.port}\`.`
    case 'EACCES':
      return `Cannot listen on ${address}: no permission. Ports below 1024 need privileges; set \`${keys.port}\` to a higher one and put a web server in front.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `Cannot listen on ${address}: this machine has no such address. Set \`${keys.hostname}\`, for example to 127.0.0.1 or 0.0.0.0.`
    default:
      return `Cannot listen on ${address}: ${error instanceof Error ? error.message : String(error)}`
  }
}

const portOf = (address: AddressInfo | string | null, asked: number): number =>
  typeof address === 'object' && address ? address.port : asked
