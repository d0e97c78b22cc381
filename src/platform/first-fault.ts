// Validation that ends at the first fault. Zod reports all of them: a list of 300,000 empty objects takes gigabytes.

import type { z } from 'zod'

/** Parses what is not trusted. Throws an Error that does not say where the fault is. */
export function parseEarly<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  if (!fits(schema, value)) throw new Error('The value has another form than expected.')
  return schema.parse(value)
}

/** True if the schema takes the value. */
export const fits = (schema: z.ZodType, value: unknown): boolean => partsFit(schema, value) && schema.safeParse(value).success

/** False only if the schema refuses the value; the whole may still be refused when all its parts fit. */
function partsFit(schema: z.core.$ZodType, value: unknown): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object':
      return isObject(value) && Object.entries(def.shape).every(([name, part]) => partsFit(part, value[name]))
    case 'array':
      return Array.isArray(value) && value.length <= maximumOf(def.checks) && value.every((item) => partsFit(def.element, item))
    case 'record':
      return isObject(value) && Object.entries(value).every(([name, item]) => partsFit(def.keyType, name) && partsFit(def.valueType, item))
    case 'optional':
      return value === undefined || partsFit(def.innerType, value)
    case 'nullable':
      return value === null || partsFit(def.innerType, value)
    case 'lazy':
      return partsFit(def.getter(), value)
    case 'union':
      return def.options.some((option) => partsFit(option, value))
    default:
      return (schema as z.ZodType).safeParse(value).success
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Of the length of a list. */
export function maximumOf(checks: readonly z.core.$ZodCheck<never>[] = []): number {
  return Math.min(Number.POSITIVE_INFINITY, ...checks.flatMap(({ _zod: { def } }) => ('maximum' in def ? [Number(def.maximum)] : [])))
}
