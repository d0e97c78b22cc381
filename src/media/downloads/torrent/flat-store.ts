// Stores the pieces of a torrent in one file, whose name does not depend on the torrent.

import { type FileHandle, open } from 'node:fs/promises'
import type { ChunkStore } from 'webtorrent'

/** A class for webtorrent that stores everything in the file at `path`, at most `maxBytes`. The file is created with the first piece. */
export function flatStore(path: string, maxBytes: number): new (chunkLength: number) => ChunkStore {
  return class FlatStore implements ChunkStore {
    readonly chunkLength: number
    #file: Promise<FileHandle> | undefined

    constructor(chunkLength: number) {
      this.chunkLength = chunkLength
    }

    put(index: number, chunk: Uint8Array, done: (error?: Error | null) => void): void {
      answer(this.#write(index * this.chunkLength, chunk), () => done(null), done)
    }

    get(index: number, part: { offset?: number; length?: number } | null, done: (error: Error | null, chunk?: Uint8Array) => void): void {
      const offset = part?.offset ?? 0
      const length = part?.length ?? this.chunkLength - offset
      answer(this.#read(index * this.chunkLength + offset, length), (chunk) => done(null, chunk), done)
    }

    close(done: (error?: Error | null) => void): void {
      const file = this.#file
      this.#file = undefined
      answer(file?.then((handle) => handle.close()) ?? Promise.resolve(), () => done(null), done)
    }

    destroy(done: (error?: Error | null) => void): void {
      this.close(done)
    }

    async #write(position: number, chunk: Uint8Array): Promise<void> {
      if (position + chunk.length > maxBytes) throw new Error('This piece is beyond the end.')
      this.#file ??= open(path, 'r+').catch(() => open(path, 'w+'))
      const file = await this.#file
      let written = 0
      while (written < chunk.length) {
        const { bytesWritten } = await file.write(chunk, written, chunk.length - written, position + written)
        written += bytesWritten
      }
    }

    async #read(position: number, length: number): Promise<Uint8Array> {
      // Content of an earlier attempt is verified too.
      const file = await (this.#file ?? open(path, 'r'))
      try {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position)
        if (bytesRead < length) throw new Error('This piece is not there.')
        return buffer
      } finally {
        if (!this.#file) await file.close()
      }
    }
  }
}

function answer<T>(work: Promise<T>, done: (value: T) => void, failed: (error: Error) => void): void {
  work.then(done, (error: unknown) => failed(error instanceof Error ? error : new Error(String(error))))
}
