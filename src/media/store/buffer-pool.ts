// Files as streams by way of buffers that are used again. A stream of Node has a new buffer for each piece, and up to a hundred
// megabytes of them come together before anybody collects them. Here whoever writes the last copy of a piece gives its buffer back
// for the next one; a buffer that nobody gives back is collected as any other.

import { close, createWriteStream, open, read, type WriteStream, write } from 'node:fs'
import { Readable } from 'node:stream'

const PIECE_BYTES = 64 * 1024
/** Buffers that wait for their next use, at most: 4 MiB. */
const MOST_SPARE = 64

const spare: Buffer[] = []
/** By the very object that went through the streams: a part of it, or a copy, gives nothing back. */
const lent = new WeakMap<object, Buffer>()

function giveBack(piece: object): void {
  const buffer = lent.get(piece)
  if (!buffer) return
  lent.delete(piece)
  if (spare.length < MOST_SPARE) spare.push(buffer)
}

/** The bytes of an open file, both ends included. The stream owns the descriptor. One reader only may have its pieces. */
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
        lent.set(piece, buffer)
        this.push(piece)
      })
    },
    destroy(error, done) {
      // The descriptor may be that of another file as soon as it is closed.
      closed = () => close(fd, (failure) => done(error ?? failure ?? null))
      if (!isReading) closed()
    },
  })
}

type Written = (error: NodeJS.ErrnoException | null, written: number, piece: Uint8Array) => void

/** A new file. Pieces that were lent are given back when they are written. */
export function writePooled(path: string): WriteStream {
  const writePiece = (fd: number, piece: Buffer, offset: number, length: number, at: number, done: Written): void =>
    write(fd, piece, offset, length, at, (error, written) => {
      if (written === length) giveBack(piece)
      done(error, written, piece)
    })
  return createWriteStream(path, { flags: 'wx', fs: { open, close, write: writePiece } })
}
