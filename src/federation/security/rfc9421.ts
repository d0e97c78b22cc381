// HTTP Message Signatures (RFC 9421): parses the headers and computes the signed bytes. Fedify's verifier ignores `expires` and the covered
// components, and drops the `?` of @query, hence this one.

import { decodeDict, encodeItem, encodeList, Item } from 'structured-field-values'
import type { SignatureClaim } from './cavage.ts'
import {
  fitsDigest,
  headerValue,
  type InboundMessage,
  isTimely,
  namesOurHost,
  needsDigest,
  requestTarget,
  type SignatureRefusal,
} from './http-message.ts'

const MAX_HEADER = 8000
const MAX_LABELS = 4
const ALGORITHM = 'rsa-v1_5-sha256'

/** Parses and checks everything except the signature itself, for the first signature that covers enough. */
export function readRfc9421(
  message: InboundMessage,
  options: { now: Date; skewMs: number },
): { claim: SignatureClaim } | { refusal: SignatureRefusal } {
  const inputs = dictionary(headerValue(message.headers, 'signature-input'))
  const signatures = dictionary(headerValue(message.headers, 'signature'))
  if (!inputs || !signatures) return { refusal: 'malformed' }
  let refusal: SignatureRefusal = 'malformed'
  for (const [label, input] of Object.entries(inputs).slice(0, MAX_LABELS)) {
    const signature = Object.hasOwn(signatures, label) ? signatures[label]?.value : undefined
    if (!(signature instanceof Uint8Array)) continue
    const read = readInput(message, input, options)
    if ('refusal' in read) refusal = read.refusal
    else return { claim: { keyId: read.keyId, signature: Buffer.from(signature), candidates: [read.base] } }
  }
  return { refusal }
}

interface Field {
  value: unknown
  params: Record<string, unknown> | null
}

function dictionary(header: string | undefined): Record<string, Field> | undefined {
  if (header === undefined || header.length > MAX_HEADER) return undefined
  try {
    const found = decodeDict(header)
    return Object.fromEntries(found instanceof Map ? found : Object.entries(found))
  } catch {
    return undefined
  }
}

function readInput(
  message: InboundMessage,
  input: Field,
  options: { now: Date; skewMs: number },
): { keyId: string; base: string } | { refusal: SignatureRefusal } {
  const names = componentNames(input.value)
  const { keyid, alg, created, expires } = input.params ?? {}
  if (!names || typeof keyid !== 'string') return { refusal: 'malformed' }
  if (alg !== undefined && alg !== ALGORITHM) return { refusal: 'unsupported-algorithm' }
  const refusal =
    coverage(message, names, created) ??
    freshness({ message, names, created, expires, ...options }) ??
    (names.includes('content-digest') && !hasRightDigest(message) ? 'bad-digest' : undefined)
  if (refusal) return { refusal }
  const base = signatureBase(message, names, input)
  return base === undefined ? { refusal: 'malformed' } : { keyId: keyid, base }
}

/** The covered components; undefined for those with parameters (`;req`, `;bs`, `;key`), which are not supported. */
function componentNames(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const names: string[] = []
  for (const part of value as Field[]) {
    if (typeof part.value !== 'string' || Object.keys(part.params ?? {}).length > 0) return undefined
    names.push(part.value)
  }
  return new Set(names).size === names.length ? names : undefined
}

function coverage(message: InboundMessage, names: string[], created: unknown): SignatureRefusal | undefined {
  const has = (name: string) => names.includes(name)
  const { query } = requestTarget(message.url)
  const target = has('@target-uri') || has('@request-target') || (has('@path') && (query === '' || has('@query')))
  const host = has('@target-uri') || has('@authority') || has('host')
  const time = typeof created === 'number' || has('date')
  if (!has('@method') || !target || !host || !time) return 'uncovered'
  if (needsDigest(message) && !has('content-digest')) return 'uncovered'
  return has('host') && !namesOurHost(message) ? 'wrong-host' : undefined
}

function freshness(options: {
  message: InboundMessage
  names: string[]
  created: unknown
  expires: unknown
  now: Date
  skewMs: number
}): SignatureRefusal | undefined {
  const { message, names, created, expires, now, skewMs } = options
  const times: number[] = []
  if (created !== undefined) times.push(Number(created) * 1000)
  if (names.includes('date')) times.push(Date.parse(headerValue(message.headers, 'date') ?? ''))
  if (!times.every((time) => isTimely(time, now, skewMs))) return 'bad-date'
  if (expires !== undefined && !(Number(expires) * 1000 >= now.getTime())) return 'expired'
  return undefined
}

function hasRightDigest(message: InboundMessage): boolean {
  const digests = dictionary(headerValue(message.headers, 'content-digest')) ?? {}
  return fitsDigest(
    message.rawBody,
    Object.entries(digests).map(([algorithm, { value }]) => ({
      algorithm,
      value: value instanceof Uint8Array ? Buffer.from(value) : Buffer.alloc(0),
    })),
  )
}

function signatureBase(message: InboundMessage, names: string[], input: Field): string | undefined {
  const lines: string[] = []
  for (const name of names) {
    const value = name.startsWith('@') ? derived(message, name) : headerValue(message.headers, name)
    if (value === undefined) return undefined
    lines.push(`${encodeItem(new Item(name))}: ${value}`)
  }
  lines.push(`"@signature-params": ${encodeList([new Item(input.value, input.params)])}`)
  return lines.join('\n')
}

function derived(message: InboundMessage, name: string): string | undefined {
  const { path, query } = requestTarget(message.url)
  const url = URL.parse(message.url)
  if (name === '@method') return message.method.toUpperCase()
  if (name === '@target-uri') return message.url
  if (name === '@authority') return url?.host
  if (name === '@scheme') return url?.protocol.slice(0, -1)
  if (name === '@request-target') return path + query
  if (name === '@path') return path
  if (name === '@query') return query || '?'
  return undefined
}
