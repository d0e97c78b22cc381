// Passwords: argon2id (RFC 9106), with a check of constant cost for users that do not exist.

import { hash, verify } from '@node-rs/argon2'

// RFC 9106, section 4, second recommended option, as OWASP's memory-constrained variant: 19 MiB, two passes.
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export interface Passwords {
  hash(password: string): Promise<string>
  /** Whether the password fits; a missing hash costs as much time as a wrong password. */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>
}

export function makePasswords(): Passwords {
  let decoy: Promise<string> | undefined
  return {
    hash: (password) => hash(password, OPTIONS),
    async verify(passwordHash, password) {
      decoy ??= hash('nobody has this password', OPTIONS)
      const fits = await verify(passwordHash ?? (await decoy), password)
      return passwordHash !== undefined && fits
    },
  }
}
