// Changes of the configuration at runtime: stored with their author, and applied in every process.

import { isDeepStrictEqual } from 'node:util'
import { ConfigError, type ConfigSource, type Values } from '../../config/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import { type ActorDeps, DomainError, type Unit } from '../runtime/index.ts'
import { contradictionsOf } from './contradictions.ts'
import { type Change, changedKeys, overridesAfter, valueAt } from './overrides.ts'
import { fitting, type StoredOverrides } from './stored-overrides.ts'

export interface ConfigEditor {
  id: number
  username: string
}

/** Keys that appear in the document of the instance actor. */
const IN_ACTOR = ['instance.name', 'instance.short_description']
/** By then every process has applied a change. */
const SPREAD_MS = 2000
const TOPIC = 'runtime-config'
const AGGREGATE = { aggregate: 'runtime_config', id: 1 } as const

export type RuntimeConfig = ReturnType<typeof makeRuntimeConfig>

export function makeRuntimeConfig(
  deps: Pick<ActorDeps, 'tell' | 'registry' | 'logger'> & {
    source: ConfigSource
    stored: StoredOverrides
    bus: Pick<Bus, 'subscribe'>
    instanceActorId: () => Promise<number>
  },
) {
  const { tell, registry, logger, source, stored, bus, instanceActorId } = deps

  // A message may be lost, so each run of the sweeper (`vireo.runtime.sweep_interval`) compares the versions too.
  registry.periodic('runtime-config', { everyMs: () => 0, everywhere: true, run: () => stored.load() })
  const unsubscribe = bus.subscribe(TOPIC, () => {
    stored.load().catch((error) => logger.warn({ err: error }, 'the configuration could not be read; the sweeper will'))
  })

  // The document depends on the configuration, so it waits until every process has the new one.
  registry.job('instance-update', {
    queue: 'io',
    async run() {
      const actorId = await instanceActorId()
      await tell({ aggregate: 'actor', id: actorId }, async (unit) =>
        unit.emit({ aggregate: 'actor', id: actorId }, 'ActorUpdated', { actorId }),
      )
    },
  })

  async function store(after: (overrides: Values) => Values, by: ConfigEditor): Promise<void> {
    const changed = await tell(AGGREGATE, async (unit) => {
      const [row] = await unit.query<{ overrides: Values; version: number }>('select overrides, version from runtime_config where id = 1')
      const before = row?.overrides ?? {}
      const overrides = stored.opened(before)
      // Invalid overrides (keys of an earlier version) are not applied any more, and are deleted now.
      const next = after(fitting(source, overrides))
      const keys = changedKeys(overrides, next)
      if (keys.length === 0) return keys
      if (Object.keys(next).length > 0) refuseContradictions(source, next, overrides)
      await write(unit, { overrides: stored.sealed(next, before), version: (row?.version ?? 0) + 1, keys, by })
      return keys
    })
    if (changed.length > 0) logger.info({ user: by.username, keys: changed }, 'the configuration was changed')
    await stored.load()
  }

  async function write(
    unit: Unit,
    { overrides, version, keys, by }: { overrides: Values; version: number; keys: string[]; by: ConfigEditor },
  ): Promise<void> {
    await unit.query('update runtime_config set overrides = $1, version = $2, updated_at = $3 where id = 1', [
      JSON.stringify(overrides),
      version,
      unit.now,
    ])
    await unit.query('insert into runtime_config_change (version, user_id, username, keys, created_at) values ($1, $2, $3, $4, $5)', [
      version,
      by.id,
      by.username,
      keys,
      unit.now,
    ])
    unit.publish(TOPIC, { version })
    if (keys.some((key) => IN_ACTOR.includes(key))) {
      unit.enqueue({ type: 'instance-update', data: {}, dedupeKey: 'instance-update', delayMs: SPREAD_MS })
    }
  }

  return {
    /**
     * Changes some keys and keeps the others. Throws `invalid`, and changes nothing, if they are inconsistent with the rest. This process
     * uses them when the promise resolves, the others within a second.
     */
    change: (changes: readonly Change[], by: ConfigEditor): Promise<void> =>
      store((overrides) => overridesAfter(overrides, changes, source.loaded()), by),
    /** True if the environment sets the key, which can then not be changed. */
    isPinned: (key: string): boolean => source.pinned.has(key),
    /** The changed keys that the environment pins to another value. */
    pinned(changes: readonly Change[]): string[] {
      return changes
        .filter(({ value }) => value !== null)
        .filter(({ path, value }) => !isDeepStrictEqual(valueAt(source.loaded(), path), value))
        .map(({ path }) => path.join('.'))
        .filter((key) => source.pinned.has(key))
    },
    /** Restores the configuration of the files and the environment. */
    reset: (by: ConfigEditor): Promise<void> => store(() => ({}), by),
    close: unsubscribe,
  }
}

/**
 * Refuses combinations of valid values that are invalid together; the schema of the request has validated single ones. Existing
 * contradictions, in the files or because mail was disabled, do not block other changes.
 */
function refuseContradictions(source: ConfigSource, overrides: Values, before: Values): void {
  const known = new Set(problemsOf(source, fitting(source, before)))
  const problems = problemsOf(source, overrides).filter((problem) => !known.has(problem))
  if (problems.length > 0) throw new DomainError('invalid', problems.join(' '))
}

function problemsOf(source: ConfigSource, overrides: Values): readonly string[] {
  try {
    return contradictionsOf(source.check(overrides))
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
