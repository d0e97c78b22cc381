// Converts between ServerConfigCustom and the keys of the configuration: `instance.defaultNSFWPolicy` is `instance.default_nsfw_policy`,
// and so on by one rule. Pure, in both directions.

import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { type Change, changesOf, nested, valueAt } from '../../actors/runtime-config/index.ts'
import { aboutKey, type Config, type Values } from '../../config/index.ts'
import { BROADCAST_LEVELS, type CustomView, customView } from './custom-schemas.ts'

/** The configuration as administrators see it. */
export function toCustomView(config: Config): CustomView {
  const fields = viewPaths.map((path) => ({
    path,
    value: shown(path.join('.'), valueAt(config, path.map(snakeCased))),
  }))
  return customView.parse(nested(fields))
}

/** Each field, dotted (`signup.limit`), with one phrase about it, and whether the environment pins its key. */
export const describeFields = (isPinned: (key: string) => boolean): { name: string; about: string; isPinned: boolean }[] =>
  viewPaths.map((path) => {
    const key = path.map(snakeCased)
    return { name: path.join('.'), about: aboutKey(key) ?? '', isPinned: isPinned(key.join('.')) }
  })

/** The changed keys of a body. An omitted field keeps its value; null resets it to the value of the files. */
export function toChanges(body: Values): Change[] {
  return changesOf(body)
    .filter(({ value }) => value !== undefined)
    .map(({ path, value }) => ({ path: path.map(snakeCased), value: read(path.join('.'), value) }))
}

/** The form of a web client cannot be saved while this field is empty: a handle without a name means none. */
const NO_HANDLE = '@'
const shown = (field: string, value: unknown): unknown => (field === 'services.twitter.username' && value === '' ? NO_HANDLE : value)

/**
 * The body without fields that equal the current values, so that values of the files beyond the limits of the API can be sent back. A
 * malformed configuration stays as it is, and is refused later.
 */
export function changedFields(body: unknown, view: CustomView): unknown {
  if (!isSection(body) || !Object.keys(body).some((name) => Object.hasOwn(view, name))) return body
  return without(body, view)
}

function without(sent: Values, view: Values): Values {
  return Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]): [string, unknown][] => {
      const known = Object.hasOwn(view, name) ? view[name] : undefined
      if (isSection(value) && isSection(known)) return [[name, without(value, known)]]
      return isDeepStrictEqual(value, known) ? [] : [[name, value]]
    }),
  )
}

const isSection = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Alternative forms of these fields that clients have always been allowed to send. */
function read(field: string, value: unknown): unknown {
  if (field === 'instance.defaultClientRoute') return String(value)
  if (field === 'trending.videos.algorithms.enabled') return [value].flat()
  if (field === 'services.twitter.username' && value === NO_HANDLE) return ''
  // An unknown level means the mildest one.
  if (field === 'broadcastMessage.level') return BROADCAST_LEVELS.find((level) => level === value) ?? 'info'
  return value
}

/** `defaultNSFWPolicy` → `default_nsfw_policy`; `1080p` stays. */
export const snakeCased = (name: string): string => (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z\d]+/g) ?? []).join('_').toLowerCase()

/** The paths of all fields of a schema, optional ones too. */
export function fieldsOf(schema: z.core.$ZodType, prefix: readonly string[] = []): string[][] {
  const inner = schema instanceof z.ZodOptional ? schema.def.innerType : schema
  if (!(inner instanceof z.ZodObject)) return [[...prefix]]
  return Object.entries(inner.shape).flatMap(([name, child]) => fieldsOf(child, [...prefix, name]))
}

const viewPaths = fieldsOf(customView)
