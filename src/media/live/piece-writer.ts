// Writes one piece of a stream aside, and gives it its name when it is complete.

import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface PieceFile {
  path: string
  bytes: number
  /** In hexadecimal. */
  sha256: string
}

export type PieceWriter = Awaited<ReturnType<typeof openPiece>>

export async function openPiece(folder: string, name: string) {
  const aside = join(folder, `.${name}.part`)
  const path = join(folder, name)
  const file = await open(aside, 'w')
  const hash = createHash('sha256')
  let size = 0
  return {
    async write(bytes: Buffer) {
      hash.update(bytes)
      size += bytes.length
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
    },
    async finish(): Promise<PieceFile> {
      await file.close()
      await rename(aside, path)
      return { path, bytes: size, sha256: hash.digest('hex') }
    },
    async discard() {
      await file.close()
      await rm(aside, { force: true })
    },
  }
}
