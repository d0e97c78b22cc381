// Reads an untrusted JSON document with one long list: it is on disk, its items are located in the bytes and parsed one by one on demand,
// so that neither the document nor all values are in memory, and the event loop is never blocked for long.

import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { makeTimeSlices } from '../../platform/time-slices.ts'
import { ArchiveError } from './archive-error.ts'
import { type ArchiveLimits, archiveLimits } from './limits.ts'
import { COLON, COMMA, LIST, LIST_END, makeScanner, noJson, parse, QUOTE } from './read-document.ts'

/** The items of a list. */
export interface ArchivedList {
  readonly length: number
  /** Undefined for an item with too many values or bytes. Throws ArchiveError if it is not JSON. */
  item(index: number): Promise<unknown>
  close(): Promise<void>
}

/** Bytes that are scanned without a pause. */
const SLICE = 2 ** 18
/** Bytes outside of the list. */
const MAX_BESIDE = 2 ** 20

/**
 * Finds the list of this name at the top level of the document at `path`. Undefined if there is none. Throws ArchiveError if the document
 * is not JSON (`damaged`), or exceeds a limit (`too-large`); items are validated when they are read. The file is read until the list ends.
 */
export async function readList(path: string, name: string, limits: ArchiveLimits = archiveLimits): Promise<ArchivedList | undefined> {
  const finder = makeFinder(name, limits)
  const scan = makeScanner(limits, finder.mark)
  const pause = makeTimeSlices()
  for await (const piece of createReadStream(path, { highWaterMark: SLICE }) as AsyncIterable<Buffer>) {
    finder.look(piece)
    scan(piece)
    finder.looked()
    await pause()
  }
  const found = finder.found()
  return found && (await itemsOf(path, found, limits))
}

async function itemsOf(path: string, { starts, ends, tooLarge }: Found, limits: ArchiveLimits): Promise<ArchivedList> {
  const file = await open(path)
  const [start, end] = [starts[0], ends[0]]
  // An empty list has no item; with one item, it has no comma either.
  const isEmpty = starts.length === 1 && !tooLarge.has(0) && isBlank(await bytesOf(file, start ?? 0, end ?? 0))
  return {
    length: isEmpty ? 0 : starts.length,
    async item(index) {
      const [start, end] = [starts[index], ends[index]]
      if (start === undefined || end === undefined) throw new RangeError(`There is no item ${index}.`)
      if (tooLarge.has(index) || end - start > limits.document) return undefined
      return parse(await bytesOf(file, start, end))
    },
    close: () => file.close(),
  }
}

async function bytesOf(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(end - start)
  let read = 0
  while (read < bytes.length) {
    const { bytesRead } = await file.read(bytes, read, bytes.length - read, start + read)
    if (bytesRead === 0) throw new Error('The list of an archive was cut off while it was read.')
    read += bytesRead
  }
  return bytes
}

/** Positions of items. */
interface Found {
  starts: number[]
  ends: number[]
  tooLarge: Set<number>
}

function makeFinder(name: string, { items: most, values, document }: ArchiveLimits) {
  let found: Found = { starts: [], ends: [], tooLarge: new Set() }
  const beside = makeBeside()
  let [isIn, isInKey, isNamed] = [false, false, false]
  let [keyStart, start, separated] = [0, 0, 0]
  let key: string | undefined

  const add = (end: number): void => {
    if (found.starts.length >= most) throw new ArchiveError('too-large', 'A document of the archive has too many items.')
    if (separated > values || end - start > document) found.tooLarge.add(found.starts.length)
    found.starts.push(start)
    found.ends.push(end)
    start = end + 1
    separated = 0
  }

  function markInside(byte: number, at: number, depth: number): void {
    if (byte === LIST_END && depth === 1) {
      add(at)
      isIn = false
      beside.goOn(at)
    } else if (byte === COMMA && depth === 2) add(at)
    else if (byte === COMMA || byte === COLON) separated += 1
  }

  function markBeside(byte: number, at: number): void {
    if (byte === QUOTE) {
      if (isInKey) key = at - keyStart === name.length ? beside.last(at, name.length) : undefined
      else keyStart = at + 1
      isInKey = !isInKey
    } else if (byte === COLON) isNamed = key === name
    else if (byte === COMMA) isNamed = false
    else if (byte === LIST && isNamed) {
      // The last of duplicate names counts, like in JSON.parse.
      found = { starts: [], ends: [], tooLarge: new Set() }
      beside.pause(at + 1)
      isIn = true
      start = at + 1
      separated = 0
    }
  }

  return {
    /** Receives the next bytes before and after they are scanned. */
    look: beside.look,
    looked: beside.looked,
    /** `depth` is the depth outside of a bracket. */
    mark(byte: number, at: number, depth: number): void {
      if (isIn) markInside(byte, at, depth)
      else if (depth === 1) markBeside(byte, at)
    },
    found(): Found | undefined {
      if (isIn) throw noJson()
      const rest: unknown = parse(beside.bytes())
      const isList = typeof rest === 'object' && rest !== null && Array.isArray(Reflect.get(rest, name))
      return isList && !Array.isArray(rest) ? found : undefined
    },
  }
}

/** Collects the bytes outside of the list from consecutive chunks. Offsets are those of the document. */
function makeBeside() {
  const kept: Buffer[] = []
  let size = 0
  let piece: Buffer = Buffer.alloc(0)
  let [pieceStart, from, isKeeping] = [0, 0, true]

  function keep(end: number): void {
    const part = Buffer.from(piece.subarray(from - pieceStart, end - pieceStart))
    size += part.length
    if (size > MAX_BESIDE) throw new ArchiveError('too-large', 'A document of the archive has too much in it.')
    kept.push(part)
    from = end
  }

  return {
    look(next: Buffer): void {
      piece = next
    },
    looked(): void {
      if (isKeeping) keep(pieceStart + piece.length)
      pieceStart += piece.length
    },
    pause(end: number): void {
      keep(end)
      isKeeping = false
    },
    goOn(start: number): void {
      from = start
      isKeeping = true
    },
    /** The last `length` bytes before `end`, as a text. */
    last(end: number, length: number): string {
      keep(end)
      const last: Buffer[] = []
      for (let [at, missing] = [kept.length - 1, length]; missing > 0; at -= 1) {
        const part = kept[at]?.subarray(-missing)
        if (!part) break
        last.unshift(part)
        missing -= part.length
      }
      return Buffer.concat(last).toString()
    },
    bytes: (): Buffer => Buffer.concat(kept),
  }
}

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte <= 0x20)
