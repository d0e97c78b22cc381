// Identifiers: UUIDs, their short form in URLs, and random secrets.

import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { constants, createTranslator } from 'short-uuid'

/** Row ids: PostgreSQL's `integer`. */
export const LARGEST_ID = 2_147_483_647

const translator = createTranslator(constants.flickrBase58, { consistentLength: true })
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const newUuid = (): string => randomUUID()

export const isUuid = (text: string): boolean => UUID.test(text)

/** The 22 character form of a UUID in PeerTube's URLs (base 58, Flickr's alphabet). */
export const toShortUuid = (uuid: string): string => translator.fromUUID(uuid)

/** The UUID of a short form; undefined if it is invalid. */
export function fromShortUuid(text: string): string | undefined {
  if (!/^[1-9A-HJ-NP-Za-km-z]{22}$/.test(text)) return undefined
  try {
    const uuid = translator.toUUID(text)
    return isUuid(uuid) ? uuid : undefined
  } catch {
    return undefined
  }
}

/** A random secret of `bytes` bytes, in hexadecimal. */
export const randomToken = (bytes: number): string => randomBytes(bytes).toString('hex')

/** SHA-256, the form in which tokens are stored and long identifiers are indexed. */
export const sha256 = (text: string | Uint8Array): Buffer => createHash('sha256').update(text).digest()
