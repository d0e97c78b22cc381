import { describe, expect, it } from '@jest/globals'
import { SignJWT } from 'jose'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { makeSignedTokens } from '../../../src/platform/signed-tokens.ts'
import { fakeClock } from '../../support/clock.ts'

const clock = fakeClock()
const tokens = makeSignedTokens({ secrets: makeSecrets({ secret: 'a secret for tests' }), clock })

describe('a signed token', () => {
  it('returns its claims for the same purpose, until it expires', async () => {
    const token = await tokens.sign('verify-email', { userId: 7, pending: true }, 60_000)
    expect(await tokens.read('verify-email', token)).toEqual({ userId: 7, pending: true })
    clock.pass(59_000)
    expect(await tokens.read('verify-email', token)).toEqual({ userId: 7, pending: true })
    clock.pass(2_000)
    expect(await tokens.read('verify-email', token)).toBeUndefined()
  })

  it('is invalid for other purposes and on other servers', async () => {
    const token = await tokens.sign('verify-email', { userId: 7 }, 60_000)
    expect(await tokens.read('reset-password', token)).toBeUndefined()
    const elsewhere = makeSignedTokens({ secrets: makeSecrets({ secret: 'another secret' }), clock })
    expect(await elsewhere.read('verify-email', token)).toBeUndefined()
  })

  it.each<[what: string, forge: (token: string) => string]>([
    ['altered claims', (token) => token.replace(/\.[^.]+\./, `.${btoa('{"userId":1}').replace(/=+$/, '')}.`)],
    ['no signature', (token) => token.replace(/\.[^.]+$/, '.')],
    ['nothing at all', () => ''],
    ['other text', () => 'hello'],
  ])('with %s is refused', async (_what, forge) => {
    const token = await tokens.sign('verify-email', { userId: 7 }, 60_000)
    expect(await tokens.read('verify-email', forge(token))).toBeUndefined()
  })

  it('with another algorithm is refused', async () => {
    const key = Buffer.from(makeSecrets({ secret: 'a secret for tests' }).hmac('signed-token', 'verify-email'), 'hex')
    const token = await new SignJWT({ userId: 7 }).setProtectedHeader({ alg: 'HS512' }).sign(Buffer.concat([key, key]))
    expect(await tokens.read('verify-email', token)).toBeUndefined()
  })
})
