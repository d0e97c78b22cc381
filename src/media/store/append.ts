// Appends to an upload from an offset, so that only flushed bytes are acknowledged.

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { MediaError, systemCode } from '../errors.ts'
import type { Appender } from './store.ts'

/** Opens (or creates) the file at `path`, truncates it at `offset` and appends from there. */
export async function openAppender(path: string, offset: number): Promise<Appender> {
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o644)
  let size = offset
  let closed = false
  try {
    const found = await handle.stat()
    if (found.size < offset) {
      throw new MediaError('offset', `The file has ${found.size} bytes, fewer than the offset ${offset}.`)
    }
    // Bytes after the offset were never acknowledged: a crash came between the write and the response.
    if (found.size > offset) await handle.truncate(offset)
  } catch (error) {
    await handle.close()
    throw error
  }

  return {
    get size() {
      return size
    },
    async write(chunk) {
      let done = 0
      while (done < chunk.byteLength) {
        const { bytesWritten } = await handle.write(chunk, done, chunk.byteLength - done, size).catch((error: unknown) => {
          throw systemCode(error) === 'ENOSPC'
            ? new MediaError('disk-full', 'There is no space left on the disk.', { cause: error })
            : error
        })
        done += bytesWritten
        size += bytesWritten
      }
    },
    async sync() {
      await handle.datasync()
      return size
    },
    async close() {
      if (closed) return
      closed = true
      await handle.close()
    },
  }
}
