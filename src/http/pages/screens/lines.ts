// Long lists that are edited as text, a page of lines at a time. Only the difference to what was shown is saved: the rest may have changed.

import type { Html } from '../../../platform/html.ts'
import { pager } from '../bodies/listing.ts'
import { pageNumber } from '../fields.ts'
import { type FieldWords, itemsIn, type Words } from './fields.ts'
import type { Shown, Text } from './parts.ts'

/** With 100 characters that take 6 bytes of HTML, the lines twice take 60 kB. */
const LINES_PER_PAGE = 50

interface Lines<Item> {
  name: string
  words: FieldWords
  allIn: (shown: Shown) => readonly Item[]
  lineOf: (item: Item) => string
  itemOf: (line: string) => Item
}

/** A line break within an item would make two of it. */
export const inOneLine = (text: string): string => text.replaceAll(/[\n\v\f\r\u0085\u2028\u2029]+/g, ' ').trim()

export function linesOf<Item>({ name, words, allIn, lineOf, itemOf }: Lines<Item>) {
  /** Page and lines of the address; beyond the last page it is that one. */
  function pageOf(shown: Shown) {
    const all = allIn(shown)
    const page = Math.min(pageNumber(shown.query), Math.max(1, Math.ceil(all.length / LINES_PER_PAGE)))
    const end = page * LINES_PER_PAGE
    const lines = all.slice(end - LINES_PER_PAGE, end).map(lineOf)
    return { page, hasMore: all.length > end, lines: lines.join('\n') }
  }
  const itemsOf = (text: string) => new Map(itemsIn(text, '\n').map((line) => [lineOf(itemOf(line)), itemOf(line)]))

  return {
    /** `before` stays with the typed lines when the script replaces the page. */
    fields: { [name]: words, before: { label: words.label, as: 'hidden' } } satisfies Words,
    initial(shown: Shown) {
      const { lines } = pageOf(shown)
      return { [name]: lines, before: lines }
    },
    pages: (shown: Shown): Html | null => pager(new URL(shown.request.url, 'http://inside').pathname, pageOf(shown)),
    /** All items with the changes. Lines that are as before stay as they are now, or gone; new ones are where the page is. */
    changed(text: Text, shown: Shown): Item[] {
      const [all, before, typed] = [text('replaces') ? [] : allIn(shown), itemsOf(text('before')), itemsOf(text(name))]
      const now = Map.groupBy(all, lineOf)
      const mine = [...typed].flatMap(([line, item]) => now.get(line) ?? (before.has(line) ? [] : [item]))
      const [first = all.length] = all.flatMap((item, index) => (before.has(lineOf(item)) ? [index] : []))
      const isOther = (item: Item) => !before.has(lineOf(item)) && !typed.has(lineOf(item))
      return [...all.slice(0, first).filter(isOther), ...mine, ...all.slice(first).filter(isOther)]
    },
  }
}
