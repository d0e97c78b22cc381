// Why an archive is refused, as one typed error with a text that its owner may read.

/**
 * - `not-an-archive`: no ZIP at all, empty, or with something before its first file.
 * - `damaged`: truncated, or sizes, offsets or checksums that do not fit.
 * - `unsafe`: made to do harm: names that lead elsewhere, links, files inside each other, bombs.
 * - `unsupported`: encrypted, spread over several files, or compressed in a way that is not read here.
 * - `too-large`: more files, bytes or values than are read here.
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
