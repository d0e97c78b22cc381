// A feed as a document: RSS 2.0, Atom (RFC 4287) or JSON Feed. Texts are escaped as the readers of each format expect.

import { type Author, type Extension, Feed } from 'feed'
import { type FeedFormat, familyOf } from './formats.ts'
import { asHtml, eitherWay, element, legal, text } from './xml.ts'

/** All texts are plain text. */
export interface FeedHead {
  /** The id of the feed (RFC 4287, 4.2.6). */
  id: string
  title: string
  description: string
  /** The page that it is about. */
  link: string
  /** Its own address, for each family of formats. */
  self: (family: 'xml' | 'atom' | 'json') => string
  author?: Author | undefined
  image: string
  favicon: string
  /** BCP 47. */
  language?: string | undefined
  /** Origin of this server. */
  origin: string
  updated: Date
}

export interface FeedItem {
  title: string
  link: string
  date: Date
  /** Plain text. */
  summary?: string | undefined
  /** HTML that is safe to show. */
  content: string
  author: Author
  category?: string | undefined
  enclosure?: { url: string; type: string; length: number } | undefined
  /** Additional elements of RSS, already escaped. */
  elements: Record<string, unknown>
  attachments?: { title: string; url: string; size_in_bytes: number; mime_type: string }[] | undefined
}

export const namespaces = {
  dc: 'http://purl.org/dc/elements/1.1/',
  content: 'http://purl.org/rss/1.0/modules/content/',
  atom: 'http://www.w3.org/2005/Atom',
  media: 'http://search.yahoo.com/mrss/',
  podcast: 'https://podcastindex.org/namespace/1.0',
  itunes: 'http://www.itunes.com/dtds/podcast-1.0.dtd',
} as const

/** The text of the document. */
export function writeFeed(head: FeedHead, items: readonly FeedItem[], format: FeedFormat): string {
  switch (familyOf(format)) {
    case 'json':
      return writeJson(head, items)
    case 'atom':
      return writeAtom(head, items)
    case 'xml':
      return writeRss(head, items, { uses: ['media'], elements: {} })
  }
}

/**
 * RSS with modules; `elements` are those of the channel. Everything but the descriptions of items is plain text (RSS Best Practices
 * Profile, character data).
 */
export function writeRss(
  head: FeedHead,
  items: readonly FeedItem[],
  { uses, elements }: { uses: readonly (keyof typeof namespaces)[]; elements: Record<string, unknown> },
): string {
  const feed = new Feed({
    ...common(head),
    title: element(eitherWay(head.title)),
    description: element(eitherWay(head.description)),
    ...(head.language ? { language: head.language } : {}),
    feed: head.self('xml'),
  })
  for (const extension of extensionsOf(elements)) feed.addExtension(extension)
  for (const { title, link, date, summary, content, category, enclosure, ...item } of items) {
    feed.addItem({
      // The library would put it into one CDATA section, which a text can break out of.
      title: '',
      link,
      date,
      ...(summary ? { description: asHtml(legal(summary)) } : {}),
      ...(content ? { content: legal(content) } : {}),
      ...(category ? { category: [{ name: element(category) }] } : {}),
      ...(enclosure ? { enclosure } : {}),
      extensions: extensionsOf({ title: text(eitherWay(title)), ...item.elements }),
    })
  }
  const declared = [...new Set([...uses, 'dc', 'content', 'atom'] as const)]
  const names = declared.map((name) => ` xmlns:${name}="${namespaces[name]}"`).join('')
  // The library declares only the namespaces of its own elements.
  return headFirst(feed.rss2().replace(/<rss [^>]*>/, `<rss version="2.0"${names}>`))
}

/** The library puts additional elements of the channel after its items; some readers stop at the first item. No text contains tags. */
function headFirst(document: string): string {
  const first = document.indexOf('        <item>')
  const last = document.lastIndexOf('</item>\n')
  const end = document.lastIndexOf('    </channel>')
  if (first === -1) return document
  const after = last + '</item>\n'.length
  return document.slice(0, first) + document.slice(after, end) + document.slice(first, after) + document.slice(end)
}

function writeAtom(head: FeedHead, items: readonly FeedItem[]): string {
  const feed = new Feed({
    ...common(head),
    title: element(head.title),
    ...(head.description ? { description: element(head.description) } : {}),
    ...(head.author ? { author: authorInXml(head.author) } : {}),
    feed: head.self('atom'),
  })
  for (const { title, link, date, summary, content, author, category } of items) {
    feed.addItem({
      title: asHtml(legal(title)),
      link,
      date,
      ...(summary ? { description: asHtml(legal(summary)) } : {}),
      ...(content ? { content: legal(content) } : {}),
      ...(category ? { category: [{ name: category, term: category }] } : {}),
      author: [authorInXml(author)],
    })
  }
  return feed.atom1()
}

function writeJson(head: FeedHead, items: readonly FeedItem[]): string {
  const feed = new Feed({
    ...common(head),
    title: head.title.toWellFormed(),
    ...(head.description ? { description: head.description.toWellFormed() } : {}),
    ...(head.author ? { author: head.author } : {}),
    feedLinks: { json: head.self('json') },
  })
  for (const { title, link, date, summary, content, author, category, attachments } of items) {
    feed.addItem({
      id: link,
      title: title.toWellFormed(),
      link,
      date,
      content,
      ...(summary ? { description: summary.toWellFormed() } : {}),
      ...(category ? { category: [{ name: category }] } : {}),
      author: [author],
      ...(attachments?.length ? { extensions: [{ name: 'attachments', objects: asObjects(attachments) }] } : {}),
    })
  }
  return feed.json1()
}

const common = ({ id, link, image, favicon, origin, updated }: FeedHead) => ({
  id: element(id),
  link,
  image,
  favicon,
  updated,
  generator: `Vireo - ${origin}`,
  copyright: `All rights reserved, unless the terms at ${origin}/about or the licence of a video grant more.`,
})

const authorInXml = ({ name, link }: Author): Author => ({
  ...(name === undefined ? {} : { name: element(name) }),
  ...(link === undefined ? {} : { link }),
})

const extensionsOf = (elements: Record<string, unknown>): Extension[] =>
  Object.entries(elements).flatMap(([name, objects]) => (objects === undefined ? [] : [{ name, objects: asObjects(objects) }]))

/** The library accepts lists too, though its types do not say so. */
const asObjects = (value: unknown): Record<string, unknown> => value as Record<string, unknown>
