// Inboxes: activities from other servers. The raw bytes are retained, since the signature covers them.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { refuseDisabledFederation } from '../activitypub/routes.ts'
import type { Area } from '../plugins/types.ts'

/** The response of the federation layer to a posted activity. */
export type InboxPort = (request: {
  method: string
  url: string
  path: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  from: string
}) => Promise<{ status: 204 | 400 | 401 | 403 | 404 | 413 | 429; reason?: string; retryAfterMs?: number }>

const REFUSALS = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  413: 'too_large',
  429: 'too_many',
} as const

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? url

/** JSON under any of its names; forms and texts could be posted by a page that somebody visits. */
const ACTIVITY_TYPES = /^application\/(?:activity\+json|ld\+json|json)\s*(?:;|$)/i

export function inboxArea(deps: { receiveActivity: InboxPort; urls: { origin: string }; config: () => Config; maxBodySize: number }): Area {
  const { receiveActivity, urls, config, maxBodySize } = deps

  return (app) => {
    const options = {
      config: { body: 'raw' as const, limits: ['activity_pub' as const] },
      bodyLimit: maxBodySize,
      schema: { hide: true },
      onRequest: async () => refuseDisabledFederation(config()),
    }
    async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
      if (!ACTIVITY_TYPES.test(request.headers['content-type'] ?? '')) {
        throw new DomainError('unsupported_media_type', 'An inbox takes application/activity+json.')
      }
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const url = `${urls.origin}${request.originalUrl}`
      const answer = await receiveActivity({
        method: request.method,
        url,
        path: pathOf(request),
        headers: request.headers,
        body,
        from: request.ip,
      })
      if (answer.status !== 204) {
        const refusal = `The activity was refused: ${answer.reason ?? 'no reason'}.`
        const { retryAfterMs } = answer
        const headers: Record<string, string> = retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) }
        throw new DomainError(REFUSALS[answer.status], refusal, { headers })
      }
      return reply.code(204).send()
    }
    app.post('/inbox', options, handle)
    app.post('/accounts/:name/inbox', options, handle)
    app.post('/video-channels/:name/inbox', options, handle)
  }
}
