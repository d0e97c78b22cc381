// One-time codes of authenticator apps.

import { describe, expect, it } from '@jest/globals'
import { enrolmentUri, stepOfCode } from '../../../src/actors/two-factor/one-time-code.ts'

// RFC 6238, appendix B: the secret `12345678901234567890`, of whose eight digits apps show the last six.
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const vectors = [
  [59, '287082'],
  [1111111109, '081804'],
  [1234567890, '005924'],
  [2000000000, '279037'],
] as const
const at = (seconds: number) => new Date(seconds * 1000)

describe('a one-time code', () => {
  it.each(vectors)('for the second %i is that of the RFC', async (seconds, code) => {
    expect(await stepOfCode(secret, code, at(seconds))).toBe(Math.floor(seconds / 30))
  })

  it.each([
    [-31, undefined],
    [-30, 37037036],
    [0, 37037036],
    [29, 37037036],
    [59, 37037036],
    [60, undefined],
  ])('shown from a full step on is valid %i s later: step %s', async (later, step) => {
    expect(await stepOfCode(secret, '081804', at(37037036 * 30 + later))).toBe(step)
  })

  it.each(['', '81804', '0818040', '08180a', ' 081804', '081804\n', '٠٨١٨٠٤', '081 804'])('is not %j', async (code) => {
    expect(await stepOfCode(secret, code, at(1111111109))).toBeUndefined()
  })
})

it('the URL of the QR code has server, user and all parameters', () => {
  expect(enrolmentUri({ issuer: 'video.example:9000', label: 'una+tv@example.com', secret })).toBe(
    `otpauth://totp/video.example%3A9000:una%2Btv%40example.com?issuer=video.example%3A9000&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
  )
})
