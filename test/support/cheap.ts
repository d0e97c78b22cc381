// In the place of what takes a server long to make and is made in nearly every test: key pairs and hashes of passwords. They are
// real ones, but the same pairs serve all tests, and the hashes are easy to guess.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as argon2 from '@node-rs/argon2'
import { type ActorKeys, generateActorKeys } from '../../src/platform/keys.ts'
import { makePasswords } from '../../src/platform/passwords.ts'

/** More than there are actors in most tests, so that those of one test have keys of their own. */
const KEYS = 40
/** Those of other servers come after them. */
const PEER_KEYS = 4

let kept: ActorKeys[] | undefined
let given = 0
let givenToPeers = 0

/** Makes the pairs, unless an earlier run left them in `folder`, and tells the tests where they are. */
export async function keepKeys(folder: string): Promise<void> {
  const source = readFileSync(new URL('../../src/platform/keys.ts', import.meta.url))
  const path = join(folder, `vireo-keys-${createHash('sha256').update(source).digest('hex').slice(0, 16)}.json`)
  if (!existsSync(path)) {
    const pairs = await Promise.all(Array.from({ length: KEYS + PEER_KEYS }, generateActorKeys))
    writeFileSync(`${path}.${process.pid}`, JSON.stringify(pairs), { mode: 0o600 })
    renameSync(`${path}.${process.pid}`, path)
  }
  process.env.VIREO_TEST_KEYS = path
}

function pair(place: number): ActorKeys {
  kept ??= JSON.parse(readFileSync(process.env.VIREO_TEST_KEYS ?? '', 'utf8')) as ActorKeys[]
  const keys = kept[place]
  if (!keys) throw new Error('no keys')
  return keys
}

/** The keys of a new actor, or of one of long ago. */
export const generateKeys = async (): Promise<ActorKeys> => pair(given++ % KEYS)

/** Those of an actor of another server. */
export const peerKeys = async (): Promise<ActorKeys> => pair(KEYS + (givenToPeers++ % PEER_KEYS))

export const cheapPasswords = () => makePasswords(argon2, { memoryCost: 64, timeCost: 1, parallelism: 1 })
