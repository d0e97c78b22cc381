// The configuration while the server runs: what was loaded, under what administrators changed.

import { clean } from './clean.ts'
import type { Config } from './complete.ts'
import { ConfigError } from './errors.ts'
import { isValues, merge, nest, show, type Values, valueAt } from './layers.ts'
import type { LoadedConfig } from './load.ts'
import { findNode } from './tree.ts'
import { validate } from './validate.ts'

export interface ConfigSource {
  /** The effective configuration: frozen, the same object until the next override. */
  current(): Config
  /**
   * Replaces all earlier overrides by `patch` (nested keys as in YAML; `{}` goes back to what was loaded) and answers the new
   * effective configuration. Throws ConfigError, and changes nothing, when a value is wrong or a key is unknown or not
   * editable while the server runs.
   */
  override(patch: unknown): Config
  /** What `override` would answer; changes nothing. Throws as it does. */
  check(patch: unknown): Config
  /** The configuration without any override. */
  loaded(): Config
  /** Keys that stay as the environment gives them, whatever overrides say. */
  pinned: ReadonlySet<string>
  /** Calls `listener` after each override; answers how to stop that. */
  onChange(listener: (config: Config, previous: Config) => void): () => void
}

const LABEL = 'runtime configuration'

export function makeConfigSource(loaded: LoadedConfig): ConfigSource {
  let effective = loaded.config
  const pinned = new Set(loaded.pinned)
  const listeners = new Set<(config: Config, previous: Config) => void>()

  function check(patch: unknown): Config {
    const values = without(readPatch(patch), pinned)
    return validate(merge(loaded.input, values), { dataDir: loaded.dataDir, layers: [{ label: LABEL, values }] })
  }

  return {
    current: () => effective,
    loaded: () => loaded.config,
    pinned,
    check,

    override(patch) {
      const previous = effective
      effective = check(patch)
      for (const listener of listeners) listener(effective, previous)
      return effective
    },

    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function readPatch(patch: unknown): Values {
  if (!isValues(patch)) throw new ConfigError([`the ${LABEL} is ${show(patch)}, expected sections with keys`])
  const { values, unknown, problems } = clean({ label: LABEL, values: patch })
  const fixed = pathsOf(values, []).filter((path) => !isEditable(path))
  const lines = fixed.map((path) => `${path.join('.')} cannot be changed while the server runs`)
  if (problems.length + unknown.length + lines.length > 0) throw new ConfigError([...problems, ...unknown, ...lines])
  return values
}

/** The values of a patch that are of no pinned key. */
function without(values: Values, pinned: ReadonlySet<string>): Values {
  const kept = pathsOf(values, []).filter((path) => !pinned.has(path.join('.')))
  return kept.reduce<Values>((patch, path) => merge(patch, nest(path, valueAt(values, path))), {})
}

function isEditable(path: readonly string[]): boolean {
  const node = findNode(path)
  return node?.kind === 'key' && node.info.editable
}

/** The paths of all keys that a patch names. */
function pathsOf(values: Values, prefix: readonly string[]): string[][] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = [...prefix, name]
    return findNode(path)?.kind === 'section' && isValues(value) ? pathsOf(value, path) : [path]
  })
}
