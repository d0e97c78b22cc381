// The id of a request: the one from a proxy, if it is harmless, or a new one.

import type { IncomingMessage } from 'node:http'

const SAFE = /^[\w.:-]{1,128}$/

/** Ids appear in logs and headers, so anything but plain characters is replaced. */
export function makeRequestIds(newId: () => string): (request: IncomingMessage) => string {
  return (request) => {
    const given = request.headers['x-request-id']
    return typeof given === 'string' && SAFE.test(given) ? given : newId()
  }
}
