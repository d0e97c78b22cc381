// The words of strangers in mails: on one line, cut, and without characters that hide or turn round what stands beside them.

/** Directions of writing, joiners apart: with them a title can read as another one, or as an address that it is not. */
const DIRECTIONS = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu
const LINE_ENDS = /\r\n|[\r\n\v\f\u0085\u2028\u2029]/g

const MOST_LINES = 12

/** Without what is not seen; lines and tabulators stay. */
export const harmless = (text: string): string =>
  text
    .toWellFormed()
    .replace(LINE_ENDS, '\n')
    .replace(DIRECTIONS, '')
    .replace(/(?![\n\t])\p{Cc}/gu, '')

/** Names come from settings and people: a subject is one line. */
export const oneLine = (text: string): string => harmless(text).replace(/\s+/g, ' ').trim()

/** On one line, of so many characters at most. */
export const cut = (text: string, longest: number): string => shortened(oneLine(text), longest)

/** What somebody wrote, with its lines: of so many characters and some lines at most. */
export function excerpt(text: string, longest: number): string {
  const lines = harmless(text)
    .split('\n')
    .map((line) => oneLine(line))
    .filter((line, index, all) => line !== '' || (index > 0 && all[index - 1] !== ''))
  const shown = lines.slice(0, MOST_LINES).join('\n').trim()
  return shortened(lines.length > MOST_LINES ? `${shown} …` : shown, longest)
}

function shortened(text: string, longest: number): string {
  // Whole characters as people see them, so that no accent or emoji is torn apart; a heap of accents is no character.
  if (text.length <= longest) return text
  let kept = ''
  for (const { segment } of graphemes.segment(text.slice(0, longest * 2))) {
    if (kept.length + segment.length >= longest) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
