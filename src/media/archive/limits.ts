// What an archive may hold. An archive that is over one of these is refused before anything of it is used.

export interface ArchiveLimits {
  /** Entries, folders too. */
  entries: number
  /** Bytes of the list of entries at the end of the archive. */
  directory: number
  /** Characters of a path. */
  path: number
  /** Bytes of each name in a path, in UTF-8: file systems take no longer ones (NAME_MAX of Linux). */
  name: number
  /** Names in a path. Archives of users have three; what compares paths costs as much as they are deep. */
  names: number
  /** Uncompressed bytes of all entries. */
  total: number
  /** Uncompressed bytes of one entry. */
  entry: number
  /** Uncompressed bytes for one compressed; Deflate comes to 1032 at most, with nothing but repetition. */
  ratio: number
  /** Uncompressed bytes up to which the ratio of an entry does not matter. */
  ratioFrom: number
  /** Bytes of a JSON document, and of an item of a list, which are held in memory. */
  document: number
  /** Bytes of a JSON document that is one long list, which lies on the disk while it is read. */
  list: number
  /** Objects and lists inside each other. */
  depth: number
  /** Items of a list. */
  items: number
  /** Commas and colons, which stand for the values, of one item and of a document that is no list: that much is parsed at once. */
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
