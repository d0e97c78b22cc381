// Messages to browsers by their push services: encryption (RFC 8291, in one record of RFC 8188) and identification of the sender (VAPID,
// RFC 8292). By node:crypto and jose: the packages for this bring eight others, and HTTP clients that are not guarded.

import { createCipheriv, createECDH, createPrivateKey, ECDH, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { SignJWT } from 'jose'

/** What a browser gives out: bytes as base64url. */
export interface PushTarget {
  endpoint: string
  /** Public key of the browser: an uncompressed point on P-256. */
  p256dh: string
  /** A secret that the browser shares, 16 bytes. */
  auth: string
}

/** The key pair of the sender. */
export interface VapidKeys {
  /** As `applicationServerKey`: base64url. */
  publicKey: string
  privateKey: KeyObject
}

const CURVE = 'prime256v1'
const SALT_BYTES = 16
const KEY_BYTES = 32
/** Of the only record; the whole body must not be longer (RFC 8291, 4). */
const RECORD_BYTES = 4096
/** Marks the last record. */
const DELIMITER = 2
const JWT_LIFETIME_S = 12 * 3600

/** Derived from 32 secret bytes, which are the same at every start. */
export function vapidKeys(seed: Buffer): VapidKeys {
  // A private key is smaller than the order of the curve, whose first bit is set.
  const secret = Buffer.concat([Buffer.from([(seed[0] ?? 0) & 0x7f]), seed.subarray(1)])
  const pair = createECDH(CURVE)
  pair.setPrivateKey(secret)
  const point = pair.getPublicKey()
  const [x, y] = [point.subarray(1, 1 + KEY_BYTES), point.subarray(1 + KEY_BYTES)].map((half) => half.toString('base64url'))
  const privateKey = createPrivateKey({ key: { kty: 'EC', crv: 'P-256', d: secret.toString('base64url'), x, y }, format: 'jwk' })
  return { publicKey: point.toString('base64url'), privateKey }
}

/** True for a public key of a browser. */
export function isPushKey(text: string): boolean {
  const point = Buffer.from(text, 'base64url')
  if (point.length !== 1 + 2 * KEY_BYTES || point[0] !== 4) return false
  try {
    ECDH.convertKey(point, CURVE)
    return true
  } catch {
    return false
  }
}

/** The body of a request to a push service. `chosen` (tests): salt and private key, which are otherwise random for each message. */
export function encryptPush(
  text: string,
  { p256dh, auth }: Pick<PushTarget, 'p256dh' | 'auth'>,
  chosen?: { salt: Buffer; privateKey: Buffer },
): Buffer {
  const sender = createECDH(CURVE)
  if (chosen) sender.setPrivateKey(chosen.privateKey)
  else sender.generateKeys()
  const salt = chosen?.salt ?? randomBytes(SALT_BYTES)
  const [receiverKey, senderKey] = [Buffer.from(p256dh, 'base64url'), sender.getPublicKey()]
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiverKey, senderKey])
  const secret = derive(sender.computeSecret(receiverKey), { salt: Buffer.from(auth, 'base64url'), info, bytes: KEY_BYTES })
  const cipher = createCipheriv(
    'aes-128-gcm',
    derive(secret, { salt, info: 'Content-Encoding: aes128gcm\0', bytes: 16 }),
    derive(secret, { salt, info: 'Content-Encoding: nonce\0', bytes: 12 }),
  )
  const size = Buffer.alloc(5)
  size.writeUInt32BE(RECORD_BYTES)
  size.writeUInt8(senderKey.length, 4)
  return Buffer.concat([
    salt,
    size,
    senderKey,
    cipher.update(text, 'utf8'),
    cipher.update(Buffer.of(DELIMITER)),
    cipher.final(),
    cipher.getAuthTag(),
  ])
}

/** The header `Authorization`. `subject`: an address (`https:`, `mailto:`) of whom the push service may ask. */
export async function vapidHeader(
  { publicKey, privateKey }: VapidKeys,
  { endpoint, subject, now }: { endpoint: string; subject: string; now: Date },
): Promise<string> {
  const token = await new SignJWT({ sub: subject })
    .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
    .setAudience(new URL(endpoint).origin)
    .setExpirationTime(Math.floor(now.getTime() / 1000) + JWT_LIFETIME_S)
    .sign(privateKey)
  return `vapid t=${token}, k=${publicKey}`
}

const derive = (from: Buffer, { salt, info, bytes }: { salt: Buffer; info: string | Buffer; bytes: number }): Buffer =>
  Buffer.from(hkdfSync('sha256', from, salt, info, bytes))
