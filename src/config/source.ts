// The configuration at runtime: the loaded one with the administrators' changes.

import { clean } from './clean.ts'
import type { Config } from './complete.ts'
import { ConfigError } from './errors.ts'
import { isValues, merge, nest, show, type Values, valueAt } from './layers.ts'
import type { LoadedConfig } from './load.ts'
import { findNode } from './tree.ts'
import { validate } from './validate.ts'

export type ConfigSource = ReturnType<typeof makeConfigSource>

const LABEL = 'runtime configuration'

export function makeConfigSource(loaded: LoadedConfig) {
  let effective = loaded.config
  const pinned: ReadonlySet<string> = new Set(loaded.pinned)
  const listeners = new Set<(config: Config, previous: Config) => void>()

  /** What `override` would return; changes nothing. Throws like it. */
  function check(patch: unknown): Config {
    const values = without(readPatch(patch), pinned)
    return validate(merge(loaded.input, values), { dataDir: loaded.dataDir, layers: [{ label: LABEL, values }] })
  }

  return {
    /** The effective configuration: frozen, the same object until the next override. */
    current(): Config {
      return effective
    },
    /** The configuration without any override. */
    loaded(): Config {
      return loaded.config
    },
    /** Keys that keep the value of the environment, whatever overrides contain. */
    pinned,
    check,

    /**
     * Replaces all earlier overrides by `patch` (nested keys as in YAML; `{}` restores the loaded configuration) and returns the new
     * effective configuration. Throws ConfigError, and changes nothing, if a value is invalid, or a key is unknown or not editable at
     * runtime.
     */
    override(patch: unknown): Config {
      const previous = effective
      effective = check(patch)
      for (const listener of listeners) listener(effective, previous)
      return effective
    },

    /** Calls `listener` after each override; returns the function that unsubscribes. */
    onChange(listener: (config: Config, previous: Config) => void): () => void {
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

/** The values of a patch without those of pinned keys. */
function without(values: Values, pinned: ReadonlySet<string>): Values {
  const kept = pathsOf(values, []).filter((path) => !pinned.has(path.join('.')))
  return kept.reduce<Values>((patch, path) => merge(patch, nest(path, valueAt(values, path))), {})
}

/** One phrase about a key; undefined for a section or an unknown key. */
export function aboutKey(path: readonly string[]): string | undefined {
  const node = findNode(path)
  return node?.kind === 'key' ? node.info.doc : undefined
}

/** True for a key whose value is not shown, and is sealed where it is stored. */
export function isSecret(path: readonly string[]): boolean {
  const node = findNode(path)
  return node?.kind === 'key' && node.info.secret
}

function isEditable(path: readonly string[]): boolean {
  const node = findNode(path)
  return node?.kind === 'key' && node.info.editable
}

/** The paths of all keys in a patch. */
function pathsOf(values: Values, prefix: readonly string[]): string[][] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = [...prefix, name]
    return findNode(path)?.kind === 'section' && isValues(value) ? pathsOf(value, path) : [path]
  })
}
