// The parts of a request that are stored until the key of its signature is fetched.

import type { HeaderValues } from '../security/index.ts'

/** What the later check of the signature needs. */
interface SignedParts {
  method: string
  url: string
  headers: HeaderValues
  /** The bytes that were signed, in base64. */
  body: string
}

const ALWAYS_KEPT = ['host', 'date', 'digest', 'content-digest', 'content-type', 'content-length', 'signature', 'signature-input']
/** Headers that a signature may cover but that must not be stored. */
const NEVER_KEPT = ['cookie', 'authorization', 'proxy-authorization']

/** The headers that the signature covers, in either form, and those that carry it. */
export function signedParts(request: { method: string; url: string; headers: HeaderValues; body: Buffer }): Record<string, unknown> {
  const text = (name: string) => String(request.headers[name] ?? '')
  const authorization = /^signature\s/i.test(text('authorization')) ? text('authorization') : ''
  const covered = [
    ...(/\bheaders="([^"]*)"/i
      .exec(text('signature') || authorization)?.[1]
      ?.toLowerCase()
      .split(/\s+/) ?? []),
    ...[...text('signature-input').matchAll(/"([^"]+)"/g)].map(([, name = '']) => name.toLowerCase()),
  ].filter((name) => !NEVER_KEPT.includes(name))
  const names = new Set([...ALWAYS_KEPT, ...covered])
  const headers = {
    ...Object.fromEntries(Object.entries(request.headers).filter(([name]) => names.has(name))),
    ...(authorization === '' ? {} : { authorization }),
  }
  const parts: SignedParts = {
    method: request.method,
    url: request.url,
    headers,
    body: request.body.toString('base64'),
  }
  return { ...parts }
}
