// Validates the declared entries of an archive. Pure.

import { ArchiveError } from './archive-error.ts'
import type { ArchiveLimits } from './limits.ts'

/** From the list at the end of the archive. Bytes. */
export interface ListedEntry {
  path: string
  /** Offset of its own header. */
  offset: number
  /** Bytes of its name in the archive. */
  nameLength: number
  compressedSize: number
  size: number
  crc32: number
  /** 0 stored, 8 Deflate. */
  method: number
}

/** Further properties of a single entry. */
export interface EntryTraits {
  flags: number
  externalAttributes: number
}

const HEADER_BYTES = 30
/** Strong encryption, and an encrypted list, are bits of their own. */
const ENCRYPTED = 0x1 | 0x40 | 0x2000
const STORED = 0
const DEFLATED = 8
const TYPE_OF_FILE = 0o170000
const REGULAR = 0o100000
const FOLDER = 0o040000

export const isFolder = ({ path }: Pick<ListedEntry, 'path'>): boolean => path.endsWith('/')

/** Throws ArchiveError unless the entry by itself is a plain file or folder with an allowed name and size. */
export function checkEntry(entry: ListedEntry, traits: EntryTraits, limits: ArchiveLimits): void {
  const { path, compressedSize, size, method } = entry
  const shown = JSON.stringify(path.slice(0, 100))
  if (!isSafePath(path, limits)) throw new ArchiveError('unsafe', `The archive has a file of a bad name, ${shown}.`)
  if ((traits.flags & ENCRYPTED) !== 0) throw new ArchiveError('unsupported', `${shown} of the archive is encrypted.`)
  const type = (traits.externalAttributes >>> 16) & TYPE_OF_FILE
  if (type !== 0 && type !== (isFolder(entry) ? FOLDER : REGULAR)) {
    throw new ArchiveError('unsafe', `${shown} of the archive is a link, or no file.`)
  }
  if (method !== STORED && method !== DEFLATED) {
    throw new ArchiveError('unsupported', `${shown} of the archive is compressed in an unknown way.`)
  }
  if (method === STORED && compressedSize !== size) {
    throw new ArchiveError('damaged', `${shown} of the archive has two sizes.`)
  }
  if (isFolder(entry) && size > 0) throw new ArchiveError('damaged', `${shown} of the archive is a folder with bytes.`)
  if (size > limits.entry) throw new ArchiveError('too-large', `${shown} of the archive is too large.`)
  if (size > limits.ratioFrom && size > compressedSize * limits.ratio) {
    throw new ArchiveError('unsafe', `${shown} of the archive is much larger than what it is packed into.`)
  }
}

/**
 * Throws ArchiveError unless the entries are contiguous from the first byte to the list (`end`), with unique names, and within the total
 * limits. Archives with overlapping entries are bombs: a better zip bomb, D. Fifield, 2019.
 */
export function checkTogether(entries: readonly ListedEntry[], end: number, limits: ArchiveLimits): void {
  refuseSharedNames(entries)
  let [total, packed, at] = [0, 0, 0]
  for (const entry of entries.toSorted((a, b) => a.offset - b.offset)) {
    if (at === 0 && entry.offset !== 0) {
      throw new ArchiveError('not-an-archive', 'There is something before the first file of the archive.')
    }
    if (entry.offset < at) throw new ArchiveError('unsafe', 'Files of the archive lie inside each other.')
    at = leastEnd(entry)
    total += entry.size
    packed += entry.compressedSize
  }
  if (at > end) throw new ArchiveError('damaged', 'The archive is cut off, or says wrong sizes.')
  if (total > limits.total) throw new ArchiveError('too-large', 'The archive is too large when it is unpacked.')
  if (total > limits.ratioFrom && total > packed * limits.ratio) {
    throw new ArchiveError('unsafe', 'The archive is much larger when it is unpacked.')
  }
}

/** End of its bytes, if its own header has no extra fields. */
const leastEnd = ({ offset, nameLength, compressedSize }: ListedEntry): number => offset + HEADER_BYTES + nameLength + compressedSize

/** Also refuses names that differ only by case or Unicode composition, and a file with the name of a folder. */
function refuseSharedNames(entries: readonly ListedEntry[]): void {
  const keys = entries.map(({ path }) => path.replace(/\/$/, '').normalize('NFC').toLowerCase().replaceAll('/', '\0'))
  const files = new Set(keys.filter((_key, index) => entries[index] && !isFolder(entries[index])))
  // Names have no U+0000, which sorts first: the content of a folder directly follows it.
  keys.sort()
  keys.forEach((key, index) => {
    const next = keys[index + 1] ?? ''
    if (!next.startsWith(key)) return
    if (next === key) throw new ArchiveError('unsafe', 'The archive has two files of one name.')
    if (next[key.length] === '\0' && files.has(key)) {
      throw new ArchiveError('unsafe', 'The archive has a file that is a folder, too.')
    }
  })
}

function isSafePath(path: string, limits: Pick<ArchiveLimits, 'path' | 'name' | 'names'>): boolean {
  if (path.length === 0 || path.length > limits.path) return false
  // The replacement of invalid UTF-8.
  if (path.includes('\\') || path.includes('\ufffd') || hasControl(path)) return false
  const names = path.replace(/\/$/, '').split('/')
  return names.length <= limits.names && names.every((name) => isSafeName(name) && Buffer.byteLength(name) <= limits.name)
}

const isSafeName = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !/^[A-Za-z]:/.test(name)

const hasControl = (text: string): boolean => /\p{Cc}/u.test(text)
