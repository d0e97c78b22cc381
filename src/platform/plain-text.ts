// Markdown as plain text, for descriptions in cards and search results: markup is removed, words and addresses stay.

const MARKS: readonly (readonly [RegExp, string])[] = [
  [/\r\n?/g, '\n'],
  [/^ {0,3}(?:```|~~~).*$/gm, ''],
  [/^ {0,3}#{1,6}\s+/gm, ''],
  [/^ {0,3}>\s?/gm, ''],
  [/^ {0,3}(?:[-*_]\s*){3,}$/gm, ''],
  [/!\[([^[\]\n]{0,500})\]\([^()\s]{0,2000}(?:\s+"[^"\n]{0,500}")?\)/g, '$1'],
  [/\[([^[\]\n]{1,500})\]\([^()\s]{0,2000}(?:\s+"[^"\n]{0,500}")?\)/g, '$1'],
  [/<(https?:\/\/[^<>\s]{1,2000})>/g, '$1'],
  [/(\*\*|__)(?=\S)([^\n]{1,500}?\S)\1/g, '$2'],
  [/(?<![\w*])\*(?=\S)([^*\n]{1,2000}?)\*(?!\w)/g, '$1'],
  [/`([^`\n]{1,2000})`/g, '$1'],
]

/** The text without its Markdown. HTML in it stays: escape the result. */
export const plainText = (markdown: string): string =>
  MARKS.reduce((text, [mark, replacement]) => text.replace(mark, replacement), markdown)
    .replace(/\n{3,}/g, '\n\n')
    .trim()

/** One line, for attributes. */
export const oneLine = (markdown: string): string => plainText(markdown).replace(/\s+/g, ' ')
