// Bytes of strangers to JSON, within bounds that are checked before anything is built from them.

import type { JsonObject } from './context.ts'
import type { Read } from './read.ts'

export interface JsonBounds {
  maxBytes: number
  maxDepth: number
  /** Members of all objects and items of all arrays together. */
  maxParts: number
}

/** What an honest activity stays far below; a video with all its files has about 1,000 parts and 9 levels. */
export const ACTIVITY_BOUNDS: JsonBounds = { maxBytes: 1024 * 1024, maxDepth: 20, maxParts: 10_000 }

/** Of what we ask for: a page of a collection holds many documents. Its bytes are bounded by the request. */
export const FETCHED_BOUNDS: JsonBounds = { ...ACTIVITY_BOUNDS, maxBytes: Number.POSITIVE_INFINITY, maxParts: 50_000 }

/** The object in these bytes: UTF-8, no duplicate or dangerous keys, neither deep nor wide. */
export function parseDocument(bytes: Buffer, bounds: JsonBounds = ACTIVITY_BOUNDS): Read<JsonObject> {
  if (bytes.length > bounds.maxBytes) return { ok: false, problem: 'too large' }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { ok: false, problem: 'not UTF-8' }
  }
  const scanned = scan(text, bounds)
  if ('problem' in scanned) return { ok: false, problem: scanned.problem }
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    return { ok: false, problem: 'not JSON' }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { ok: false, problem: 'not a JSON object' }
  const problem = keyProblem(value, scanned.keys)
  return problem === undefined ? { ok: true, value: value as JsonObject } : { ok: false, problem }
}

/** JSON without the character zero, which no column can hold. Throws as `JSON.parse` does. */
function parseJson(text: string): unknown {
  if (!text.includes('\\u0000')) return JSON.parse(text)
  return JSON.parse(text.replace(/((?:\\[^u]|\\u(?!0000))+)|(?:\\u0000)+/g, '$1'))
}

const DANGEROUS = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * One pass over the text that counts. It does not check the grammar (JSON.parse does), but it sees the same structure, so that a
 * bomb is refused before memory is taken for it.
 */
function scan(text: string, bounds: JsonBounds): { keys: number } | { problem: string } {
  let depth = 0
  let parts = 0
  let strings = 0
  let keys = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      at = endOfString(text, at)
      if (at < 0) return { problem: 'not JSON' }
      if (isKey(text, at)) keys += 1
      // A member is two of them at most.
      if (++strings > 2 * bounds.maxParts) return { problem: 'too many parts' }
    } else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      if (++depth > bounds.maxDepth) return { problem: 'too deep' }
      if (++parts > bounds.maxParts) return { problem: 'too many parts' }
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      depth -= 1
    } else if (char === COMMA && ++parts > bounds.maxParts) {
      return { problem: 'too many parts' }
    }
  }
  return { keys }
}

/** What is wrong with the keys of a value that was parsed from a text with so many of them. */
function keyProblem(value: unknown, keys: number): string | undefined {
  let found = 0
  let isDangerous = false
  const walk = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return
    if (Array.isArray(one)) {
      for (const item of one) walk(item)
      return
    }
    for (const key of Object.keys(one)) {
      found += 1
      if (DANGEROUS.has(key)) isDangerous = true
      walk(one[key as keyof typeof one])
    }
  }
  walk(value)
  if (isDangerous) return 'a forbidden key'
  // Of two of one name JSON.parse keeps the last.
  return found === keys ? undefined : 'a duplicate key'
}

const [QUOTE, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA, COLON, BACKSLASH] = [
  0x22, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a, 0x5c,
]

function endOfString(text: string, start: number): number {
  const next = text.indexOf('"', start + 1)
  if (next < 0 || text.charCodeAt(next - 1) !== BACKSLASH) return next
  // Half a million quotes are found sooner one character at a time than by as many searches.
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) return at
    if (char === BACKSLASH) at++
  }
  return -1
}

/** Whether the string that ends here is followed by a colon. */
function isKey(text: string, end: number): boolean {
  let at = end + 1
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++
  return text.charCodeAt(at) === COLON
}
