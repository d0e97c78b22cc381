// Object integrity proofs (FEP-8b32, cryptosuite eddsa-jcs-2022) over raw JSON. Fedify makes them over its typed vocabulary only, which
// drops PeerTube's terms, and re-formats `created` when it verifies, hence this file.

import { decodeMultibase, encodeMultibase } from '@fedify/vocab-runtime'
import type { JsonObject } from '../wire/context.ts'
import { PROOF_TERMS } from '../wire/context.ts'
import { proofInput } from './canonical-json.ts'
import { asArray, isObject } from './json.ts'
import type { SigningKey } from './keys.ts'

const SUITE = 'eddsa-jcs-2022'
const MAX_PROOFS = 4

/** `created`: the signer's time of signing; null without one. */
interface ProofClaim {
  keyId: string
  proof: JsonObject
  signature: Uint8Array
  created: Date | null
}

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
  const signature = await crypto.subtle.sign('Ed25519', key.privateKey, proofInput(unsigned, proof))
  const proofValue = new TextDecoder().decode(encodeMultibase('base58btc', new Uint8Array(signature)))
  return { ...unsigned, proof: { ...proof, proofValue } }
}

export const hasProof = (document: JsonObject): boolean => document.proof !== undefined && document.proof !== null

/** The first proof of the supported suite; everything is checked except the signature itself. */
export function readProof(document: JsonObject, now: Date): ProofClaim | { refusal: 'malformed' | 'expired' } {
  const proof = asArray(document.proof)
    .slice(0, MAX_PROOFS)
    .find((one): one is JsonObject => isObject(one) && one.type === 'DataIntegrityProof' && one.cryptosuite === SUITE)
  const keyId = proof?.verificationMethod
  const signature = proof ? decoded(proof.proofValue) : undefined
  if (!proof || typeof keyId !== 'string' || keyId.length > 2000 || !signature) return { refusal: 'malformed' }
  if (proof.proofPurpose !== 'assertionMethod') return { refusal: 'malformed' }
  if (typeof proof.expires === 'string' && !(Date.parse(proof.expires) >= now.getTime())) return { refusal: 'expired' }
  const created = typeof proof.created === 'string' ? Date.parse(proof.created) : Number.NaN
  return { keyId, proof, signature, created: Number.isFinite(created) ? new Date(created) : null }
}

function decoded(multibase: unknown): Buffer | undefined {
  if (typeof multibase !== 'string' || multibase.length > 200) return undefined
  try {
    return Buffer.from(decodeMultibase(multibase))
  } catch {
    return undefined
  }
}
