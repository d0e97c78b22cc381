// JSON Canonicalization Scheme (RFC 8785): JSON.stringify's numbers and strings, keys sorted by UTF-16 code units.

import { createHash } from 'node:crypto'
import type { JsonObject } from '../wire/context.ts'

/** The canonical text of a JSON value. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`)
  return `{${members.join(',')}}`
}

/** The bytes that an eddsa-jcs-2022 proof signs. */
export function proofInput(document: JsonObject, configuration: JsonObject): Buffer<ArrayBuffer> {
  const hash = (value: unknown) => createHash('sha256').update(canonicalJson(value)).digest()
  return Buffer.concat([hash(configuration), hash(document)])
}
