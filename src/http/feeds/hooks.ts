// Common hooks of all feeds: accepted types, caching and tags.

import type { FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify'
import { conditionalJson } from '../plugins/conditional.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { Keeping } from '../videos/response-cache.ts'
import { accepts, type FeedFormat, isFeedFormat } from './formats.ts'

/** The format of the query, or that of the path; undefined for an unknown one. */
function askedFormat({ query, params }: FastifyRequest): FeedFormat | undefined {
  const inQuery = typeof query === 'object' && query !== null && 'format' in query ? query.format : undefined
  const inPath = typeof params === 'object' && params !== null && 'format' in params ? params.format : undefined
  const format = inQuery ?? inPath
  return isFeedFormat(format) ? format : undefined
}

/** The format of a validated request. */
export const formatOf = (request: FastifyRequest): FeedFormat => askedFormat(request) ?? 'xml'

/** Also for refusals, so that readers wait before they ask again; but missing feeds may appear soon. */
const NOT_KEPT = 'no-cache, no-store, must-revalidate'

export function feedHooks(options: { kept?: Keeping | undefined; maxAge: () => number; format?: 'podcast'; isPrivate?: boolean }): {
  onRequest: onRequestHookHandler[]
  onSend: onSendHookHandler[]
} {
  const { kept, maxAge } = options
  const refuseOthers: onRequestHookHandler = (request, reply, done) => {
    const format = options.format ?? askedFormat(request)
    if (format && !accepts(request.headers.accept, format)) {
      return done(new HttpError(406, 'The client accepts no type of this feed.'))
    }
    // Content behind a password or a token must not be shared, and intermediate caches do not know the first header.
    const { authorization, 'x-peertube-video-password': password } = request.headers
    const isOwn = authorization !== undefined || password !== undefined
    reply.header('cache-control', `${isOwn ? 'private, ' : ''}max-age=${maxAge()}`)
    // The contract has only `max-age` if the address contains the token. These headers also exclude shared caches: they have to revalidate
    // each request (RFC 9111, 4.1), including those that ignore Vary (RFC 9213).
    if (options.isPrivate) reply.headers({ vary: '*', 'cdn-cache-control': 'private, no-store' })
    done()
  }
  const say: onSendHookHandler = (_request, reply, payload, done) => {
    const { statusCode } = reply
    if (statusCode === 400 || statusCode === 401) reply.header('cache-control', `max-age=${maxAge()}`)
    if (statusCode === 403 || statusCode === 404) reply.header('cache-control', NOT_KEPT)
    done(null, payload)
  }
  return {
    onRequest: [refuseOthers, ...(kept ? [kept.onRequest] : [])],
    onSend: [say, ...(kept ? [kept.onSend] : []), conditionalJson({ always: true })],
  }
}
