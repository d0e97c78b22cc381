// The lines of a file from its end, read in chunks: results are near the end, and files may be large.

import { type FileHandle, open } from 'node:fs/promises'

const PIECE = 64 * 1024
/** Of a place in a file, to find out the time there. */
const PROBE = 16 * 1024
/** Longer lines were not written by this server. */
const LONGEST_LINE = 1024 * 1024
const NEW_LINE = 0x0a

/** Called with the bytes of each read; returns false if no more may be read. */
export type Spend = (bytes: number) => boolean

/** Tells whether a line is too young to be read; undefined if it cannot be known. */
export type IsLater = (line: Buffer) => boolean | undefined

/**
 * Yields the complete lines of each read, the last one first; ends early if `spend` returns false, which does not count the first read: a
 * search of many files gets to each. A missing file has no lines. Most of the later lines at the end are not read.
 */
export async function* linesBackwards(path: string, spend: Spend, isLater: IsLater): AsyncGenerator<Buffer[]> {
  const file = await open(path).catch(() => undefined)
  if (!file) return
  try {
    const { size } = await file.stat()
    const last = await endBefore(file, size, isLater)
    let position = last
    /** Pieces of a line whose beginning was not read yet, its end last. */
    let rest: Buffer[] = []
    let restLength = 0
    while (position > 0) {
      const length = Math.min(PIECE, position)
      if (position < last && !spend(length)) return
      position -= length
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position)
      // The file was truncated.
      if (bytesRead < length) return
      const lines: Buffer[] = []
      let end = length
      for (let at = buffer.lastIndexOf(NEW_LINE); at !== -1; at = at === 0 ? -1 : buffer.lastIndexOf(NEW_LINE, at - 1)) {
        const line = buffer.subarray(at + 1, end)
        if (line.length + restLength > 0 && restLength <= LONGEST_LINE) lines.push(joined([line, ...rest]))
        rest = []
        restLength = 0
        end = at
      }
      if (end > 0) {
        // A line that never ends is not kept in memory.
        rest = restLength > LONGEST_LINE ? [] : [buffer.subarray(0, end), ...rest]
        restLength += end
      }
      yield lines
    }
    if (restLength > 0 && restLength <= LONGEST_LINE) yield [joined(rest)]
  } finally {
    await file.close()
  }
}

/** Where the later lines begin, or a place soon after: lines are in the order of their times. */
async function endBefore(file: FileHandle, size: number, isLater: IsLater): Promise<number> {
  let [low, high, end] = [0, size, size]
  // Most searches begin at the end of a file.
  let middle = Math.max(0, size - PROBE)
  while (high - low > PIECE) {
    const start = await firstLater(file, middle, isLater)
    if (start === undefined) low = middle
    // The line at `middle` may be longer than the rest of the range.
    else [high, end] = [middle, start]
    middle = Math.floor((low + high) / 2)
  }
  return end
}

/** Where the first line after a place begins, if it is later; undefined without a line whose time is known. */
async function firstLater(file: FileHandle, place: number, isLater: IsLater): Promise<number | undefined> {
  for (let length = PROBE; length <= 2 * LONGEST_LINE; length *= 4) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, place)
    const bytes = buffer.subarray(0, bytesRead)
    for (let at = bytes.indexOf(NEW_LINE) + 1; at > 0; at = bytes.indexOf(NEW_LINE, at) + 1) {
      const verdict = isLater(bytes.subarray(at))
      if (verdict !== undefined) return verdict ? place + at : undefined
    }
    if (bytesRead < length) return undefined
  }
  return undefined
}

const joined = (pieces: readonly Buffer[]): Buffer => (pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces))
