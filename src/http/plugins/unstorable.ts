// Text that cannot be stored: PostgreSQL holds neither U+0000 nor half of a surrogate pair.

import type { z } from 'zod'

const UNSTORABLE = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** No schema nests deeper. */
const MAX_DEPTH = 30

/** An issue for each such text in what a schema has read; other fields do not matter, as nobody reads them. */
export function unstorableIssues(value: unknown, path: PropertyKey[] = []): z.core.$ZodIssue[] {
  if (typeof value === 'string') {
    if (!UNSTORABLE.test(value)) return []
    return [{ code: 'custom', path, input: value, message: 'Should not have characters that cannot be stored' }]
  }
  if (typeof value !== 'object' || value === null || value instanceof Date || Buffer.isBuffer(value)) return []
  if (path.length > MAX_DEPTH)
    return [{ code: 'custom', path: [], input: undefined, message: 'Should not be nested so deeply' }]
  return Object.entries(value).flatMap(([key, inner]) =>
    unstorableIssues(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}
