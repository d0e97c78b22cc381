// What is the same for all feeds: which clients take them, for how long they are kept by whom, and their tags.

import type { FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify'
import { conditionalJson } from '../plugins/conditional.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { Keeping } from '../videos/answers.ts'
import { accepts, type FeedFormat, isFeedFormat } from './formats.ts'

/** The format in the query, else that of the path; undefined for one that there is not. */
function askedFormat({ query, params }: FastifyRequest): FeedFormat | undefined {
  const inQuery = typeof query === 'object' && query !== null && 'format' in query ? query.format : undefined
  const inPath = typeof params === 'object' && params !== null && 'format' in params ? params.format : undefined
  const format = inQuery ?? inPath
  return isFeedFormat(format) ? format : undefined
}

/** The format of a request that was found right. */
export const formatOf = (request: FastifyRequest): FeedFormat => askedFormat(request) ?? 'xml'

/** Readers ask again after this time only, also when they asked for what is refused; but what is not there may be soon. */
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
    // What a password or a token opens is for nobody else, and caches on the way know nothing of the first header.
    const { authorization, 'x-peertube-video-password': password } = request.headers
    const isOwn = authorization !== undefined || password !== undefined
    reply.header('cache-control', `${isOwn ? 'private, ' : ''}max-age=${maxAge()}`)
    // The contract has `max-age` alone where the address holds the token. These keep it out of shared caches as well: they have to ask
    // for each request (RFC 9111, 4.1), also those that look at no Vary (RFC 9213).
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
