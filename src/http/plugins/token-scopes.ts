// What application tokens may do: the scope that each route asks of them, and what is left to sessions.

import type { preHandlerHookHandler, RouteOptions } from 'fastify'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Session, TokenScope } from '../../actors/session/index.ts'
import { userRoles } from '../../actors/user/index.ts'

/** `session`: for no application token. */
export type RouteScope = TokenScope | 'session'

/** Routes that make other tokens, or change how the user logs in. */
export const FOR_SESSIONS: ReadonlySet<string> = new Set([
  'GET /api/v1/vireo/application-tokens',
  'POST /api/v1/vireo/application-tokens',
  'DELETE /api/v1/vireo/application-tokens/:id',
  'POST /api/v1/users/revoke-token',
  'GET /api/v1/users/scoped-tokens',
  'POST /api/v1/users/scoped-tokens',
  'POST /api/v1/users/:id/two-factor/request',
  'POST /api/v1/users/:id/two-factor/confirm-request',
  'POST /api/v1/users/:id/two-factor/disable',
  'DELETE /api/v1/users/me',
])

/** Routes whose bodies may have fields that are left to sessions. */
export const WITH_SECRETS: ReadonlySet<string> = new Set(['PUT /api/v1/users/me', 'PUT /api/v1/users/:id'])
const SECRETS = ['password', 'email', 'emailVerified', 'pluginAuth', 'role', 'adminFlags']

/** Routes that add a video, or edit one. */
export const UPLOADING: ReadonlySet<string> = new Set([
  'POST /api/v1/videos/upload',
  'POST /api/v1/videos/upload-resumable',
  'PUT /api/v1/videos/upload-resumable',
  'DELETE /api/v1/videos/upload-resumable',
  'POST /api/v1/videos/imports',
  'POST /api/v1/videos/live',
  'PUT /api/v1/videos/live/:videoId',
  'PUT /api/v1/videos/:id',
  'POST /api/v1/videos/:id/source/replace-resumable',
  'PUT /api/v1/videos/:id/source/replace-resumable',
  'DELETE /api/v1/videos/:id/source/replace-resumable',
  'POST /api/v1/videos/:id/studio/edit',
  'PUT /api/v1/videos/:id/passwords',
  'DELETE /api/v1/videos/:id/passwords/:videoPasswordId',
  'PUT /api/v1/videos/:videoId/captions/:captionLanguage',
  'DELETE /api/v1/videos/:videoId/captions/:captionLanguage',
  'POST /api/v1/videos/:videoId/captions/generate',
  'PUT /api/v1/videos/:videoId/chapters',
])

/** Routes that read what outlives the token: passwords, and addresses of archives. */
export const REVEALING: ReadonlySet<string> = new Set(['GET /api/v1/videos/:id/passwords', 'GET /api/v1/users/:userId/exports'])

/** Routes that only read, although they are not GET. */
export const READING: ReadonlySet<string> = new Set(['POST /api/v1/videos/:id/token'])

/** The scope that a token needs for the route. What moderators and administrators may do besides, in routes for all, is up to the role. */
export function scopeOf({ method, url, config = {} }: Pick<RouteOptions, 'method' | 'url' | 'config'>): RouteScope {
  const methods = [method].flat().map((name) => (name === 'HEAD' ? 'GET' : name))
  const isOneOf = (routes: ReadonlySet<string>) => methods.some((name) => routes.has(`${name} ${url}`))
  if (isOneOf(FOR_SESSIONS)) return 'session'
  if (config.right || config.auth === 'moderator' || config.auth === 'admin') return 'admin'
  if (isOneOf(UPLOADING)) return 'upload'
  if (isOneOf(REVEALING)) return 'manage'
  return isOneOf(READING) || methods.every((name) => name === 'GET') ? 'read' : 'manage'
}

/** Throws `forbidden` (`insufficient_scope`, RFC 6750, 3.1) if the application token lacks the scope; sessions have all. */
export function refuseUnscoped({ scopes }: Pick<Session, 'scopes'>, scope: RouteScope): void {
  if (scopes === null || scopes.some((one) => one === scope || (one === 'manage' && scope === 'upload'))) return
  if (scope === 'session') throw insufficient('Application tokens may not do this.')
  throw insufficient(`The application token lacks the scope \`${scope}\`.`, scope)
}

/** Creates users: plain ones only, since others would outlive the token with its rights. */
const CREATING = 'POST /api/v1/users'

/** The hook of a route that leaves fields of its body to sessions, or none. */
export function secretHooks(methods: string[], url: string): preHandlerHookHandler[] {
  if (methods.some((method) => `${method} ${url}` === CREATING)) {
    return [
      ({ session, body }, _reply, done) => {
        const isPlain = typeof body === 'object' && body !== null && 'role' in body && body.role === userRoles.user
        done(session?.scopes && !isPlain ? insufficient('Application tokens may create users of the role 2 only.') : undefined)
      },
    ]
  }
  if (!methods.some((method) => WITH_SECRETS.has(`${method} ${url}`))) return []
  return [
    ({ session, body }, _reply, done) => {
      const name = session?.scopes && SECRETS.find((secret) => typeof body === 'object' && body !== null && secret in body)
      done(name ? insufficient(`Application tokens may not change \`${name}\`.`) : undefined)
    },
  ]
}

function insufficient(message: string, scope?: TokenScope): DomainError {
  const challenge = `Bearer error="insufficient_scope"${scope ? `, scope="${scope}"` : ''}`
  return new DomainError('forbidden', message, { code: 'insufficient_scope', headers: { 'www-authenticate': challenge } })
}
