// The parts of an HTTP request that a signature covers.

import { createHash } from 'node:crypto'

/** Headers as Node gives them: lower-case names. */
export type HeaderValues = Record<string, string | string[] | undefined>

export interface InboundMessage {
  method: string
  /** The full URL on the public origin, as requested. */
  url: string
  headers: HeaderValues
  /** The received bytes of the body. */
  rawBody: Buffer
}

/** Why a signature is refused. The sender gets no other detail. */
export type SignatureRefusal =
  | 'unsigned'
  | 'malformed'
  | 'unsupported-algorithm'
  | 'uncovered'
  | 'wrong-host'
  | 'bad-digest'
  | 'bad-date'
  | 'expired'
  | 'weak-key'
  | 'bad-signature'

/** The value of a header as both signature schemes write it; undefined if it is absent. */
export function headerValue(headers: HeaderValues, name: string): string | undefined {
  const value = headers[name]
  if (value === undefined) return undefined
  return (Array.isArray(value) ? value : [value]).map((one) => one.trim()).join(', ')
}

/** Path and query exactly as in the request line; the URL class would rewrite them. */
export function requestTarget(url: string): { path: string; query: string } {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const target = start < 0 ? '/' : (url.slice(start).split('#', 1)[0] ?? '/')
  const mark = target.indexOf('?')
  return mark < 0 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark) }
}

/** True if the Host header names this server: a signature made for another server must not count. */
export function namesOurHost(message: InboundMessage): boolean {
  const given = headerValue(message.headers, 'host')
  const requested = URL.parse(message.url)
  const named = given === undefined ? null : URL.parse(`${requested?.protocol ?? 'https:'}//${given}`)
  return requested !== null && named !== null && named.host === requested.host
}

/** True if the signature must cover the body: for every request with a body, and every POST. */
export const needsDigest = (message: InboundMessage): boolean => message.rawBody.length > 0 || message.method.toUpperCase() === 'POST'

export type Digests = { algorithm: string; value: Buffer }[]

/** All digests of a trusted algorithm must match, and there must be one. */
export function fitsDigest(body: Buffer, digests: Digests): boolean {
  const known = digests.filter(({ algorithm }) => algorithm === 'sha-256' || algorithm === 'sha-512')
  return (
    known.length > 0 &&
    known.every(({ algorithm, value }) =>
      createHash(algorithm === 'sha-256' ? 'sha256' : 'sha512')
        .update(body)
        .digest()
        .equals(value),
    )
  )
}

/** Whether a point in time lies within `skewMs` of now. */
export const isTimely = (time: number, now: Date, skewMs: number): boolean =>
  Number.isFinite(time) && Math.abs(now.getTime() - time) <= skewMs
