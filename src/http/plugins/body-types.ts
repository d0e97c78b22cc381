// Converts values in bodies to the types of the schema, as clients send them: `"2"` for a number, `"true"` for a boolean, `"null"` for
// null. Only values that the schema refuses are converted and validated again; invalid ones stay refused, as they were sent.

import type { z } from 'zod'

interface Change {
  path: readonly PropertyKey[]
  value: unknown
}

/** Later rounds are for checks that run only when other fields are valid. */
const ROUNDS = 3

/** Parses a body. */
export function readBody<S extends z.ZodType>(schema: S, body: unknown): z.ZodSafeParseResult<z.output<S>> {
  const result = schema.safeParse(body)
  return result.success ? result : schema.safeParse(coerceToSchema(schema, body, result.error.issues))
}

/** A body in which texts that stand for another type are converted to the type of the schema. */
export function coerceToSchema(schema: z.ZodType, body: unknown, known?: readonly z.core.$ZodIssue[]): unknown {
  let [read, issues] = [body, known ?? issuesOf(schema, body)]
  for (let round = 0; round < ROUNDS; round++) {
    const meant = issues.flatMap((issue) => meantBy(issue, read))
    const better = withValues(read, meant)
    const left = meant.length > 0 ? issuesOf(schema, better) : issues
    const refused = new Set(left.map(({ path }) => keyOf(path)))
    const kept = meant.filter(({ path }) => !refused.has(keyOf(path)))
    if (kept.length === 0) return read
    if (kept.length === meant.length) [read, issues] = [better, left]
    else {
      read = withValues(read, kept)
      issues = issuesOf(schema, read)
    }
  }
  return read
}

/**
 * A copy with other values at some paths; everything else is shared. Each container is copied once, since it may have many members that no
 * schema names.
 */
export function withValues<T>(input: T, changes: readonly Change[]): T {
  const copies = new WeakSet<object>()
  const put = <V>(at: V, [step, ...rest]: readonly PropertyKey[], value: unknown): V => {
    if (step === undefined || typeof at !== 'object' || at === null) return at
    const copy: object = copies.has(at) ? at : Array.isArray(at) ? [...at] : { ...at }
    copies.add(copy)
    Reflect.set(copy, step, rest.length > 0 ? put(Reflect.get(copy, step), rest, value) : value)
    return copy as V
  }
  return changes.reduce((at, { path, value }) => put(at, path, value), input)
}

export const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? Reflect.get(at, step) : undefined),
    input,
  )

/** Possible conversions of a refused value. */
function meantBy(issue: z.core.$ZodIssue, read: unknown): Change[] {
  const { path } = issue
  if (issue.code === 'invalid_union') {
    const inside = issue.errors.flat().map((inner) => ({ ...inner, path: [...path, ...inner.path] }))
    return inside.flatMap((inner) => meantBy(inner, read)).slice(0, 1)
  }
  const sent = valueAt(read, path)
  if (typeof sent !== 'string') return []
  if (sent === 'null') return [{ path, value: null }]
  const value = SCALARS.get(sent) ?? (NUMBER.test(sent) ? Number(sent) : undefined)
  return value !== undefined && isWanted(issue, value) ? [{ path, value }] : []
}

const NUMBER = /^-?\d{1,15}(?:\.\d{1,9})?$/
const SCALARS = new Map<string, boolean>([
  ['true', true],
  ['false', false],
])

function isWanted(issue: z.core.$ZodIssue, value: number | boolean): boolean {
  if (issue.code === 'invalid_value') return issue.values.includes(value)
  if (issue.code !== 'invalid_type') return false
  return issue.expected === (typeof value === 'boolean' ? 'boolean' : 'number') || (issue.expected === 'int' && typeof value === 'number')
}

const issuesOf = (schema: z.ZodType, body: unknown): readonly z.core.$ZodIssue[] => schema.safeParse(body).error?.issues ?? []

const keyOf = (path: readonly PropertyKey[]): string => path.map(String).join('\n')
