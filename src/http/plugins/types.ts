// Additions to Fastify's types: the session of a request, and options of routes.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault, RouteOptions } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import type { Session } from '../../actors/session/index.ts'
import type { UserRight } from '../../actors/user/index.ts'
import type { LimitGroup, RateLimits } from './rate-limit-groups.ts'

/** The Fastify instance for areas: handlers see the parsed types of their zod schemas. */
export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse<IncomingMessage>, FastifyBaseLogger, ZodTypeProvider>

/** A part of the API: adds its routes. Its hooks and content-type parsers stay its own. */
export type Area = (app: App) => void | Promise<void>

/** `optional` refuses an invalid token, and accepts none. */
export type AuthLevel = 'none' | 'optional' | 'user' | 'moderator' | 'admin'

/** Fields and files of a form, for the documentation: multipart with files, else urlencoded. */
export interface FormDocumentation {
  fields?: z.ZodObject
  /** The same fields in a JSON body, if that is accepted too. */
  json?: z.ZodObject
  files: readonly string[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route: by default `none`, or `user` if `right` is given. */
    auth?: AuthLevel
    right?: UserRight
    /** Rate limits in addition to the one of the path; `false` for none at all. */
    limits?: readonly LimitGroup[] | false
    /** How the body is read: parsed (by default), as one Buffer, or as a stream by the handler. */
    body?: 'raw' | 'stream'
    form?: FormDocumentation
    /** The body contains the password of the video as `password`. */
    takesVideoPassword?: boolean
    /** Texts that replace problem bodies without a code, by status, as clients of files expect. */
    plainRefusals?: Readonly<Record<number, string>>
    /** `true`: no log line. */
    quiet?: boolean
    /** `false`: no ETag; `true`: also on large answers. */
    etag?: boolean
    /** `false`: pages of other sites may frame this one. */
    frameguard?: boolean
  }

  interface FastifyRequest {
    /** The session, once the route's `auth` was checked; null for visitors. */
    session: Session | null
  }

  interface FastifyInstance {
    rateLimits: RateLimits
    /** An operation of the API by its name, such as `GET /api/v1/users`. Throws an Error if there is none. */
    operationOf: (name: string) => RouteOptions
  }

  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    /** True to leave it out of the documentation. */
    hide?: boolean
  }
}
