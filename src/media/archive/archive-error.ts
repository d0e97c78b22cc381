// The typed error of a refused archive, with a text for its owner.

/**
 * - `not-an-archive`: no ZIP at all, empty, or with data before its first file. - `damaged`: truncated, or with inconsistent sizes, offsets
 * or checksums. - `unsafe`: malicious: names that lead outside, links, overlapping files, bombs. - `unsupported`: encrypted, split, or
 * compressed with an unsupported method. - `too-large`: more files, bytes or values than allowed.
 */
export type ArchiveFault = 'not-an-archive' | 'damaged' | 'unsafe' | 'unsupported' | 'too-large'

export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
  readonly fault: ArchiveFault

  constructor(fault: ArchiveFault, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.fault = fault
  }
}
