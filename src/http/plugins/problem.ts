// The body of every refusal: problem+json (RFC 9457) with the members that clients of the REST API read.

import { STATUS_CODES } from 'node:http'
import type { InvalidParam } from '../../actors/runtime/index.ts'

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** The reference that `type` and `docs` point into. Clients compare these identifiers, so they stay as observed. */
const REFERENCE = 'https://docs.joinpeertube.org/api-rest-reference.html'

/** Longest value that is echoed in `invalid-params`, in characters of its JSON. */
const LONGEST_ECHO = 4096

export interface Problem {
  status: number
  /** Message for the client; also sent as `error`. */
  detail: string
  /** Internal code of the contract, such as `invalid_grant`; it decides `type`. */
  code?: string | undefined
  /** OpenAPI operation of the route, for `docs`. */
  operationId?: string | undefined
  /** Path and query of the request. */
  instance?: string | undefined
  invalidParams?: InvalidParam[] | undefined
  /** Additional members of one operation, such as `format` of oEmbed. */
  extra?: Record<string, unknown> | undefined
}

/** The JSON object of a problem, with its members in the order that clients expect. */
export function problemBody(problem: Problem): Record<string, unknown> {
  const { status, detail, code, operationId, instance, invalidParams, extra } = problem
  return {
    type: code === undefined ? 'about:blank' : `${REFERENCE}#section/Errors/${code}`,
    title: STATUS_CODES[status] ?? 'Error',
    detail,
    ...(instance === undefined ? {} : { instance }),
    status,
    ...extra,
    ...(invalidParams?.length ? { 'invalid-params': keyed(invalidParams) } : {}),
    ...(operationId === undefined ? {} : { docs: `${REFERENCE}#operation/${operationId}` }),
    ...(code === undefined ? {} : { code }),
    error: detail,
  }
}

/** The message that names the invalid parameters. */
export const incorrectParameters = (params: InvalidParam[]): string =>
  `Incorrect request parameters: ${params.map((param) => param.name).join(', ')}`

function keyed(params: InvalidParam[]): Record<string, unknown> {
  const entries = params.map(({ name, location, msg, value }) => {
    const echo = echoed(value)
    return [name, { type: 'field', ...(echo === undefined ? {} : { value: echo }), msg, path: name, location }] as const
  })
  return Object.fromEntries(entries)
}

/** The sent value, unless it is too long. */
function echoed(value: unknown): unknown {
  if (typeof value === 'string') return value.length > LONGEST_ECHO ? `${value.slice(0, LONGEST_ECHO)}…` : value
  if (typeof value !== 'object' || value === null) return value
  try {
    return JSON.stringify(value).length > LONGEST_ECHO ? undefined : value
  } catch {
    // Nested more deeply than the stack allows.
    return undefined
  }
}
