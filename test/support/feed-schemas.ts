// Schemas of feed formats: Atom and RSS with its modules in RELAX NG (test/fixtures/schemas), JSON Feed 1 and 1.1.

import { readFileSync } from 'node:fs'
import { validateXML } from 'xmllint-wasm'
import { z } from 'zod'

const grammarOf = (name: string): string => readFileSync(new URL(`../fixtures/schemas/${name}.rng`, import.meta.url), 'utf8')

/**
 * Validation errors of libxml2, prefixed with the given document names; empty when all documents are valid. One call starts one worker for
 * any number of documents.
 */
export async function faultsOfXml(grammar: 'atom' | 'rss', documents: ReadonlyMap<string, string>): Promise<string[]> {
  const xml = [...documents].map(([name, contents], index) => ({ fileName: `${index}.xml`, name, contents }))
  const { valid, errors, rawOutput } = await validateXML({
    xml: xml.map(({ fileName, contents }) => ({ fileName, contents })),
    schema: { fileName: `${grammar}.rng`, contents: grammarOf(grammar) },
    extension: 'relaxng',
  })
  const unread = xml.filter(({ fileName }) => !rawOutput.includes(`${fileName} validates`))
  if (valid && unread.length === 0) return []
  return [...unread.map(({ name, fileName }) => `${name} (${fileName})`), ...errors.map(({ rawMessage }) => rawMessage)]
}

const webAddress = z.url({ protocol: /^https?$/ })
const date = z.iso.datetime({ offset: true })
const person = z
  .strictObject({ name: z.string().min(1), url: webAddress, avatar: webAddress })
  .partial()
  .refine((author) => Object.keys(author).length > 0, 'an author says something')

/** `author` is from version 1, `authors` from version 1.1. */
const authorsOf = (version: 1 | 1.1) => (version === 1 ? { author: person.optional() } : { authors: z.array(person).min(1).optional() })

const item = (version: 1 | 1.1) =>
  z
    .strictObject({
      id: z.string().min(1),
      url: webAddress.optional(),
      external_url: webAddress.optional(),
      title: z.string().min(1).optional(),
      content_html: z.string().optional(),
      content_text: z.string().optional(),
      summary: z.string().min(1).optional(),
      image: webAddress.optional(),
      banner_image: webAddress.optional(),
      date_published: date.optional(),
      date_modified: date.optional(),
      tags: z.array(z.string().min(1)).optional(),
      attachments: z
        .array(
          z.strictObject({
            url: webAddress,
            mime_type: z.string().regex(/^[a-z]+\/[a-z0-9.+-]+$/),
            title: z.string().min(1).optional(),
            size_in_bytes: z.int().min(0).optional(),
            duration_in_seconds: z.number().min(0).optional(),
          }),
        )
        .optional(),
      ...authorsOf(version),
    })
    .refine((one) => one.content_html !== undefined || one.content_text !== undefined, 'an item has a content')

const feed = <V extends string>(address: V, version: 1 | 1.1) =>
  z.strictObject({
    version: z.literal(address),
    title: z.string().min(1),
    home_page_url: webAddress.optional(),
    feed_url: webAddress.optional(),
    description: z.string().min(1).optional(),
    user_comment: z.string().optional(),
    next_url: webAddress.optional(),
    icon: webAddress.optional(),
    favicon: webAddress.optional(),
    expired: z.boolean().optional(),
    hubs: z.array(z.strictObject({ type: z.string(), url: webAddress })).optional(),
    items: z.array(item(version)).refine((items) => new Set(items.map(({ id }) => id)).size === items.length, 'ids differ'),
    ...authorsOf(version),
  })

/** JSON Feed (jsonfeed.org) 1.1 and 1, which name authors differently. Unknown members are errors. */
export const jsonFeed = z.discriminatedUnion('version', [
  feed('https://jsonfeed.org/version/1', 1),
  feed('https://jsonfeed.org/version/1.1', 1.1),
])
