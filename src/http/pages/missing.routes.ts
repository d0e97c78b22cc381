// All other addresses: a page for people, a problem body for programs.

import { html } from '../../platform/html.ts'
import { notFoundKind } from '../plugins/accept-constraint.ts'
import { clientNeededBody, missingBody } from './bodies/missing.ts'
import { type PageTools, pageOptions } from './send.ts'

/** Other web clients have pages below these; mails and bookmarks lead there. */
const OF_CLIENTS = /^\/(?:admin|my-account|my-library)(?:[/?;]|$)/

export function addMissingPage({ app, send, site }: PageTools): void {
  app.get('/*', pageOptions, async (request, reply) => {
    if (notFoundKind(request) === 'nothing') return reply.callNotFound()
    if (OF_CLIENTS.test(request.url)) {
      return send(request, reply, { status: 404, title: 'Another client', body: clientNeededBody(), isPrivate: true })
    }
    // Like the reference, whose clients have pages that it does not know of.
    const head = html`<meta name="robots" content="noindex">`
    return send(request, reply, { title: site().name, head, body: missingBody({ embed: false }) })
  })
}
