// The first failed items of an import, by their names in the archive, and the reasons. Pure.

import { z } from 'zod'
import { type ImportedPart, type ItemReason, partOf } from '../user-archive/index.ts'

export interface ItemFailure {
  part: ImportedPart
  /** Its index in its part, from 0. */
  index: number
  /** Its name in the archive: a name, a handle, or the address of a video; null if it has none. */
  name: string | null
  reason: ItemReason
}

/** Limit of listed items. */
const MAX_FAILURES = 100
const LONGEST_NAME = 200

export const withFailure = (failures: readonly ItemFailure[], failure: ItemFailure): readonly ItemFailure[] =>
  failures.length < MAX_FAILURES ? [...failures, failure] : failures

const object = z.record(z.string(), z.unknown())

/** The name of an item, which may be malformed. Credentials in an address are left out. */
export function nameOf(part: ImportedPart, item: unknown): string | null {
  const key = partOf(part).namedBy
  const value = key === undefined ? undefined : object.safeParse(item).data?.[key]
  if (typeof value !== 'string') return null
  const url = key === 'videoUrl' ? URL.parse(value) : null
  const text = url ? `${url.protocol}//${url.host}${url.pathname}` : value
  const shown = text
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .trim()
  return [...shown.slice(0, 2 * LONGEST_NAME)].slice(0, LONGEST_NAME).join('').toWellFormed() || null
}
