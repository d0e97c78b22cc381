// Contains the failures of single items: an error of an item ends that item, and an error of this server makes the import wait.

import { isDiskFull } from '../../media/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { DomainError } from '../runtime/index.ts'
import type { ArchivePart } from '../user-archive/index.ts'
import { reasonOf } from './failures.ts'
import { AlreadyImported } from './imported-objects.ts'
import type { PartImporter } from './part-importer.ts'

/**
 * Wraps an importer so that every error of an item becomes an outcome. Throws `busy` and `unavailable` if the server cannot import now, and
 * the reason of the signal if the import must stop.
 */
export function guarded<P extends ArchivePart>(importer: PartImporter<P>, logger: Logger): PartImporter<P> {
  const { part } = importer
  return {
    part,
    async importItem(item, context) {
      const { signal } = context
      signal.throwIfAborted()
      if (!isStorable(item)) return { error: 'invalid' }
      try {
        return await importer.importItem(item, context)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof AlreadyImported) return 'duplicate'
        const reason = isForNow(error) ? undefined : reasonOf(error)
        if (!reason) throw isTooMuch(error) ? new DomainError('busy', error.message, { cause: error }) : error
        logger.debug({ err: error, part }, 'an item of an archive was not imported')
        return { error: reason }
      }
    },
  }
}

/** True if a retry may succeed. */
export const isForNow = (error: unknown): boolean =>
  (error instanceof DomainError && ['busy', 'unavailable', 'too_many'].includes(error.kind)) || isDiskFull(error)

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
