// Name resolution that returns only allowed addresses.

import dns from 'node:dns'
import type { LookupFunction } from 'node:net'
import { FetchError } from './errors.ts'

/** Resolves a host name to all its addresses. Tests replace it. */
export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>

export const systemResolve: Resolve = (hostname) => dns.promises.lookup(hostname, { all: true, verbatim: true })

/** A lookup for sockets that returns allowed addresses only. */
export function guardedLookup(options: { resolve: Resolve; isAllowed: (address: string) => boolean }): LookupFunction {
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

export const refusal = (host: string): FetchError => new FetchError('refused-address', host)
