// Which items of an archive were not brought in, and why: the first of them, by what the archive calls them. Pure.

import { z } from 'zod'
import { ArchiveError, isRefusal } from '../../media/index.ts'
import { isBadData } from '../../platform/database/index.ts'
import { DomainError } from '../runtime/index.ts'
import type { ItemReason } from './item-outcome.ts'
import type { ImportedPart } from './summary.ts'

export interface ItemFailure {
  part: ImportedPart
  /** Its place in its part, from 0. */
  index: number
  /** What the archive calls it: a name, a handle, or the address of a video; null where it says none. */
  name: string | null
  reason: ItemReason
}

/** So many are named. */
const MOST_FAILURES = 100
const LONGEST_NAME = 200

export const withFailure = (failures: readonly ItemFailure[], failure: ItemFailure): readonly ItemFailure[] =>
  failures.length < MOST_FAILURES ? [...failures, failure] : failures

/** The reason in what was thrown; undefined for what is not of the item. */
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

/** What identifies an item, by its part. */
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

/** What an item that was read, but may fit nothing, is called. Of an address, nothing that may let somebody in. */
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
