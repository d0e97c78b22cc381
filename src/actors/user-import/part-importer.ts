// Imports one kind of data of an archive into a user's account, item by item, so that an interrupted import resumes and a repeated one
// duplicates nothing.

import type { Readable } from 'node:stream'
import type { ArchivePart, ReadPartItem } from '../user-archive/index.ts'
import type { ItemOutcome } from './item-outcome.ts'

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
 * Imports one item. It may be called again with the same item after a crash, and returns `duplicate` (or `success`) then. A DomainError
 * counts as `error`; any other error makes the import wait and retry.
 */
export interface PartImporter<P extends ArchivePart = ArchivePart> {
  part: P
  importItem(item: ReadPartItem<P>, context: ImportContext): Promise<ItemOutcome>
}
