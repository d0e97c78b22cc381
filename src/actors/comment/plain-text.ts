// Comments of others as the text that we keep: HTML loses its tags, line breaks and the addresses of links stay.

import sanitizeHtml from 'sanitize-html'

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' }

/** Markup may be so many times as long as the text that is kept: some of what is nested takes long to parse. */
const MARKUP_FACTOR = 5
/** Tags and entities that are parsed; what has more of them is no comment that somebody wrote, and just loses what looks like tags. */
const MOST_MARKS = 1000

/** Plain text of an HTML fragment; text of other media types is left as it is. At most `maxLength` characters. */
export function toPlainText(content: string, mediaType: string, maxLength: number): string {
  const isHtml = /^\s*(text\/html|application\/xhtml)/i.test(mediaType)
  const bounded = isHtml ? content.slice(0, MARKUP_FACTOR * maxLength) : content
  const text = !isHtml ? content : hasTooManyMarks(bounded) ? withoutTags(bounded) : fromHtml(bounded)
  return upTo(text.replaceAll('\0', '').trim(), maxLength)
}

function hasTooManyMarks(html: string): boolean {
  let marks = 0
  for (let at = 0; at < html.length && marks <= MOST_MARKS; at += 1) {
    const char = html[at]
    if (char === '<' || char === '&') marks += 1
  }
  return marks > MOST_MARKS
}

const withoutTags = (html: string): string => unescaped(html.replace(/<[^<>]*>/g, ' ').replace(/\s{2,}/g, ' '))

const unescaped = (text: string): string => text.replace(/&(?:amp|lt|gt|quot);/g, (entity) => ENTITIES[entity] ?? entity)

function fromHtml(html: string): string {
  const lines = html
    .replace(/<br\b[^<>]*>/gi, '\n')
    .replace(/<\/(?:p|ul|ol|pre|blockquote|h[1-6])\s*>/gi, '$&\n\n')
    .replace(/<\/(?:div|li|tr)\s*>/gi, '$&\n')
  const links = sanitizeHtml(lines, {
    allowedTags: ['a'],
    allowedAttributes: { a: ['href'] },
    allowedSchemes: ['http', 'https'],
    allowProtocolRelative: false,
    nonTextTags: ['script', 'style', 'textarea', 'option', 'noscript', 'template', 'title', 'iframe'],
  })
  const bare = links
    .replace(/<a href="([^"]*)">([^<]*)<\/a>/g, (_link, address: string, text: string) => withAddress(text, address))
    .replace(/<\/?a\b[^>]*>/g, '')
  // The library escapes what it puts out; nothing of it is markup any more.
  return unescaped(bare).replace(/\n{3,}/g, '\n\n')
}

/** Mentions and hashtags speak for themselves, and so does a text that is the address. */
function withAddress(text: string, address: string): string {
  const said = text.trim()
  if (/^[@#]/.test(said) || address === '' || said.includes(address)) return text
  if (/^https?:\/\/\S+$/.test(address)) return said === '' ? address : `${text} (${address})`
  return text
}

/** Characters, which may be two units of UTF-16 each; the schemas of requests count the same way. */
function upTo(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : [...text.slice(0, 2 * maxLength)].slice(0, maxLength).join('')
}
