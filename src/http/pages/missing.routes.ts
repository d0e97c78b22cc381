// Every other address: a page for people, a problem for programs.

import { wantsHtml } from './errors.ts'
import { type PageTools, pageOptions } from './send.ts'

export function addMissingPage({ app, sendMissing }: PageTools): void {
  app.get('/*', pageOptions, async (request, reply) => {
    if (!wantsHtml(request)) return reply.callNotFound()
    return sendMissing(request, reply)
  })
}
