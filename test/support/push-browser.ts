// The push side of a browser: its keys, and decryption of push messages (RFC 8291).

import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

export interface PushBrowser {
  /** In the form of `PushSubscription.toJSON()`. */
  subscription: { endpoint: string; expirationTime: null; keys: { p256dh: string; auth: string } }
  /** Decrypts the body of a request. Throws if it is not for this browser. */
  read(body: Buffer): string
}

export function makePushBrowser(endpoint: string): PushBrowser {
  const pair = createECDH('prime256v1')
  const p256dh = pair.generateKeys('base64url')
  const auth = randomBytes(16)
  const derive = (from: Buffer, salt: Buffer, info: Buffer, bytes: number) => Buffer.from(hkdfSync('sha256', from, salt, info, bytes))

  return {
    subscription: { endpoint, expirationTime: null, keys: { p256dh, auth: auth.toString('base64url') } },
    read(body) {
      if (body.length > body.readUInt32BE(16) || body[20] !== 65) throw new Error('This is not one record with a key.')
      const [salt, key] = [body.subarray(0, 16), body.subarray(21, 86)]
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), key])
      const secret = derive(pair.computeSecret(key), auth, info, 32)
      const decipher = createDecipheriv(
        'aes-128-gcm',
        derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16),
        derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12),
      )
      decipher.setAuthTag(body.subarray(-16))
      const padded = Buffer.concat([decipher.update(body.subarray(86, -16)), decipher.final()])
      if (padded.at(-1) !== 2) throw new Error('This is not the last record.')
      return padded.subarray(0, -1).toString('utf8')
    },
  }
}
