// Untrusted texts in mails: on one line, truncated, and without characters that hide or reverse other text.

/** Directional and invisible characters: with them a title can look like another one, or like a different address. */
const DIRECTIONS = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu
const LINE_ENDS = /\r\n|[\r\n\v\f\u0085\u2028\u2029]/g

const MAX_LINES = 12

/** Without invisible characters; line breaks and tabs stay. */
export const harmless = (text: string): string =>
  text
    .toWellFormed()
    .replace(LINE_ENDS, '\n')
    .replace(DIRECTIONS, '')
    .replace(/(?![\n\t])\p{Cc}/gu, '')

/** Names come from settings and people: a subject is one line. */
export const oneLine = (text: string): string => harmless(text).replace(/\s+/g, ' ').trim()

/** On one line, with at most this many characters. */
export const cut = (text: string, longest: number): string => shortened(oneLine(text), longest)

/** A quotation with its line breaks: limited in characters and lines. */
export function excerpt(text: string, longest: number): string {
  const lines = harmless(text)
    .split('\n')
    .map((line) => oneLine(line))
    .filter((line, index, all) => line !== '' || (index > 0 && all[index - 1] !== ''))
  const shown = lines.slice(0, MAX_LINES).join('\n').trim()
  return shortened(lines.length > MAX_LINES ? `${shown} …` : shown, longest)
}

function shortened(text: string, longest: number): string {
  // Whole graphemes, so that no accent or emoji is split; a heap of accents counts as several characters.
  if (text.length <= longest) return text
  let kept = ''
  for (const { segment } of graphemes.segment(text.slice(0, longest * 2))) {
    if (kept.length + segment.length >= longest) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
