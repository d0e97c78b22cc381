// Turns merged input into the effective configuration, or into one line per invalid value.

import type { z } from 'zod'
import { type Config, complete, fillWebserver } from './complete.ts'
import { ConfigError } from './errors.ts'
import { type Layer, show, type Values, valueAt } from './layers.ts'
import { schema } from './schema.ts'
import { findNode, type Key } from './tree.ts'

/** Throws ConfigError. `layers` are named as the origin of invalid values. */
export function validate(input: Values, options: { dataDir: string; layers: readonly Layer[] }): Config {
  const result = schema.safeParse(input)
  if (!result.success) throw new ConfigError(describeIssues(result.error.issues, input, options.layers))
  const parsed = fillWebserver(result.data, input)
  const problems = contradictions(parsed)
  if (problems.length > 0) throw new ConfigError(problems)
  return complete(parsed, { dataDir: options.dataDir, input })
}

function describeIssues(issues: readonly z.core.$ZodIssue[], input: Values, layers: readonly Layer[]): string[] {
  const lines = issues.map((issue) => {
    const key = keyOf(issue.path)
    const path = key ? key.path.split('.') : issue.path
    const shown = key?.info.secret ? '(hidden)' : show(valueAt(input, path))
    const origin = layers.findLast((layer) => valueAt(layer.values, path) !== undefined)?.label
    const expects = key?.info.expects ?? 'another value'
    return `${path.join('.')} is ${shown}${origin ? ` (${origin})` : ''}, expected ${expects}`
  })
  return [...new Set(lines)]
}

/** The key with the value at a path; paths continue inside lists. */
function keyOf(path: readonly PropertyKey[]): Key | undefined {
  const names = path.map(String)
  for (let length = names.length; length > 0; length -= 1) {
    const node = findNode(names.slice(0, length))
    if (node?.kind === 'key') return node
  }
  return undefined
}

/** Combinations of valid values that are invalid together. */
function contradictions(config: z.output<typeof schema>): string[] {
  const problems: string[] = []
  const { transcoding, live, object_storage, redundancy, vireo } = config
  if (object_storage.enabled && object_storage.endpoint === '') {
    problems.push('object_storage.enabled is true, expected object_storage.endpoint too')
  }
  if (transcoding.enabled && !transcoding.hls.enabled && !transcoding.web_videos.enabled) {
    problems.push('transcoding.enabled is true, expected transcoding.hls.enabled or transcoding.web_videos.enabled too')
  }
  if (live.enabled && live.rtmps.enabled && (live.rtmps.key_file === '' || live.rtmps.cert_file === '')) {
    problems.push('live.rtmps.enabled is true, expected live.rtmps.key_file and live.rtmps.cert_file too')
  }
  const strategies = redundancy.videos.strategies.map(({ strategy }) => strategy)
  if (new Set(strategies).size < strategies.length) {
    problems.push('redundancy.videos.strategies names a strategy twice, expected each once')
  }
  for (const kind of ['openid_connect', 'ldap'] as const) {
    const names = vireo.auth[kind].map(({ name }) => name)
    if (new Set(names).size < names.length) problems.push(`vireo.auth.${kind} has a name twice, expected different ones`)
  }
  const { default_count, max_count } = vireo.pagination
  if (default_count > max_count) {
    problems.push(`vireo.pagination.default_count is ${default_count}, expected at most vireo.pagination.max_count (${max_count})`)
  }
  return problems
}
