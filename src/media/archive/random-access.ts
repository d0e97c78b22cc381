// Random access to a file of the store for yauzl: its many small, mostly sequential reads are served from one window, so that a list of
// 100,000 entries takes some requests to object storage and not 200,000.

import { buffer as collect } from 'node:stream/consumers'
import yauzl from 'yauzl'
import type { FileRef, Store } from '../store/store.ts'

/** yauzl recognises its sources by their class. */
export class StoredArchive extends yauzl.RandomAccessReader {
  readonly #open: (start: number, end: number) => Promise<Buffer>
  readonly #size: number
  #window: { start: number; bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) }
  #length: number
  #failure: unknown

  constructor(options: { store: Pick<Store, 'open'>; ref: FileRef; size: number; window: number }) {
    super()
    const { store, ref, size, window } = options
    this.#size = size
    this.#length = window
    this.#open = async (start, end) => await collect((await store.open(ref, { start, end })).stream)
  }

  /** The store's error, to distinguish it from an error of the archive. */
  failure(): unknown {
    return this.#failure
  }

  /** Sets the bytes per read. */
  setWindow(bytes: number): void {
    this.#length = bytes
    this.#window = { start: 0, bytes: Buffer.alloc(0) }
  }

  override read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.#bytesAt(position, length)
      .then((bytes) => callback(null, bytes.copy(target, offset)))
      // Also for errors thrown by the callback, which would be lost otherwise.
      .catch((error: unknown) => callback(error instanceof Error ? error : new Error(String(error))))
  }

  /** Fewer than requested at the end of the file. */
  async #bytesAt(position: number, length: number): Promise<Buffer> {
    const inside = (): Buffer | undefined => {
      const { start, bytes } = this.#window
      const from = position - start
      return from >= 0 && from + length <= bytes.length ? bytes.subarray(from, from + length) : undefined
    }
    const known = inside()
    if (known) return known
    if (position < 0 || position >= this.#size) return Buffer.alloc(0)
    const end = Math.min(this.#size, position + Math.max(length, this.#length)) - 1
    try {
      this.#window = { start: position, bytes: await this.#open(position, end) }
    } catch (error) {
      this.#failure ??= error
      throw error
    }
    return inside() ?? this.#window.bytes.subarray(0, length)
  }
}
