// The operations of the contract (test/fixtures/contract/operations.json): their authorization, and the bounds of their fields.

import { readFileSync } from 'node:fs'
import { z } from 'zod'

const bounds = z.object({
  enum: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  minLength: z.int().optional(),
  maxLength: z.int().optional(),
  minItems: z.int().optional(),
  maxItems: z.int().optional(),
  itemMinLength: z.int().optional(),
  itemMaxLength: z.int().optional(),
  pattern: z.string().optional(),
})

const field = bounds.extend({
  name: z.string(),
  in: z.enum(['path', 'query', 'header', 'body']),
  type: z.string(),
  required: z.boolean().optional(),
  nullable: z.boolean().optional(),
  format: z.string().optional(),
  items: z.string().optional(),
  itemFormat: z.string().optional(),
  /** Where the observed server differs from its description. */
  observed: bounds.optional(),
})

const operation = z.object({
  method: z.string(),
  path: z.string(),
  auth: z.string(),
  right: z.string().optional(),
  fields: z.array(field).default([]),
})

export type ContractField = z.output<typeof field>
export type Operation = z.output<typeof operation>

const file = new URL('../../fixtures/contract/operations.json', import.meta.url)
const operations = new Map(
  z
    .array(operation)
    .parse(JSON.parse(readFileSync(file, 'utf8')))
    .map((one) => [keyOf(one.method, one.path), one]),
)

/** The operation of a route; parameters may have other names in the contract. */
export const operationOf = (route: { method: string; url: string }): Operation | undefined => operations.get(keyOf(route.method, route.url))

function keyOf(method: string, path: string): string {
  return `${method} ${path.replace(/:\w+|\{\w+\}/g, '{}')}`
}

/** Path parameters, in order. */
export const pathParameters = (path: string): string[] => [...path.matchAll(/:(\w+)|\{(\w+)\}/g)].map((found) => found[1] ?? found[2] ?? '')

/** Values that the contract refuses and accepts, as JSON. Values that the bounds do not decide are in neither list. */
export function examplesOf(field: ContractField): { refused: unknown[]; taken: unknown[] } {
  const { type, nullable, required, observed = {} } = field
  const of = typeExamples[type]?.(field, { ...field, ...observed }) ?? { refused: [], taken: [] }
  // Null in an optional field may count as omitted.
  if (nullable) return { ...of, taken: [...of.taken, null] }
  return required ? { ...of, refused: [...of.refused, null] } : of
}

type Bounds = z.output<typeof bounds>
type Examples = { refused: unknown[]; taken: unknown[] }

/** `field` is the description, `other` the observed behaviour: a value is refused or accepted if both agree. */
const typeExamples: Readonly<Record<string, (field: ContractField, other: Bounds) => Examples>> = {
  string(field, other) {
    const least = Math.min(field.minLength ?? 0, other.minLength ?? 0)
    const most = Math.max(field.maxLength ?? 0, other.maxLength ?? 0)
    const refused = [
      5,
      true,
      {},
      ['x'.repeat(least), {}],
      ...(least > 0 ? ['x'.repeat(least - 1)] : []),
      ...(most > 0 ? ['x'.repeat(most + 1)] : []),
      ...(field.enum ? ['no such value'] : []),
    ]
    if (field.enum) return { refused, taken: both(field.enum, other.enum) }
    const isFree = !(field.pattern ?? other.pattern ?? field.format)
    const lengths = [Math.max(field.minLength ?? 1, other.minLength ?? 1), field.maxLength ?? 10]
    return { refused, taken: isFree ? lengths.map((length) => 'x'.repeat(length)) : [] }
  },
  integer(field, other) {
    const refused = [1.5, 'x', true, {}, [1]]
    if (field.enum) {
      const numbers = [...field.enum, ...(other.enum ?? [])].map(Number)
      return { refused: [...refused, Math.max(...numbers) + 1, -2], taken: both(field.enum, other.enum) }
    }
    const { min, max } = field
    const least = Math.min(min ?? 0, other.min ?? 0)
    // No row has the id 0, so a URL with it is a 404.
    const below = min === undefined || field.in === 'path' ? [] : [least - 1]
    return { refused: [...refused, ...below, ...(max === undefined ? [] : [max + 1])], taken: [min ?? 1, max ?? 1] }
  },
  boolean: () => ({ refused: ['no such value', 2, {}, [true]], taken: [true, false] }),
  'string[]'(field, other) {
    const shortest = Math.min(field.itemMinLength ?? 0, other.itemMinLength ?? 0)
    const longest = Math.max(field.itemMaxLength ?? 0, other.itemMaxLength ?? 0)
    const most = Math.max(field.maxItems ?? 0, other.maxItems ?? 0)
    const items = (count: number, length: number) => Array.from({ length: count }, (_, index) => String(index).padStart(length, 'x'))
    const refused = [
      {},
      [{}],
      [['x']],
      ...(shortest > 0 ? [items(1, shortest).map((item) => item.slice(1))] : []),
      ...(longest > 0 ? [items(1, longest + 1)] : []),
      ...(most > 0 ? [items(most + 1, Math.max(shortest, 4))] : []),
    ]
    const isFree = !(field.items && field.items !== 'string') && !field.itemFormat && !field.enum
    return { refused, taken: isFree ? [items(field.maxItems ?? 2, Math.max(shortest, 4))] : [] }
  },
}

const both = (one: readonly unknown[], other: readonly unknown[] | undefined): unknown[] =>
  other === undefined ? [...one] : one.filter((value) => other.includes(value))
