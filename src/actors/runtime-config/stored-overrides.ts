// Applies the stored overrides of the configuration in this process whenever their version changes.

import { isDeepStrictEqual } from 'node:util'
import { ConfigError, type ConfigSource, isSecret, type Values } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { changesOf, nested, valueAt } from './overrides.ts'

export type StoredOverrides = ReturnType<typeof makeStoredOverrides>

export function makeStoredOverrides(deps: {
  db: Pick<Database, 'query'>
  source: ConfigSource
  logger: Logger
  secrets: Pick<Secrets, 'seal' | 'open'>
}) {
  const { db, source, logger, secrets } = deps
  let applied = 0

  function apply(overrides: Values): void {
    try {
      source.override(overrides)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      // Keys that a new version removed, or that the files contradict now: the others stay in force.
      logger.error({ problems: error.problems }, 'stored changes of the configuration do not fit and are left out')
      source.override(fitting(source, overrides))
    }
  }

  /** The stored overrides with their secret values, which are sealed in the database. One that cannot be opened is left out. */
  function opened(stored: Values): Values {
    const changes = changesOf(stored).flatMap(({ path, value }) => {
      try {
        return [{ path, value: isSecret(path) ? (JSON.parse(secrets.open(String(value))) as unknown) : value }]
      } catch {
        logger.error({ key: path.join('.') }, 'a stored change of the configuration cannot be decrypted, and is left out')
        return []
      }
    })
    return nested(changes)
  }

  return {
    opened,
    /** The form in which they are stored; a secret that is the same as in `before` stays as it is. */
    sealed(overrides: Values, before: Values): Values {
      const known = opened(before)
      const changes = changesOf(overrides).map(({ path, value }) => {
        if (!isSecret(path)) return { path, value }
        const isSame = isDeepStrictEqual(valueAt(known, path), value)
        return { path, value: isSame ? valueAt(before, path) : secrets.seal(JSON.stringify(value)) }
      })
      return nested(changes)
    },

    /** Checks for a newer version and applies it. At the start, before anything uses the configuration; later by bus and sweeper. */
    async load(): Promise<void> {
      const [row] = await db.query<{ overrides: Values; version: number }>(
        'select overrides, version from runtime_config where id = 1 and version > $1',
        [applied],
      )
      // Concurrent reads may finish in the wrong order.
      if (!row || row.version <= applied) return
      applied = row.version
      apply(opened(row.overrides))
    },
  }
}

/** The keys that can be applied to the loaded configuration together. */
export function fitting(source: ConfigSource, overrides: Values): Values {
  let kept: ReturnType<typeof changesOf> = []
  for (const change of changesOf(overrides)) {
    const more = [...kept, change]
    try {
      source.check(nested(more))
      kept = more
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
    }
  }
  return nested(kept)
}
