// Converts subtitle files to the WebVTT that is served: only text cues, no scripts, styles or regions.

import { runInSlices } from '../../platform/time-slices.ts'
import { MediaError } from '../errors.ts'
import type { Retiming } from '../studio/timeline.ts'
import { type Cue, moveCues, readCues } from './cues.ts'
import { decodeText } from './encoding.ts'

export interface ToWebVttOptions {
  /** Language of the text, which helps to recognise its encoding. */
  language?: string
  /**
   * Called for a line (from 1) whose text cannot be stored; the rest is stored. By default the whole file is refused, with a message for
   * the client.
   */
  onLoss?: (line: number, why: string) => void
}

/** The WebVTT of a SubRip or WebVTT file. Throws MediaError `not-media` unless it is a subtitle text of a reasonable length. */
export async function toWebVtt(bytes: Uint8Array, { language, onLoss = refuse }: ToWebVttOptions = {}): Promise<string> {
  const text = await decodeText(bytes, language)
  const isWebVtt = beginsAsWebVtt(text)
  const cues = await runInSlices(readCues(text, { isWebVtt, onLoss }))
  return isWebVtt || cues.length === 0 ? buildWebVtt(cues) : buildFromSubRip(cues)
}

/** The readable part of a remote WebVTT file. Throws MediaError `not-media` unless it is WebVTT. */
export async function cleanWebVtt(bytes: Uint8Array): Promise<string> {
  const text = await decodeText(bytes)
  if (!beginsAsWebVtt(text)) throw new MediaError('not-media', 'The file is no WebVTT.')
  return buildWebVtt(await runInSlices(readCues(text, { isWebVtt: true, onLoss: () => {} })))
}

/** Moves the cues within a stretch (seconds) to its new place. Cues outside of it are removed. */
export async function retimeWebVtt(bytes: Uint8Array, stretch: Retiming): Promise<string> {
  const text = await decodeText(bytes)
  const cues = await runInSlices(readCues(text, { isWebVtt: beginsAsWebVtt(text), onLoss: () => {} }))
  return buildWebVtt(moveCues(cues, stretch))
}

function refuse(line: number, why: string): never {
  throw new MediaError('not-media', `Line ${line} would be lost: ${why}.`)
}

const beginsAsWebVtt = (text: string): boolean => /^WEBVTT(?:[ \t\r\n]|$)/.test(text)

const buildWebVtt = (cues: readonly Cue[]): string => `${['WEBVTT', ...cues.map((cue) => linesOf(cue).join('\n'))].join('\n\n')}\n`

/** With numbers and line ends of SubRip, as clients expect. */
const buildFromSubRip = (cues: readonly Cue[]): string =>
  ['WEBVTT FILE', ...cues.map((cue, index) => [index + 1, ...linesOf(cue)].join('\r\n')), ''].join('\r\n\r\n')

const linesOf = ({ start, end, settings, lines }: Cue): string[] => [
  `${start} --> ${end}${settings === '' ? '' : ` ${settings}`}`,
  ...lines,
]
