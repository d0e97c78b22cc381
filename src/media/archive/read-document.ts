// A JSON document of strangers: held in memory as a whole, so bytes, depth and values are counted while they come, before anything is
// made of them.

import type { Readable } from 'node:stream'
import { ArchiveError } from './archive-error.ts'
import type { ArchiveLimits } from './limits.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OBJECT = 0x7b
const OBJECT_END = 0x7d
const LIST = 0x5b
const LIST_END = 0x5d

/** Parses it. Throws ArchiveError when it is no JSON (`damaged`), or over a limit (`too-large`). */
export async function readDocument(bytes: Readable, limits: ArchiveLimits): Promise<unknown> {
  const count = makeCounter(limits)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limits.document) throw new ArchiveError('too-large', 'A document of the archive is too large.')
    count(chunk)
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks.splice(0)).toString('utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ArchiveError('damaged', 'A document of the archive is no JSON.', { cause: error })
  }
}

function makeCounter({ depth: deepest, containers, separators }: ArchiveLimits): (chunk: Uint8Array) => void {
  let [depth, opened, separated] = [0, 0, 0]
  let [isInText, isEscaped] = [false, false]
  return (chunk) => {
    for (const byte of chunk) {
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isInText = false
        continue
      }
      switch (byte) {
        case QUOTE:
          isInText = true
          break
        case OBJECT:
        case LIST:
          depth += 1
          opened += 1
          if (depth > deepest) throw new ArchiveError('too-large', 'A document of the archive is too deep.')
          break
        case OBJECT_END:
        case LIST_END:
          depth -= 1
          break
        case COMMA:
        case COLON:
          separated += 1
          break
      }
    }
    if (opened > containers || separated > separators) {
      throw new ArchiveError('too-large', 'A document of the archive has too many values.')
    }
  }
}
