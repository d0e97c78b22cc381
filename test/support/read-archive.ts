// Reads a ZIP with another library than the one that wrote it.

import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { type Entry, fromBuffer, type ZipFile } from 'yauzl'

export interface ArchiveEntry {
  bytes: Buffer
  /** 0: stored, 8: Deflate. */
  method: number
  modifiedAt: Date
}

/** All entries by name. Throws for an incomplete archive. */
export async function readArchive(bytes: Buffer): Promise<Map<string, ArchiveEntry>> {
  const zip = await new Promise<ZipFile>((resolve, reject) =>
    fromBuffer(bytes, { lazyEntries: true }, (error, opened) => (error ? reject(error) : resolve(opened))),
  )
  const entries = new Map<string, ArchiveEntry>()
  for await (const entry of entriesOf(zip)) {
    const content = await contentOf(zip, entry)
    if (crc32(content) !== entry.crc32) throw new Error(`${entry.fileName} is damaged.`)
    if (entries.has(entry.fileName)) throw new Error(`There are two of ${entry.fileName}.`)
    entries.set(entry.fileName, {
      bytes: content,
      method: entry.compressionMethod,
      modifiedAt: entry.getLastModDate(),
    })
  }
  return entries
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  for (;;) {
    const entry = await new Promise<Entry | undefined>((resolve, reject) => {
      zip.once('entry', resolve)
      zip.once('end', () => resolve(undefined))
      zip.once('error', reject)
      zip.readEntry()
    })
    if (!entry) return
    yield entry
    zip.removeAllListeners()
  }
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  return await new Promise((resolve, reject) =>
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(buffer(stream)))),
  )
}
