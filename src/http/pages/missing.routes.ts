// Every other address: a page for people, a problem for programs.

import type { FastifyRequest } from 'fastify'
import { type PageTools, pageOptions } from './send.ts'

export function addMissingPage({ app, sendMissing }: PageTools): void {
  app.get('/*', pageOptions, async (request, reply) => {
    if (!wantsHtml(request)) return reply.callNotFound()
    return sendMissing(request, reply)
  })
}

const wantsHtml = (request: FastifyRequest): boolean => /text\/html/i.test(request.headers.accept ?? '')
