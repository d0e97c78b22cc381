// Writes a ZIP as a stream, one entry after another: only the list of its entries is in memory. Zip64 if an entry, or the whole, needs it.

import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { MediaError } from '../errors.ts'

export interface ZipWriter {
  /** The archive while it is written, with back-pressure from its reader. */
  readonly stream: Readable
  /**
   * Adds an entry; resolves when its bytes are read. Always destroys the source. Throws its error, which then ends the archive, or
   * MediaError `aborted` if the archive has no reader any more.
   */
  add(name: string, source: Readable, options: ZipEntryOptions): Promise<void>
  /** Call it after the last entry. */
  end(): void
  /** Ends the stream with an error, so that an incomplete archive is not taken for a complete one. */
  fail(error: Error): void
}

export interface ZipEntryOptions {
  /** Bytes, if known: another number is an error. */
  size?: number
  /** False for compressed content. */
  compress: boolean
}

/** Of a regular file that everybody may read. */
const MODE = 0o100644

/** `modifiedAt` applies to all entries, so that the same entries make the same archive. */
export function makeZipWriter({ modifiedAt }: { modifiedAt: Date }): ZipWriter {
  const zip = new ZipFile()
  const stream = zip.outputStream as Readable
  const names = new Set<string>()
  const broken = Promise.withResolvers<never>()
  // Callers of `add` get the error.
  broken.promise.catch(() => undefined)
  stream.once('error', broken.reject)
  stream.once('close', () => broken.reject(new MediaError('aborted', 'The archive has no reader any more.')))
  zip.on('error', (error: unknown) => stream.destroy(error instanceof Error ? error : new Error(String(error))))

  return {
    stream,
    async add(name, source, { size, compress }) {
      try {
        // Some systems ignore case.
        const key = name.toLowerCase()
        if (names.has(key)) throw new Error(`The archive has an entry of this name already: ${name}`)
        names.add(key)
        const known = size === undefined ? { forceZip64Format: true } : { size }
        zip.addReadStream(source, name, { mtime: modifiedAt, mode: MODE, compress, ...known })
        await Promise.race([finished(source, { writable: false }), broken.promise])
      } catch (error) {
        stream.destroy(error instanceof Error ? error : new Error(String(error)))
        throw error
      } finally {
        source.destroy()
      }
    },
    end: () => zip.end(),
    fail: (error) => void stream.destroy(error),
  }
}
