// Key pairs of actors, in the forms that other servers read.

import { createPublicKey, sign, verify } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { generateActorKeys } from '../../../src/platform/keys.ts'

describe('the keys of an actor', () => {
  const data = Buffer.from('signed')

  it('are an RSA pair of 2048 bits and an Ed25519 pair that sign and verify', async () => {
    const { rsa, ed25519 } = await generateActorKeys()
    expect(createPublicKey(rsa.publicPem).asymmetricKeyDetails?.modulusLength).toBe(2048)
    expect(rsa.publicPem).toMatch(/^-----BEGIN PUBLIC KEY-----\n/)
    expect(rsa.privatePem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/)
    expect(verify('sha256', data, rsa.publicPem, sign('sha256', data, rsa.privatePem))).toBe(true)
    expect(createPublicKey(ed25519.publicPem).asymmetricKeyType).toBe('ed25519')
    expect(verify(null, data, ed25519.publicPem, sign(null, data, ed25519.privatePem))).toBe(true)
  })

  it('give the Ed25519 key as a Multikey that decodes to the same key', async () => {
    const { ed25519 } = await generateActorKeys()
    expect(ed25519.publicMultibase).toMatch(/^z6Mk[1-9A-HJ-NP-Za-km-z]{44}$/)
    const bytes = fromBase58(ed25519.publicMultibase.slice(1))
    expect([...bytes.subarray(0, 2)]).toEqual([0xed, 0x01])
    const { x } = createPublicKey(ed25519.publicPem).export({ format: 'jwk' })
    expect(bytes.subarray(2).toString('base64url')).toBe(x)
  })

  it('are different for each actor', async () => {
    const [one, two] = await Promise.all([generateActorKeys(), generateActorKeys()])
    expect(one.rsa.publicPem).not.toBe(two.rsa.publicPem)
    expect(one.ed25519.publicMultibase).not.toBe(two.ed25519.publicMultibase)
  })
})

function fromBase58(text: string): Buffer {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  const value = [...text].reduce((sum, letter) => sum * 58n + BigInt(alphabet.indexOf(letter)), 0n)
  return Buffer.from(value.toString(16), 'hex')
}
