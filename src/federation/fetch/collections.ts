// Walks a collection of another server, page by page, within bounds: collections can be endless or run in circles.

import { isSameOrigin } from '../security/index.ts'
import { type JsonObject, readCollection } from '../wire/index.ts'
import type { FetchDocument } from './documents.ts'

export interface WalkBounds {
  maxPages: number
  maxItems: number
}

/** The items of a collection, addresses or documents, in its order. Stops at a page that was seen or is elsewhere. */
export async function* walkCollection(
  fetchDocument: FetchDocument,
  url: string,
  bounds: WalkBounds,
): AsyncGenerator<string | JsonObject> {
  const seen = new Set<string>()
  let next: string | JsonObject | null = url
  let items = 0
  while (next !== null && seen.size < bounds.maxPages) {
    const address = typeof next === 'string' ? next : String(next.id)
    if (seen.has(address) || !isSameOrigin(address, url)) return
    seen.add(address)
    const read = readCollection(typeof next === 'string' ? (await fetchDocument(next)).document : next)
    if (!read.ok) return
    for (const item of read.value.items) {
      if (items >= bounds.maxItems) return
      items += 1
      yield item
    }
    next = read.value.next ?? (read.value.items.length === 0 ? read.value.first : null)
  }
}
