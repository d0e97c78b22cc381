// What brings one kind of data of an archive into a user's account, item by item, so that an import that was interrupted goes on where
// it was and one that is run again doubles nothing.

import type { Readable } from 'node:stream'
import type { ArchivePart, ReadPartItem } from '../user-archive/index.ts'
import type { ItemOutcome } from './item-outcome.ts'

/** A file of the archive that was found, of a declared size that is checked while it is read. */
export interface ArchivedFile {
  /** Its path in the archive, such as `files/account/avatars/a.png`. */
  path: string
  /** Bytes, uncompressed. */
  size: number
  /** The bytes; fails when they are more or fewer than declared, or do not have the declared CRC. */
  open(): Promise<Readable>
}

export interface ImportContext {
  userId: number
  accountId: number
  /** Aborted when the import is to stop: its lease is lost, or the process ends. */
  signal: AbortSignal
  /** The file that a part's document names, relative to `peertube/`; undefined when the archive has no such file. */
  file(name: string | null | undefined): ArchivedFile | undefined
}

/**
 * Imports one item. It may be called again with the same item after a crash, and answers `duplicate` (or `success`) then. A DomainError is
 * counted as `error`; what is thrown besides makes the import wait and try again.
 */
export interface PartImporter<P extends ArchivePart = ArchivePart> {
  part: P
  importItem(item: ReadPartItem<P>, context: ImportContext): Promise<ItemOutcome>
}
