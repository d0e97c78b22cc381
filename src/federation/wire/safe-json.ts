// Parses untrusted JSON, within limits that are checked before anything is allocated.

import type { JsonObject } from './context.ts'
import type { Read } from './read.ts'

export interface JsonBounds {
  maxBytes: number
  maxDepth: number
  /** Members of all objects and items of all arrays. */
  maxParts: number
}

/** Far above any honest activity; a video with all its files has about 1,000 parts and 9 levels. */
export const ACTIVITY_BOUNDS: JsonBounds = { maxBytes: 1024 * 1024, maxDepth: 20, maxParts: 10_000 }

/** For fetched documents: a page of a collection holds many. The request limits its bytes. */
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

/** JSON without U+0000, which no column can store. Throws like `JSON.parse`. */
function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return text.includes('\\u0000') ? withoutNul(value) : value
}

function withoutNul(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '')
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutNul)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.replaceAll('\0', ''), withoutNul(member)]))
}

const DANGEROUS = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * One pass over the text that counts. It does not check the grammar (JSON.parse does), but it sees the same structure, so that a bomb is
 * refused before memory is allocated for it.
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
      // A member counts two strings at most.
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

/** The problem of the keys of a parsed value, whose text has this many. */
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
  // JSON.parse keeps the last of two equal names.
  return found === keys ? undefined : 'a duplicate key'
}

const [QUOTE, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA, COLON, BACKSLASH] = [
  0x22, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a, 0x5c,
]

function endOfString(text: string, start: number): number {
  const next = text.indexOf('"', start + 1)
  if (next < 0 || text.charCodeAt(next - 1) !== BACKSLASH) return next
  // For half a million quotes, reading single characters is faster than as many searches.
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) return at
    if (char === BACKSLASH) at++
  }
  return -1
}

/** True if a colon follows the string that ends here. */
function isKey(text: string, end: number): boolean {
  let at = end + 1
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++
  return text.charCodeAt(at) === COLON
}
