// The RTMP handshake from the server's side: C0 and C1 are answered with S0, S1 and S2, then C2 is skipped. Clients that put a digest into C1
// (Flash Player 9 and its followers) get one in S1 and a signed S2; others get the plain form of the RTMP 1.0 specification, section 5.2.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { ProtocolError } from './protocol-error.ts'

const VERSION = 3
const SIZE = 1536
const DIGEST = 32

/** Well-known constants of the digests. */
const CLIENT_KEY = Buffer.from('Genuine Adobe Flash Player 001')
const SERVER_KEY = Buffer.from('Genuine Adobe Flash Media Server 001')
const KEY_TAIL = Buffer.from('f0eec24a8068bee82e00d0d1029e7e576eec5d2d29806fab93b8e636cfeb31ae', 'hex')

/** Where the four bytes are whose sum places the digest, and where that area begins. */
const SCHEMES = [
  { from: 772, base: 776 },
  { from: 8, base: 12 },
] as const
const SPREAD = 728

export function makeHandshake(write: (bytes: Buffer) => void) {
  let received: Buffer = Buffer.alloc(0)
  let isAnswered = false
  return {
    /** Returns the bytes that follow the handshake, or undefined while it lasts. Throws ProtocolError. */
    push(bytes: Buffer): Buffer | undefined {
      if (received.length === 0 && bytes.length > 0 && bytes[0] !== VERSION) throw new ProtocolError('This is not RTMP.')
      received = Buffer.concat([received, bytes])
      if (!isAnswered && received.length > SIZE) {
        isAnswered = true
        write(answer(received.subarray(1, 1 + SIZE)))
      }
      return received.length < 1 + 2 * SIZE ? undefined : received.subarray(1 + 2 * SIZE)
    },
  }
}

function answer(c1: Buffer): Buffer {
  const s0 = Buffer.from([VERSION])
  const s1 = randomBytes(SIZE)
  const scheme = SCHEMES.find((one) => hasDigest(c1, one))
  if (!scheme) {
    // The time and four zeros.
    s1.fill(0, 0, 8)
    return Buffer.concat([s0, s1, c1])
  }
  // The time, and a version that has digests.
  Buffer.from([0, 0, 0, 0, 4, 5, 0, 1]).copy(s1)
  const at = digestAt(s1, scheme)
  digestOf(s1, at, SERVER_KEY).copy(s1, at)
  const challenge = c1.subarray(digestAt(c1, scheme)).subarray(0, DIGEST)
  const noise = randomBytes(SIZE - DIGEST)
  const key = hmac(Buffer.concat([SERVER_KEY, KEY_TAIL]), challenge)
  return Buffer.concat([s0, s1, noise, hmac(key, noise)])
}

type Scheme = (typeof SCHEMES)[number]

function hasDigest(c1: Buffer, scheme: Scheme): boolean {
  const at = digestAt(c1, scheme)
  return timingSafeEqual(c1.subarray(at, at + DIGEST), digestOf(c1, at, CLIENT_KEY))
}

function digestAt(block: Buffer, { from, base }: Scheme): number {
  const sum = block.subarray(from, from + 4).reduce((total, byte) => total + byte, 0)
  return base + (sum % SPREAD)
}

const digestOf = (block: Buffer, at: number, key: Buffer): Buffer =>
  hmac(key, Buffer.concat([block.subarray(0, at), block.subarray(at + DIGEST)]))

const hmac = (key: Buffer, bytes: Buffer): Buffer => createHmac('sha256', key).update(bytes).digest()
