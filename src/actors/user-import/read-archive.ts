// The documents of an archive as lists of items. Each document lies in a work folder while its items are imported, and each item is parsed
// when it is read.

import { rm } from 'node:fs/promises'
import { posix } from 'node:path'
import { type Archive, type ArchivedList, ArchiveError, archiveLimits, readList } from '../../media/index.ts'
import { makeTimeSlices } from '../../platform/time-slices.ts'
import { type ArchivedFile, archiveParts, type ImportedPart, partOf, partPath, type Unpack } from '../user-archive/index.ts'

/**
 * Runs `work` with the items of a part: none if the archive has no such document, and one invalid item if the document is malformed. Throws
 * ArchiveError if the document cannot be read.
 */
export async function withItems<T>(
  { archive, unpack }: { archive: Pick<Archive, 'file' | 'document'>; unpack: Unpack },
  part: ImportedPart,
  work: (items: ArchivedList) => Promise<T>,
): Promise<T> {
  const path = partPath(part)
  const file = archive.file(path)
  if (!file) return await work(listOf([]))
  const { list } = partOf(part)
  if (list === null) return await work(listOf([await archive.document(path)]))
  if (file.size > archiveLimits.list) throw new ArchiveError('too-large', 'A document of the archive is too large.')
  const unpacked = await unpack(file, `${part}.json`, file.size)
  const items = (await readList(unpacked, list)) ?? listOf([undefined])
  try {
    return await work(items)
  } finally {
    await items.close()
    await rm(unpacked, { force: true })
  }
}

/** Throws ArchiveError if there is no document of a user, or if a document of `parts` cannot be read to its end. */
export async function checkDocuments(
  from: { archive: Archive; unpack: Unpack },
  parts: readonly ImportedPart[],
  signal: AbortSignal,
): Promise<void> {
  if (!archiveParts.some(({ name }) => from.archive.file(partPath(name)))) {
    throw new ArchiveError('not-an-archive', 'There is no data of a user in this archive.')
  }
  const pause = makeTimeSlices()
  for (const part of parts) {
    await withItems(from, part, async (items) => {
      for (let index = 0; index < items.length; index += 1) {
        signal.throwIfAborted()
        await items.item(index)
        await pause()
      }
    })
  }
}

const listOf = (items: readonly unknown[]): ArchivedList => ({
  length: items.length,
  item: async (index) => items[index],
  close: async () => undefined,
})

/**
 * The file that a document names, relative to the folder of the documents; undefined if it does not exist, or if the name leads outside.
 */
export function findFile(archive: Pick<Archive, 'file'>, name: string | null | undefined): ArchivedFile | undefined {
  if (!name) return undefined
  return archive.file(posix.join(posix.dirname(partPath('account')), name))
}
