// ETag and If-None-Match for JSON reads (RFC 9110, 8.8.3 and 13.1.2).

import { hash } from 'node:crypto'
import type { OutgoingHttpHeader } from 'node:http'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'

/** Longest response, in characters, whose tag costs next to nothing; larger lists change with every view anyway. */
const SMALL = 8192

/** A strong tag: equal tags mean equal bytes. */
export const etagOf = (body: string | Uint8Array): string => `"${hash('sha1', body, 'base64url')}"`

/** The tag of a small response, computed even if the route does not request one. */
export const smallEtagOf = (body: string): string | undefined => (body.length > SMALL ? undefined : etagOf(body))

/** True if the client has this version already. `*` and weak tags count, as the comparison is weak (13.1.2). */
export function isFresh(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

/** The hook of GET routes with text: tags small responses, or all if the route requests it, and turns known ones into 304. */
export function conditionalJson(options: { always: boolean }): onSendHookHandler {
  return (request, reply, payload, done) => {
    if (reply.statusCode !== 200 || typeof payload !== 'string' || reply.hasHeader('etag')) return done(null, payload)
    const etag = options.always ? etagOf(payload) : smallEtagOf(payload)
    if (etag !== undefined) reply.header('etag', etag)
    done(null, unlessFresh(request, reply, payload))
  }
}

/** The hook of GET routes that tag their responses themselves: turns known ones into 304. */
export const conditionalTagged: onSendHookHandler = (request, reply, payload, done) => done(null, unlessFresh(request, reply, payload))

/** The payload; if the client has it already, changes the response to 304 and returns an empty one. */
function unlessFresh(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  const etag = reply.getHeader('etag')
  const isKnown = typeof etag === 'string' && isFresh(request.headers['if-none-match'], etag)
  if (reply.statusCode !== 200 || !isKnown) return payload
  reply.code(304).removeHeader('content-length').removeHeader('content-type')
  return ''
}

export interface Prepared {
  body: Buffer
  /** Computed in advance, if there is one. */
  etag: string | undefined
  /** JSON by default. */
  contentType?: string | undefined
  /** Additional headers of the response, by lower-case names. */
  headers?: Record<string, string> | undefined
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends a prepared body; 304 if the client has it. */
export function sendPrepared(request: FastifyRequest, reply: FastifyReply, prepared: Prepared): FastifyReply {
  if (prepared.headers) reply.headers(prepared.headers)
  if (prepared.etag !== undefined) {
    reply.header('etag', prepared.etag)
    if (isFresh(request.headers['if-none-match'], prepared.etag)) return reply.code(304).send()
  }
  return reply.header('content-type', prepared.contentType ?? JSON_TYPE).send(prepared.body)
}

/**
 * Like `sendPrepared`, but bypasses hooks and checks: for a body that is requested many times per second, and that the hooks of its route
 * have changed already.
 */
export function sendAtOnce(request: FastifyRequest, reply: FastifyReply, prepared: Prepared): void {
  const { body, etag, contentType = JSON_TYPE } = prepared
  if (prepared.headers) reply.headers(prepared.headers)
  const headers: OutgoingHttpHeader[] = []
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) headers.push(name, value)
  if (etag !== undefined) headers.push('etag', etag)
  reply.hijack()
  if (etag !== undefined && isFresh(request.headers['if-none-match'], etag)) return void reply.raw.writeHead(304, headers).end()
  headers.push('content-type', contentType, 'content-length', body.length)
  reply.raw.writeHead(200, headers).end(body)
}
