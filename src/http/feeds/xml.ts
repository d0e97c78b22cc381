// Escapes texts for the XML writer, so that the output is exactly the text and never markup.

/** Characters that XML 1.0 does not allow (2.2), and unpaired surrogates. */
const ILLEGAL = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

/** The text without characters that XML does not allow. */
export const legal = (text: string): string => text.toWellFormed().replace(ILLEGAL, '')

/** For the text of an element: the writer treats `&amp;` as already escaped. */
export const element = (text: string): string => legal(text).replaceAll('&', '&amp;')

/** For an attribute: the writer escapes quotes only. */
export const attribute = (text: string): string => legal(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replace(/\s+/g, ' ')

/** Escaped attributes; those without a value are left out. */
export const attributes = (values: Record<string, string | number | boolean | undefined>) => ({
  _attributes: Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, attribute(String(value))]])),
  ),
})

export const text = (value: string | number) => ({ _text: element(String(value)) })

/** Text for readers that expect HTML. */
export const asHtml = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Matches what an HTML parser may take for the beginning of a tag or an entity; some entities need no semicolon. */
const LIKE_MARKUP = /<(?=[a-z!/?])|&(?=#|\w+;|[a-z]{2})/gi

/**
 * Plain text for elements that some readers parse as HTML anyway, such as titles of RSS: a zero-width space (U+200B) follows whatever could
 * begin a tag or an entity, so that all readers show the same words without markup.
 */
export const eitherWay = (value: string): string => legal(value).replace(LIKE_MARKUP, '$&\u200b')
