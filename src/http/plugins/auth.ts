// Authentication: Bearer tokens (RFC 6750), of sessions and of applications, and what a route requires of them.

import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Session } from '../../actors/session/index.ts'
import { hasRight, isAdministrator, isStaff, type UserRight, userRights } from '../../actors/user/index.ts'
import { type RouteScope, refuseUnscoped } from './token-scopes.ts'
import type { AuthLevel } from './types.ts'

/** The session of an access token; null if it is unknown or expired, or its user is blocked. */
export type Authenticate = (accessToken: string) => Promise<Session | null>

/** `scope` is asked of application tokens. */
export interface Demand {
  auth?: AuthLevel | undefined
  right?: UserRight | undefined
  scope: RouteScope
}

export type Auth = ReturnType<typeof makeAuth>

type Credentials = 'none' | 'malformed' | { token: string }

export function makeAuth(options: { authenticate: Authenticate }) {
  const { authenticate } = options
  const asked = new WeakMap<FastifyRequest, Promise<Session | null>>()

  /** The session of the request, read once; null without a valid token. Never refuses. */
  function identify(request: FastifyRequest): Promise<Session | null> {
    const known = asked.get(request)
    if (known) return known
    const credentials = credentialsOf(request)
    const session = typeof credentials === 'string' ? Promise.resolve(null) : authenticate(credentials.token)
    asked.set(request, session)
    return session
  }

  /** The hook of a route, or undefined if everybody may call it. */
  function guard({ auth, right, scope }: Demand): onRequestHookHandler | undefined {
    const level = auth ?? (right ? 'user' : 'none')
    if (level === 'none') return undefined
    return (request, _reply, done) => {
      const credentials = credentialsOf(request)
      // Visitors continue synchronously.
      if (credentials === 'none' && level === 'optional') return done()
      admit(request, credentials, { auth: level, right, scope }).then(() => done(), done)
    }
  }

  async function admit(
    request: FastifyRequest,
    credentials: Credentials,
    { auth: level, right, scope }: Demand & { auth: AuthLevel },
  ): Promise<void> {
    if (credentials === 'none') throw refused(tokenInQuery(request) ? 'invalid_request' : 'unauthorized_request')
    if (credentials === 'malformed') throw refused('invalid_request')
    const session = await identify(request)
    if (!session) throw refused('invalid_token')
    request.session = session
    refuseUnscoped(session, scope)
    refuseLowly(session, level, right)
  }

  return { identify, guard }
}

/** The session of a route that requires one. Throws `unauthenticated` if the route does not require it by mistake. */
export function sessionOf(request: FastifyRequest): Session {
  if (!request.session) throw refused('unauthorized_request')
  return request.session
}

const lacks = (role: Session['user']['role'], right: UserRight | undefined): right is UserRight =>
  right !== undefined && !hasRight(role, right)

/** True if a user of this role may call a route with this level and right. */
export const isAllowed = (role: Session['user']['role'], level: AuthLevel, right: UserRight | undefined): boolean =>
  !lacks(role, right) && (level !== 'moderator' || isStaff(role)) && (level !== 'admin' || isAdministrator(role))

/** Throws `forbidden` if the user may not call such a route. */
function refuseLowly({ user }: Session, level: AuthLevel, right: UserRight | undefined): void {
  if (isAllowed(user.role, level, right)) return
  if (!lacks(user.role, right)) throw new DomainError('forbidden', `User ${user.username} may not do this.`)
  throw new DomainError('forbidden', `User ${user.username} lacks the right ${userRights[right]} that this needs.`)
}

function credentialsOf(request: FastifyRequest): Credentials {
  const header = request.headers.authorization
  if (header === undefined) return 'none'
  const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1]
  return token === undefined ? 'malformed' : { token }
}

/** Tokens in addresses end up in logs and histories (RFC 6750, 2.3), so they are refused with an error of their own. */
const tokenInQuery = ({ query }: FastifyRequest): boolean => typeof query === 'object' && query !== null && 'access_token' in query

/** A 401 tells how to authenticate (RFC 9110, 15.5.2); a malformed request gets 400. */
function refused(code: 'unauthorized_request' | 'invalid_token' | 'invalid_request'): DomainError {
  if (code === 'invalid_request') return new DomainError('invalid', 'Token is invalid', { code })
  const challenge = code === 'invalid_token' ? 'Bearer error="invalid_token"' : 'Bearer'
  return new DomainError('unauthenticated', 'Token is invalid', { code, headers: { 'www-authenticate': challenge } })
}
