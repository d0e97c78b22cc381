// Users' texts for a head: one line of plain text, short, and without characters that reverse the following text.

import { oneLine } from '../../../platform/plain-text.ts'

/** Controls, and bidirectional marks (UAX 9) whose effect would extend beyond the text. */
const INVISIBLE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** UTF-16 units. */
const LONGEST_TITLE = 200
const LONGEST_DESCRIPTION = 250
/** Characters of Markdown that are read for a description. */
const LOOKED_AT = 4000
const OMISSION = '...'

export const titleText = (text: string): string =>
  cut(text.slice(0, LOOKED_AT).replace(/\s+/g, ' ').replace(INVISIBLE, '').trim(), LONGEST_TITLE)

/** Empty if there is none. */
export const descriptionText = (markdown: string | null): string =>
  cut(oneLine((markdown ?? '').slice(0, LOOKED_AT)).replace(INVISIBLE, ''), LONGEST_DESCRIPTION)

/** At most `longest` units including the ellipsis, cut after a whole word if possible, and never within a character. */
export function cut(text: string, longest: number): string {
  if (text.length <= longest) return text
  const begun = text.slice(0, longest - OMISSION.length + 1)
  const space = begun.lastIndexOf(' ')
  const kept = space > longest / 2 ? begun.slice(0, space) : begun.slice(0, -1)
  return kept.replace(/[\ud800-\udbff]$/, '').trimEnd() + OMISSION
}
