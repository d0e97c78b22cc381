// Converts zod's issues to `invalid-params`: all invalid fields of all parts of the request, each named once.

import { z } from 'zod'
import type { InvalidParam } from '../../actors/runtime/index.ts'
import { coerceToSchema, valueAt, withValues } from './body-types.ts'
import { unstorableIssues } from './unstorable.ts'

/** Parts of a request, in Fastify's order of validation. */
export const parts = ['params', 'body', 'querystring', 'headers'] as const
export type Part = (typeof parts)[number]

const LOCATIONS = { params: 'params', body: 'body', querystring: 'query', headers: 'header' } as const

/** Depth to which missing objects are filled in to name their required fields. */
const DEEPEST = 6

/**
 * The invalid fields of one part of a request, in the order of the schema; none if the part is valid. A missing object is reported by its
 * required fields, and an item of a list by its list.
 */
export function invalidParamsOf(schema: z.ZodType, part: Part, data: unknown): InvalidParam[] {
  const input = sentInput(schema, part, isObject(data) ? data : {})
  const found = new Map<string, InvalidParam>()
  for (const issue of openedIssues(schema, input)) {
    for (const path of pathsOf(issue)) {
      const name = path.length ? path.join('.') : part
      // A list has an issue per invalid item, and its echo is a copy: make it once.
      if (found.has(name)) continue
      const value = path.length ? refusedValue(input, issue, path) : data
      found.set(name, { name, location: LOCATIONS[part], msg: issue.message, value })
    }
  }
  if (found.size === 0) return refusedWhole(schema, part, data)
  return [...found.values()]
}

/** The input of the schema: for a body, with converted types. */
const sentInput = (schema: z.ZodType, part: Part, data: object): object => {
  const read = part === 'body' ? coerceToSchema(schema, data) : data
  return isObject(read) ? read : {}
}

/** A text or a number where an object without required fields is expected. */
function refusedWhole(schema: z.ZodType, part: Part, data: unknown): InvalidParam[] {
  const isRefused = !isObject(data) && data !== undefined && data !== null && !schema.safeParse(data).success
  return isRefused ? [{ name: part, location: LOCATIONS[part], msg: 'Should be an object', value: data }] : []
}

/**
 * The value that the failing step of the schema saw: after a coercion the coerced value, as clients expect. For a list it is the whole
 * list, also if a query contained a single item.
 */
function refusedValue(input: object, issue: z.core.$ZodIssue, path: PropertyKey[]): unknown {
  const sent = valueAt(input, path)
  if (issue.code === 'unrecognized_keys') return sent
  if (path.length === issue.path.length) {
    // A check of a whole object that reports one of its fields saw the object.
    const isWhole = isObject(issue.input) && !Array.isArray(issue.input)
    return isWhole && !isObject(sent) ? sent : issue.input
  }
  const list: unknown[] = Array.isArray(sent) ? [...sent] : [sent]
  const index = issue.path[path.length]
  if (issue.path.length === path.length + 1 && typeof index === 'number') list[index] = issue.input
  return list
}

/** Issues of the input, with each missing object filled in so that its own required fields are reported. */
function openedIssues(schema: z.ZodType, input: object): z.core.$ZodIssue[] {
  // Objects without required fields would disappear from the list when they are filled in.
  const empty: z.core.$ZodIssue[] = []
  let candidate = input
  let issues = issuesOf(schema, candidate)
  for (let depth = 0; depth < DEEPEST; depth++) {
    const missing = issues.filter((issue) => isMissingObject(issue, candidate))
    if (missing.length === 0) break
    candidate = filled(candidate, missing)
    issues = issuesOf(schema, candidate)
    empty.push(...missing.filter((issue) => !issues.some((other) => isBelow(other.path, issue.path))))
  }
  return [...empty, ...issues]
}

/** A copy with an empty object at each path; a body of another type becomes one. */
function filled(input: object, missing: z.core.$ZodIssue[]): object {
  if (missing.some((issue) => issue.path.length === 0)) return {}
  return withValues(
    input,
    missing.map(({ path }) => ({ path, value: {} })),
  )
}

function issuesOf(schema: z.ZodType, input: unknown): z.core.$ZodIssue[] {
  const result = schema.safeParse(input, { reportInput: true })
  if (result.success) return unstorableIssues(result.data)
  return [...result.error.issues.flatMap(likeliestBranch), ...unstorableIssues(knownFields(schema, input))]
}

/** The sent fields that the schema knows; others are ignored. */
function knownFields(schema: z.ZodType, input: unknown): unknown {
  if (!(schema instanceof z.ZodObject) || !isObject(input)) return {}
  return Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(schema.shape, name)))
}

/** A union of whole objects fails as one issue; the branch with the fewest errors is the intended one. */
function likeliestBranch(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.path.length > 0) return [issue]
  const [best] = issue.errors.filter((errors) => errors.length > 0).sort((a, b) => a.length - b.length)
  return best ?? [issue]
}

const isMissingObject = (issue: z.core.$ZodIssue, input: object): boolean =>
  issue.code === 'invalid_type' && issue.expected === 'object' && (issue.path.length === 0 || valueAt(input, issue.path) === undefined)

function pathsOf(issue: z.core.$ZodIssue): PropertyKey[][] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...upToList(issue.path), key])
  return [upToList(issue.path)]
}

function upToList(path: PropertyKey[]): PropertyKey[] {
  const index = path.findIndex((step) => typeof step === 'number')
  return index === -1 ? path : path.slice(0, index)
}

const isBelow = (path: PropertyKey[], parent: PropertyKey[]): boolean =>
  path.length > parent.length && parent.every((step, index) => path[index] === step)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
