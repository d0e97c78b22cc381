// Names of form and query fields, as clients write them: `tags=a&tags=b`, `tags[]=a`, `tags[0]=a`, `schedule[date]=x`.

import { parse } from 'node:querystring'
import { z } from 'zod'
import { maximumOf } from '../../platform/first-fault.ts'
import { HttpError } from './http-error.ts'

export interface Fields {
  [name: string]: FieldValue
}
type FieldValue = string | FieldValue[] | Fields

/** Deepest nesting of brackets; deeper names stay as they are. */
const DEEPEST = 5
const UNSAFE = new Set(['__proto__', 'constructor', 'prototype'])

/** Bytes of all names and values of a body that is read into memory, in any encoding. */
export const MAX_FIELDS_BYTES = 2 * 1024 * 1024
/** Fields of a query, or of a body of a route without a schema. */
const MAX_FIELDS = 1000
/** Fields in addition to those of the schema, since clients send unknown ones. */
const UNNAMED_FIELDS = 100

export const tooManyFields = (most: number): HttpError =>
  new HttpError(413, `The form has more than ${most} fields.`, { code: 'PayloadTooLargeError' })

/** Throws 413 if all fields together exceed `MAX_FIELDS_BYTES`. */
export function checkLength(bytes: number): void {
  if (bytes <= MAX_FIELDS_BYTES) return
  throw new HttpError(413, `The fields have more than ${MAX_FIELDS_BYTES} bytes.`, { code: 'PayloadTooLargeError' })
}

/** Maximum fields of a form with this schema. */
export const maxFields = (schema: unknown): number => (schema instanceof z.ZodType ? leavesOf(schema) + UNNAMED_FIELDS : MAX_FIELDS)

/** Scalars of a value, with lists of maximum length. */
function leavesOf(schema: z.core.$ZodType): number {
  const { def } = (schema as z.core.$ZodTypes)._zod
  const most = (schemas: readonly z.core.$ZodType[]) => Math.max(1, ...schemas.map(leavesOf))
  switch (def.type) {
    case 'object':
      return Object.values(def.shape).reduce((sum, field) => sum + leavesOf(field), 0)
    case 'array':
      return leavesOf(def.element) * Math.min(MAX_FIELDS, maximumOf(def.checks))
    case 'pipe':
      return most([def.in, def.out])
    case 'union':
      return most(def.options)
    default:
      return 'innerType' in def ? leavesOf(def.innerType) : 1
  }
}

/** The fields of a urlencoded body. Throws 413 if they are too many or too long. */
export function parseForm(body: Buffer, most: number): Fields {
  checkLength(body.length)
  const text = body.toString()
  const parsed = parse(text, '&', '=', { maxKeys: most + 1 })
  if (Object.values(parsed).flat().length > most) throw tooManyFields(most)
  return fieldsOf(parsed, text)
}

/** The fields of a query string. */
export function parseQuery(text: string): Fields {
  if (text === '') return {}
  return fieldsOf(parse(text, '&', '=', { maxKeys: MAX_FIELDS }), text)
}

function fieldsOf(parsed: NodeJS.Dict<string | string[]>, text: string): Fields {
  if (!/\[|%5b/i.test(text)) return { ...withoutUnsafe(parsed) }
  return foldFields(
    Object.entries(parsed).flatMap(([name, value]): [string, string][] =>
      Array.isArray(value) ? value.map((item) => [name, item]) : [[name, value ?? '']],
    ),
  )
}

/** Folds fields with brackets into lists and objects; a repeated name makes a list. */
export function foldFields(entries: Iterable<readonly [name: string, value: string]>): Fields {
  const root: Fields = {}
  const places: Places = new WeakMap()
  for (const [name, value] of entries) {
    const steps = stepsOf(name)
    if (steps.some((step) => UNSAFE.has(step))) continue
    put(root, steps, value, places)
  }
  return root
}

function withoutUnsafe(parsed: NodeJS.Dict<string | string[]>): Fields {
  const fields: Fields = {}
  for (const name in parsed) {
    const value = parsed[name]
    if (value !== undefined && !UNSAFE.has(name)) fields[name] = value
  }
  return fields
}

/** `a[b][]` → a, b, '' ; a malformed name is one step. */
function stepsOf(name: string): string[] {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name)
  const [, head, brackets] = match ?? []
  if (head === undefined || brackets === undefined) return [name]
  const steps = [head, ...brackets.slice(1, -1).split('][')]
  return steps.length > DEEPEST ? [name] : steps
}

/** The containers in lists, by the index in the field name. */
type Places = WeakMap<FieldValue[], { index: number; item: Fields | FieldValue[] }[]>

function put(root: Fields, steps: string[], value: string, places: Places): void {
  let at: Fields | FieldValue[] = root
  for (const [index, step] of steps.entries()) {
    const following = steps[index + 1]
    if (following === undefined) set(at, step, value)
    else at = Array.isArray(at) ? itemOf(at, step, isListStep(following), places) : descend(at, step, isListStep(following))
  }
}

const isListStep = (step: string): boolean => step === '' || /^\d+$/.test(step)

/** The container under a step, created if it is missing. */
function descend(at: Fields, step: string, list: boolean): Fields | FieldValue[] {
  const existing = at[step]
  if (typeof existing === 'object') return existing
  const made: Fields | FieldValue[] = list ? [] : {}
  if (existing !== undefined && Array.isArray(made)) made.push(existing)
  at[step] = made
  return made
}

/** The container with this index; fields may come in any order: `tasks[1][name]` before `tasks[0][name]`. */
function itemOf(at: FieldValue[], step: string, list: boolean, places: Places): Fields | FieldValue[] {
  const known = places.get(at) ?? []
  places.set(at, known)
  const index = step === '' ? Number.POSITIVE_INFINITY : Number(step)
  const found = known.find((one) => one.index === index)
  if (found && step !== '') return found.item
  const item: Fields | FieldValue[] = list ? [] : {}
  const before = known.findIndex((one) => one.index > index)
  const place = before === -1 ? at.length : at.indexOf(known[before]?.item ?? '')
  at.splice(place, 0, item)
  known.splice(before === -1 ? known.length : before, 0, { index, item })
  return item
}

function set(at: Fields | FieldValue[], step: string, value: string): void {
  if (Array.isArray(at)) {
    at.push(value)
    return
  }
  const existing = at[step]
  if (existing === undefined) at[step] = value
  else if (Array.isArray(existing)) existing.push(value)
  else at[step] = [existing, value]
}
