// Reads an untrusted JSON document into memory: bytes, depth and values are limited before it is parsed.

import type { Readable } from 'node:stream'
import { ArchiveError } from './archive-error.ts'
import type { ArchiveLimits } from './limits.ts'

export const QUOTE = 0x22
const BACKSLASH = 0x5c
export const COMMA = 0x2c
export const COLON = 0x3a
const OBJECT = 0x7b
const OBJECT_END = 0x7d
export const LIST = 0x5b
export const LIST_END = 0x5d

/** Parses a document that is not a list. Throws ArchiveError if it is not JSON (`damaged`), or exceeds a limit (`too-large`). */
export async function readDocument(bytes: Readable, limits: ArchiveLimits): Promise<unknown> {
  const text = await collect(bytes, limits)
  let values = 0
  const count = makeScanner(limits, (byte) => {
    if (byte === COMMA || byte === COLON) values += 1
    if (values > limits.values) throw tooMany()
  })
  count(text)
  return parse(text)
}

/** Throws ArchiveError `too-large`. */
async function collect(bytes: Readable, limits: Pick<ArchiveLimits, 'document'>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limits.document) throw new ArchiveError('too-large', 'A document of the archive is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks.splice(0))
}

/** Throws ArchiveError `damaged`. */
export function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'))
  } catch (error) {
    throw noJson(error)
  }
}

export const noJson = (cause?: unknown): ArchiveError => new ArchiveError('damaged', 'A document of the archive is no JSON.', { cause })

const tooMany = (): ArchiveError => new ArchiveError('too-large', 'A document of the archive has too many values.')

/**
 * Scans a text in chunks. `mark` gets quotes around texts, commas and colons, and brackets, with their offsets and the depth outside of
 * them.
 */
export function makeScanner(
  { depth: deepest }: Pick<ArchiveLimits, 'depth'>,
  mark: (byte: number, at: number, depth: number) => void,
): (piece: Uint8Array) => void {
  let depth = 0
  let [isInText, isEscaped] = [false, false]
  let at = -1
  return (piece) => {
    for (const byte of piece) {
      at += 1
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) {
          isInText = false
          mark(byte, at, depth)
        }
        continue
      }
      switch (byte) {
        case QUOTE:
          isInText = true
          mark(byte, at, depth)
          break
        case OBJECT:
        case LIST:
          mark(byte, at, depth)
          depth += 1
          if (depth > deepest) throw new ArchiveError('too-large', 'A document of the archive is too deep.')
          break
        case OBJECT_END:
        case LIST_END:
          depth -= 1
          mark(byte, at, depth)
          break
        case COMMA:
        case COLON:
          mark(byte, at, depth)
          break
      }
    }
  }
}
