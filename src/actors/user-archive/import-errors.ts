// What an error during the import of an item says about the item.

import { ArchiveError, isDiskFull, isRefusal } from '../../media/index.ts'
import { isBadData } from '../../platform/database/index.ts'
import { DomainError } from '../runtime/index.ts'
import type { ItemReason } from './import-context.ts'

/** True if a retry may succeed. */
export const isForNow = (error: unknown): boolean =>
  (error instanceof DomainError && ['busy', 'unavailable', 'too_many'].includes(error.kind)) || isDiskFull(error)

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
