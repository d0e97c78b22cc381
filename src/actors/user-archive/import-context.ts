// An import, as the importers of its parts see it.

import type { Readable } from 'node:stream'

/** A file in the archive. Its declared size is checked while it is read. */
export interface ArchivedFile {
  /** Its path in the archive, such as `files/account/avatars/a.png`. */
  path: string
  /** Bytes, uncompressed. */
  size: number
  /** The bytes; fails if their number or their CRC differs from the declared one. */
  open(): Promise<Readable>
}

export interface ImportContext {
  userId: number
  accountId: number
  /** Aborted when the import must stop: its lease is lost, or the process stops. */
  signal: AbortSignal
  /** The file that a part's document names, relative to `peertube/`; undefined if the archive does not have it. */
  file(name: string | null | undefined): ArchivedFile | undefined
}

/**
 * Why an item was not imported. The kinds of the catalogue of refusals, and: `damaged`, its file differs from what the archive declares;
 * `file_missing`, the archive does not have its file; `quota_reached`, the file exceeds the user's quota; `too_many`, the archive exceeds a
 * limit.
 */
export const itemReasons = [
  'invalid',
  'not_found',
  'forbidden',
  'conflict',
  'gone',
  'too_large',
  'unsupported_media_type',
  'unprocessable',
  'too_many',
  'quota_reached',
  'damaged',
  'file_missing',
] as const

export type ItemReason = (typeof itemReasons)[number]

/** `duplicate`: the same content exists already. `error`: refused for this reason; the import continues with the next item. */
export type ItemOutcome = 'success' | 'duplicate' | { error: ItemReason }
