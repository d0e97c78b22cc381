// Reads a ZIP in the store by ranges: neither the archive nor a file of it is buffered in memory, or unpacked to disk. The whole list of
// entries is checked before anything is read, and each file again while it is read.

import { pipeline, Readable, Transform } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import yauzl from 'yauzl'
import type { FileRef, Store } from '../store/store.ts'
import { ArchiveError } from './archive-error.ts'
import { checkEntry, checkTogether, isFolder, type ListedEntry } from './check-entries.ts'
import { type ArchiveLimits, archiveLimits } from './limits.ts'
import { StoredArchive } from './random-access.ts'
import { readDocument } from './read-document.ts'

/** A file of an archive. */
export interface ArchiveFile {
  path: string
  /** Declared uncompressed bytes. */
  size: number
  /** Its bytes. The stream fails with an ArchiveError if they differ from the declared ones. */
  open(): Promise<Readable>
}

export type Archive = Awaited<ReturnType<typeof openArchive>>

/** Bytes per read of the list of entries, and of a file's own header. */
const LIST_WINDOW = 2 ** 20
const HEADER_WINDOW = 512
/** Minimum bytes of an entry in the list. */
const LEAST_LISTED = 46

/** Opens an archive. Throws ArchiveError if it is unreadable or refused, and errors of the store. */
export async function openArchive(options: {
  store: Pick<Store, 'open'>
  ref: FileRef
  /** Bytes. */
  size: number
  limits?: Partial<ArchiveLimits>
}) {
  const { store, ref, size } = options
  const limits = { ...archiveLimits, ...options.limits }
  const source = new StoredArchive({ store, ref, size, window: LIST_WINDOW })

  /** Distinguishes errors of the archive from errors of the store. */
  async function reading<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const failure = source.failure()
      if (failure !== undefined) throw failure
      throw error instanceof ArchiveError ? error : asArchiveError(error)
    }
  }

  const zip = await reading(() => yauzl.fromRandomAccessReaderPromise(source, size, { autoClose: false, strictFileNames: true }))
  try {
    const listed = await reading(() => listEntries(zip, { size, limits }))
    source.setWindow(HEADER_WINDOW)
    const files = new Map(listed.entries.filter((entry) => !isFolder(entry)).map((entry) => [entry.path, entry]))
    const openFile = (entry: ListedEntry) => reading(() => openEntry({ zip, store, ref, entry, end: listed.endOf(entry) }))
    return {
      /** Undefined if there is no such file. */
      file(path: string): ArchiveFile | undefined {
        const entry = files.get(path)
        return entry && { path, size: entry.size, open: () => openFile(entry) }
      },
      /** The parsed document (for long lists see read-list.ts); undefined if there is none. Throws ArchiveError. */
      async document(path: string): Promise<unknown> {
        const entry = files.get(path)
        if (!entry) return undefined
        if (entry.size > limits.document) throw new ArchiveError('too-large', 'A document of the archive is too large.')
        return await readDocument(await openFile(entry), limits)
      },
      close() {
        zip.close()
      },
    }
  } catch (error) {
    zip.close()
    throw error
  }
}

async function listEntries(zip: yauzl.ZipFile, { size, limits }: { size: number; limits: ArchiveLimits }) {
  // The start of the list, which yauzl's types do not expose.
  const listStart = Number(zip.readEntryCursor)
  if (zip.entryCount === 0) throw new ArchiveError('not-an-archive', 'The archive is empty.')
  if (zip.entryCount > limits.entries) throw new ArchiveError('too-large', 'The archive has too many files.')
  if (listStart + zip.entryCount * LEAST_LISTED > size) {
    throw new ArchiveError('damaged', 'The archive declares more files than it can have.')
  }
  if (size - listStart > limits.directory) throw new ArchiveError('too-large', 'The list of files is too long.')
  const entries: ListedEntry[] = []
  for await (const listed of zip.eachEntry()) {
    const entry: ListedEntry = {
      path: listed.fileName,
      offset: listed.relativeOffsetOfLocalHeader,
      nameLength: listed.fileNameLength,
      compressedSize: listed.compressedSize,
      size: listed.uncompressedSize,
      crc32: listed.crc32,
      method: listed.compressionMethod,
    }
    const traits = { flags: listed.generalPurposeBitFlag, externalAttributes: listed.externalFileAttributes }
    checkEntry(entry, traits, limits)
    entries.push(entry)
  }
  checkTogether(entries, listStart, limits)
  const offsets = entries.map(({ offset }) => offset).toSorted((a, b) => a - b)
  const next = new Map(offsets.map((offset, index) => [offset, offsets[index + 1] ?? listStart]))
  return { entries, endOf: ({ offset }: ListedEntry): number => next.get(offset) ?? listStart }
}

/** `end` is the offset of the next entry. */
async function openEntry(options: {
  zip: yauzl.ZipFile
  store: Pick<Store, 'open'>
  ref: FileRef
  entry: ListedEntry
  end: number
}): Promise<Readable> {
  const { zip, store, ref, entry, end } = options
  const asListed = Object.assign(new yauzl.Entry(), {
    relativeOffsetOfLocalHeader: entry.offset,
    compressedSize: entry.compressedSize,
  })
  const { fileDataStart: start } = await zip.readLocalFileHeaderPromise(asListed, { minimal: true })
  if (start + entry.compressedSize > end) {
    throw new ArchiveError('unsafe', 'Files of the archive lie inside each other.')
  }
  const packed =
    entry.compressedSize === 0 ? Readable.from([]) : (await store.open(ref, { start, end: start + entry.compressedSize - 1 })).stream
  const checked = checking(entry)
  // The reader of the stream gets every failure.
  if (entry.method === 0) pipeline(packed, checked, () => undefined)
  else pipeline(packed, inflating(), checked, () => undefined)
  return checked
}

/** Invalid Deflate data is an error of the archive. */
function inflating(): Transform {
  const inflate = createInflateRaw()
  const destroy = inflate._destroy.bind(inflate)
  inflate._destroy = (error, done) => destroy(isZlib(error) ? damaged(error) : error, done)
  return inflate
}

/** Passes bytes through while they match the declared size and checksum. */
function checking({ size, crc32: declared }: ListedEntry): Transform {
  let seen = 0
  let sum = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      if (seen > size) return done(damaged())
      sum = crc32(chunk, sum)
      done(null, chunk)
    },
    flush: (done) => done(seen === size && sum === declared ? null : damaged()),
  })
}

const damaged = (cause?: unknown): ArchiveError => new ArchiveError('damaged', 'A file of the archive is damaged.', { cause })

const isZlib = (error: Error | null): boolean => error !== null && 'code' in error && /^Z_/.test(String(error.code))

/** yauzl's errors differ only in their messages. */
function asArchiveError(cause: unknown): ArchiveError {
  const text = cause instanceof Error ? cause.message : String(cause)
  if (/^(invalid characters in fileName|absolute path|invalid relative path)/.test(text)) {
    return new ArchiveError('unsafe', 'The archive has a file of a bad name.', { cause })
  }
  if (/encrypt/i.test(text)) return new ArchiveError('unsupported', 'The archive is encrypted.', { cause })
  if (/multi-disk/i.test(text)) return new ArchiveError('unsupported', 'The archive is a part of one.', { cause })
  if (/end of central directory/i.test(text)) {
    return new ArchiveError('not-an-archive', 'The file is no ZIP archive, or is cut off.', { cause })
  }
  return new ArchiveError('damaged', 'The archive is damaged.', { cause })
}
