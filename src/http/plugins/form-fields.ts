// Names of form and query fields, as clients write them: `tags=a&tags=b`, `tags[]=a`, `tags[0]=a`, `schedule[date]=x`.

import { parse } from 'node:querystring'

export interface Fields {
  [name: string]: FieldValue
}
type FieldValue = string | FieldValue[] | Fields

/** Deepest nesting of brackets; deeper names stay as they are. */
const DEEPEST = 5
const UNSAFE = new Set(['__proto__', 'constructor', 'prototype'])

/** The fields of a query string or a urlencoded body. */
export function parseQuery(text: string): Fields {
  if (text === '') return {}
  const parsed = parse(text)
  if (!/\[|%5b/i.test(text)) return { ...withoutUnsafe(parsed) }
  return foldFields(
    Object.entries(parsed).flatMap(([name, value]): [string, string][] =>
      Array.isArray(value) ? value.map((item) => [name, item]) : [[name, value ?? '']],
    ),
  )
}

/** Fields with brackets folded into lists and objects; a repeated name makes a list. */
export function foldFields(entries: Iterable<readonly [name: string, value: string]>): Fields {
  const root: Fields = {}
  for (const [name, value] of entries) {
    const steps = stepsOf(name)
    if (steps.some((step) => UNSAFE.has(step))) continue
    put(root, steps, value)
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

/** `a[b][]` → a, b, '' ; a name that is not well formed is one step. */
function stepsOf(name: string): string[] {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name)
  const [, head, brackets] = match ?? []
  if (head === undefined || brackets === undefined) return [name]
  const steps = [head, ...brackets.slice(1, -1).split('][')]
  return steps.length > DEEPEST ? [name] : steps
}

function put(root: Fields, steps: string[], value: string): void {
  let at: Fields | FieldValue[] = root
  for (const [index, step] of steps.entries()) {
    const following = steps[index + 1]
    if (following === undefined) set(at, step, value)
    else at = descend(at, step, isListStep(following))
  }
}

const isListStep = (step: string): boolean => step === '' || /^\d+$/.test(step)

/** The container under a step, made when it is not there yet. */
function descend(at: Fields | FieldValue[], step: string, list: boolean): Fields | FieldValue[] {
  const existing = Array.isArray(at) ? at[Number(step)] : at[step]
  if (typeof existing === 'object') return existing
  const made: Fields | FieldValue[] = list ? [] : {}
  if (existing !== undefined && Array.isArray(made)) made.push(existing)
  if (Array.isArray(at)) at.push(made)
  else at[step] = made
  return made
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
