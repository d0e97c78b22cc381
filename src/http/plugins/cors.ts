// CORS: every site may read what this server answers, without credentials: no browser gives it a cookie along with what it reads.

import type { FastifyReply, FastifyRequest } from 'fastify'

const METHODS = 'GET,HEAD,PUT,PATCH,POST,DELETE'

/**
 * On every answer. The contract names prefixes (API, files, feeds, ActivityPub); the recordings have the headers
 * everywhere, and since browsers let no other site read an answer to a request with cookies while the origin is any, they
 * open nothing. Clients expect to see the credentials header; with any origin it must not be true.
 */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'false',
  'access-control-expose-headers': 'Retry-After',
} as const

/** Whether a browser asks what another site may do (Fetch standard, CORS-preflight). */
export const isPreflight = (request: FastifyRequest): boolean =>
  request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined

/** Allows what the browser asked for. Runs before limits and authentication, since browsers send no token here. */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asked = request.headers['access-control-request-headers']
  if (asked !== undefined) reply.header('access-control-allow-headers', asked)
  return reply
    .code(204)
    .header('access-control-allow-methods', METHODS)
    .header('vary', 'Access-Control-Request-Headers')
    .header('content-length', '0')
    .send()
}
