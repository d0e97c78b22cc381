// Parses cues of SubRip and WebVTT (W3C) files, as tolerantly as real files require. Pure.

import { MediaError } from '../errors.ts'
import type { Retiming } from '../studio/timeline.ts'

export interface Cue {
  /** In WebVTT format, such as `00:00:01.500`. */
  start: string
  end: string
  /** Position of the text, such as `align:start`; empty for the default. */
  settings: string
  lines: string[]
}

const TIME = /^(?:(\d{1,4}):)?([0-5]?\d):([0-5]?\d)(?:[.,](\d{1,3}))?$/
/** Start, end, and the rest of the line. */
const TIMING = /^(\S{4,20})\s*-->\s*(\S{4,20})(?:\s+([^\r\n]{0,300}))?$/
/** Lines that must be meant as a timing, in any notation: a time and an arrow, or an arrow between times with seconds. */
const LIKE_TIMING = /^-?\p{Nd}[\p{Nd}:.,]{3,20}\s{0,4}-{1,3}>/u
const TWO_TIMES =
  /^-?\p{Nd}{1,4}\s?[:.]\s?\p{Nd}{1,2}\s?[:.,]\s?\p{Nd}[\p{Nd}:., ]{0,12}(?:[-–—− ]{0,6}[>→⇒]|,)\s?-?\p{Nd}{1,4}\s?[:.]\s?\p{Nd}{1,2}\s?[:.,]\s?\p{Nd}/u
/** Cheap test: most lines do not match, and need no further one. */
const BEGINS_WITH_TIME = /^[\p{Cf}-]{0,4}\p{Nd}{1,5}\s?[:.]/u
/** A time next to an arrow, anywhere in a damaged line. */
const DAMAGED_TIMING = (() => {
  const time = String.raw`\p{Nd}{1,2}\s?[:.]\s?\p{Nd}{1,2}\s?[:.,;]\s?\p{Nd}{1,4}`
  const arrow = String.raw`[-–—−]{1,3}\s?(?:>|&gt;)`
  return new RegExp(`${time}["\\s]{0,4}${arrow}|${arrow}["\\s]{0,4}${time}`, 'u')
})()
/** Other subtitle formats: SubStation Alpha, MicroDVD, LRC, SAMI, TTML, and anything with times. */
const OTHER_FORMAT =
  /^(?:Dialogue:|\{\d{1,9}\}\{\d{1,9}\}|\[\d{1,9}\]\[\d{1,9}\]|\[\d{1,3}:\d\d[.:\]])|<sync\s{1,4}start=|<p\s[^<>]{0,200}begin=|(?<!\d)\d{1,2}:\d\d:\d\d[.,:;]\d{2,3}/i
/** Longest line that is checked for those: longer lines are text. */
const LONGEST_TIMING = 300
/** Directional marks and the like, which editors of right-to-left texts leave next to the times. */
const INVISIBLE = /\p{Cf}/gu
/** Settings of WebVTT without references to anything outside of the cue. */
const SETTING = /^(?:vertical|line|position|size|align):[\w.,%+-]{1,40}$/
/** Blocks of WebVTT that are not cues. */
const NO_CUE = /^(?:NOTE|STYLE|REGION)(?:[ \t]|$)/
const NUMBER = /^\d{1,9}$/
const MAX_CUES = 50_000
const MAX_FILE_LINES = 500_000
const MAX_LINES = 50
const MAX_LINE = 2000
/** Characters of all cues: ten hours of speech have less than one million. */
const MAX_TEXT = 4_000_000
/** Lines per turn of the event loop. */
const TURN = 200

export interface ReadCuesOptions {
  /** WebVTT has notes, styles and named cues; in SubRip cues have numbers, and everything else is text. */
  isWebVtt: boolean
  /** Called for what cannot be stored. `line` counts from 1. */
  onLoss: (line: number, why: string) => void
}

/** A cue whose text is being read, including blank lines and the number of the next cue. */
interface OpenCue extends Omit<Cue, 'lines'> {
  body: string[]
  /** The line with its timing. */
  at: number
}

/**
 * The cues of a text. Skips headers, numbers, notes, styles and regions, empty cues, and blank lines within a cue; cues need no blank line
 * between them. Yields regularly, so that the caller can do other work. Throws MediaError `not-media` for more cues or text than any film
 * has.
 */
export function* readCues(text: string, options: ReadCuesOptions): Generator<void, Cue[]> {
  const { isWebVtt, onLoss } = options
  const cues: Cue[] = []
  let cue: OpenCue | undefined
  let [read, length, number] = [0, 0, 0]
  /** Line of the first text before all cues. A text without cues is not a subtitle file. */
  let before: number | undefined
  /** Line of the first text in another subtitle format. */
  let foreign: number | undefined

  const close = (isFollowed: boolean): void => {
    if (!cue) return
    const { body, at, ...rest } = cue
    const lines = linesOfCue(isFollowed ? withoutName(body, number + 1, isWebVtt) : body, isWebVtt)
    if (lines.length > MAX_LINES) onLoss(at, `a cue has more than ${MAX_LINES} lines`)
    const { kept, settings } = cleaned(lines.slice(0, MAX_LINES), rest.settings)
    if (kept.length > 0) cues.push({ ...rest, settings, lines: kept })
    cue = undefined
  }

  for (const line of linesOf(text)) {
    read += 1
    if (read % TURN === 0) yield
    if (cues.length > MAX_CUES || length > MAX_TEXT) throw tooMuch()
    const trimmed = line.length > MAX_LINE ? line : line.trim()
    const timing = timingOf(trimmed)
    if (typeof timing === 'string') onLoss(read, timing)
    if (timing !== undefined) {
      close(true)
      number += 1
      cue = typeof timing === 'string' ? { ...NEVER, body: [], at: read } : { ...timing, body: [], at: read }
    } else if (cue) {
      if (line.length > MAX_LINE) onLoss(read, `a line has more than ${MAX_LINE} characters`)
      cue.body.push(trimmed.slice(0, MAX_LINE))
      length += Math.min(line.length, MAX_LINE)
    } else if (trimmed !== '' && !NUMBER.test(trimmed)) {
      before ??= read
      if (foreign === undefined && OTHER_FORMAT.test(trimmed.slice(0, LONGEST_TIMING))) foreign = read
    }
  }
  close(false)
  if (cues.length > MAX_CUES) throw tooMuch()
  if (read >= MAX_FILE_LINES) onLoss(read, 'the file has too many lines')
  if (foreign !== undefined && number === 0 && !isWebVtt) onLoss(foreign, 'the format of the file is neither SubRip nor WebVTT')
  if (before !== undefined && number > 0 && !isWebVtt) onLoss(before, 'there is text outside of all cues')
  return cues.filter(({ end }) => end !== NEVER.end)
}

const tooMuch = (): MediaError => new MediaError('not-media', 'The file has too much text.')

/** The text after an unreadable timing is dropped. */
const NEVER = { start: '', end: '', settings: '' }

/** Without the number or name of the next cue, which is the line before its timing. */
function withoutName(body: readonly string[], next: number, isWebVtt: boolean): string[] {
  const last = body.findLastIndex((line) => line !== '')
  const name = body[last]
  if (name === undefined) return []
  const isAlone = body[last - 1] === ''
  const isName = NUMBER.test(name) ? isAlone || Number(name) === next : isWebVtt && isAlone && last === body.length - 1
  return body.slice(0, isName ? last : last + 1)
}

function linesOfCue(body: readonly string[], isWebVtt: boolean): string[] {
  if (!isWebVtt) return body.filter((line) => line !== '')
  const kept: string[] = []
  let isCue = true
  for (const [index, line] of body.entries()) {
    if (index > 0 && body[index - 1] === '') isCue = !NO_CUE.test(line)
    if (isCue && line !== '') kept.push(line)
  }
  return kept
}

/** The cues within a stretch, moved with it; those on its edges become shorter. */
export function moveCues(cues: readonly Cue[], { from, to, at }: Retiming): Cue[] {
  return cues.flatMap((cue) => {
    const start = Math.max(from, secondsOf(cue.start) ?? 0)
    const end = Math.min(to, secondsOf(cue.end) ?? 0)
    if (end - start < SHORTEST) return []
    const moved = (seconds: number) => timeOf(seconds - from + at)
    const lines = cue.lines.map((line) =>
      line.replaceAll(TIMESTAMPS, (_tag, time: string) => {
        const seconds = secondsOf(time) ?? 0
        return seconds > start && seconds < end ? `<${moved(seconds)}>` : ''
      }),
    )
    return [{ ...cue, lines, start: moved(start), end: moved(end) }]
  })
}

/** Seconds: a shorter rest of a cut cue would be invisible. */
const SHORTEST = 0.05

/** One by one, up to a number that no honest file has: a large file of line breaks would take seconds. */
function* linesOf(text: string): Generator<string> {
  const next = (end: string, at: number) => {
    const found = text.indexOf(end, at)
    return found === -1 ? text.length : found
  }
  let [at, feed, carriage] = [0, next('\n', 0), next('\r', 0)]
  for (let count = 0; count < MAX_FILE_LINES && at <= text.length; count += 1) {
    if (feed < at) feed = next('\n', at)
    if (carriage < at) carriage = next('\r', at)
    const end = Math.min(feed, carriage)
    yield text.slice(at, end)
    at = carriage + 1 === feed ? feed + 1 : end + 1
  }
}

/** Undefined if the line is no timing; a text with the problem if it is an invalid one. */
function timingOf(line: string): Omit<Cue, 'lines'> | string | undefined {
  if (!BEGINS_WITH_TIME.test(line)) return isDamagedTiming(line) ? UNREADABLE : undefined
  const text = line.slice(0, MAX_LINE).replaceAll(INVISIBLE, '')
  const [, from = '', to = '', rest = ''] = TIMING.exec(text) ?? []
  const [start, end] = [secondsOf(from), secondsOf(to)]
  if (start === undefined || end === undefined)
    return LIKE_TIMING.test(text) || TWO_TIMES.test(text) || isDamagedTiming(text) ? UNREADABLE : undefined
  if (end <= start) return 'a cue ends before it begins'
  const settings = rest.split(/[ \t]+/).filter((setting) => SETTING.test(setting))
  return { start: timeOf(start), end: timeOf(end), settings: settings.join(' ') }
}

const UNREADABLE = 'the times of a cue cannot be read'

function isDamagedTiming(line: string): boolean {
  const text = line.slice(0, LONGEST_TIMING)
  return (text.includes('>') || text.includes('&gt;')) && DAMAGED_TIMING.test(text)
}

function secondsOf(text: string): number | undefined {
  const [whole, hours = '0', minutes, seconds, fraction = '0'] = TIME.exec(text) ?? []
  return whole === undefined ? undefined : Number(hours) * 3600 + Number(minutes) * 60 + Number(`${seconds}.${fraction}`)
}

function timeOf(seconds: number): string {
  const ms = Math.round(seconds * 1000)
  const digits = (value: number, length: number) => String(Math.floor(value)).padStart(length, '0')
  const [hours, minutes, rest] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60]
  return `${digits(hours, 2)}:${digits(minutes, 2)}:${digits(rest, 2)}.${digits(ms % 1000, 3)}`
}

/**
 * The tags of WebVTT and SubRip, and times within a cue; other angle brackets are text. Only some have an annotation after their name, and
 * others may have attributes: `a <b and c> d` has no tag.
 */
const TAG =
  /<(\/?)(?:(b|i|u|c|ruby|rt)((?:\.[\w-]{1,50}){0,5})(?:[ \t](?:[^<>=]{0,200}=[^<>]{0,200})?)?|(v|lang|font)((?:\.[\w-]{1,50}){0,5})(?:[ \t]([^<>]{0,200}))?)>|<((?:\d{2,4}:)?[0-5]\d:[0-5]\d\.\d{3})>/gi
const TIMESTAMPS = /<((?:\d{2,4}:)?[0-5]\d:[0-5]\d\.\d{3})>/g
/** Tags with a meaningful annotation. */
const ANNOTATED = ['v', 'lang']
const CLASSED = ['c', 'v']
/** Lines without special characters, which most are. */
const PLAIN = /^[^<>{\p{Cc}\p{Cs}\u2028\u2029]*$/u
const CONTROL = /(?!\t)[\p{Cc}\u2028\u2029]/gu
/** Overrides of SubStation Alpha, which occur in SubRip files too: `{\an8}`, `{\pos(10,20)}`. */
const OVERRIDE = /\{\s{0,4}\\[^{}]{0,300}\}/g
const ALIGNMENT = /\\an([1-9])/

/** The text of a cue in WebVTT, and its position. */
function cleaned(lines: readonly string[], settings: string): { kept: string[]; settings: string } {
  const kept: string[] = []
  let place = settings
  for (const line of lines) {
    if (PLAIN.test(line)) {
      kept.push(line)
      continue
    }
    const text = line.toWellFormed().replace(CONTROL, '')
    const free = text.replaceAll(OVERRIDE, (override) => {
      const key = ALIGNMENT.exec(override)?.[1]
      if (key !== undefined && place === '') place = placeOf(Number(key))
      return ''
    })
    const clean = cleanLine(free).trim()
    if (clean !== '') kept.push(clean)
  }
  return { kept, settings: place }
}

/** Position for a key of the number pad, whose layout is that of the picture. */
function placeOf(key: number): string {
  const side = { 1: 'align:left', 0: 'align:right' }[key % 3]
  const height = key > 6 ? 'line:0' : key > 3 ? 'line:50%' : undefined
  return [height, side].filter((setting) => setting !== undefined).join(' ')
}

function cleanLine(line: string): string {
  const kept: string[] = []
  let at = 0
  for (const found of line.matchAll(TAG)) {
    const [tag, slash, mark, classesOfMark, speaking, classes = classesOfMark, annotation, time] = found
    if (found.index > at) kept.push(plain(line.slice(at, found.index)))
    at = found.index + tag.length
    const name = (mark ?? speaking ?? '').toLowerCase()
    if (time !== undefined) kept.push(tag)
    else if (name !== 'font') {
      const marks = slash === '' && CLASSED.includes(name) ? classes : ''
      const said = slash === '' && ANNOTATED.includes(name) && annotation ? ` ${annotation.trim()}` : ''
      kept.push(`<${slash}${name}${marks}${said}>`)
    }
  }
  kept.push(plain(line.slice(at)))
  return kept.join('')
}

/** Text without tags, and without an arrow that would begin a cue. */
const plain = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('-->', '--&gt;')
