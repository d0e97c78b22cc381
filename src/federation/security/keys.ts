// Keys: validation of remote public keys, and imported local private keys.

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { exportMultibaseKey, importMultibaseKey } from '@fedify/vocab-runtime'
import { LRUCache } from 'lru-cache'
import { makeLru } from '../../platform/lru.ts'

/** A known public key, and its owner. */
export interface KnownKey {
  /** SubjectPublicKeyInfo; RSA for HTTP and LD signatures, Ed25519 for proofs. */
  pem: string
  /** The owner of the key, checked when it was fetched. */
  owner: string
  fetchedAt: Date
}

/** Reads a stored key; never fetches. */
export type FindKey = (keyId: string) => Promise<KnownKey | null>

/** A local key, ready to sign. */
export interface SigningKey {
  keyId: string
  privateKey: CryptoKey
}

/** Minimum size of accepted keys, unless a caller overrides it (the reference's test mode has 1024). */
const MIN_RSA_BITS = 2048
/** Larger keys only cost time. */
const MAX_RSA_BITS = 8192
const MAX_PEM_LENGTH = 5000
const PUBLIC_PEM = /^\s*-----BEGIN (RSA )?PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END (RSA )?PUBLIC KEY-----\s*$/

/** Parsed keys by PEM: a server signs many requests with one key. */
const parsed = new LRUCache<string, KeyObject>({ max: 2_000 })

/** The key; undefined unless it is a public RSA key of an acceptable size. */
export function readRsaKey(pem: string, minBits: number = MIN_RSA_BITS): KeyObject | undefined {
  const key = parsed.get(pem) ?? readPublicKey(pem)
  if (key) parsed.set(pem, key)
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? 0
  return key?.asymmetricKeyType === 'rsa' && bits >= minBits && bits <= MAX_RSA_BITS ? key : undefined
}

export function readEd25519Key(pem: string): KeyObject | undefined {
  const key = readPublicKey(pem)
  return key?.asymmetricKeyType === 'ed25519' ? key : undefined
}

function readPublicKey(pem: string): KeyObject | undefined {
  if (pem.length > MAX_PEM_LENGTH || !PUBLIC_PEM.test(pem)) return undefined
  try {
    return createPublicKey(pem)
  } catch {
    return undefined
  }
}

/** The PEM of a Multikey (FEP-521a), which is the stored form; undefined if it is unreadable. */
export async function pemOfMultibase(multibase: string): Promise<string | undefined> {
  try {
    const key = await importMultibaseKey(multibase)
    const der = Buffer.from(await crypto.subtle.exportKey('spki', key))
    return createPublicKey({ key: der, format: 'der', type: 'spki' }).export({ format: 'pem', type: 'spki' }).toString()
  } catch {
    return undefined
  }
}

/** The `publicKeyMultibase` of a public key in PEM. */
export async function multibaseOfPem(pem: string): Promise<string> {
  const key = createPublicKey(pem)
  const der = key.export({ format: 'der', type: 'spki' })
  const algorithm = key.asymmetricKeyType === 'ed25519' ? 'Ed25519' : RSA
  return exportMultibaseKey(await crypto.subtle.importKey('spki', der, algorithm, true, ['verify']))
}

const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }

type Pem = string | (() => string | Promise<string>)

export interface PrivateKeyRing {
  /** The key of `keyId`, imported once per version. `pem` is read only on a miss. */
  get(key: { keyId: string; version: number | string; pem: Pem }): Promise<SigningKey>
}

/** Caches the imported private keys of recent signers, so that a delivery does not parse PEM each time. */
export function makePrivateKeyRing(options: { max?: number } = {}): PrivateKeyRing {
  const ready = makeLru<string, CryptoKey, { pem: Pem }>(options.max ?? 1000, {
    fetchMethod: async (_place, _stale, { context: { pem } }) => importPrivateKey(typeof pem === 'string' ? pem : await pem()),
  })
  return {
    async get({ keyId, version, pem }) {
      return { keyId, privateKey: await ready.forceFetch(`${version} ${keyId}`, { context: { pem } }) }
    },
  }
}

/** A private key (RSA or Ed25519) of PKCS #8 or PKCS #1 PEM. */
export async function importPrivateKey(pem: string): Promise<CryptoKey> {
  const key = createPrivateKey(pem)
  const der = key.export({ format: 'der', type: 'pkcs8' })
  const algorithm = key.asymmetricKeyType === 'ed25519' ? 'Ed25519' : RSA
  // Extractable, because Fedify refuses keys that are not.
  return crypto.subtle.importKey('pkcs8', der, algorithm, true, ['sign'])
}
