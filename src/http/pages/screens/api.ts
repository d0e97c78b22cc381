// The pages as a client of the API: requests in the visitor's name, run by the routes of the API inside this process.

import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Visit } from '../../../actors/session/index.ts'
import type { Localized } from '../../../platform/language.ts'
import { isAllowed } from '../../plugins/auth.ts'
import { clientIp } from '../../plugins/client-ip.ts'
import { HttpError } from '../../plugins/http-error.ts'
import { type InnerAnswer, requestInternally } from '../../plugins/inner-requests.ts'
import type { PageTools } from '../send.ts'

export type Values = Readonly<Record<string, unknown>>

export interface ApiCall {
  /** Such as `GET /api/v1/users/:id`. */
  operation: string
  values?: Values
  query?: Readonly<Record<string, string | number | undefined>>
  body?: object | undefined
  headers?: Readonly<Record<string, string>>
  /** In place of the one in the cookie. */
  accessToken?: string
}

export interface Refusal {
  status: number
  detail: string
  /** Messages by the name of their field: of the API, or of a rule of the page. */
  fields: ReadonlyMap<string, string | Localized>
}

export type ApiResult = { ok: true; status: number; body: unknown; location?: string | undefined } | { ok: false; refusal: Refusal }

export function makeApi({ app, visitors }: Pick<PageTools, 'app' | 'visitors'>) {
  /** Sends a request with the visitor's session and address. Rights, limits and audit are those of the API; reads count with the page. */
  async function forward(
    request: FastifyRequest,
    inner: { method: string; path: string; headers?: Record<string, string | undefined>; body?: string | Readable },
    token = visitors.tokenOf(request),
  ): Promise<InnerAnswer> {
    const headers = { ...inner.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) }
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
    const counting = inner.method === 'GET' ? { onConnection: app.rateLimits.exempt } : {}
    return await requestInternally(app.server, { ...inner, ...counting, headers: given, address: clientIp(request) })
  }

  async function call(request: FastifyRequest, asked: ApiCall): Promise<ApiResult> {
    const { operation, values = {}, query = {}, body, headers, accessToken } = asked
    const [method = '', url = ''] = operation.split(' ')
    const search = new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, String(value)]])),
    )
    const path = `${filled(url, values)}${search.size > 0 ? `?${search}` : ''}`
    const json = body && { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return resultOf(await forward(request, { method, path, ...json }, accessToken))
  }

  /** The body of a successful response; undefined for what is optional, and not there, switched off or not allowed. Throws the refusal otherwise. */
  async function read(request: FastifyRequest, { isOptional = false, ...asked }: ApiCall & { isOptional?: boolean }): Promise<unknown> {
    const result = await call(request, asked)
    if (result.ok) return result.body
    if (isOptional && [400, 403, 404].includes(result.refusal.status)) return undefined
    throw new HttpError(result.refusal.status, result.refusal.detail)
  }

  /** True if the role may call the operation; what belongs to whom is decided by the call itself. */
  function mayCall(visit: Visit | null, operation: string): boolean {
    const { auth, right } = app.operationOf(operation).config ?? {}
    return visit ? isAllowed(visit.user.role, auth ?? 'user', right) : (auth ?? (right ? 'user' : 'none')) === 'none'
  }

  return { forward, call, read, mayCall }
}

export type Api = ReturnType<typeof makeApi>

export function resultOf({ status, body, headers }: InnerAnswer): ApiResult {
  const parsed: unknown = /^[[{"]/.test(body) ? JSON.parse(body) : undefined
  if (status < 400) return { ok: true, status, body: parsed, location: headers.location }
  const detail = valueAt(parsed, 'detail')
  const invalid = valueAt(parsed, 'invalid-params')
  const fields = Object.entries(Object(invalid)).map(([name, param]) => [name, String(valueAt(param, 'msg') ?? 'Invalid value')] as const)
  return { ok: false, refusal: { status, detail: typeof detail === 'string' ? detail : 'This did not work.', fields: new Map(fields) } }
}

/** The path with its parameters. One without a value of its name takes the only value there is. */
export function filled(url: string, values: Values): string {
  return url.replace(/:(\w+)/g, (_whole, name: string) => encodeURIComponent(String(values[name] ?? values.id ?? '')))
}

/** An id, which may be at the end of a pasted address. */
export function idIn(text: string): string {
  const [path = ''] = text.trim().split(/[?#;]/)
  return path.split('/').findLast(Boolean) ?? ''
}

/** The text at a path of an answer; empty without one. */
export const textAt = (from: unknown, path: string): string => String(valueAt(from, path) ?? '')

/** The value at a path such as `account.displayName`. */
export const valueAt = (from: unknown, path: string): unknown => path.split('.').reduce(memberOf, from)

const memberOf = (at: unknown, name: string): unknown =>
  typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? Reflect.get(at, name) : undefined
