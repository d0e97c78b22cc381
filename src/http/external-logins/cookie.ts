// The cookie of a login with another system: first the sealed attempt, then the token that only this browser may use on the pages.

import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface LoginCookie {
  read(request: FastifyRequest): string | undefined
  /** For ten minutes. */
  write(reply: FastifyReply, value: string): void
  clear(reply: FastifyReply): void
}

const SECONDS = 600

export function makeLoginCookie({ origin }: { origin: string }): LoginCookie {
  const secure = origin.startsWith('https:')
  // Browsers accept this prefix only over https and from this host (RFC 6265bis, 4.1.3.2).
  const name = `${secure ? '__Host-' : ''}vireo-external-login`
  // `lax`: the provider sends the browser back here.
  const set = (reply: FastifyReply, value: string, maxAge: number) =>
    reply.header('set-cookie', stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, secure, sameSite: 'lax' }))
  return {
    read: (request) => parseCookie(request.headers.cookie ?? '')[name],
    write: (reply, value) => void set(reply, value, SECONDS),
    clear: (reply) => void set(reply, '', 0),
  }
}
