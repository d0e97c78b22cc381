// Connects only to public addresses. The guard checks the resolved address of this very connection, so a name that resolves differently the
// second time (DNS rebinding) gains nothing.

import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import { makeDial } from './dial.ts'
import { guardedLookup, type Resolve, refusal } from './guarded-lookup.ts'

/** undici's connector with the address guard. `timeoutMs` is for the connection only. */
export function guardedConnector(options: {
  /** True if a resolved address may be connected to. */
  isAllowed: (address: string) => boolean
  timeoutMs: number
  resolve: Resolve
  /** The HTTP proxy for this connection. */
  proxy?: (() => string | undefined) | undefined
}): buildConnector.connector {
  const { isAllowed, resolve, timeoutMs, proxy = () => undefined } = options
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    lookup: guardedLookup({ resolve, isAllowed }),
  })
  return (target, callback) => {
    const literal = target.hostname.replace(/^\[|\]$/g, '')
    // A literal address is connected to without a lookup.
    if (isIP(literal) && !isAllowed(literal)) return callback(refusal(literal), null)
    const through = proxy()
    if (through === undefined) return connect(target, callback)
    const isTls = target.protocol === 'https:'
    makeDial({ isAllowed, resolve, timeoutMs, proxy: () => through })({
      hostname: target.hostname,
      port: Number(target.port || (isTls ? 443 : 80)),
    }).then(
      (socket) => (isTls ? connect({ ...target, httpSocket: socket }, callback) : callback(null, socket)),
      (error: Error) => callback(error, null),
    )
  }
}
