// What application tokens may do: the scope that each route asks of them, and what is left to sessions.

import type { preHandlerHookHandler, RouteOptions } from 'fastify'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Session, TokenScope } from '../../actors/session/index.ts'
import { userRoles } from '../../actors/user/index.ts'

/** `session`: for no application token. */
export type RouteScope = TokenScope | 'session'

/**
 * Routes whose results would give the holder of a token its power after the token has ended: they make or show other credentials, decide how
 * users log in, or change the code of the server.
 */
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
  'PUT /api/v1/vireo/logins',
  'PUT /api/v1/vireo/mail-server',
  // Restores the logins of the files.
  'DELETE /api/v1/config/custom',
  // Their settings may hold secrets, and say who logs in.
  'GET /api/v1/plugins',
  'GET /api/v1/plugins/:npmName',
  'PUT /api/v1/plugins/:npmName/settings',
  'POST /api/v1/plugins/install',
  'POST /api/v1/plugins/update',
  'POST /api/v1/plugins/uninstall',
  'POST /api/v1/vireo/plugins/:npmName/enable',
  'POST /api/v1/vireo/plugins/:npmName/disable',
  // A runner gets the files of videos.
  'GET /api/v1/runners/registration-tokens',
  'POST /api/v1/runners/registration-tokens/generate',
  'POST /api/v1/vireo/push-subscriptions',
])

const OF_LOGINS = ['password', 'email', 'emailVerified', 'pluginAuth', 'role', 'adminFlags']
/** Fields of bodies that are left to sessions in the same way; dots lead into objects. */
export const FIELDS_FOR_SESSIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['PUT /api/v1/users/me', OF_LOGINS],
  ['PUT /api/v1/users/:id', OF_LOGINS],
  // It runs in the browsers of administrators too. The body has only what changes by then.
  ['PUT /api/v1/config/custom', ['instance.customizations.javascript']],
])

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
        const isPlain = at(body, 'role') === userRoles.user && !at(body, 'adminFlags')
        done(
          session?.scopes && !isPlain ? insufficient('Application tokens may create users of the role 2 without flags only.') : undefined,
        )
      },
    ]
  }
  const fields = methods.flatMap((method) => FIELDS_FOR_SESSIONS.get(`${method} ${url}`) ?? [])
  if (fields.length === 0) return []
  return [
    ({ session, body }, _reply, done) => {
      const name = session?.scopes && fields.find((field) => at(body, field) !== undefined)
      done(name ? insufficient(`Application tokens may not change \`${name}\`.`) : undefined)
    },
  ]
}

/** The value at a path of names with dots between them. */
const at = (body: unknown, path: string): unknown =>
  path.split('.').reduce((value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined), body)

function insufficient(message: string, scope?: TokenScope): DomainError {
  const challenge = `Bearer error="insufficient_scope"${scope ? `, scope="${scope}"` : ''}`
  return new DomainError('forbidden', message, { code: 'insufficient_scope', headers: { 'www-authenticate': challenge } })
}
