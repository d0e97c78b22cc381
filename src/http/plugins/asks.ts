// What a request asks for, as a constraint of routes: at some addresses a file or a problem is only for those who say what they take.

import type { FastifyRequest } from 'fastify'
import { prefersActivityPub } from '../activitypub/accept.ts'
import { addConstraint } from './constraint.ts'
import type { App } from './types.ts'

/** `page`: says that it takes HTML; `other`: takes something else, or anything. Requests that say nothing have none. */
type Asks = 'page' | 'other'

const NAME = 'asks'

/** Lets routes be for some requests only, with `constraints: asking('other')`; the others go on to the next route that fits. */
export function addAsksConstraint(app: App): void {
  addConstraint(app, NAME, (accept): Asks | undefined => {
    if (accept === undefined) return undefined
    return /text\/html/i.test(accept) ? 'page' : 'other'
  })
}

export const asking = (asks: Asks): Record<string, Asks> => ({ [NAME]: asks })

/**
 * Addresses below these are of files and machines; what is not there is 404 and never a page, save downloads by names that no file
 * has (`NO_PLAIN_NAME`).
 */
const NO_PAGES =
  /^\/(?:api\/v1|assets|client|download(?!\/(?:web-videos|streaming-playlists\/hls\/videos)\/\w+\.\w+(?:\?|$))|health|lazy-static|metrics|nodeinfo|object-storage-proxy|plugins|redundancy|socket\.io|static|themes|tracker|\.well-known)(?:[/?]|$)/

/** What an address that no route knows is to a request: people get a page, other servers hear that nothing is there. */
export function unknownTo(request: FastifyRequest): 'page' | 'nothing' | 'unacceptable' {
  const { accept } = request.headers
  if (NO_PAGES.test(request.url) || prefersActivityPub(accept)) return 'nothing'
  return accept === undefined || /text\/html|text\/\*|\*\/\*/i.test(accept) ? 'page' : 'unacceptable'
}
