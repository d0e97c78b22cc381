// Sends the bytes of an open file with a pool of buffers: allocating one per chunk, as streams do, would cost more garbage collection than
// the sending itself.

import { read as readCallback } from 'node:fs'
import type { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { MediaError } from '../errors.ts'

const read = promisify(readCallback)

const PIECE_BYTES = 128 * 1024
/** Maximum unused buffers: 8 MiB. */
const MAX_SPARE = 64

export type SendFile = (fd: number, range: { start: number; end: number }, target: Writable) => Promise<void>

/** Reads the next chunk while one is being written. Throws if the file is shorter, or the reader leaves. */
export function makeSendFile(): SendFile {
  const spare: Buffer[] = []
  const take = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)

  return async (fd, { start, end }, target) => {
    const buffers = [take(), take()] as const
    let writing = Promise.resolve()
    try {
      for (let at = start, turn = 0; at <= end; turn += 1) {
        const buffer = buffers[turn % 2 === 0 ? 0 : 1]
        const { bytesRead } = await read(fd, buffer, 0, Math.min(PIECE_BYTES, end - at + 1), at)
        if (bytesRead === 0) throw new MediaError('truncated', 'The file ends before what was promised of it.')
        await writing
        writing = write(target, buffer.subarray(0, bytesRead))
        // It is awaited later.
        writing.catch(() => undefined)
        at += bytesRead
      }
      await writing
    } finally {
      // A pending write still reads its buffer.
      await writing.catch(() => undefined)
      for (const buffer of buffers) if (spare.length < MAX_SPARE) spare.push(buffer)
    }
  }
}

function write(target: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(new MediaError('aborted', 'The reader has left.'))
    if (target.destroyed) return onClose()
    target.once('close', onClose)
    target.write(bytes, (error) => {
      target.off('close', onClose)
      if (error) reject(error)
      else resolve()
    })
  })
}
