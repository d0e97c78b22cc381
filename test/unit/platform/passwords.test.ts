// Password checks, with calls of the library counted: timing must not reveal which names exist.

import { describe, expect, it, jest } from '@jest/globals'
import * as argon2 from '@node-rs/argon2'
import { makePasswords } from '../../../src/platform/passwords.ts'

const verify = jest.fn(async (_hash: string, _password: string) => true)
const hash = jest.fn(async (password: string) => `hash of ${password}`)

describe('passwords', () => {
  it('are checked for an unknown name too, at the same cost, and never match', async () => {
    const passwords = makePasswords({ hash, verify })
    expect(await passwords.verify('a hash', 'guess')).toBe(true)
    const [decoy] = await Promise.all(hash.mock.results.map((result) => result.value))
    expect(await passwords.verify(undefined, 'guess')).toBe(false)
    expect(verify.mock.calls).toEqual([
      ['a hash', 'guess'],
      [decoy, 'guess'],
    ])
    // The dummy hash is made with the first check of all, not with the first of an unknown name.
    expect(hash).toHaveBeenCalledTimes(1)
  })

  it('of unknown names are checked again after a failure', async () => {
    const failing = jest.fn(hash).mockRejectedValueOnce(new Error('out of memory'))
    const passwords = makePasswords({ hash: failing, verify })
    await expect(passwords.verify(undefined, 'guess')).rejects.toThrow('out of memory')
    expect(await passwords.verify(undefined, 'guess')).toBe(false)
  })

  it.each([
    ['caf\u00e9 secret', 'cafe\u0301 secret'],
    ['\u1112\u1161\u11ab secret', '\ud55c secret'],
    ['\u212b secret', '\u00c5 secret'],
  ])('match in any Unicode normalisation: %j and %j', async (one, other) => {
    const passwords = makePasswords(undefined, { memoryCost: 8, timeCost: 1, parallelism: 1 })
    for (const [set, typed] of [
      [one, other],
      [other, one],
    ] as const) {
      expect(await passwords.verify(await passwords.hash(set), typed)).toBe(true)
      expect(await passwords.verify(await passwords.hash(set), `${typed}!`)).toBe(false)
    }
  })

  it('match hashes from before normalisation', async () => {
    const typed = 'cafe\u0301 secret'
    const passwords = makePasswords(undefined, { memoryCost: 8, timeCost: 1, parallelism: 1 })
    const before = await argon2.hash(typed, { memoryCost: 8, timeCost: 1, parallelism: 1 })
    expect(await passwords.verify(before, typed)).toBe(true)
    expect(await passwords.verify(before, typed.normalize('NFC'))).toBe(true)
    expect(await passwords.verify(before, 'cafe secret')).toBe(false)
  })
})
