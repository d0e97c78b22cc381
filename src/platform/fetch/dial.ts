// Plain connections to untrusted hosts: to public addresses only, checked at connection time, and through a proxy if the operator wants
// one.

import { request } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import { FetchError, toFetchError } from './errors.ts'
import { guardedLookup, type Resolve, refusal } from './guarded-lookup.ts'

export interface DialTarget {
  hostname: string
  port: number
}

/** An open connection. Throws FetchError. */
export type Dial = (target: DialTarget, signal?: AbortSignal) => Promise<Socket>

export interface DialOptions {
  /** True if a resolved address may be connected to. */
  isAllowed: (address: string) => boolean
  resolve: Resolve
  timeoutMs: number
  /** The HTTP proxy (`http://user:password@host:port`) for this connection, which is trusted. */
  proxy?: () => string | undefined
}

export function makeDial({ isAllowed, resolve, timeoutMs, proxy = () => undefined }: DialOptions): Dial {
  const lookup = guardedLookup({ resolve, isAllowed })

  return async (target, signal) => {
    const hostname = target.hostname.replace(/^\[|\]$/g, '')
    const shown = `${target.hostname}:${target.port}`
    if (isIP(hostname) && !isAllowed(hostname)) throw refusal(shown)
    const signals = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])])
    try {
      const through = proxy()
      if (through === undefined) return await connected(connect({ host: hostname, port: target.port, lookup }), signals)
      return await tunnel({ through, address: await addressOf(hostname), port: target.port, signal: signals })
    } catch (error) {
      throw toFetchError(error, shown)
    }
  }

  /** Resolved here, so that the proxy connects only to checked addresses. */
  async function addressOf(hostname: string): Promise<string> {
    if (isIP(hostname)) return hostname
    const found = (await resolve(hostname)).find(({ address }) => isAllowed(address))
    if (!found) throw refusal(hostname)
    return found.address
  }
}

function connected(socket: Socket, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      socket.destroy()
      reject(error)
    }
    const onAbort = () => fail(signal.reason)
    const settle = () => {
      signal.removeEventListener('abort', onAbort)
      socket.off('error', fail)
    }
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    socket.once('error', fail)
    socket.once('connect', () => {
      settle()
      resolve(socket)
    })
    socket.once('close', () => signal.removeEventListener('abort', onAbort))
  })
}

function tunnel(options: { through: string; address: string; port: number; signal: AbortSignal }): Promise<Socket> {
  const { through, address, port, signal } = options
  const proxy = new URL(through)
  const authority = isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  return new Promise((resolve, reject) => {
    const asked = request({
      host: proxy.hostname,
      port: proxy.port || 80,
      method: 'CONNECT',
      path: authority,
      signal,
      agent: false,
      headers: {
        host: authority,
        ...(proxy.username ? { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` } : {}),
      },
    })
    asked.once('error', reject)
    asked.once('response', (answer) => {
      answer.destroy()
      reject(new FetchError('refused', authority, { message: `the proxy answered ${answer.statusCode}` }))
    })
    asked.once('connect', (answer, socket) => {
      if (answer.statusCode === 200) return resolve(socket)
      socket.destroy()
      reject(new FetchError('refused', authority, { message: `the proxy answered ${answer.statusCode}` }))
    })
    asked.end()
  })
}
