// A row of the route matrix: a route, a minimal valid request, and the expected status for each of six callers.

import type { Caller } from './caller.ts'
import type { RouteFixtures } from './fixtures.ts'

export type Statuses = Record<Caller, number>

export interface RouteRequest {
  /** Path parameters; `*` for a wildcard. */
  params?: Record<string, string | number>
  query?: Record<string, string> | URLSearchParams
  headers?: Record<string, string>
  /** An object is sent as JSON. */
  body?: object | FormData | URLSearchParams | Buffer
  /** Overrides the route's method, where it accepts any. */
  method?: string
}

/** Creates the object of the request, again for each call. */
export type MakeRequest = (fixtures: RouteFixtures, caller: Caller) => RouteRequest | Promise<RouteRequest>

export interface Row {
  route: string
  /** Distinguishes several rows of one route. */
  about?: string
  statuses: Statuses
  request: MakeRequest
}

const nothing: MakeRequest = () => ({})

/** A row of a route without input. */
export function row(route: string, statuses: Statuses, request: MakeRequest = nothing, about?: string): Row {
  return { route, statuses, request, ...(about === undefined ? {} : { about }) }
}

type Exceptions = Partial<Statuses>

/** The route ignores tokens. */
export const everybody = (status: number, exceptions: Exceptions = {}): Statuses => ({
  anonymous: status,
  user: status,
  other: status,
  moderator: status,
  admin: status,
  blocked: status,
  ...exceptions,
})

/** Tokens are optional, but invalid ones are refused. */
export const visitors = (status: number, exceptions: Exceptions = {}): Statuses => everybody(status, { blocked: 401, ...exceptions })

/** A token is needed. */
export const signedIn = (status: number, exceptions: Exceptions = {}): Statuses => visitors(status, { anonymous: 401, ...exceptions })

/** For the owner and the staff. */
export const ownerOrStaff = (status: number, exceptions: Exceptions = {}): Statuses => signedIn(status, { other: 403, ...exceptions })

/** For moderators and administrators. */
export const staff = (status: number, exceptions: Exceptions = {}): Statuses => signedIn(status, { user: 403, other: 403, ...exceptions })

/** For administrators. */
export const administrators = (status: number, exceptions: Exceptions = {}): Statuses => staff(status, { moderator: 403, ...exceptions })
