// Verifies the signer of a request with known keys; nothing is fetched here.

import { verify } from 'node:crypto'
import { readCavage, signatureHeader } from './cavage.ts'
import { headerValue, type InboundMessage, type SignatureRefusal } from './http-message.ts'
import { type FindKey, type KnownKey, readRsaKey } from './keys.ts'
import { readRfc9421 } from './rfc9421.ts'

export type InboundVerdict =
  | { ok: true; keyId: string; owner: string }
  /** `key` is set if a known key did not match: its owner may have replaced it. */
  | { ok: false; reason: SignatureRefusal; keyId?: string; key?: KnownKey }
  /** Everything is valid except the signature itself, whose key is unknown. */
  | { ok: false; reason: 'unknown-key'; unknownKey: string }

/** The clock difference that the reference allows: 30 minutes. */
const ALLOWED_SKEW_MS = 1_800_000

const MAX_KEY_ID = 2000

/**
 * Verifies the HTTP signature of a request: draft-cavage or RFC 9421. The signature must cover the method, the target, the local host, a
 * time within `skewMs` and, with a body, its digest.
 */
export async function verifyInbound(
  options: InboundMessage & { now: Date; skewMs?: number; minRsaBits?: number; findKey: FindKey },
): Promise<InboundVerdict> {
  const isNewer = headerValue(options.headers, 'signature-input') !== undefined
  if (signatureHeader(options) === undefined) return { ok: false, reason: 'unsigned' }
  const times = { now: options.now, skewMs: options.skewMs ?? ALLOWED_SKEW_MS }
  const read = isNewer ? readRfc9421(options, times) : readCavage(options, times)
  if ('refusal' in read) return { ok: false, reason: read.refusal }
  const { keyId, signature, candidates } = read.claim
  if (!isKeyId(keyId) || signature.length === 0) return { ok: false, reason: 'malformed' }
  const known = await options.findKey(keyId)
  if (!known) return { ok: false, reason: 'unknown-key', unknownKey: keyId }
  const key = readRsaKey(known.pem, options.minRsaBits)
  if (!key) return { ok: false, reason: 'weak-key', keyId, key: known }
  return candidates.some((base) => verify('sha256', Buffer.from(base), key, signature))
    ? { ok: true, keyId, owner: known.owner }
    : { ok: false, reason: 'bad-signature', keyId, key: known }
}

/** Key ids are addresses, with or without a fragment; the reference also accepts the acct form. */
function isKeyId(keyId: string): boolean {
  if (keyId.length > MAX_KEY_ID) return false
  if (/^acct:[^@\s/]+@[^@\s/]+$/.test(keyId)) return true
  const url = URL.parse(keyId)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && url.username === ''
}
