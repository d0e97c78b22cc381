// Passwords: argon2id (RFC 9106), with a check of constant cost for users that do not exist.

import { availableParallelism } from 'node:os'
import * as argon2 from '@node-rs/argon2'
import pLimit from 'p-limit'

// RFC 9106, section 4, second recommended option, as OWASP's memory-constrained variant: 19 MiB, two passes.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * Concurrent hashes in this process: each occupies a processor and one of the four threads that file reads need too, so one processor is
 * left to the event loop.
 */
const inTurn = pLimit(Math.max(1, Math.min(3, availableParallelism() - 1)))

interface Library {
  hash(password: string, cost: typeof COST): Promise<string>
  verify(passwordHash: string, password: string): Promise<boolean>
}

export interface Passwords {
  hash(password: string): Promise<string>
  /** True if the password matches; a missing hash takes as long as a wrong password. */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>
}

/**
 * Keyboards send the same letters in different code points. Hashes are of the composed form (NFC, as PRECIS profiles of passwords require,
 * RFC 8265), and older ones of the raw input. Most passwords have one spelling.
 */
const spellingsOf = (password: string): Set<string> => new Set([password.normalize('NFC'), password, password.normalize('NFD')])

/** Tests replace the library to count calls, or use a minimal cost. */
export function makePasswords({ hash, verify }: Library = argon2, cost = COST): Passwords {
  const slowHash = (password: string) => inTurn(() => hash(password, cost))
  let decoy: Promise<string> | undefined
  const decoyHash = (): Promise<string> => {
    decoy ??= slowHash('nobody has this password').catch((error: unknown) => {
      decoy = undefined
      throw error
    })
    return decoy
  }
  return {
    hash: (password) => slowHash(password.normalize('NFC')),
    async verify(passwordHash, password) {
      const prepared = decoyHash()
      // Only an unknown name needs it.
      prepared.catch(() => undefined)
      const compared = passwordHash ?? (await prepared)
      for (const spelled of spellingsOf(password)) {
        if (await inTurn(() => verify(compared, spelled))) return passwordHash !== undefined
      }
      return false
    },
  }
}
