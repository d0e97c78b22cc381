// In the place of what takes a server long to make and is made in nearly every test: key pairs and hashes of passwords. They are
// real ones, but few are new, and the hashes are easy to guess.

import * as argon2 from '@node-rs/argon2'
import { type ActorKeys, generateActorKeys } from '../../src/platform/keys.ts'
import { makePasswords } from '../../src/platform/passwords.ts'

/** More than there are actors in most tests, so that those of one test have keys of their own. */
const KEYS = 40

const made: Promise<ActorKeys>[] = []
let given = 0

/** The keys of a new actor, or of one of long ago. */
export function generateKeys(): Promise<ActorKeys> {
  given += 1
  const place = given % KEYS
  made[place] ??= generateActorKeys()
  return made[place]
}

export const cheapPasswords = () => makePasswords(argon2, { memoryCost: 64, timeCost: 1, parallelism: 1 })
