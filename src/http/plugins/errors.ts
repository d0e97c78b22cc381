// The one table from refusals to responses: kind of DomainError → status, and the meaning of every other error in HTTP.

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError, type ErrorKind, type InvalidParam } from '../../actors/runtime/index.ts'
import { isDiskFull, StorageOutage } from '../../media/index.ts'
import { causesOf, isOutage } from '../../platform/database/index.ts'
import { redactSecrets } from '../../platform/redact.ts'
import { HttpError } from './http-error.ts'
import { invalidParamsOf, type Part, parts } from './invalid-params.ts'
import { incorrectParameters, PROBLEM_TYPE, type Problem, problemBody } from './problem.ts'
import type { App } from './types.ts'
import { InvalidRequest } from './validation.ts'

/** Status of each kind of refusal. A code of the contract decides `type` and `code`, never the status. */
const STATUS: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  too_many: 429,
  busy: 503,
  unavailable: 503,
}

/** Fastify's own refusals that clients know by another code or message. */
const FRAMEWORK: Record<string, { code?: string; detail: string }> = {
  FST_ERR_CTP_INVALID_JSON_BODY: { code: 'SyntaxError', detail: 'The body is not valid JSON.' },
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'PayloadTooLargeError', detail: 'The body is larger than allowed.' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { detail: 'The body is not as long as its Content-Length says.' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { detail: 'The Content-Type is not a media type.' },
  FST_ERR_BAD_URL: { detail: 'The path is not a valid URL.' },
}

/** Characters that PostgreSQL cannot store in text and JSON, above all U+0000. */
const UNSTORABLE = new Set(['22021', '22P05'])

/** Headers that a handler prepared for a success and a refusal must not carry. */
const OF_THE_SUCCESS = [
  'cache-control',
  'expires',
  'etag',
  'last-modified',
  'content-length',
  'content-encoding',
  'content-disposition',
  'content-range',
  'accept-ranges',
]

/** Sends every error as problem+json; server errors are logged with the request id. */
export function addErrorHandling(app: App): void {
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply))
}

/** Sends the problem of an error; `show` sends it in another form than a problem body. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  show?: (problem: { status: number; detail: string }) => FastifyReply,
): FastifyReply {
  const { headers, ...problem } = problemOf(error, request)
  if (problem.status >= 500 && !(error instanceof DomainError || error instanceof HttpError)) {
    const { id: reqId, method, url } = request
    request.log.error({ reqId, err: error, method, url: redactSecrets(url) }, 'request failed')
  }
  for (const name of OF_THE_SUCCESS) reply.removeHeader(name)
  if (show) {
    reply.headers(headers)
    return show({ status: problem.status, detail: problem.detail })
  }
  const text = plainTextOf(error, problem, request)
  if (text !== undefined) return sendText(reply.code(problem.status).headers(headers), text)
  return sendProblem(reply.headers(headers), problem)
}

/** The text that replaces a problem body, if any. */
function plainTextOf(error: unknown, { status, code }: Problem, request: FastifyRequest): string | undefined {
  if (error instanceof HttpError) return error.text
  return code === undefined ? request.routeOptions.config?.plainRefusals?.[status] : undefined
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return text === '' ? reply.send() : reply.header('content-type', 'text/plain; charset=utf-8').send(text)
}

/** Sends a problem body. The operation of the route becomes its `docs`. */
function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const operationId = problem.operationId ?? reply.request.routeOptions.schema?.operationId
  const body = JSON.stringify(problemBody({ ...problem, operationId }))
  return reply.code(problem.status).header('content-type', PROBLEM_TYPE).send(body)
}

type Answer = Problem & { headers: Record<string, string> }

/** The response to an error. Messages of unknown errors are not sent. */
function problemOf(error: unknown, request: FastifyRequest): Answer {
  if (error instanceof InvalidRequest) {
    // No actor can have this name.
    if (error.part === 'params' && isObject(request.params) && 'name' in request.params && hasNul(request.params.name)) {
      return { status: 404, detail: 'Not found', headers: {} }
    }
    return refusedParams(allInvalidParams(error, request), request)
  }
  if (error instanceof DomainError) {
    const { kind, code, extra, invalidParams, message } = error
    if (invalidParams.length > 0) return { ...refusedParams(invalidParams, request), code, headers: error.headers }
    const retry: Record<string, string> = kind === 'busy' || kind === 'unavailable' ? { 'retry-after': '1' } : {}
    return { status: STATUS[kind], detail: message, code, extra, headers: { ...retry, ...lowerCased(error.headers) } }
  }
  if (error instanceof HttpError) {
    const { status, message, code, extra, headers } = error
    return { status, detail: message, code, extra, headers }
  }
  if (isBrokenOff(error, request)) return { status: 400, detail: 'The body ended too soon.', headers: {} }
  return frameworkProblem(error) ?? storageProblem(error, request) ?? unexpected
}

/** True if the client disconnected within its body, or sent it too slowly. */
const isBrokenOff = (error: unknown, { raw }: FastifyRequest): boolean =>
  raw.readableAborted && (error === raw.errored || codeOf(error) === 'ECONNRESET')

const unexpected: Answer = { status: 500, detail: 'The server failed to handle this request.', headers: {} }

function refusedParams(invalidParams: InvalidParam[], request: FastifyRequest): Answer {
  return {
    status: 400,
    detail: incorrectParameters(invalidParams),
    instance: request.originalUrl,
    invalidParams,
    headers: {},
  }
}

/**
 * All invalid fields of all parts. Fastify stops at the first invalid part; the parts before it are valid, and the others are still as the
 * client sent them.
 */
function allInvalidParams(error: InvalidRequest, request: FastifyRequest): InvalidParam[] {
  const { schema } = request.routeOptions
  const from = parts.indexOf(error.part)
  return parts.slice(Math.max(from, 0)).flatMap((part) => {
    const partSchema = schema?.[part]
    return partSchema instanceof z.ZodType ? invalidParamsOf(partSchema, part, sentPart(request, part)) : []
  })
}

const sentPart = (request: FastifyRequest, part: Part): unknown => (part === 'querystring' ? request.query : request[part])

function frameworkProblem(error: unknown): Answer | undefined {
  if (!isFrameworkError(error)) return undefined
  const known = FRAMEWORK[error.code]
  return {
    status: error.statusCode,
    detail: known?.detail ?? error.message,
    code: known?.code,
    headers: {},
  }
}

const isFrameworkError = (error: unknown): error is FastifyError & { statusCode: number } =>
  isObject(error) &&
  'code' in error &&
  typeof error.code === 'string' &&
  error.code.startsWith('FST_') &&
  'statusCode' in error &&
  typeof error.statusCode === 'number' &&
  error.statusCode >= 400 &&
  error.statusCode < 500

function storageProblem(error: unknown, request: FastifyRequest): Answer | undefined {
  const isUnstorable = causesOf(error).some((cause) => 'code' in cause && typeof cause.code === 'string' && UNSTORABLE.has(cause.code))
  if (isUnstorable) {
    // No stored name contains a zero byte, so a path with one is not found.
    const inPath = Object.values(request.params ?? {}).some(hasNul)
    return inPath
      ? { status: 404, detail: 'Not found', headers: {} }
      : { status: 400, detail: 'A text has characters that cannot be stored.', headers: {} }
  }
  if (isDiskFull(error)) {
    return { status: 503, detail: 'There is no space left on this server.', headers: { 'retry-after': '60' } }
  }
  if (causesOf(error).some((cause) => cause instanceof StorageOutage)) {
    return { status: 503, detail: 'The storage of this server is out of reach now.', headers: { 'retry-after': '30' } }
  }
  if (isOutage(error)) {
    return { status: 503, detail: 'A part of the server is out of reach now.', headers: { 'retry-after': '5' } }
  }
  return undefined
}

const codeOf = (error: unknown): unknown => (isObject(error) && 'code' in error ? error.code : undefined)

const hasNul = (text: unknown): boolean => String(text).includes('\0')

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
