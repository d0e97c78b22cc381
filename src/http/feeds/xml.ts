// Texts as the writer of XML takes them, so that it puts out just what was meant and nothing in them is markup.

/** All that XML 1.0 has no character for (2.2), and halves of characters. */
const ILLEGAL = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

/** The text without the characters that no XML may hold. */
export const legal = (text: string): string => text.toWellFormed().replace(ILLEGAL, '')

/** For the text of an element: the writer takes `&amp;` for an ampersand that is escaped already. */
export const element = (text: string): string => legal(text).replaceAll('&', '&amp;')

/** For an attribute: the writer escapes quotes only. */
export const attribute = (text: string): string => legal(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replace(/\s+/g, ' ')

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

/** Where a reader of HTML would take a tag or an entity to begin; some entities need no semicolon. */
const LIKE_MARKUP = /<(?=[a-z!/?])|&(?=#|\w+;|[a-z]{2})/gi

/**
 * Plain text for elements that some readers take for HTML all the same, as titles of RSS: behind what would begin a tag or an entity stands
 * a space without width (U+200B), so that both see the same words, and nothing in them is markup.
 */
export const eitherWay = (value: string): string => legal(value).replace(LIKE_MARKUP, '$&\u200b')
