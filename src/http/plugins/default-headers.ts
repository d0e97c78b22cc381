// Headers of every response: the request id, security policies for browsers, and CORS.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config/index.ts'
import { answerPreflight, corsHeaders, isPreflight } from './cors.ts'
import type { App } from './types.ts'

type SetDefaultHeaders = (request: FastifyRequest, reply: FastifyReply) => void

/** Makes the setter, which requests that never reach a route need too. */
export function makeDefaultHeaders(config: Config): SetDefaultHeaders {
  const { security } = config
  const common = {
    ...(security.powered_by_header.enabled ? { 'x-powered-by': 'PeerTube' } : {}),
    tk: 'N',
    'x-content-type-options': 'nosniff',
    ...corsHeaders,
  }
  const guarded = security.frameguard.enabled ? { ...common, 'x-frame-options': 'DENY' } : common

  return (request, reply) => {
    reply.headers(request.routeOptions.config.frameguard === false ? common : guarded)
    reply.header('x-request-id', request.id)
  }
}

/** Sets the headers first, so that errors carry them too; responds to CORS preflights. */
export function addDefaultHeaders(app: App, setHeaders: SetDefaultHeaders): void {
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply)
    if (isPreflight(request)) answerPreflight(request, reply)
    else done()
  })
}
