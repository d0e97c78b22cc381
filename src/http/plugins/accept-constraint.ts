// Route constraint by Accept header: at some addresses a file or a problem is only for requests that name what they accept.

import type { FastifyRequest } from 'fastify'
import { prefersActivityPub } from '../activitypub/accept.ts'
import { addConstraint } from './constraint.ts'
import type { App } from './types.ts'

/** `page`: accepts HTML explicitly; `other`: accepts something else, or anything. Requests without the header have none. */
type AcceptKind = 'page' | 'other'

const NAME = 'asks'

/** Restricts routes to some requests, with `constraints: acceptConstraint('other')`; others fall through to the next matching route. */
export function addAcceptConstraint(app: App): void {
  addConstraint(app, NAME, (accept): AcceptKind | undefined => {
    if (accept === undefined) return undefined
    return /text\/html/i.test(accept) ? 'page' : 'other'
  })
}

export const acceptConstraint = (asks: AcceptKind): Record<string, AcceptKind> => ({ [NAME]: asks })

/**
 * Addresses below these are for files and machines; missing ones are 404 and never a page, except downloads by names that no file has
 * (`NO_PLAIN_NAME`).
 */
const NO_PAGES =
  /^\/(?:api\/v1|assets|client|download(?!\/(?:web-videos|streaming-playlists\/hls\/videos)\/\w+\.\w+(?:\?|$))|health|lazy-static|metrics|nodeinfo|object-storage-proxy|plugins|redundancy|socket\.io|static|themes|tracker|\.well-known)(?:[/?]|$)/

/** The response to an unknown address: people get a page, other servers a 404. */
export function notFoundKind(request: FastifyRequest): 'page' | 'nothing' | 'unacceptable' {
  const { accept } = request.headers
  if (NO_PAGES.test(request.url) || prefersActivityPub(accept)) return 'nothing'
  return accept === undefined || /text\/html|text\/\*|\*\/\*/i.test(accept) ? 'page' : 'unacceptable'
}
