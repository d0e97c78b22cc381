// Layers of configuration: files and variables; later ones take precedence.

/** Nested keys as parsed from YAML. */
export type Values = { readonly [key: string]: unknown }

export interface Layer {
  /** The file or the variable, for messages. */
  label: string
  values: Values
}

export function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Deep merge of sections; lists and single values are replaced as a whole. */
export function merge(base: Values, over: Values): Values {
  const merged = new Map(Object.entries(base))
  for (const [name, value] of Object.entries(over)) {
    const below = merged.get(name)
    merged.set(name, isValues(below) && isValues(value) ? merge(below, value) : value)
  }
  return Object.fromEntries(merged)
}

export function valueAt(values: unknown, path: readonly PropertyKey[]): unknown {
  let value = values
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = Reflect.get(value, name)
  }
  return value
}

/** `{ a: { b: value } }` of the path a, b. */
export function nest(path: readonly string[], value: unknown): Values {
  const [name = '', ...rest] = path
  return { [name]: rest.length === 0 ? value : nest(rest, value) }
}

const LONGEST_SHOWN = 80

/** A value for a message: short, on one line, and without the password of a URL. */
export function show(value: unknown): string {
  const text = (JSON.stringify(value) ?? 'missing').replace(/(:\/\/[^:@/]*):[^@/]*@/g, '$1:(hidden)@')
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}
