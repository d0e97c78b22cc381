// Text that cannot be stored: PostgreSQL accepts neither U+0000 nor unpaired surrogates.

import type { z } from 'zod'

const UNSTORABLE = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** No schema nests deeper. */
const MAX_DEPTH = 30

/** An issue for each such text in a parsed value, one per list; unknown fields do not matter. */
export function unstorableIssues(value: unknown): z.core.$ZodIssue[] {
  const issues: z.core.$ZodIssue[] = []
  collect(value, [], issues)
  return issues
}

/** `path` is one array for the whole walk: a copy for each value would cost more than the walk. */
function collect(value: unknown, path: PropertyKey[], issues: z.core.$ZodIssue[]): void {
  if (typeof value === 'string') {
    if (!UNSTORABLE.test(value)) return
    const message = 'Should not have characters that cannot be stored'
    issues.push({ code: 'custom', path: [...path], input: value, message })
    return
  }
  if (typeof value !== 'object' || value === null || value instanceof Date || Buffer.isBuffer(value)) return
  if (path.length > MAX_DEPTH) {
    issues.push({ code: 'custom', path: [], input: undefined, message: 'Should not be nested so deeply' })
    return
  }
  const before = issues.length
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    path.push(key)
    collect(Reflect.get(value, key), path, issues)
    path.pop()
    if (Array.isArray(value) && issues.length > before) return
  }
}
