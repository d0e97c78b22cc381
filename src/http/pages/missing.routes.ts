// All other addresses: a page for people, a problem body for programs.

import { html } from '../../platform/html.ts'
import { notFoundKind } from '../plugins/accept-constraint.ts'
import { missingBody } from './bodies/missing.ts'
import { type PageTools, pageOptions } from './send.ts'

/** Where mails and bookmarks of other web clients lead, by the beginning of their addresses. */
const MOVED: readonly (readonly [from: string, to: string])[] = [
  ['/admin/moderation/abuses', '/admin/abuses'],
  ['/admin/moderation/registrations', '/admin/registrations'],
  ['/admin/moderation/video-blocks', '/admin/video-blocks'],
  ['/admin/moderation/blocklist', '/admin/blocklist'],
  ['/admin/settings/follows/followers', '/admin/follows/followers'],
  ['/admin/settings/follows', '/admin/follows/following'],
  ['/admin/settings/config', '/admin/config'],
  ['/admin/settings/plugins', '/admin/plugins'],
  ['/admin/overview/users', '/admin/users'],
  ['/admin', '/admin/overview'],
  ['/my-library/video-imports', '/videos/import'],
  ['/my-library/comments-on-my-videos', '/my-library/comments'],
  ['/my-library', '/my-library/videos'],
  ['/my-account', '/my-account/settings'],
  ['/videos/publish', '/videos/upload'],
]

export function addMissingPage({ app, send, site }: PageTools): void {
  app.get('/*', pageOptions, async (request, reply) => {
    if (notFoundKind(request) === 'nothing') return reply.callNotFound()
    const moved = MOVED.find(([from]) => new RegExp(`^${from}(?:[/?;]|$)`).test(request.url))
    if (moved) return reply.redirect(moved[1], 302)
    // Like the reference, whose clients have pages that it does not know of.
    const head = html`<meta name="robots" content="noindex">`
    return send(request, reply, { title: site().name, head, body: missingBody({ embed: false }) })
  })
}
