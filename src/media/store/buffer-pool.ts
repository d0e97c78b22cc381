// Streams files with a pool of buffers. A stream of Node allocates a new buffer for each chunk, and up to a hundred megabytes of them
// accumulate before a garbage collection. Here the writer of a chunk's last copy returns its buffer for the next one; a buffer that is not
// returned is garbage-collected as usual.

import { close, createWriteStream, open, read, type WriteStream, write } from 'node:fs'
import { Readable } from 'node:stream'

const PIECE_BYTES = 64 * 1024
/** Maximum unused buffers: 4 MiB. */
const MAX_SPARE = 64

const spare: Buffer[] = []
/** By the identical object that passed through the streams: slices and copies are not returned. */
const pooled = new WeakMap<object, Buffer>()

function giveBack(piece: object): void {
  const buffer = pooled.get(piece)
  if (!buffer) return
  pooled.delete(piece)
  if (spare.length < MAX_SPARE) spare.push(buffer)
}

/** The bytes of an open file, both ends included. The stream owns the descriptor. Only one reader may get its chunks. */
export function readPooled(fd: number, { start, end }: { start: number; end: number }): Readable {
  let at = start
  let isReading = false
  let closed: (() => void) | undefined
  return new Readable({
    highWaterMark: PIECE_BYTES,
    read() {
      if (at > end) return void this.push(null)
      const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
      isReading = true
      read(fd, buffer, 0, Math.min(PIECE_BYTES, end - at + 1), at, (error, bytes) => {
        isReading = false
        if (closed) return closed()
        if (error) return void this.destroy(error)
        if (bytes === 0) return void this.push(null)
        at += bytes
        const piece = buffer.subarray(0, bytes)
        pooled.set(piece, buffer)
        this.push(piece)
      })
    },
    destroy(error, done) {
      // The descriptor may belong to another file as soon as it is closed.
      closed = () => close(fd, (failure) => done(error ?? failure ?? null))
      if (!isReading) closed()
    },
  })
}

type Written = (error: NodeJS.ErrnoException | null, written: number, piece: Uint8Array) => void

/** A new file. Chunks from the pool are returned when they are written. */
export function writePooled(path: string): WriteStream {
  const writePiece = (fd: number, piece: Buffer, offset: number, length: number, at: number, done: Written): void =>
    write(fd, piece, offset, length, at, (error, written) => {
      if (written === length) giveBack(piece)
      done(error, written, piece)
    })
  return createWriteStream(path, { flags: 'wx', fs: { open, close, write: writePiece } })
}
