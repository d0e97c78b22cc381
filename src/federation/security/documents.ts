// Signatures in documents: they survive forwarding, so that a comment that arrives through the video's server is still authenticated.

import { createSignature } from '@fedify/fedify/sig'
import type { JsonObject } from '../wire/context.ts'
import { isTangled, isUnderstandable, loadBundledContext } from './contexts.ts'
import type { DocumentChecks } from './document-checks.ts'
import { isObject, without } from './json.ts'
import { type FindKey, type KnownKey, readEd25519Key, readRsaKey, type SigningKey } from './keys.ts'
import { addProof, hasProof, readProof } from './proof.ts'

/** The keys of one actor. */
export interface ActorKeys {
  rsa: SigningKey
  ed25519?: SigningKey
}

/**
 * The document with an object proof (if there is an Ed25519 key) and an RsaSignature2017 over all of it. Documents must carry their
 * context. For local keys only.
 */
export async function signDocument(document: JsonObject, keys: ActorKeys, now: Date): Promise<JsonObject> {
  const proven = keys.ed25519 ? await addProof(document, keys.ed25519, now) : document
  // The actor's own address, as in the reference: it looks the creator up as an actor, and fetches one with a fragment each time.
  const creatorUrl = new URL(keys.rsa.keyId.split('#', 1)[0] ?? keys.rsa.keyId)
  const signature = await createSignature(proven, keys.rsa.privateKey, creatorUrl, {
    contextLoader: loadBundledContext,
  })
  const { type, creator, created, signatureValue } = signature
  return { ...proven, signature: { type, creator, created, signatureValue } }
}

export type DocumentVerdict =
  /**
   * `document` is the only part that can be trusted; for LD signatures it differs from the received bytes. `created` is the signer's time
   * of signing; null without one.
   */
  | { ok: true; by: 'proof' | 'ld-signature'; keyId: string; owner: string; document: JsonObject; created: Date | null }
  | {
      ok: false
      /**
       * `unverifiable`: an unknown context, an ambiguous shape, or too much work. `busy`: not checked, since too many checks are queued.
       */
      reason: 'unsigned' | 'malformed' | 'unverifiable' | 'too-large' | 'weak-key' | 'bad-signature' | 'expired' | 'not-by-actor' | 'busy'
      keyId?: string
      key?: KnownKey
    }
  | { ok: false; reason: 'unknown-key'; unknownKey: string }

/**
 * Verifies the proof of a document, or its LD signature, and that it is its actor's. Nothing is fetched. Cheap checks come first; those
 * whose cost depends on the document run in a thread.
 *
 * An LD signature covers statements, not JSON: keys without a meaning can be added, contexts exchanged and objects turned inside out, and
 * the signature still holds (CVE-2026-46349, CVE-2026-42462). So the result is written again from the signed statements in the local
 * context; anything that was not signed is not in it.
 */
export async function verifyDocument(document: JsonObject, options: VerifyOptions): Promise<DocumentVerdict> {
  const { proof, signature } = document
  const isSigned = signature !== undefined && signature !== null
  if (!isSigned && (proof === undefined || proof === null)) return { ok: false, reason: 'unsigned' }
  const text = JSON.stringify(document)
  if (text.length > LARGEST_CANONICALISED) return { ok: false, reason: 'too-large' }
  if (hasProof(document)) {
    const verdict = await verifyProof(document, text, options)
    if (verdict.ok || !isSigned) return verdict
  }
  return await verifyLdSignature(document, text, options)
}

interface VerifyOptions {
  findKey: FindKey
  now: Date
  checks: Pick<DocumentChecks, 'check'>
  minRsaBits?: number
}

async function verifyProof(document: JsonObject, text: string, options: VerifyOptions): Promise<DocumentVerdict> {
  const claim = readProof(document, options.now)
  if ('refusal' in claim) return { ok: false, reason: claim.refusal }
  const { keyId, proof, signature, created } = claim
  const known = await options.findKey(keyId)
  if (!known) return { ok: false, reason: 'unknown-key', unknownKey: keyId }
  if (!isAuthor(document, known.owner)) return { ok: false, reason: 'not-by-actor', keyId }
  if (!readEd25519Key(known.pem)) return { ok: false, reason: 'weak-key', keyId, key: known }
  const { verdict } = await options.checks.check({ kind: 'proof', document: text, pem: known.pem, proof, signature })
  if (verdict !== 'good') return { ok: false, reason: verdict, keyId, key: known }
  const trusted = without(without(document, 'proof'), 'signature')
  return { ok: true, by: 'proof', keyId, owner: known.owner, document: trusted, created }
}

async function verifyLdSignature(
  document: JsonObject,
  text: string,
  { findKey, checks, minRsaBits }: VerifyOptions,
): Promise<DocumentVerdict> {
  const { signature } = document
  const keyId = creatorOf(signature)
  if (keyId === undefined) return { ok: false, reason: 'malformed' }
  if (isTangled(document) || !isUnderstandable(document)) return { ok: false, reason: 'unverifiable', keyId }
  const known = await findKey(keyId)
  if (!known) return { ok: false, reason: 'unknown-key', unknownKey: keyId }
  if (!isAuthor(document, known.owner)) return { ok: false, reason: 'not-by-actor', keyId }
  if (!readRsaKey(known.pem, minRsaBits)) return { ok: false, reason: 'weak-key', keyId, key: known }
  const result = await checks.check({ kind: 'ld-signature', document: text, pem: known.pem })
  if (result.verdict !== 'good') return { ok: false, reason: result.verdict, keyId, key: known }
  const trusted = JSON.parse(result.document ?? '{}') as JsonObject
  if (!isAuthor(trusted, known.owner)) return { ok: false, reason: 'not-by-actor', keyId }
  const created = isObject(signature) ? timeOf(signature.created) : null
  return { ok: true, by: 'ld-signature', keyId, owner: known.owner, document: trusted, created }
}

/** Characters. Notes have some thousands, and a video with all its files and captions has about fifty thousand. */
const LARGEST_CANONICALISED = 200_000

/** A signature counts only for documents of its owner. */
function isAuthor({ actor, attributedTo }: JsonObject, owner: string): boolean {
  const author = actor ?? (Array.isArray(attributedTo) ? attributedTo[0] : attributedTo)
  return (isObject(author) ? author.id : author) === owner
}

function creatorOf(signature: unknown): string | undefined {
  if (!isObject(signature) || signature.type !== 'RsaSignature2017') return undefined
  const { creator, signatureValue, created } = signature
  if (typeof creator !== 'string' || typeof signatureValue !== 'string' || typeof created !== 'string') return undefined
  return creator.length <= 2000 && URL.canParse(creator) ? creator : undefined
}

const timeOf = (value: unknown): Date | null => {
  const time = typeof value === 'string' && value.length <= 50 ? Date.parse(value) : Number.NaN
  return Number.isFinite(time) && time > 0 ? new Date(time) : null
}
