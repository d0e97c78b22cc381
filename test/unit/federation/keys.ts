// Keys for tests, generated once per file.

import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { importPrivateKey, type KnownKey, type SigningKey } from '../../../src/federation/security/index.ts'

export interface TestKey extends SigningKey {
  publicPem: string
  privatePem: string
  owner: string
}

const pem = (key: KeyObject): string => key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }).toString()

async function make(pair: { publicKey: KeyObject; privateKey: KeyObject }, keyId: string): Promise<TestKey> {
  const privatePem = pem(pair.privateKey)
  return {
    keyId,
    owner: keyId.split('#')[0] ?? '',
    publicPem: pem(pair.publicKey),
    privatePem,
    privateKey: await importPrivateKey(privatePem),
  }
}

export const rsaKey = (keyId: string, bits = 2048): Promise<TestKey> => make(generateKeyPairSync('rsa', { modulusLength: bits }), keyId)

export const ed25519Key = (keyId: string): Promise<TestKey> => make(generateKeyPairSync('ed25519'), keyId)

/** A lookup of these keys by id, with or without the fragment. */
export const finding =
  (...keys: TestKey[]) =>
  async (keyId: string): Promise<KnownKey | null> => {
    const key = keys.find((one) => one.keyId === keyId) ?? keys.find((one) => one.owner === keyId)
    return key ? { pem: key.publicPem, owner: key.owner, fetchedAt: new Date(0) } : null
  }
