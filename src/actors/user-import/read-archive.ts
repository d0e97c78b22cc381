// The documents of an archive as lists of items, not yet looked at one by one.

import { posix } from 'node:path'
import { type Archive, ArchiveError } from '../../media/index.ts'
import { type ArchivePart, archiveParts, partPath } from '../user-archive/index.ts'
import type { ArchivedFile } from './part-importer.ts'

/**
 * The items of a part: none when the archive has no such document, and one that fits nothing when the document is not what it should be.
 * Throws ArchiveError when the document cannot be read.
 */
export async function readItems(archive: Pick<Archive, 'document'>, part: ArchivePart): Promise<unknown[]> {
  const document = await archive.document(partPath(part))
  if (document === undefined) return []
  const { list } = archiveParts[part]
  if (list === null) return [document]
  const items: unknown = isObject(document) ? document[list] : undefined
  return Array.isArray(items) ? items : [undefined]
}

/** Throws ArchiveError when there is no document of a user in it, or when one of `parts` cannot be read. */
export async function checkDocuments(archive: Archive, parts: readonly ArchivePart[]): Promise<void> {
  const known = Object.keys(archiveParts) as ArchivePart[]
  if (!known.some((part) => archive.file(partPath(part)))) {
    throw new ArchiveError('not-an-archive', 'There is no data of a user in this archive.')
  }
  for (const part of parts) await readItems(archive, part)
}

/** The file that a document names, relative to the folder of the documents; undefined when there is none, or the name leads elsewhere. */
export function findFile(archive: Pick<Archive, 'file'>, name: string | null | undefined): ArchivedFile | undefined {
  if (!name) return undefined
  return archive.file(posix.join(posix.dirname(partPath('account')), name))
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
