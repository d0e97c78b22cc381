// draft-cavage-http-signatures, as the fediverse writes it: parses the signature header and computes the signed bytes. Fedify's verifier
// leaves the host and the query out, needs a Date header and accepts SHA-1 digests, hence this one.

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

export interface SignatureClaim {
  keyId: string
  signature: Buffer
  /** Possible signed texts: with and without the query, as both habits exist. */
  candidates: string[]
}

const MAX_HEADER = 8000
/** hs2019 means that the key decides, and for an RSA key the fediverse uses SHA-256 and PKCS #1 v1.5. */
const ALGORITHMS = new Set(['rsa-sha256', 'hs2019'])

/** Reads and checks everything but the signature itself. */
export function readCavage(
  message: InboundMessage,
  options: { now: Date; skewMs: number },
): { claim: SignatureClaim } | { refusal: SignatureRefusal } {
  const parameters = parseParameters(signatureHeader(message) ?? '')
  if (!parameters) return { refusal: 'malformed' }
  const { keyId, signature, algorithm = 'hs2019', created, expires } = parameters
  if (!keyId || !signature) return { refusal: 'malformed' }
  if (!ALGORITHMS.has(algorithm.toLowerCase())) return { refusal: 'unsupported-algorithm' }
  const names = (parameters.headers ?? '(created)').toLowerCase().split(' ')
  if (new Set(names).size !== names.length) return { refusal: 'malformed' }
  const refusal =
    coverage(message, names, algorithm) ??
    freshness({ message, names, created, expires, ...options }) ??
    (names.includes('digest') && !hasRightDigest(message) ? 'bad-digest' : undefined)
  if (refusal) return { refusal }
  const { path, query } = requestTarget(message.url)
  const bases = (query ? [path + query, path] : [path]).map((target) => signingString({ message, names, target, created, expires }))
  const candidates = bases.filter((base) => base !== undefined)
  if (candidates.length === 0) return { refusal: 'malformed' }
  return { claim: { keyId, signature: Buffer.from(signature, 'base64'), candidates } }
}

/** The header that carries the signature: its own, or Authorization with the scheme Signature. */
export function signatureHeader(message: InboundMessage): string | undefined {
  const own = headerValue(message.headers, 'signature')
  if (own) return own
  const authorization = headerValue(message.headers, 'authorization')
  return authorization && /^signature /i.test(authorization) ? authorization.slice('signature '.length) : undefined
}

type Parameters = Partial<Record<'keyId' | 'signature' | 'algorithm' | 'headers' | 'created' | 'expires', string>>

function parseParameters(header: string): Parameters | undefined {
  if (header.length > MAX_HEADER) return undefined
  const found: Record<string, string> = {}
  const parameter = /\s*([a-zA-Z]+)=(?:"([^"]*)"|(\d{1,12}))\s*(?:,|$)/y
  while (parameter.lastIndex < header.length) {
    const [, name, quoted, bare] = parameter.exec(header) ?? []
    if (!name || Object.hasOwn(found, name)) return undefined
    found[name] = quoted ?? bare ?? ''
  }
  return found
}

function coverage(message: InboundMessage, names: string[], algorithm: string): SignatureRefusal | undefined {
  const hasTime = names.includes('date') || (names.includes('(created)') && algorithm.toLowerCase() === 'hs2019')
  if (!names.includes('(request-target)') || !names.includes('host') || !hasTime) return 'uncovered'
  if (needsDigest(message) && !names.includes('digest')) return 'uncovered'
  return namesOurHost(message) ? undefined : 'wrong-host'
}

function freshness(options: {
  message: InboundMessage
  names: string[]
  created: string | undefined
  expires: string | undefined
  now: Date
  skewMs: number
}): SignatureRefusal | undefined {
  const { message, names, created, expires, now, skewMs } = options
  const times: number[] = []
  if (names.includes('date')) times.push(Date.parse(headerValue(message.headers, 'date') ?? ''))
  if (names.includes('(created)') || created !== undefined) times.push(Number.parseInt(created ?? '', 10) * 1000)
  if (!times.every((time) => isTimely(time, now, skewMs))) return 'bad-date'
  // The draft allows a fraction in `expires`; only whole seconds are sent in practice.
  if (expires !== undefined && !(Number.parseInt(expires, 10) * 1000 >= now.getTime())) return 'expired'
  return undefined
}

function hasRightDigest(message: InboundMessage): boolean {
  const digests = (headerValue(message.headers, 'digest') ?? '').split(',').map((part) => {
    const mark = part.indexOf('=')
    return {
      algorithm: part.slice(0, mark).trim().toLowerCase(),
      value: Buffer.from(part.slice(mark + 1).trim(), 'base64'),
    }
  })
  return fitsDigest(message.rawBody, digests)
}

function signingString(options: {
  message: InboundMessage
  names: string[]
  target: string
  created: string | undefined
  expires: string | undefined
}): string | undefined {
  const { message, names } = options
  const lines: string[] = []
  for (const name of names) {
    const value =
      name === '(request-target)'
        ? `${message.method.toLowerCase()} ${options.target}`
        : name === '(created)'
          ? options.created
          : name === '(expires)'
            ? options.expires
            : headerValue(message.headers, name)
    if (value === undefined) return undefined
    lines.push(`${name}: ${value}`)
  }
  return lines.join('\n')
}
