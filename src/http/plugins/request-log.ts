// One structured log line per request, without secrets from addresses and headers.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { redactSecrets } from '../../platform/redact.ts'
import { clientIp } from './client-ip.ts'
import type { App } from './types.ts'

/** Logs each request at level info, if `log.log_http_requests` is enabled. */
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
      const line = lineOf(request, reply, log.anonymize_ip)
      logger.info(line, `${line.method} ${line.url} ${line.status}`)
    }
    done()
  })
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
    url: redactSecrets(request.url),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    ip: anonymize ? anonymizeIp(ip) : ip,
    userAgent: request.headers['user-agent'],
    userId: request.session?.user.id,
  }
}

const isPing = (request: FastifyRequest): boolean => request.url.startsWith('/api/v1/ping')
