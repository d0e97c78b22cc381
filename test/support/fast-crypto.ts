// Fast replacements for slow cryptography in tests: real key pairs that all tests share, and password hashes of minimal cost.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as argon2 from '@node-rs/argon2'
import { type ActorKeys, generateActorKeys } from '../../src/platform/keys.ts'
import { makePasswords } from '../../src/platform/passwords.ts'

/** More than most tests have actors, so that each actor has its own keys. */
const KEYS = 40
/** Key pairs of remote actors, after the local ones. */
const PEER_KEYS = 4

let pool: ActorKeys[] | undefined
let used = 0
let usedByPeers = 0

/** Generates the pairs, unless `folder` has them from an earlier run, and passes their path to the tests. */
export async function prepareKeys(folder: string): Promise<void> {
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
  pool ??= JSON.parse(readFileSync(process.env.VIREO_TEST_KEYS ?? '', 'utf8')) as ActorKeys[]
  const keys = pool[place]
  if (!keys) throw new Error('no keys')
  return keys
}

/** The next local key pair; reused after `KEYS` actors. */
export const generateKeys = async (): Promise<ActorKeys> => pair(used++ % KEYS)

/** The next key pair of a remote actor. */
export const peerKeys = async (): Promise<ActorKeys> => pair(KEYS + (usedByPeers++ % PEER_KEYS))

export const fastPasswords = () => makePasswords(argon2, { memoryCost: 64, timeCost: 1, parallelism: 1 })
