// Cues of subtitle files, read from SubRip and WebVTT (W3C), as tolerantly as files in the wild need. Pure.

import { MediaError } from '../errors.ts'
import type { Retiming } from '../studio/timeline.ts'

export interface Cue {
  /** In the form of WebVTT, such as `00:00:01.500`. */
  start: string
  end: string
  /** Where the text stands, such as `align:start`; empty for the default. */
  settings: string
  lines: string[]
}

const TIME = /^(?:(\d{1,4}):)?([0-5]?\d):([0-5]?\d)[.,](\d{1,3})$/
/** Start, end, and what follows them on the line. */
const TIMING = /^(\S{5,20})[ \t]*-->[ \t]*(\S{5,20})(?:[ \t]+([^\r\n]{0,300}))?$/
/** The settings of WebVTT whose values name nothing outside of the cue. */
const SETTING = /^(?:vertical|line|position|size|align):[\w.,%+-]{1,40}$/
const MAX_CUES = 50_000
const MAX_FILE_LINES = 500_000
const MAX_LINES = 50
const MAX_LINE = 2000
/** Characters of all cues together: ten hours of speech have less than one million. */
const MAX_TEXT = 4_000_000
/** Lines after which others may have their turn. */
const TURN = 200

/**
 * The cues of a text, whatever its form. What is no cue is left out: headers, numbers, notes, styles and regions. A cue
 * that ends before it begins, or has no text, is none. Yields now and then, so that whoever runs it can do something else.
 * Throws MediaError `not-media` for more cues or text than any film has.
 */
export function* readCues(text: string): Generator<void, Cue[]> {
  const cues: Cue[] = []
  let cue: Cue | undefined
  let [read, length] = [0, 0]
  const take = () => {
    if (cue && cue.lines.length > 0) cues.push(cue)
    cue = undefined
  }
  for (const line of linesOf(text)) {
    read += 1
    if (read % TURN === 0) yield
    if (cues.length > MAX_CUES || length > MAX_TEXT) throw new MediaError('not-media', 'The file has too much text.')
    const timing = line.includes('-->') ? timingOf(line.trim()) : undefined
    if (timing !== undefined) {
      take()
      cue = timing === 'backward' ? undefined : { ...timing, lines: [] }
    } else if (line.trim() === '') {
      take()
    } else if (cue && cue.lines.length < MAX_LINES) {
      const clean = cleanLine(line)
      if (clean !== '') cue.lines.push(clean)
      length += clean.length
    }
  }
  take()
  return cues
}

/** The cues that show inside of a stretch, with it where it is moved to; those on its edges become shorter. */
export function moveCues(cues: readonly Cue[], { from, to, at }: Retiming): Cue[] {
  return cues.flatMap((cue) => {
    const start = Math.max(from, secondsOf(cue.start) ?? 0)
    const end = Math.min(to, secondsOf(cue.end) ?? 0)
    return end - start < SHORTEST ? [] : [{ ...cue, start: timeOf(start - from + at), end: timeOf(end - from + at) }]
  })
}

/** Seconds: what is left of a cue that was cut off must be seen to be anything. */
const SHORTEST = 0.05

/** One after the other, up to a number that no honest file has: a large file of nothing else would take seconds. */
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

/** Undefined for a line that is none. */
function timingOf(line: string): Omit<Cue, 'lines'> | 'backward' | undefined {
  const [, from = '', to = '', rest = ''] = TIMING.exec(line) ?? []
  const [start, end] = [secondsOf(from), secondsOf(to)]
  if (start === undefined || end === undefined) return undefined
  if (end <= start) return 'backward'
  const settings = rest.split(/[ \t]+/).filter((setting) => SETTING.test(setting))
  return { start: timeOf(start), end: timeOf(end), settings: settings.join(' ') }
}

function secondsOf(text: string): number | undefined {
  const [whole, hours = '0', minutes, seconds, fraction] = TIME.exec(text) ?? []
  return whole === undefined
    ? undefined
    : Number(hours) * 3600 + Number(minutes) * 60 + Number(`${seconds}.${fraction}`)
}

function timeOf(seconds: number): string {
  const ms = Math.round(seconds * 1000)
  const digits = (value: number, length: number) => String(Math.floor(value)).padStart(length, '0')
  const [hours, minutes, rest] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60]
  return `${digits(hours, 2)}:${digits(minutes, 2)}:${digits(rest, 2)}.${digits(ms % 1000, 3)}`
}

/** The tags of WebVTT that only mark text; everything else between angle brackets goes. */
const TAG =
  /^<\/?(?:[biu]|ruby|rt|c(?:\.[\w.-]{1,50})?|v(?:\.[\w.-]{1,50})?(?:[ \t][^<>&\n]{1,100})?|lang(?:[ \t][\w-]{1,35})?)>$/
const ANGLED = /<[^<>]{0,300}>/g
const PLAIN = /^[^<>\p{Cc}\p{Cs}\u2028\u2029]*$/u
const CONTROL = /(?!\t)[\p{Cc}\u2028\u2029]/gu

function cleanLine(line: string): string {
  // Most lines have nothing in them to look at.
  if (line.length <= MAX_LINE && PLAIN.test(line)) return line.trim()
  const kept: string[] = []
  let at = 0
  const cut = line.slice(0, MAX_LINE).toWellFormed().replace(CONTROL, '')
  for (const { 0: tag, index } of cut.matchAll(ANGLED)) {
    kept.push(plain(cut.slice(at, index)), TAG.test(tag) ? tag : '')
    at = index + tag.length
  }
  kept.push(plain(cut.slice(at)))
  return kept.join('').trim()
}

/** Text in which nothing is a tag, nor an arrow that would begin a cue. */
const plain = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('-->', '--&gt;')
