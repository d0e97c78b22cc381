// Searches the log files of all processes that share the folder: newest first, merged by time, within limits.

import { type IsLater, linesBackwards, type Spend } from './lines-backwards.ts'
import { type LogFile, listLogFiles } from './names.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogLine {
  /** Milliseconds since 1970. */
  time: number
  level: LogLevel
  message: string
  tags: readonly string[]
  /** The other members of the line. */
  rest: Record<string, unknown>
}

export interface LogSearch {
  from: Date
  to: Date
  /** The least severe requested level. */
  level: LogLevel
  /** Only lines with one of these; undefined: all lines. */
  tagsOneOf?: readonly string[] | undefined
}

export interface LogBounds {
  /** Maximum characters of the result. */
  maxChars: number
  /** Maximum bytes to read, of all files together, in addition to 64 kB of each. */
  maxRead: number
}

/** Clocks of file systems differ from that of this process. */
const SLACK_MS = 60_000

const CLOSING_BRACE = 0x7d

const SEVERITY: Record<LogLevel, number> = { debug: 20, info: 30, warn: 40, error: 50 }

/** The matching lines, oldest first. If they are too many, the youngest are returned. */
export async function searchLogFiles(directory: string, search: LogSearch, bounds: LogBounds): Promise<LogLine[]> {
  const { lines } = await pageOfLogFiles(directory, search, bounds, { start: 0, count: Number.POSITIVE_INFINITY })
  return lines.reverse()
}

/**
 * A page of the matching lines, youngest first. It reads no further than to the line after the page: `total` is the number of lines up to
 * there, which exceeds `start + count` if older ones follow. `searchedTo`: the time of the last line that it read before `maxRead` ended
 * the search; a search to this time finds what follows. It is always before `to`: while all lines have that time, up to twice `maxRead` is
 * read, and then the rest of this millisecond is left out.
 */
export async function pageOfLogFiles(
  directory: string,
  { from, to, level, tagsOneOf }: LogSearch,
  { maxChars, maxRead }: LogBounds,
  { start, count }: { start: number; count: number },
): Promise<{ total: number; lines: LogLine[]; searchedTo: Date | undefined }> {
  let readable = maxRead
  let last = to.getTime()
  const isOver = () => readable < (last < to.getTime() ? 0 : -maxRead)
  const spend: Spend = (bytes) => {
    readable -= bytes
    return !isOver()
  }
  let room = maxChars
  let total = 0
  const lines: LogLine[] = []
  const files = (await listLogFiles(directory))
    .map((file) => ({ ...file, changedAt: file.changedAt + SLACK_MS }))
    .filter(({ changedAt }) => changedAt >= from.getTime())
  await visitMerged(files, { spend, to: last }, ({ bytes, time, severity }) => {
    if (time < from.getTime()) return false
    // Older lines of the file that is not read any further would be missing.
    if (isOver()) return false
    last = Math.min(last, time)
    if (time > to.getTime() || severity < SEVERITY[level]) return true
    const isBefore = total < start
    // Counted without parsing it, unless it is truncated.
    if (isBefore && !tagsOneOf) {
      if (bytes.at(-1) === CLOSING_BRACE) total += 1
      return true
    }
    const text = bytes.toString()
    const line = parsed(text, time, severity)
    if (!line || (tagsOneOf && !tagsOneOf.some((tag) => line.tags.includes(tag)))) return true
    room -= isBefore ? 0 : text.length
    if (room < 0) return false
    total += 1
    if (!isBefore && lines.length < count) lines.push(line)
    return total <= start + count
  })
  if (!isOver()) return { total, lines, searchedTo: undefined }
  const next = Math.min(last, to.getTime() - 1)
  // The search that goes on finds those of its last millisecond.
  const shown = total > start + count ? lines : lines.filter(({ time }) => time > next)
  return { total: total - lines.length + shown.length, lines: shown, searchedTo: new Date(next) }
}

interface Head {
  bytes: Buffer
  time: number
  severity: number
}

interface OpenFile {
  /** Its youngest line that was not visited. */
  head: Head
  /** Those before it that were read, the youngest last. */
  heads: Head[]
  readMore: () => Promise<Head[]>
  end: () => Promise<unknown>
}

interface Reading {
  spend: Spend
  /** Milliseconds since 1970; later lines may be passed over. */
  to: number
}

/** Visits the lines of all files, youngest first, until `visit` returns false. A file is opened when its turn may have come. */
async function visitMerged(files: readonly LogFile[], reading: Reading, visit: (head: Head) => boolean): Promise<void> {
  const waiting = [...files]
  const open: OpenFile[] = []
  const admit = (file: OpenFile): void => {
    const place = open.findIndex((other) => other.head.time < file.head.time)
    open.splice(place === -1 ? open.length : place, 0, file)
  }
  try {
    for (;;) {
      for (let file = waiting[0]; file && file.changedAt >= (open[0]?.head.time ?? 0); file = waiting[0]) {
        waiting.shift()
        const opened = await openFile(file, reading)
        if (opened) admit(opened)
      }
      const [first] = open
      if (!first) {
        if (waiting.length === 0) return
        continue
      }
      if (!visit(first.head)) return
      if (first.heads.length === 0) first.heads = await first.readMore()
      open.shift()
      const head = first.heads.pop()
      if (!head) continue
      first.head = head
      admit(first)
    }
  } finally {
    await Promise.all(open.map(({ end }) => end()))
  }
}

async function openFile({ path }: LogFile, { spend, to }: Reading): Promise<OpenFile | undefined> {
  const isLater: IsLater = (line) => {
    const [head] = [headOf(line)].flat()
    return head && head.time > to
  }
  const reads = linesBackwards(path, spend, isLater)
  /** None at the end of the file, which is closed then. */
  const readMore = async (): Promise<Head[]> => {
    for (;;) {
      const { value, done } = await reads.next()
      if (done) return []
      const heads = value.flatMap(headOf)
      if (heads.length > 0) return heads.reverse()
    }
  }
  const heads = await readMore()
  const head = heads.pop()
  return head && { head, heads, readMore, end: () => reads.return(undefined) }
}

const LONGEST_HEAD = 40

/** Read without parsing the line, since most do not match. Lines of another form are broken. */
function headOf(bytes: Buffer): Head | [] {
  const start = bytes.toString('latin1', 0, LONGEST_HEAD)
  const [, level, time] = /^\{"level":(\d{1,3}),"time":(\d{1,16})[,}]/.exec(start) ?? []
  return level === undefined ? [] : { bytes, time: Number(time), severity: Number(level) }
}

function parsed(text: string, time: number, severity: number): LogLine | undefined {
  try {
    const { level: _level, time: _time, msg, tags, ...rest } = JSON.parse(text)
    return {
      time,
      level: levelOf(severity),
      rest,
      message: typeof msg === 'string' ? msg : '',
      tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    }
  } catch {
    // A truncated line of a killed process.
    return undefined
  }
}

function levelOf(severity: number): LogLevel {
  if (severity >= SEVERITY.error) return 'error'
  if (severity >= SEVERITY.warn) return 'warn'
  return severity >= SEVERITY.info ? 'info' : 'debug'
}
