// From the bytes of a subtitle file to the WebVTT that we serve: text cues and nothing else, no scripts, styles or regions.

import { MediaError } from '../errors.ts'
import { type Cue, readCues } from './cues.ts'

/**
 * The WebVTT of a SubRip or WebVTT file. Text that has no cues gives a file without any. Throws MediaError `not-media` for
 * what is no text.
 */
export function toWebVtt(bytes: Uint8Array): string {
  return buildWebVtt(readCues(textOf(bytes)))
}

/** The WebVTT of another server's file. Throws MediaError `not-media` unless it is WebVTT. */
export function cleanWebVtt(bytes: Uint8Array): string {
  const text = textOf(bytes)
  if (!/^WEBVTT(?:[ \t\r\n]|$)/.test(text)) throw notText()
  return buildWebVtt(readCues(text))
}

function buildWebVtt(cues: readonly Cue[]): string {
  const blocks = cues.map(({ start, end, settings, lines }) =>
    [`${start} --> ${end}${settings === '' ? '' : ` ${settings}`}`, ...lines].join('\n'),
  )
  return `${['WEBVTT', ...blocks].join('\n\n')}\n`
}

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
