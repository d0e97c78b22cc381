// From the bytes of a subtitle file to the WebVTT that we serve: text cues and nothing else, no scripts, styles or regions.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { MediaError } from '../errors.ts'
import type { Retiming } from '../studio/timeline.ts'
import { type Cue, moveCues, readCues } from './cues.ts'

/**
 * The WebVTT of a SubRip or WebVTT file. Text that has no cues gives a file without any. Throws MediaError `not-media` for
 * what is no text, or too much of it.
 */
export async function toWebVtt(bytes: Uint8Array): Promise<string> {
  const text = textOf(bytes)
  const cues = await inTurns(readCues(text))
  return isWebVtt(text) || cues.length === 0 ? buildWebVtt(cues) : buildFromSubRip(cues)
}

/** The WebVTT of another server's file. Throws MediaError `not-media` unless it is WebVTT. */
export async function cleanWebVtt(bytes: Uint8Array): Promise<string> {
  const text = textOf(bytes)
  if (!isWebVtt(text)) throw notText()
  return buildWebVtt(await inTurns(readCues(text)))
}

/** The WebVTT of a video of which a stretch (seconds) is somewhere else now. What is outside of it goes. */
export async function retimeWebVtt(bytes: Uint8Array, stretch: Retiming): Promise<string> {
  return buildWebVtt(moveCues(await inTurns(readCues(textOf(bytes))), stretch))
}

/** Milliseconds for which a large file keeps everything else waiting. */
const TURN_MS = 10

async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  let began = performance.now()
  while (true) {
    const step = work.next()
    if (step.done) return step.value
    if (performance.now() - began < TURN_MS) continue
    await nextTurn()
    began = performance.now()
  }
}

const isWebVtt = (text: string): boolean => /^WEBVTT(?:[ \t\r\n]|$)/.test(text)

const buildWebVtt = (cues: readonly Cue[]): string =>
  `${['WEBVTT', ...cues.map((cue) => linesOf(cue).join('\n'))].join('\n\n')}\n`

/** With numbers and line ends of SubRip, as clients are used to see them. */
const buildFromSubRip = (cues: readonly Cue[]): string =>
  ['WEBVTT FILE', ...cues.map((cue, index) => [index + 1, ...linesOf(cue)].join('\r\n')), ''].join('\r\n\r\n')

const linesOf = ({ start, end, settings, lines }: Cue): string[] => [
  `${start} --> ${end}${settings === '' ? '' : ` ${settings}`}`,
  ...lines,
]

/** Decoded by its byte order mark, else as UTF-8, else as Windows-1252, which older files are in. */
function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return decoded(bytes, 'utf-16le')
  if (first === 0xfe && second === 0xff) return decoded(bytes, 'utf-16be')
  if (bytes.includes(0)) throw notText()
  try {
    return decoded(bytes, 'utf-8', { fatal: true })
  } catch {
    return decoded(bytes, 'windows-1252')
  }
}

/** Without the byte order mark. */
const decoded = (bytes: Uint8Array, encoding: string, options: { fatal?: boolean } = {}): string =>
  new TextDecoder(encoding, options).decode(bytes)

const notText = (): MediaError => new MediaError('not-media', 'The file is no text of subtitles.')
