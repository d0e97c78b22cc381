// A disk that a test can fill: a small mounted tmpfs where mounting is allowed, else a store that throws when it is full.

import { execFile } from 'node:child_process'
import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MediaError, type Store } from '../../src/media/index.ts'

const run = promisify(execFile)
const BALLAST = 'ballast'

export interface LimitedDisk {
  /** Leaves this many bytes free, rounded to memory pages. */
  fill(leave?: number): Promise<void>
  /** Frees the space again. */
  free(): Promise<void>
  /** Wraps the store of a node on this disk. */
  wrap(store: Store): Store
  remove(): Promise<void>
}

/** Mounts a disk of `bytes` at the empty folder. */
export async function makeLimitedDisk(folder: string, bytes: number): Promise<LimitedDisk> {
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]).then(
    () => true,
    () => false,
  )
  return isMounted ? mounted(folder) : simulated()
}

function mounted(folder: string): LimitedDisk {
  const ballast = join(folder, BALLAST)
  return {
    async fill(leave = 0) {
      const { bavail, bsize } = await statfs(folder)
      await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - leave)))
    },
    free: () => rm(ballast, { force: true }),
    wrap: (store) => store,
    remove: async () => void (await run('umount', ['-l', folder])),
  }
}

function simulated(): LimitedDisk {
  let left = Number.POSITIVE_INFINITY
  const take = (bytes: number): void => {
    if (bytes > left) throw new MediaError('disk-full', 'There is no space left on the disk.')
    left -= bytes
  }
  return {
    async fill(leave = 0) {
      left = leave
    },
    async free() {
      left = Number.POSITIVE_INFINITY
    },
    wrap: (store) => ({
      ...store,
      async put(ref, from) {
        // Every whole file is larger than the space that a test leaves.
        if (Number.isFinite(left)) take(left + 1)
        return await store.put(ref, from)
      },
      async openAppend(name, offset) {
        const appender = await store.openAppend(name, offset)
        return {
          get size() {
            return appender.size
          },
          async write(chunk) {
            take(chunk.byteLength)
            await appender.write(chunk)
          },
          sync: () => appender.sync(),
          close: () => appender.close(),
        }
      },
      async room(kind) {
        const room = await store.room(kind)
        return room && { ...room, free: left }
      },
      async workFolder(name) {
        if (left < 1) throw Object.assign(new Error('ENOSPC: no space left on device, mkdir'), { code: 'ENOSPC' })
        return await store.workFolder(name)
      },
    }),
    remove: async () => undefined,
  }
}
