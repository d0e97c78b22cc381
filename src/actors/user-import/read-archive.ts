// The documents of an archive as lists of items, each of which is parsed when it is looked at.

import { posix } from 'node:path'
import { type Archive, type ArchivedList, ArchiveError } from '../../media/index.ts'
import { makeBreaks } from '../../platform/breaks.ts'
import { type ArchivePart, archiveParts, partPath } from '../user-archive/index.ts'
import type { ArchivedFile } from './part-importer.ts'

/**
 * The items of a part: none when the archive has no such document, and one that fits nothing when the document is not what it should be.
 * Throws ArchiveError when the document cannot be read.
 */
export async function readItems(
  archive: Pick<Archive, 'file' | 'document' | 'list'>,
  part: ArchivePart,
): Promise<ArchivedList> {
  const path = partPath(part)
  if (!archive.file(path)) return listOf([])
  const { list } = archiveParts[part]
  if (list === null) return listOf([await archive.document(path)])
  return (await archive.list(path, list)) ?? listOf([undefined])
}

/** Throws ArchiveError when there is no document of a user in it, or when one of `parts` cannot be read to its end. */
export async function checkDocuments(
  archive: Archive,
  parts: readonly ArchivePart[],
  signal: AbortSignal,
): Promise<void> {
  const known = Object.keys(archiveParts) as ArchivePart[]
  if (!known.some((part) => archive.file(partPath(part)))) {
    throw new ArchiveError('not-an-archive', 'There is no data of a user in this archive.')
  }
  const breathe = makeBreaks()
  for (const part of parts) {
    const items = await readItems(archive, part)
    for (let index = 0; index < items.length; index += 1) {
      signal.throwIfAborted()
      items.item(index)
      await breathe()
    }
  }
}

const listOf = (items: readonly unknown[]): ArchivedList => ({
  length: items.length,
  item: (index) => items[index],
})

/** The file that a document names, relative to the folder of the documents; undefined when there is none, or the name leads elsewhere. */
export function findFile(archive: Pick<Archive, 'file'>, name: string | null | undefined): ArchivedFile | undefined {
  if (!name) return undefined
  return archive.file(posix.join(posix.dirname(partPath('account')), name))
}
