// The IP address of the client.

import type { FastifyRequest } from 'fastify'

/** `request.ip`, but without the search through trusted proxies if no proxy added a header: that costs microseconds. */
export function clientIp(request: FastifyRequest): string {
  const { remoteAddress } = request.raw.socket
  return remoteAddress !== undefined && request.headers['x-forwarded-for'] === undefined ? remoteAddress : request.ip
}
