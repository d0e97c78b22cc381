// Bytes of strangers to JSON, within bounds that are checked before anything is built from them.

import type { JsonObject } from './context.ts'
import type { Read } from './read.ts'

export interface JsonBounds {
  maxBytes: number
  maxDepth: number
  /** Members of all objects and items of all arrays together. */
  maxParts: number
  /** Members of one object. */
  maxKeys: number
}

/** What an honest activity stays far below; a video with all its files has about 1,000 parts and 9 levels. */
export const ACTIVITY_BOUNDS: JsonBounds = { maxBytes: 1024 * 1024, maxDepth: 20, maxParts: 20_000, maxKeys: 1_000 }

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
  const problem = scan(text, bounds)
  if (problem) return { ok: false, problem }
  try {
    const value = parseJson(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { ok: false, problem: 'not a JSON object' }
    return { ok: true, value: { ...value } }
  } catch {
    return { ok: false, problem: 'not JSON' }
  }
}

/** JSON without the character zero, which no column can hold. Throws as `JSON.parse` does. */
function parseJson(text: string): unknown {
  if (!text.includes('\\u0000')) return JSON.parse(text)
  return JSON.parse(text.replace(/((?:\\[^u]|\\u(?!0000))+)|(?:\\u0000)+/g, '$1'))
}

const DANGEROUS = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * One pass over the text that counts and compares keys. It does not check the grammar (JSON.parse does), but it sees
 * the same structure, so that a bomb is refused before memory is taken for it.
 */
function scan(text: string, bounds: JsonBounds): string | undefined {
  const open: (Set<string> | undefined)[] = []
  let parts = 0
  let strings = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      const end = endOfString(text, at)
      // A member is two of them at most.
      if (end < 0 || ++strings > 2 * bounds.maxParts) return end < 0 ? 'not JSON' : 'too many parts'
      const keys = open.at(-1)
      if (keys && isKey(text, end)) {
        const key = keyOf(text.slice(at, end + 1))
        if (key === undefined) return 'not JSON'
        if (DANGEROUS.has(key)) return 'a forbidden key'
        if (keys.has(key)) return 'a duplicate key'
        if (keys.size >= bounds.maxKeys) return 'too many parts'
        keys.add(key)
      }
      at = end
    } else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      open.push(char === OPEN_OBJECT ? new Set() : undefined)
      if (open.length > bounds.maxDepth) return 'too deep'
      if (++parts > bounds.maxParts) return 'too many parts'
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      open.pop()
    } else if (char === COMMA && ++parts > bounds.maxParts) {
      return 'too many parts'
    }
  }
  return undefined
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

function keyOf(literal: string): string | undefined {
  if (!literal.includes('\\')) return literal.slice(1, -1)
  try {
    return JSON.parse(literal)
  } catch {
    return undefined
  }
}
