// The fields of a zod schema, including those of nested objects.

import { z } from 'zod'

/**
 * Paths of all fields, outer ones first, such as `scheduleUpdate` and then `scheduleUpdate.updateAt`; with `lists` also those of their
 * items, below `[]`.
 */
export function fieldPaths(schema: z.core.$ZodType, options: { lists?: boolean } = {}): string[][] {
  const below = (inner: z.core.$ZodType): string[][] => [
    ...fieldPaths(inner, options),
    ...(options.lists ? itemsOf(inner) : []).flatMap((item) => fieldPaths(item, options).map((path) => ['[]', ...path])),
  ]
  const paths = shapesOf(schema).flatMap((shape) =>
    Object.entries(shape).flatMap(([name, inner]) => [[name], ...below(inner).map((path) => [name, ...path])]),
  )
  return [...new Map(paths.map((path) => [path.join('.'), path])).values()]
}

/** Paths of all lists without a maximum, also inside unions, pipes and items. */
export function unboundedLists(schema: z.core.$ZodType, path: string[] = []): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  const inside = (inner: z.core.$ZodType, step?: string) => unboundedLists(inner, step ? [...path, step] : path)
  switch (def.type) {
    case 'array':
      return [...(def.checks?.some((check) => check._zod.def.check === 'max_length') ? [] : [path.join('.')]), ...inside(def.element, '[]')]
    case 'object':
      return Object.entries(def.shape).flatMap(([name, inner]) => inside(inner, name))
    case 'record':
      return [path.join('.'), ...inside(def.valueType, '*')]
    case 'union':
      return def.options.flatMap((option) => inside(option))
    case 'intersection':
      return [def.left, def.right].flatMap((side) => inside(side))
    case 'pipe':
      return [def.in, def.out].flatMap((side) => inside(side))
    case 'tuple':
      return def.items.flatMap((item) => inside(item, '[]'))
    case 'lazy':
      return inside(def.getter())
    case 'set':
    case 'map':
      return [path.join('.')]
    default:
      return 'innerType' in def ? inside(def.innerType) : []
  }
}

/** The schema of an optional list's items. */
function itemsOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'array') return [def.element]
  return def.type === 'optional' || def.type === 'nullable' || def.type === 'default' ? itemsOf(def.innerType) : []
}

/** The possible objects of a value; a list of objects counts as one value. */
function shapesOf(schema: z.core.$ZodType): z.core.$ZodShape[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object':
      return [def.shape]
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return shapesOf(def.innerType)
    case 'pipe':
      // A preprocessing step does not describe its input; the schema behind it does.
      return [def.in, def.out].flatMap(shapesOf).slice(0, 1)
    case 'union':
      return def.options.flatMap(shapesOf)
    case 'intersection':
      return [...shapesOf(def.left), ...shapesOf(def.right)]
    default:
      return []
  }
}

/** Whether zod made the schema; Fastify's type allows any. */
export const isSchema = (schema: unknown): schema is z.ZodType => schema instanceof z.ZodType
