// Responses to reads: bytes with their headers, and conditional requests.

import { hash } from 'node:crypto'
import { notFound } from '../../actors/runtime/index.ts'
import type { CachedAnswer } from '../cache.ts'
import type { JsonObject } from '../wire/index.ts'

export const EMPTY = Buffer.alloc(0)
/** RFC 7033, 4.2. */
export const JRD_TYPE = { 'content-type': 'application/jrd+json; charset=utf-8' }
export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
export const XML_TYPE = { 'content-type': 'application/xml; charset=utf-8' }
const ACTIVITY_TYPE = { 'content-type': 'application/activity+json; charset=utf-8' }
/** Videos change with every view; the reference allows caching them for a second. */
export const BRIEFLY = { 'cache-control': 'max-age=1' }

export function answer(body: JsonObject | string, headers: Record<string, string>): CachedAnswer {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return { status: 200, headers: { ...headers, etag: `"${hash('sha1', bytes, 'base64url')}"` }, body: bytes }
}

/** An ActivityPub document. The same address may also serve a page. */
export const activity = (document: JsonObject | string, headers: Record<string, string> = {}): CachedAnswer =>
  answer(document, { ...ACTIVITY_TYPE, vary: 'Accept', ...headers })

export const redirect = (url: string): CachedAnswer => ({
  status: 302,
  headers: { location: url, vary: 'Accept', ...BRIEFLY },
  body: EMPTY,
})

export function missing(what: string): never {
  throw notFound(what)
}

/** True if the client has this version; weak tags and `*` count (RFC 9110, 13.1.2). */
export function isFresh(ifNoneMatch: string | string[] | undefined, { status, headers }: CachedAnswer): boolean {
  if (ifNoneMatch === undefined || status !== 200) return false
  const tags = (Array.isArray(ifNoneMatch) ? ifNoneMatch.join(',') : ifNoneMatch).split(',')
  return tags.some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === headers.etag)
}
