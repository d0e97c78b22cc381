// Web Push messages, as browsers and push services read them.

import { createPublicKey, randomBytes } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { jwtVerify } from 'jose'
import { encryptPush, isPushKey, vapidHeader, vapidKeys } from '../../../src/platform/web-push.ts'
import { makePushBrowser } from '../../support/push-browser.ts'

const bytes = (text: string) => Buffer.from(text, 'base64url')

describe('an encrypted message', () => {
  // RFC 8291, section 5 and appendix A.
  const target = {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  }

  it('equals the example of the standard', () => {
    const sent = encryptPush('When I grow up, I want to be a watermelon', target, {
      salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
      privateKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
    })
    expect(sent.toString('base64url')).toBe(
      'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
    )
  })

  it('is readable by its browser only, and different each time', () => {
    const [browser, other] = [makePushBrowser('https://push.example/1'), makePushBrowser('https://push.example/2')]
    const sent = encryptPush('Grüße aus dem Süden', browser.subscription.keys)
    expect(browser.read(sent)).toBe('Grüße aus dem Süden')
    expect(() => other.read(sent)).toThrow()
    expect(encryptPush('Grüße aus dem Süden', browser.subscription.keys)).not.toEqual(sent)
  })
})

it('the key of a browser must be a point on the curve', () => {
  const { p256dh } = makePushBrowser('https://push.example/1').subscription.keys
  const off = bytes(p256dh)
  off[64] = (off[64] ?? 0) ^ 1
  expect([p256dh, off.toString('base64url'), p256dh.slice(0, 40), '', randomBytes(65).toString('base64url')].map(isPushKey)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
})

describe('the sender', () => {
  it('has the same keys for the same secret, for any leading bits', () => {
    for (const seed of [Buffer.alloc(32, 0xff), Buffer.alloc(32, 1)]) {
      expect(vapidKeys(seed).publicKey).toBe(vapidKeys(seed).publicKey)
      expect(isPushKey(vapidKeys(seed).publicKey)).toBe(true)
    }
    expect(vapidKeys(Buffer.alloc(32, 2)).publicKey).not.toBe(vapidKeys(Buffer.alloc(32, 1)).publicKey)
  })

  it('authenticates to one push service, for less than a day', async () => {
    const now = new Date('2026-01-02T03:04:05Z')
    const keys = vapidKeys(randomBytes(32))
    const header = await vapidHeader(keys, { endpoint: 'https://push.example/x/y?z', subject: 'https://video.example', now })
    const [, token = '', key = ''] = /^vapid t=(\S+), k=(\S+)$/.exec(header) ?? []
    expect(key).toBe(keys.publicKey)
    const [x, y] = [bytes(key).subarray(1, 33), bytes(key).subarray(33)].map((half) => half.toString('base64url'))
    const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
    const { payload } = await jwtVerify(token, publicKey, { algorithms: ['ES256'], currentDate: now })
    const exp = now.getTime() / 1000 + 12 * 3600
    expect(payload).toEqual({ sub: 'https://video.example', aud: 'https://push.example', exp })
  })
})
