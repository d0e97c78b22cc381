// Signatures inside documents: they survive forwarding, so that a comment arrives through the video's server and is
// still its author's.

import { createSignature, verifySignature } from '@fedify/fedify/sig'
import { CryptographicKey } from '@fedify/vocab'
import { importPem } from '@fedify/vocab-runtime'
import jsonld from '@fedify/vocab-runtime/jsonld'
import { contextOf, type JsonObject, kindOf } from '../wire/context.ts'
import { isUnderstandable, loadBundledContext } from './contexts.ts'
import { type FindKey, type KnownKey, readRsaKey, type SigningKey } from './keys.ts'
import { addProof, hasProof, verifyProof } from './proof.ts'

/** The keys of one actor. */
export interface ActorKeys {
  rsa: SigningKey
  ed25519?: SigningKey
}

/**
 * The document with an object proof (when there is an Ed25519 key) and an RsaSignature2017 over all of it. Documents
 * must carry their context; keys of ours only.
 */
export async function signDocument(document: JsonObject, keys: ActorKeys, now: Date): Promise<JsonObject> {
  const proven = keys.ed25519 ? await addProof(document, keys.ed25519, now) : document
  // The actor's own address, as in the reference: it looks the creator up as an actor, and one with a fragment is
  // fetched anew each time.
  const creatorUrl = new URL(keys.rsa.keyId.split('#', 1)[0] ?? keys.rsa.keyId)
  const signature = await createSignature(proven, keys.rsa.privateKey, creatorUrl, {
    contextLoader: loadBundledContext,
  })
  const { type, creator, created, signatureValue } = signature
  return { ...proven, signature: { type, creator, created, signatureValue } }
}

export type DocumentVerdict =
  /**
   * `document` is the only thing that may be believed; for LD signatures it is not the bytes that came in. `created` is
   * when it was signed, as the signer says; null when it does not say.
   */
  | { ok: true; by: 'proof' | 'ld-signature'; keyId: string; owner: string; document: JsonObject; created: Date | null }
  | {
      ok: false
      /** `unverifiable`: a context that we have not, or a shape that hides what was signed. */
      reason:
        | 'unsigned'
        | 'malformed'
        | 'unverifiable'
        | 'too-large'
        | 'weak-key'
        | 'bad-signature'
        | 'expired'
        | 'not-by-actor'
      keyId?: string
      key?: KnownKey
    }
  | { ok: false; reason: 'unknown-key'; unknownKey: string }

/**
 * Verifies the proof of a document, else its LD signature, and that it is its actor's. No fetch is made.
 *
 * An LD signature is over statements, not over JSON: keys without a meaning can be added, contexts exchanged and
 * objects turned inside out, and the signature still holds (CVE-2026-46349, CVE-2026-42462). So what comes back is
 * written anew from the signed statements in the context that we read by; whatever was not signed is not in it.
 */
export async function verifyDocument(
  document: JsonObject,
  options: { findKey: FindKey; now: Date; minRsaBits?: number },
): Promise<DocumentVerdict> {
  if (hasProof(document)) {
    const verdict = await verifyProof(document, options)
    if (verdict.ok)
      return byActor({ ...verdict, by: 'proof', document: without(without(document, 'proof'), 'signature') })
    if (document.signature === undefined) return verdict
  }
  return verifyLdSignature(document, options)
}

async function verifyLdSignature(
  document: JsonObject,
  options: { findKey: FindKey; minRsaBits?: number },
): Promise<DocumentVerdict> {
  const { signature } = document
  if (signature === undefined || signature === null) return { ok: false, reason: 'unsigned' }
  const keyId = creatorOf(signature)
  if (keyId === undefined) return { ok: false, reason: 'malformed' }
  if (isTangled(document)) return { ok: false, reason: 'unverifiable', keyId }
  if (JSON.stringify(document).length > LARGEST_CANONICALISED) return { ok: false, reason: 'too-large', keyId }
  if (!isUnderstandable(document)) return { ok: false, reason: 'unverifiable', keyId }
  const known = await options.findKey(keyId)
  if (!known) return { ok: false, reason: 'unknown-key', unknownKey: keyId }
  if (!readRsaKey(known.pem, options.minRsaBits) || !URL.canParse(known.owner))
    return { ok: false, reason: 'weak-key', keyId, key: known }
  const owned = new CryptographicKey({
    id: new URL(keyId),
    owner: new URL(known.owner),
    publicKey: await importPem(known.pem),
  })
  const refuseFetch = async (url: string): Promise<never> => {
    throw new Error(`not fetched while verifying: ${url}`)
  }
  const signer = await verifySignature(document, {
    contextLoader: loadBundledContext,
    documentLoader: refuseFetch,
    keyCache: { get: async () => owned, set: async () => {} },
  }).catch(() => null)
  if (!signer) return { ok: false, reason: 'bad-signature', keyId, key: known }
  const trusted = await rewritten(document)
  if (!trusted) return { ok: false, reason: 'unverifiable', keyId }
  const created = isObject(signature) ? timeOf(signature.created) : null
  return byActor({ ok: true, by: 'ld-signature', keyId, owner: known.owner, document: trusted, created })
}

/** Characters. Notes have some thousands, and a video with all its files and captions has about fifty thousand. */
const LARGEST_CANONICALISED = 200_000

/** More nameless things than this are in no activity that others pass on; a video with all its files has about 150. */
const MOST_NAMELESS = 400

/**
 * Whether canonicalising would take long: things without an address are told apart by all that is around them, which takes
 * seconds for some thousands.
 */
function isTangled(document: JsonObject): boolean {
  let nameless = 0
  const count = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.some(count)
    if (!isObject(value)) return false
    if (typeof value.id !== 'string' && ++nameless > MOST_NAMELESS) return true
    return Object.entries(value).some(([key, inner]) => key !== '@context' && count(inner))
  }
  return count(document)
}

/** The signed statements in our own context; undefined when they do not tell of the same activity. */
async function rewritten(document: JsonObject): Promise<JsonObject | undefined> {
  const context = contextOf(kindOf(document))
  try {
    const compacted: unknown = await jsonld.compact(
      without(document, 'signature'),
      { '@context': context },
      { documentLoader: loadBundledContext },
    )
    if (!isObject(compacted) || !isUnderstandable(compacted)) return undefined
    const isSame = ['id', 'type', 'actor'].every((key) => compacted[key] === document[key])
    return isSame ? without(compacted, 'proof') : undefined
  } catch {
    return undefined
  }
}

/** A signature counts for its owner's documents only. */
function byActor(verdict: Extract<DocumentVerdict, { ok: true }>): DocumentVerdict {
  const { actor, attributedTo } = verdict.document
  const author = actor ?? (Array.isArray(attributedTo) ? attributedTo[0] : attributedTo)
  const id = isObject(author) ? author.id : author
  return id === verdict.owner ? verdict : { ok: false, reason: 'not-by-actor', keyId: verdict.keyId }
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

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const without = (document: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([key]) => key !== name))
