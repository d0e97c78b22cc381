// Passwords, with the library counted: an attacker must not learn from the time which names exist.

import { describe, expect, it, jest } from '@jest/globals'
import { makePasswords } from '../../../src/platform/passwords.ts'

const verify = jest.fn(async (_hash: string, _password: string) => true)
const hash = jest.fn(async (password: string) => `hash of ${password}`)

describe('passwords', () => {
  it('are checked for a name that nobody has as well, at the same cost, and never fit', async () => {
    const passwords = makePasswords({ hash, verify })
    expect(await passwords.verify('a hash', 'guess')).toBe(true)
    const [decoy] = await Promise.all(hash.mock.results.map((result) => result.value))
    expect(await passwords.verify(undefined, 'guess')).toBe(false)
    expect(verify.mock.calls).toEqual([
      ['a hash', 'guess'],
      [decoy, 'guess'],
    ])
    // The hash of nobody is made with the first check of all, not with the first of an unknown name.
    expect(hash).toHaveBeenCalledTimes(1)
  })
})
