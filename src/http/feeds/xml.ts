// Texts as the writer of XML takes them, so that it puts out just what was meant and nothing in them is markup.

/** All that XML 1.0 has no character for (2.2), and halves of characters. */
const ILLEGAL = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

/** The text without the characters that no XML may hold. */
export const legal = (text: string): string => text.toWellFormed().replace(ILLEGAL, '')

/** For the text of an element: the writer takes `&amp;` for an ampersand that is escaped already. */
export const element = (text: string): string => legal(text).replaceAll('&', '&amp;')

/** For an attribute: the writer escapes quotes only. */
export const attribute = (text: string): string =>
  legal(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replace(/\s+/g, ' ')

/** Attributes with their texts escaped; those without a value are left out. */
export const attributes = (values: Record<string, string | number | boolean | undefined>) => ({
  _attributes: Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, attribute(String(value))]])),
  ),
})

export const text = (value: string | number) => ({ _text: element(String(value)) })

/** Text where HTML is read. */
export const asHtml = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** What a reader of HTML would take for a tag or an entity, and the end of a CDATA section. */
const LIKE_MARKUP = /<[a-z!/?]|&(?:#|\w+;)|\]\]>/i

/** Readers of RSS guess whether a title is HTML: what looks like it is escaped as HTML, anything else is what it is. */
export const eitherWay = (value: string): string => (LIKE_MARKUP.test(value) ? asHtml(value) : value)
