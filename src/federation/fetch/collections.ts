// Remote collections, page by page and within limits: they can be endless or circular.

import { DomainError } from '../../actors/runtime/index.ts'
import { isSameOrigin } from '../security/index.ts'
import { type CollectionDocument, type JsonObject, readCollection } from '../wire/index.ts'
import type { FetchDocument } from './documents.ts'

export interface CollectionPage {
  /** Addresses or documents. */
  items: (string | JsonObject)[]
  /** The next page, on the same server; null at the end. */
  next: string | null
  /** Number of items that the collection claims. */
  total: number | null
}

/** Reads one page, or a collection with its embedded page. Throws DomainError for any other document. */
export async function readCollectionPage(fetchDocument: FetchDocument, url: string): Promise<CollectionPage> {
  const outer = readOne((await fetchDocument(url)).document, url)
  const inner = outer.items.length === 0 && typeof outer.first === 'object' && outer.first !== null
  const page = inner ? readOne({ id: url, ...(outer.first as JsonObject) }, url) : outer
  const first = typeof outer.first === 'string' && outer.items.length === 0 ? outer.first : null
  const next = page.next ?? first
  return {
    items: page.items,
    next: next !== null && isSameOrigin(next, url) ? next : null,
    total: page.totalItems ?? outer.totalItems,
  }
}

function readOne(document: JsonObject, url: string): CollectionDocument {
  const read = readCollection(document)
  if (!read.ok) throw new DomainError('unprocessable', `${url} is no collection: ${read.problem}`)
  return read.value
}

export interface WalkBounds {
  maxPages: number
  maxItems: number
}

/** The items of a collection, in order. Stops at a repeated page. Throws DomainError for any other document. */
export async function* walkCollection(fetchDocument: FetchDocument, url: string, bounds: WalkBounds): AsyncGenerator<string | JsonObject> {
  const seen = new Set<string>()
  let items = 0
  for (let next: string | null = url; next !== null && !seen.has(next) && seen.size < bounds.maxPages; ) {
    seen.add(next)
    const page: CollectionPage = await readCollectionPage(fetchDocument, next)
    for (const item of page.items) {
      if (items >= bounds.maxItems) return
      items += 1
      yield item
    }
    next = page.next
  }
}
