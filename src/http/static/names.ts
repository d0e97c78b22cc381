// Names of stored files as they come in addresses.

import { notFound } from '../../actors/runtime/index.ts'
import { isUuid } from '../../platform/ids.ts'

/** Our own files have plain names: nothing else is looked for. */
export function plain(filename: string): string {
  if (!/^[\w-][\w.-]*$/.test(filename)) throw notFound('File not found')
  return filename
}

/** A file in the folder of a video. */
export function hlsNames({ uuid, filename }: { uuid: string; filename: string }): { uuid: string; filename: string } {
  if (!isUuid(uuid)) throw notFound('File not found')
  return { uuid: uuid.toLowerCase(), filename: plain(filename) }
}
