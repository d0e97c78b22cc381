// Compares one layer with the schema: unknown keys are reported with the nearest known one and left out.

import { isValues, type Layer, merge, nest, show, type Values, valueAt } from './layers.ts'
import { RENAMED, WITHOUT_EFFECT } from './peertube.ts'
import { keys, nearest, type Section, tree } from './tree.ts'

export interface Cleaned {
  /** The known keys of the layer. A null stays only if it is a valid value; otherwise it means 'not set'. */
  values: Values
  /** Unknown keys. */
  unknown: string[]
  /** Invalid values. */
  problems: string[]
}

export function clean(layer: Layer): Cleaned {
  const unknown: string[] = []
  const problems: string[] = []

  function cleanSection(section: Section, values: Values, prefix: string): Values {
    const entries: [string, unknown][] = []
    for (const [name, value] of Object.entries(values)) {
      const path = prefix === '' ? name : `${prefix}.${name}`
      const node = section.children.get(name)
      if (node === undefined) {
        if (value !== '' || !WITHOUT_EFFECT.has(path)) unknown.push(describeUnknown(path, layer.label, section))
      } else if (node.kind === 'key') {
        if (value !== null || node.info.nullable) entries.push([name, value])
      } else if (isValues(value)) entries.push([name, cleanSection(node, value, path)])
      else if (value !== null && value !== undefined) {
        problems.push(`${path} is ${show(value)} (${layer.label}), expected a section with keys`)
      }
    }
    return Object.fromEntries(entries)
  }

  const renamed = rename(layer, unknown)
  return { values: cleanSection(tree, renamed, ''), unknown, problems }
}

/** Moves values of old names to the new ones, unless the new one is given too. */
function rename(layer: Layer, notes: string[]): Values {
  let values = layer.values
  for (const [from, to] of RENAMED) {
    const value = valueAt(values, from.split('.'))
    if (value === undefined) continue
    notes.push(`${layer.label}: the key ${from} is called ${to} now`)
    values = merge(nest(to.split('.'), value), without(values, from.split('.')))
  }
  return values
}

function without(values: Values, path: readonly string[]): Values {
  const [name = '', ...rest] = path
  const inner = values[name]
  const { [name]: _removed, ...others } = values
  return rest.length === 0 || !isValues(inner) ? others : { ...others, [name]: without(inner, rest) }
}

function describeUnknown(path: string, label: string, section: Section): string {
  if (WITHOUT_EFFECT.has(path)) return `${label}: the key ${path} has no effect here`
  const suggestion = suggestKey(path, section)
  return suggestion ? `${label}: unknown key ${path}, did you mean ${suggestion}?` : `${label}: unknown key ${path}`
}

/** A sibling with a similar name, or a key with a similar path, or the only key with that ending. */
function suggestKey(path: string, section: Section): string | undefined {
  const dot = path.lastIndexOf('.')
  const sibling = nearest(path.slice(dot + 1), section.children.keys())
  if (sibling !== undefined) return `${path.slice(0, dot + 1)}${sibling}`
  const paths = keys.map((key) => key.path)
  const sameEnd = paths.filter((other) => other.endsWith(`.${path.slice(dot + 1)}`))
  return nearest(path, paths) ?? (sameEnd.length === 1 ? sameEnd[0] : undefined)
}
