// Searches the log files of all processes that share the folder: newest first, merged by time, within limits.

import { linesBackwards, type Spend } from './lines-backwards.ts'
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
  /** Maximum bytes to read, of all files together. */
  maxRead: number
}

/** Clocks of file systems differ from that of this process. */
const SLACK_MS = 60_000

const SEVERITY: Record<LogLevel, number> = { debug: 20, info: 30, warn: 40, error: 50 }

/** The matching lines, oldest first. If they are too many, the youngest are returned. */
export async function searchLogFiles(directory: string, search: LogSearch, bounds: LogBounds): Promise<LogLine[]> {
  let readable = bounds.maxRead
  const spend: Spend = (bytes) => {
    readable -= bytes
    return readable >= 0
  }
  let room = bounds.maxChars
  const found: LogLine[] = []
  const files = (await listLogFiles(directory))
    .map((file) => ({ ...file, changedAt: file.changedAt + SLACK_MS }))
    .filter(({ changedAt }) => changedAt >= search.from.getTime())
  for await (const { text, time, severity } of merged(files, spend)) {
    if (time < search.from.getTime()) break
    if (time > search.to.getTime() || severity < SEVERITY[search.level]) continue
    const line = parsed(text, time, severity)
    if (!line || (search.tagsOneOf && !search.tagsOneOf.some((tag) => line.tags.includes(tag)))) continue
    room -= text.length
    if (room < 0) break
    found.push(line)
  }
  return found.reverse()
}

interface Head {
  text: string
  time: number
  severity: number
  next: () => Promise<Head | undefined>
  end: () => Promise<unknown>
}

/** Lines of all files, youngest first. A file is opened when its turn may have come, and closed at its end. */
async function* merged(files: readonly LogFile[], spend: Spend): AsyncGenerator<Head> {
  const waiting = [...files]
  const heads: Head[] = []
  const admit = (head: Head | undefined): void => {
    if (!head) return
    const place = heads.findIndex((other) => other.time < head.time)
    heads.splice(place === -1 ? heads.length : place, 0, head)
  }
  try {
    for (;;) {
      for (let file = waiting[0]; file && file.changedAt >= (heads[0]?.time ?? 0); file = waiting[0]) {
        waiting.shift()
        admit(await headOf(file, spend))
      }
      const first = heads.shift()
      if (!first) {
        if (waiting.length === 0) return
        continue
      }
      heads.unshift(first)
      yield first
      heads.shift()
      admit(await first.next())
    }
  } finally {
    await Promise.all(heads.map(({ end }) => end()))
  }
}

async function headOf(file: LogFile, spend: Spend): Promise<Head | undefined> {
  const lines = linesBackwards(file.path, spend)
  const end = () => lines.return(undefined)
  const next = async (): Promise<Head | undefined> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done) return undefined
      // Checked without parsing, since most lines do not match. Lines of another form are broken.
      const [, level, time] = /^\{"level":(\d{1,3}),"time":(\d{1,16})[,}]/.exec(value) ?? []
      if (level !== undefined) return { text: value, time: Number(time), severity: Number(level), next, end }
    }
  }
  return await next()
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
