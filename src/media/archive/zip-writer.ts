// Writes a ZIP as a stream, one entry after the other: nothing of it is held but the list of its entries. Zip64 where an entry, or
// the whole, needs it.

import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { MediaError } from '../errors.ts'

export interface ZipWriter {
  /** The archive while it is made. Whoever takes it decides how fast that goes. */
  readonly stream: Readable
  /**
   * Adds an entry, and is done when its bytes are read. Destroys the source whatever happens. Throws what went wrong with it, which
   * then ends the archive, or MediaError `aborted` when nobody reads the archive any more.
   */
  add(name: string, source: Readable, options: ZipEntryOptions): Promise<void>
  /** After the last entry. */
  end(): void
  /** Ends the stream with an error, so that what is written of it is not taken for whole. */
  fail(error: Error): void
}

export interface ZipEntryOptions {
  /** Bytes, where they are known: another number is an error. */
  size?: number
  /** False for what is compressed already. */
  compress: boolean
}

/** Of a regular file that everybody may read. */
const MODE = 0o100644

/** `modifiedAt` is that of each entry, so that the same entries make the same archive. */
export function makeZipWriter({ modifiedAt }: { modifiedAt: Date }): ZipWriter {
  const zip = new ZipFile()
  const stream = zip.outputStream as Readable
  const names = new Set<string>()
  const broken = Promise.withResolvers<never>()
  // Whoever adds something hears of it.
  broken.promise.catch(() => undefined)
  stream.once('error', broken.reject)
  stream.once('close', () => broken.reject(new MediaError('aborted', 'Nobody reads the archive any more.')))
  zip.on('error', (error: unknown) => stream.destroy(error instanceof Error ? error : new Error(String(error))))

  return {
    stream,
    async add(name, source, { size, compress }) {
      try {
        // Some systems do not tell them apart.
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
