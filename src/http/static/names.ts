// Names of stored files in addresses.

import { notFound } from '../../actors/runtime/index.ts'
import { fromShortUuid, isUuid } from '../../platform/ids.ts'

/** Local files have plain names: no others are looked up. `refusal`: the error for others, `not_found` by default. */
export function plain(filename: string, refusal: () => Error = () => notFound('File not found')): string {
  if (!/^[\w-][\w.-]*$/.test(filename)) throw refusal()
  return filename
}

/** A file in the folder of a video. */
export function hlsNames({ uuid, filename }: { uuid: string; filename: string }): { uuid: string; filename: string } {
  const whole = isUuid(uuid) ? uuid.toLowerCase() : fromShortUuid(uuid)
  if (whole === undefined) throw notFound('File not found')
  return { uuid: whole, filename: plain(filename) }
}
