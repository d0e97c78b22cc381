// A JSON document of strangers that is one long list: its items are found in the bytes and parsed one by one when they are wanted, so
// that neither all of them are held as values, nor everybody else waits until all of them are parsed.

import type { Readable } from 'node:stream'
import { makeBreaks } from '../../platform/breaks.ts'
import { ArchiveError } from './archive-error.ts'
import type { ArchiveLimits } from './limits.ts'
import { COLON, COMMA, collect, LIST, LIST_END, makeScanner, noJson, parse, QUOTE } from './read-document.ts'

/** The items of a list. */
export interface ArchivedList {
  readonly length: number
  /** Undefined for one with too many values. Throws ArchiveError when it is no JSON. */
  item(index: number): unknown
}

/** Bytes that are looked at without a break. */
const SLICE = 2 ** 18
/** Bytes of what stands beside the list. */
const MOST_BESIDE = 2 ** 20

/**
 * Finds the list of this name at the top of a document. Undefined when there is none. Throws ArchiveError when the document is no JSON
 * (`damaged`), or over a limit (`too-large`); whether an item is JSON is seen when it is read.
 */
export async function readList(
  bytes: Readable,
  name: string,
  limits: ArchiveLimits,
): Promise<ArchivedList | undefined> {
  const text = await collect(bytes, limits)
  const finder = makeFinder(text, name, limits)
  const scan = makeScanner(limits, finder.mark)
  const breathe = makeBreaks()
  for (let at = 0; at < text.length; at += SLICE) {
    scan(text.subarray(at, at + SLICE))
    await breathe()
  }
  const items = finder.found()
  return (
    items && {
      length: items.starts.length,
      item(index) {
        const [start, end] = [items.starts[index], items.ends[index]]
        if (start === undefined || end === undefined) throw new RangeError(`There is no item ${index}.`)
        return items.tooLarge.has(index) ? undefined : parse(text.subarray(start, end))
      },
    }
  )
}

/** Where items lie. */
interface Found {
  starts: number[]
  ends: number[]
  tooLarge: Set<number>
}

function makeFinder(text: Buffer, name: string, { items: most, values }: ArchiveLimits) {
  let found: Found = { starts: [], ends: [], tooLarge: new Set() }
  const beside: Buffer[] = []
  let [isIn, isInKey, isNamed] = [false, false, false]
  let [keyStart, keyEnd, start, separated, besideFrom] = [0, 0, 0, 0, 0]

  const add = (end: number): void => {
    if (found.starts.length >= most)
      throw new ArchiveError('too-large', 'A document of the archive has too many items.')
    if (separated > values) found.tooLarge.add(found.starts.length)
    found.starts.push(start)
    found.ends.push(end)
    start = end + 1
    separated = 0
  }

  function markInside(byte: number, at: number, depth: number): void {
    if (byte === LIST_END && depth === 1) {
      if (found.starts.length > 0 || !isBlank(text.subarray(start, at))) add(at)
      isIn = false
      besideFrom = at
    } else if (byte === COMMA && depth === 2) add(at)
    else if (byte === COMMA || byte === COLON) separated += 1
  }

  function markBeside(byte: number, at: number): void {
    if (byte === QUOTE) {
      if (isInKey) keyEnd = at
      else keyStart = at + 1
      isInKey = !isInKey
    } else if (byte === COLON)
      isNamed = keyEnd - keyStart === name.length && text.toString('utf8', keyStart, keyEnd) === name
    else if (byte === COMMA) isNamed = false
    else if (byte === LIST && isNamed) {
      // Of a name that is there twice the last counts, as it does for JSON.parse.
      found = { starts: [], ends: [], tooLarge: new Set() }
      beside.push(text.subarray(besideFrom, at + 1))
      isIn = true
      start = at + 1
      separated = 0
    }
  }

  return {
    /** `depth` is how deep it is outside of a bracket. */
    mark(byte: number, at: number, depth: number): void {
      if (isIn) markInside(byte, at, depth)
      else if (depth === 1) markBeside(byte, at)
    },
    found(): Found | undefined {
      if (isIn) throw noJson()
      beside.push(text.subarray(besideFrom))
      const rest = Buffer.concat(beside)
      if (rest.length > MOST_BESIDE)
        throw new ArchiveError('too-large', 'A document of the archive has too much in it.')
      const document: unknown = parse(rest)
      const isList = typeof document === 'object' && document !== null && Array.isArray(Reflect.get(document, name))
      return isList && !Array.isArray(document) ? found : undefined
    },
  }
}

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte <= 0x20)
