// The visitor of a page: the session cookie, and CSRF tokens of forms. Only pages read the cookie; the API requires the header
// `Authorization`.

import { timingSafeEqual } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Sessions, Visit } from '../../actors/session/index.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Secrets } from '../../platform/secrets.ts'

export type Visitors = ReturnType<typeof makeVisitors>

/** What is chosen for a browser. */
type Choice = 'language' | 'theme'

const PURPOSE = 'page-form'
const FORM_BYTES = 16
const YEAR_SECONDS = 365 * 86_400
const TOKEN = /^[0-9a-f]{16,128}$/

export function makeVisitors(deps: {
  sessions: Pick<Sessions, 'visit'>
  secrets: Pick<Secrets, 'hmac'>
  /** Public origin. */
  origin: string
}) {
  const { sessions, secrets, origin } = deps
  const secure = origin.startsWith('https:')
  // Browsers accept this prefix only over https and from this host (RFC 6265bis, 4.1.3.2).
  const named = (name: string) => `${secure ? '__Host-' : ''}vireo-${name}`
  const [session, form] = [named('session'), named('form')]

  function cookieOf(request: FastifyRequest, name: string): string | undefined {
    const value = parseCookie(request.headers.cookie ?? '')[name]
    return value !== undefined && TOKEN.test(value) ? value : undefined
  }

  function setCookie(reply: FastifyReply, cookie: { name: string; value: string; maxAge?: number }): void {
    const options = { path: '/', httpOnly: true, secure, sameSite: 'lax' } as const
    reply.header('set-cookie', stringifySetCookie({ ...cookie, ...options }))
  }

  const choose = (reply: FastifyReply, what: Choice, value: string): void =>
    setCookie(reply, { name: named(what), value, maxAge: YEAR_SECONDS })

  const proofOf = (bound: string): string => secrets.hmac(PURPOSE, bound)
  const boundTo = (request: FastifyRequest): string | undefined => cookieOf(request, session) ?? cookieOf(request, form)

  /**
   * Throws `forbidden` for requests from pages of other sites, by the origin that browsers send (Fetch Metadata, RFC 6454), and without it.
   */
  const refuseForeign = ({ headers }: FastifyRequest): void => {
    const site = headers['sec-fetch-site']
    if (site === undefined ? headers.origin === origin : site === 'same-origin') return
    throw new DomainError('forbidden', 'This form was not sent from a page of this site.')
  }

  return {
    /** The session of the cookie; null without a valid one. One statement. */
    async of(request: FastifyRequest): Promise<Visit | null> {
      const token = cookieOf(request, session)
      return token === undefined ? null : await sessions.visit(token)
    },
    /** The access token of the cookie, valid or not, for requests to the API in the visitor's name. */
    tokenOf: (request: FastifyRequest): string | undefined => cookieOf(request, session),
    /** Stores an access token in a cookie, for this many seconds, and the user's language in another one. */
    async signIn(reply: FastifyReply, accessToken: string, seconds: number) {
      setCookie(reply, { name: session, value: accessToken, maxAge: seconds })
      const visit = await sessions.visit(accessToken)
      if (visit?.language) choose(reply, 'language', visit.language)
    },
    signOut(reply: FastifyReply) {
      setCookie(reply, { name: session, value: '', maxAge: 0 })
    },
    /** The tag of the chosen language, or the chosen theme. Anything may be in a cookie. */
    chosen({ headers }: FastifyRequest, what: Choice): string | undefined {
      return parseCookie(headers.cookie ?? '')[named(what)]
    },
    choose,
    /** For a hidden field of a form; bound to the browser. */
    formToken(request: FastifyRequest, reply: FastifyReply) {
      const bound = boundTo(request)
      if (bound !== undefined) return proofOf(bound)
      const value = randomToken(FORM_BYTES)
      setCookie(reply, { name: form, value })
      return proofOf(value)
    },
    /** Throws `forbidden` for a form that was not sent by a local page, or belongs to another browser. */
    refuseForged(request: FastifyRequest, token: string | undefined) {
      refuseForeign(request)
      const bound = boundTo(request)
      const [sent, expected] = [Buffer.from(token ?? ''), Buffer.from(bound === undefined ? '' : proofOf(bound))]
      if (expected.length > 0 && sent.length === expected.length && timingSafeEqual(sent, expected)) return
      throw new DomainError('forbidden', 'This form is too old. Open its page again, and let the browser keep its cookies.')
    },
    refuseForeign,
  }
}
