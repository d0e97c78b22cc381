// Files of an archive, streamed into a work folder: not buffered in memory, limited in size, and removed with the folder when the work
// ends.

import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { MediaError, type Store, writePooled } from '../../media/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { DomainError } from '../runtime/index.ts'
import { type Leases, type PendingFiles, workFolder } from '../video/index.ts'
import type { ArchivedFile } from './import-context.ts'

/**
 * Writes a file under a local name; returns its path. Throws `too_large`, also for a file that exceeds the whole disk. Throws MediaError
 * `disk-full` before writing if the free space is insufficient.
 */
export type Unpack = (file: ArchivedFile, name: string, maxBytes: number) => Promise<string>

export interface UnpackDeps {
  store: Pick<Store, 'workFolder' | 'room'>
  pendingFiles: PendingFiles
  leases: Pick<Leases, 'owner'>
}

/** Runs `work` with a folder of its own. If this process dies, others remove the folder. */
export async function withWorkFolder<T>(
  { store, pendingFiles, leases }: UnpackDeps,
  signal: AbortSignal,
  work: (unpack: Unpack) => Promise<T>,
): Promise<T> {
  const folder = workFolder('user-import', newUuid())
  await pendingFiles.reserve(leases.owner, [folder])
  try {
    const path = await store.workFolder(folder.name)
    return await work(async (file, name, maxBytes) => {
      const target = join(path, name)
      if (file.size > maxBytes) throw tooLarge(file)
      await refuseWithoutRoom(store, file)
      await write(file, target, { maxBytes, signal })
      return target
    })
  } finally {
    pendingFiles.giveUp([folder])
    await pendingFiles.collect()
  }
}

/** A full disk would stop all other writers. */
async function refuseWithoutRoom(store: Pick<Store, 'room'>, file: ArchivedFile): Promise<void> {
  const room = await store.room('tmp')
  if (!room) return
  if (file.size > room.total) throw tooLarge(file)
  if (file.size > room.free) throw new MediaError('disk-full', 'There is no room on the disk to unpack a file of the archive.')
}

async function write(file: ArchivedFile, target: string, { maxBytes, signal }: { maxBytes: number; signal: AbortSignal }): Promise<void> {
  // The declared sizes of an archive may be wrong.
  const most = Math.min(file.size, maxBytes)
  await pipeline(
    await file.open(),
    atMost(most, () => tooLarge(file)),
    writePooled(target),
    {
      signal,
    },
  )
}

/** The bytes of a small file. Throws `too_large`. */
export async function readWhole(file: ArchivedFile, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  if (file.size > maxBytes) throw tooLarge(file)
  const chunks: Buffer[] = []
  await pipeline(
    await file.open(),
    atMost(Math.min(file.size, maxBytes), () => tooLarge(file)),
    async (bytes: AsyncIterable<Buffer>) => {
      for await (const chunk of bytes) chunks.push(chunk)
    },
    { signal },
  )
  return Buffer.concat(chunks)
}

function atMost(bytes: number, refusal: () => DomainError): Transform {
  let left = bytes
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length
      if (left < 0) done(refusal())
      else done(null, chunk)
    },
  })
}

const tooLarge = ({ path }: ArchivedFile): DomainError =>
  new DomainError('too_large', `The file ${path.slice(0, 200)} of the archive is larger than it may be.`)
