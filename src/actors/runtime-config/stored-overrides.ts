// Applies the stored overrides of the configuration in this process whenever their version changes.

import { ConfigError, type ConfigSource, type Values } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { changesOf, nested } from './overrides.ts'

export interface StoredOverrides {
  /** Checks for a newer version and applies it. At the start, before anything uses the configuration; later by bus and sweeper. */
  load(): Promise<void>
}

export function makeStoredOverrides(deps: { db: Database; source: ConfigSource; logger: Logger }): StoredOverrides {
  const { db, source, logger } = deps
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

  return {
    async load() {
      const [row] = await db.query<{ overrides: Values; version: number }>(
        'select overrides, version from runtime_config where id = 1 and version > $1',
        [applied],
      )
      // Concurrent reads may finish in the wrong order.
      if (!row || row.version <= applied) return
      applied = row.version
      apply(row.overrides)
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
