// Redirects with the line of text of the contract.

import type { FastifyReply } from 'fastify'

const WORDS = { 301: 'Moved Permanently', 302: 'Found' } as const

export function redirect(reply: FastifyReply, status: 301 | 302, location: string): FastifyReply {
  return reply
    .code(status)
    .header('location', location)
    .header('content-type', 'text/plain; charset=utf-8')
    .send(`${WORDS[status]}. Redirecting to ${location}`)
}
