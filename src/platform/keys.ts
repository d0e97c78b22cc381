// Key pairs of local actors: RSA for HTTP signatures, Ed25519 for object integrity proofs.

import { generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

export interface ActorKeys {
  rsa: { publicPem: string; privatePem: string }
  ed25519: {
    publicPem: string
    /** `publicKeyMultibase` of a Multikey (`z6Mk…`, FEP-521a). */
    publicMultibase: string
    privatePem: string
  }
}

export type GenerateKeys = () => Promise<ActorKeys>

const generate = promisify(generateKeyPair)
const RSA_BITS = 2048
/** The multicodec prefix of an Ed25519 public key (0xed as a varint). */
const ED25519_PREFIX = Buffer.from([0xed, 0x01])
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Generates both pairs off the main thread; about 0.1 s. Public keys as SPKI, private ones as PKCS #8, in PEM. */
export const generateActorKeys: GenerateKeys = async () => {
  const [rsa, ed25519] = await Promise.all([generate('rsa', { modulusLength: RSA_BITS }), generate('ed25519')])
  return { rsa: pems(rsa), ed25519: { ...pems(ed25519), publicMultibase: multibaseOf(ed25519.publicKey) } }
}

function pems({ publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }) {
  return {
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function multibaseOf(publicKey: KeyObject): string {
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  return `z${toBase58(Buffer.concat([ED25519_PREFIX, raw]))}`
}

/** Base 58 with Bitcoin's alphabet. The prefix is never zero, so there are no leading zeros to preserve. */
function toBase58(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (; rest > 0n; rest /= 58n) text = `${BASE58[Number(rest % 58n)]}${text}`
  return text
}
