// What the overrides are made of: paths of keys and their values. Pure.

import { isDeepStrictEqual } from 'node:util'
import type { Config, Values } from '../../config/index.ts'

/** One key, such as `['instance', 'name']`, and its value; null goes back to what was loaded. */
export interface Change {
  path: readonly string[]
  value: unknown
}

/** The keys of nested values, each with its value. No value that can be changed at run time is an object itself. */
export function changesOf(values: Values, prefix: readonly string[] = []): Change[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = [...prefix, name]
    return isSection(value) ? changesOf(value, path) : [{ path, value }]
  })
}

/**
 * The overrides after some changes. What says the same as the loaded configuration is no override, so that a key that
 * nobody changed goes on following the files.
 */
export function overridesAfter(overrides: Values, changes: readonly Change[], loaded: Config): Values {
  const kept = new Map(changesOf(overrides).map((change) => [change.path.join('.'), change]))
  for (const change of changes) {
    const key = change.path.join('.')
    if (change.value === null || isDeepStrictEqual(valueAt(loaded, change.path), change.value)) kept.delete(key)
    else kept.set(key, change)
  }
  return nested([...kept.values()])
}

/** Names of the keys that two sets of overrides say differently, in the order of the alphabet. */
export function changedKeys(before: Values, after: Values): string[] {
  const old = byName(before)
  const now = byName(after)
  const names = [...new Set([...old.keys(), ...now.keys()])].sort()
  return names.filter((name) => old.has(name) !== now.has(name) || !isDeepStrictEqual(old.get(name), now.get(name)))
}

const byName = (values: Values): Map<string, unknown> => new Map(changesOf(values).map(({ path, value }) => [path.join('.'), value]))

/** `{ a: { b: 1 } }` of the change of a.b to 1. */
export function nested(changes: readonly Change[]): Values {
  const root: Record<string, unknown> = {}
  for (const { path, value } of changes) {
    const last = path.at(-1)
    if (last === undefined) continue
    let section = root
    for (const name of path.slice(0, -1)) {
      const below = section[name]
      const next = isSection(below) ? below : {}
      section[name] = next
      section = next
    }
    section[last] = value
  }
  return root
}

export function valueAt(values: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isSection(at) ? at[name] : undefined), values)
}

const isSection = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
