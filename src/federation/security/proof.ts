// Object integrity proofs (FEP-8b32, cryptosuite eddsa-jcs-2022) over raw JSON. Fedify makes them over its typed
// vocabulary only, which drops PeerTube's terms, and re-formats `created` when it verifies, hence this file.

import { createHash, verify } from 'node:crypto'
import { decodeMultibase, encodeMultibase } from '@fedify/vocab-runtime'
import type { JsonObject } from '../wire/context.ts'
import { PROOF_TERMS } from '../wire/context.ts'
import { canonicalJson } from './canonical-json.ts'
import { type FindKey, type KnownKey, readEd25519Key, type SigningKey } from './keys.ts'

const SUITE = 'eddsa-jcs-2022'
const MAX_PROOFS = 4

export type ProofVerdict =
  /** `created`: when, as the signer says; null when it does not say. */
  | { ok: true; keyId: string; owner: string; created: Date | null }
  | { ok: false; reason: 'malformed' | 'weak-key' | 'bad-signature' | 'expired'; keyId?: string; key?: KnownKey }
  | { ok: false; reason: 'unknown-key'; unknownKey: string }

/** The document with a proof by an Ed25519 key, and with the terms of proofs in its context. */
export async function addProof(document: JsonObject, key: SigningKey, now: Date): Promise<JsonObject> {
  const { proof: _old, ...rest } = document
  const context = [...asArray(rest['@context']), PROOF_TERMS]
  const unsigned = { ...rest, '@context': context }
  const proof = {
    '@context': context,
    type: 'DataIntegrityProof',
    cryptosuite: SUITE,
    verificationMethod: key.keyId,
    proofPurpose: 'assertionMethod',
    // Whole seconds: Fedify parses and prints the time again before it verifies.
    created: now.toISOString().replace(/\.\d{3}Z$/, 'Z'),
  }
  const signature = await crypto.subtle.sign('Ed25519', key.privateKey, signedBytes(unsigned, proof))
  const proofValue = new TextDecoder().decode(encodeMultibase('base58btc', new Uint8Array(signature)))
  return { ...unsigned, proof: { ...proof, proofValue } }
}

export const hasProof = (document: JsonObject): boolean => document.proof !== undefined && document.proof !== null

/** Verifies the first proof of the suite that we know. */
export async function verifyProof(
  document: JsonObject,
  options: { findKey: FindKey; now: Date },
): Promise<ProofVerdict> {
  const proof = asArray(document.proof)
    .slice(0, MAX_PROOFS)
    .find((one): one is JsonObject => isObject(one) && one.type === 'DataIntegrityProof' && one.cryptosuite === SUITE)
  const keyId = proof?.verificationMethod
  const signature = proof ? decoded(proof.proofValue) : undefined
  if (!proof || typeof keyId !== 'string' || !signature || proof.proofPurpose !== 'assertionMethod')
    return { ok: false, reason: 'malformed' }
  const { proofValue: _value, ...configuration } = proof
  const unsigned = without(document, 'proof')
  // A proof may repeat the context; another one than the document's would give the words another meaning.
  if (proof['@context'] !== undefined && canonicalJson(proof['@context']) !== canonicalJson(document['@context']))
    return { ok: false, reason: 'malformed', keyId }
  if (typeof proof.expires === 'string' && !(Date.parse(proof.expires) >= options.now.getTime()))
    return { ok: false, reason: 'expired', keyId }
  const known = await options.findKey(keyId)
  if (!known) return { ok: false, reason: 'unknown-key', unknownKey: keyId }
  const key = readEd25519Key(known.pem)
  if (!key) return { ok: false, reason: 'weak-key', keyId, key: known }
  const configurations =
    configuration['@context'] === undefined && document['@context'] !== undefined
      ? [{ ...configuration, '@context': document['@context'] }, configuration]
      : [configuration]
  // An LD signature is put on after the proof, so the proof is not over it.
  const documents = 'signature' in unsigned ? [without(unsigned, 'signature'), unsigned] : [unsigned]
  const fits = documents.some((body) =>
    configurations.some((config) => verify(null, signedBytes(body, config), key, signature)),
  )
  if (!fits) return { ok: false, reason: 'bad-signature', keyId, key: known }
  const created = typeof proof.created === 'string' ? Date.parse(proof.created) : Number.NaN
  return { ok: true, keyId, owner: known.owner, created: Number.isFinite(created) ? new Date(created) : null }
}

function signedBytes(document: JsonObject, configuration: JsonObject): Buffer<ArrayBuffer> {
  const hash = (value: unknown) => createHash('sha256').update(canonicalJson(value)).digest()
  return Buffer.concat([hash(configuration), hash(document)])
}

function decoded(multibase: unknown): Buffer | undefined {
  if (typeof multibase !== 'string' || multibase.length > 200) return undefined
  try {
    return Buffer.from(decodeMultibase(multibase))
  } catch {
    return undefined
  }
}

const asArray = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])
const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null
const without = (document: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([key]) => key !== name))
