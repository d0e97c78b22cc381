// Wraps paragraphs of plain text for narrow windows.

/** Characters of a line. */
export const COLUMNS = 78
/** A word longer than the line limit of mails (RFC 5322, 2.1.1: 998 bytes) is broken. An address is not. */
const LONGEST_WORD = 240

/** Breaks only between words, so that addresses stay whole; line breaks in the text stay. `columns`: of a line. */
export const wrap = (text: string, columns = COLUMNS): string =>
  text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n')

function wrapLine(line: string, columns: number): string {
  const lines: string[] = []
  let current = ''
  for (const word of line.split(' ').flatMap(pieces)) {
    if (current !== '' && width(current) + 1 + width(word) > columns) {
      lines.push(current)
      current = word
    } else current = current === '' ? word : `${current} ${word}`
  }
  return [...lines, current].join('\n')
}

function pieces(word: string): string[] {
  if (word.length <= LONGEST_WORD) return [word]
  const characters = [...word]
  return Array.from({ length: Math.ceil(characters.length / LONGEST_WORD) }, (_, index) =>
    characters.slice(index * LONGEST_WORD, (index + 1) * LONGEST_WORD).join(''),
  )
}

const width = (text: string): number => [...text].length
