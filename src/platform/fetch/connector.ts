// Connects only to public addresses. The guard looks at the resolved address of this very connection, so a name that
// answers differently the second time (DNS rebinding) gains nothing.

import dns from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { FetchError } from './errors.ts'

/** Resolves a host name to all its addresses. Tests give their own. */
export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>

export const systemResolve: Resolve = (hostname) => dns.promises.lookup(hostname, { all: true, verbatim: true })

/** undici's connector with the address guard. `timeoutMs` is for the connection alone. */
export function guardedConnector(options: {
  /** Whether a resolved address may be connected to. */
  isAllowed: (address: string) => boolean
  timeoutMs: number
  resolve: Resolve
}): buildConnector.connector {
  const { isAllowed } = options
  const connect = buildConnector({
    timeout: options.timeoutMs,
    allowH2: false,
    lookup: guardedLookup({ resolve: options.resolve, isAllowed }),
  })
  return (target, callback) => {
    const literal = target.hostname.replace(/^\[|\]$/g, '')
    // A literal address is connected to without a lookup.
    if (isIP(literal) && !isAllowed(literal)) return callback(refusal(literal), null)
    connect(target, callback)
  }
}

function guardedLookup(options: { resolve: Resolve; isAllowed: (address: string) => boolean }): LookupFunction {
  return (hostname, request, callback) => {
    options.resolve(hostname).then(
      (found) => {
        const wanted = found.filter(({ family }) => !request.family || String(request.family).endsWith(String(family)))
        const allowed = wanted.filter(({ address }) => options.isAllowed(address))
        const [first] = allowed
        if (!first) callback(refusal(hostname), '', 0)
        else if (request.all) callback(null, allowed)
        else callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    )
  }
}

const refusal = (host: string): FetchError => new FetchError('refused-address', host)
