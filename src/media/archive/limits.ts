// Limits of archives. An archive that exceeds one is refused before anything of it is used.

export interface ArchiveLimits {
  /** Entries, including folders. */
  entries: number
  /** Bytes of the list of entries at the end of the archive. */
  directory: number
  /** Characters of a path. */
  path: number
  /** Bytes of each name in a path, in UTF-8, as file systems limit them (NAME_MAX of Linux). */
  name: number
  /** Names in a path. Archives of users have three; comparing paths costs time proportional to their depth. */
  names: number
  /** Uncompressed bytes of all entries. */
  total: number
  /** Uncompressed bytes of one entry. */
  entry: number
  /** Uncompressed bytes per compressed byte; Deflate reaches at most 1032, for pure repetition. */
  ratio: number
  /** Entries up to this size in uncompressed bytes have no ratio limit. */
  ratioFrom: number
  /** Bytes of a JSON document, and of an item of a list, which are buffered in memory. */
  document: number
  /** Bytes of a JSON document with one long list, which is on disk while it is read. */
  list: number
  /** Nesting of objects and lists. */
  depth: number
  /** Items of a list. */
  items: number
  /** Commas and colons, as a bound of the values, of one item and of a document that is not a list: that much is parsed at once. */
  values: number
}

const MIB = 2 ** 20

export const archiveLimits: ArchiveLimits = {
  entries: 200_000,
  directory: 64 * MIB,
  path: 1000,
  name: 255,
  names: 32,
  total: 1024 * 1024 * MIB,
  entry: 256 * 1024 * MIB,
  ratio: 200,
  ratioFrom: 64 * MIB,
  document: 64 * MIB,
  list: 1024 * MIB,
  depth: 64,
  items: 1_000_000,
  values: 100_000,
}
