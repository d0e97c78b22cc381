// CORS: every site may read responses, without credentials: browsers send no cookies with such requests.

import type { FastifyReply, FastifyRequest } from 'fastify'

const METHODS = 'GET,HEAD,PUT,PATCH,POST,DELETE'

/**
 * On every response. The contract names prefixes (API, files, feeds, ActivityPub); the recordings have the headers everywhere. Since
 * browsers hide responses to requests with cookies while the origin is any, they expose nothing. Clients expect the credentials header;
 * with any origin it must not be true.
 */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'false',
  'access-control-expose-headers': 'Retry-After',
} as const

/** True for a preflight request (Fetch standard, CORS-preflight). */
export const isPreflight = (request: FastifyRequest): boolean =>
  request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined

/** Allows the requested method and headers. Runs before limits and authentication, since browsers send no token here. */
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
