// Operations on overrides: paths of keys and their values. Pure.

import { isDeepStrictEqual } from 'node:util'
import type { Config, Values } from '../../config/index.ts'

/** One key, such as `['instance', 'name']`, and its value; null resets it to the loaded value. */
export interface Change {
  path: readonly string[]
  value: unknown
}

/** The keys of nested values, each with its value. No editable value is itself an object. */
export function changesOf(values: Values, prefix: readonly string[] = []): Change[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = [...prefix, name]
    return isSection(value) ? changesOf(value, path) : [{ path, value }]
  })
}

/** The overrides after some changes. A value equal to the loaded one is no override, so that an unchanged key keeps following the files. */
export function overridesAfter(overrides: Values, changes: readonly Change[], loaded: Config): Values {
  const kept = new Map(changesOf(overrides).map((change) => [change.path.join('.'), change]))
  for (const change of changes) {
    const key = change.path.join('.')
    if (change.value === null || isDeepStrictEqual(valueAt(loaded, change.path), change.value)) kept.delete(key)
    else kept.set(key, change)
  }
  return nested([...kept.values()])
}

/** Names of the keys that differ between two sets of overrides, in alphabetical order. */
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
