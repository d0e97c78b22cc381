// The first failed items of an import, by their names in the archive, and the reasons. Pure.

import { z } from 'zod'
import { ArchiveError, isRefusal } from '../../media/index.ts'
import { isBadData } from '../../platform/database/index.ts'
import { DomainError } from '../runtime/index.ts'
import type { ItemReason } from './item-outcome.ts'
import type { ImportedPart } from './summary.ts'

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

/** The reason of a thrown error; undefined if the item did not cause it. */
export function reasonOf(error: unknown): ItemReason | undefined {
  if (error instanceof DomainError) {
    if (error.code === 'quota_reached') return 'quota_reached'
    const { kind } = error
    if (kind === 'unauthenticated') return 'forbidden'
    return kind === 'busy' || kind === 'unavailable' ? undefined : kind
  }
  if (error instanceof ArchiveError) return error.fault === 'too-large' ? 'too_large' : 'damaged'
  if (isRefusal(error)) return 'unprocessable'
  return isBadData(error) ? 'invalid' : undefined
}

/** The field that identifies an item, by its part. */
const NAMED_BY: Partial<Record<ImportedPart, string>> = {
  channels: 'name',
  'watched-words-lists': 'listName',
  'automatic-tag-policies': 'name',
  following: 'targetHandle',
  videos: 'name',
  'video-playlists': 'displayName',
  likes: 'videoUrl',
  dislikes: 'videoUrl',
  'video-history': 'videoUrl',
}

const object = z.record(z.string(), z.unknown())

/** The name of an item, which may be malformed. Credentials in an address are left out. */
export function nameOf(part: ImportedPart, item: unknown): string | null {
  const key = NAMED_BY[part]
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
