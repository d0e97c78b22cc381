// Contains the failures of single items: an error of an item ends that item, and an error of this server makes the import wait.

import type { Logger } from '../../platform/logger.ts'
import { DomainError } from '../runtime/index.ts'
import {
  AlreadyImported,
  type ImportContext,
  type ItemOutcome,
  isForNow,
  type PartImporter,
  partOf,
  reasonOf,
} from '../user-archive/index.ts'

/**
 * Validates an item of an archive and imports it. Every error of the item becomes an outcome. Throws `busy` and `unavailable` if the server
 * cannot import now, and the reason of the signal if the import must stop.
 */
export async function importItem(
  { part, importItem: work }: PartImporter,
  { item, context, logger }: { item: unknown; context: ImportContext; logger: Logger },
): Promise<ItemOutcome> {
  const { signal } = context
  signal.throwIfAborted()
  const read = partOf(part).item.safeParse(item)
  if (!read.success || !isStorable(read.data)) {
    logger.debug({ part, err: read.error }, 'an item of an archive is not what it should be')
    return { error: 'invalid' }
  }
  try {
    return await work(read.data, context)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof AlreadyImported) return 'duplicate'
    const reason = isForNow(error) ? undefined : reasonOf(error)
    if (!reason) throw isTooMuch(error) ? new DomainError('busy', error.message, { cause: error }) : error
    logger.debug({ err: error, part }, 'an item of an archive was not imported')
    return { error: reason }
  }
}

const isTooMuch = (error: unknown): error is DomainError => error instanceof DomainError && error.kind === 'too_many'

/** PostgreSQL stores neither U+0000 nor unpaired surrogates. Streams of files are not stored. */
function isStorable(item: unknown): boolean {
  for (const waiting = [item]; waiting.length > 0; ) {
    const value = waiting.pop()
    if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) return false
    if (typeof value !== 'object' || value === null) continue
    for (const [key, inner] of Object.entries(value)) if (key !== 'metadata') waiting.push(inner)
  }
  return true
}
