// Remote comments as plain text: HTML loses its tags; line breaks and the addresses of links stay.

import sanitizeHtml from 'sanitize-html'

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' }

/** Limit of the markup relative to the stored text: deeply nested markup is slow to parse. */
const MARKUP_FACTOR = 5
/**
 * Limit of tags and entities to parse. Content with more of them was not written by a person; what looks like tags is cut out without
 * parsing.
 */
const MAX_MARKS = 1000

/** Plain text of an HTML fragment; other media types are returned as they are. At most `maxLength` characters. */
export function toPlainText(content: string, mediaType: string, maxLength: number): string {
  const isHtml = /^\s*(text\/html|application\/xhtml)/i.test(mediaType)
  const bounded = isHtml ? content.slice(0, MARKUP_FACTOR * maxLength) : content
  const text = !isHtml ? content : hasTooManyMarks(bounded) ? withoutTags(bounded) : fromHtml(bounded)
  return upTo(text.replaceAll('\0', '').trim(), maxLength)
}

function hasTooManyMarks(html: string): boolean {
  let marks = 0
  for (let at = 0; at < html.length && marks <= MAX_MARKS; at += 1) {
    const char = html[at]
    if (char === '<' || char === '&') marks += 1
  }
  return marks > MAX_MARKS
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
  // The library escapes its output; nothing in it is markup any more.
  return unescaped(bare).replace(/\n{3,}/g, '\n\n')
}

/** Mentions and hashtags need no address, nor does a text that is the address. */
function withAddress(text: string, address: string): string {
  const said = text.trim()
  if (/^[@#]/.test(said) || address === '' || said.includes(address)) return text
  if (/^https?:\/\/\S+$/.test(address)) return said === '' ? address : `${text} (${address})`
  return text
}

/** Counts code points, like the schemas of requests. */
function upTo(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : [...text.slice(0, 2 * maxLength)].slice(0, maxLength).join('')
}
