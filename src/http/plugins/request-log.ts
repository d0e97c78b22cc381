// One structured line for each request, without secrets of addresses and headers.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { clientIp } from './client-ip.ts'
import type { App } from './types.ts'

/** Query parameters that open something to whoever holds them. */
const SECRET_PARAMETERS = /([?&](?:[^=&#]*(?:token|password|secret|jwt|verification)[^=&#]*|upload_id|code)=)[^&#]*/gi

/** Logs each answered request at level info, when `log.log_http_requests` says so. */
export function addRequestLog(app: App, options: { config: () => Config; logger: Logger }): void {
  const { config, logger } = options
  app.addHook('onResponse', (request, reply, done) => {
    const { log } = config()
    if (
      log.log_http_requests &&
      logger.isLevelEnabled('info') &&
      (log.log_ping_requests || !isPing(request)) &&
      !request.routeOptions.config.quiet
    ) {
      logger.info(lineOf(request, reply, log.anonymize_ip), 'request')
    }
    done()
  })
}

/** The address of a request without the secrets of its query. */
export function redactUrl(url: string): string {
  return url.includes('?') ? url.replace(SECRET_PARAMETERS, '$1[hidden]') : url
}

/** The network of an address: /24 of IPv4, /48 of IPv6. */
export function anonymizeIp(ip: string): string {
  const mapped = ip.replace(/^::ffff:(?=\d+\.)/i, '')
  if (mapped.includes('.')) return mapped.replace(/\.\d+$/, '.0')
  const groups = mapped.split('::')[0]?.split(':').slice(0, 3) ?? []
  return `${groups.join(':')}::`
}

function lineOf(request: FastifyRequest, reply: FastifyReply, anonymize: boolean) {
  const ip = clientIp(request)
  return {
    reqId: request.id,
    method: request.method,
    url: redactUrl(request.url),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    ip: anonymize ? anonymizeIp(ip) : ip,
    userAgent: request.headers['user-agent'],
    userId: request.session?.user.id,
  }
}

const isPing = (request: FastifyRequest): boolean => request.url.startsWith('/api/v1/ping')
