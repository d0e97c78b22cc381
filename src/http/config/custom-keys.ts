// Between ServerConfigCustom and the keys of the configuration: `instance.defaultNSFWPolicy` is
// `instance.default_nsfw_policy`, and so on by one rule. Pure, in both directions.

import { z } from 'zod'
import { type Change, changesOf, nested, valueAt } from '../../actors/runtime-config/index.ts'
import type { Config } from '../../config/index.ts'
import { BROADCAST_LEVELS, type CustomBody, type CustomView, customView } from './custom-schemas.ts'

/** The configuration as administrators see it. */
export function toCustomView(config: Config): CustomView {
  const fields = viewPaths.map((path) => ({ path, value: valueAt(config, path.map(snakeCased)) }))
  return customView.parse(nested(fields))
}

/** The keys that a body names. A field that it leaves out keeps its value; null goes back to what the files say. */
export function toChanges(body: CustomBody): Change[] {
  return changesOf(body)
    .filter(({ value }) => value !== undefined)
    .map(({ path, value }) => ({ path: path.map(snakeCased), value: read(path.join('.'), value) }))
}

/** The forms in which clients have always been free to send these fields. */
function read(field: string, value: unknown): unknown {
  if (field === 'instance.defaultClientRoute') return String(value)
  if (field === 'trending.videos.algorithms.enabled') return [value].flat()
  // A level that nobody knows is the mildest one.
  if (field === 'broadcastMessage.level') return BROADCAST_LEVELS.find((level) => level === value) ?? 'info'
  return value
}

/** `defaultNSFWPolicy` → `default_nsfw_policy`; `1080p` stays. */
export const snakeCased = (name: string): string =>
  (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z\d]+/g) ?? []).join('_').toLowerCase()

/** The paths of all fields of a schema, optional ones too. */
export function fieldsOf(schema: z.core.$ZodType, prefix: readonly string[] = []): string[][] {
  const inner = schema instanceof z.ZodOptional ? schema.def.innerType : schema
  if (!(inner instanceof z.ZodObject)) return [[...prefix]]
  return Object.entries(inner.shape).flatMap(([name, child]) => fieldsOf(child, [...prefix, name]))
}

const viewPaths = fieldsOf(customView)
