// The address of who asks.

import type { FastifyRequest } from 'fastify'

/** `request.ip`, without the search through trusted proxies where no proxy left its mark: that costs microseconds. */
export function clientIp(request: FastifyRequest): string {
  const { remoteAddress } = request.raw.socket
  return remoteAddress !== undefined && request.headers['x-forwarded-for'] === undefined ? remoteAddress : request.ip
}
