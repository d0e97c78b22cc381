// Words of people as they stand in a head: one line of plain text, short, and without what turns the text after it around.

import { oneLine } from '../plain-text.ts'

/** Controls, and the marks of direction (UAX 9) that would reach beyond the text itself. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** UTF-16 units. */
const LONGEST_TITLE = 200
const LONGEST_DESCRIPTION = 250
/** Markdown that is looked at for a description. */
const LOOKED_AT = 4000
const OMISSION = '...'

export const titleText = (text: string): string =>
  cut(text.slice(0, LOOKED_AT).replace(/\s+/g, ' ').replace(UNSEEN, '').trim(), LONGEST_TITLE)

/** Of Markdown. Empty without any. */
export const descriptionText = (markdown: string | null): string =>
  cut(oneLine((markdown ?? '').slice(0, LOOKED_AT)).replace(UNSEEN, ''), LONGEST_DESCRIPTION)

/** At most `longest` units with the dots, after a whole word where there is one, and never half a character. */
export function cut(text: string, longest: number): string {
  if (text.length <= longest) return text
  const begun = text.slice(0, longest - OMISSION.length + 1)
  const space = begun.lastIndexOf(' ')
  const kept = space > longest / 2 ? begun.slice(0, space) : begun.slice(0, -1)
  return kept.replace(/[\ud800-\udbff]$/, '').trimEnd() + OMISSION
}
