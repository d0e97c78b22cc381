// Collections and their pages.

import { z } from 'zod'
import { type ContextKind, contextOf, type JsonObject, withoutContext } from './context.ts'
import { asList, BOUNDS, httpUrl, ofType, optional, optionalCount, type Read, readWith } from './read.ts'

export interface CollectionDocument {
  id: string
  totalItems: number | null
  /** The first page, as an address or embedded. */
  first: string | JsonObject | null
  /** The next page, if this is one. */
  next: string | null
  partOf: string | null
  /** Addresses or documents. */
  items: (string | JsonObject)[]
}

const document = z.record(z.string(), z.unknown())
const link = z.preprocess(
  (value) =>
    typeof value === 'object' && value !== null && 'type' in value && value.type === 'Link' && 'href' in value ? value.href : value,
  z.union([httpUrl, document]),
)

const schema = z
  .object({
    // Playlists are collections too, with a type of their own.
    type: ofType('Collection', 'OrderedCollection', 'CollectionPage', 'OrderedCollectionPage', 'Playlist'),
    id: httpUrl,
    totalItems: optionalCount,
    first: optional(link),
    next: optional(httpUrl),
    partOf: optional(httpUrl),
    items: z.unknown().optional(),
    orderedItems: z.unknown().optional(),
  })
  .transform(
    (found): CollectionDocument => ({
      id: found.id,
      totalItems: found.totalItems,
      first: found.first,
      next: found.next,
      partOf: found.partOf,
      items: asList(found.orderedItems ?? found.items)
        .slice(0, BOUNDS.items)
        .flatMap((item) => {
          const read = link.safeParse(item)
          return read.success ? [read.data] : []
        }),
    }),
  )

/** Reads a collection or a page of one. The caller walks from page to page, within limits. */
export const readCollection = (value: unknown): Read<CollectionDocument> => readWith(schema, value)

/** A collection: its size and its first page. An empty one has no pages. */
export function buildCollection(input: { id: string; totalItems: number; kind?: ContextKind }): JsonObject {
  return {
    '@context': contextOf(input.kind ?? 'base'),
    id: input.id,
    type: 'OrderedCollection',
    totalItems: input.totalItems,
    ...(input.totalItems > 0 ? { first: pageUrl(input.id, 1) } : {}),
  }
}

/** A whole collection of addresses. */
export const buildWholeCollection = ({ id, items }: { id: string; items: string[] }): JsonObject => ({
  '@context': contextOf('base'),
  id,
  type: 'OrderedCollection',
  totalItems: items.length,
  orderedItems: items,
})

/** The same without its items and their count, for streaming writers. */
export const buildFrame = ({ id, context }: { id: string; context: unknown[] }): JsonObject => ({
  '@context': context,
  id,
  type: 'OrderedCollection',
})

/** One page, counted from 1. `items` are addresses or built documents, whose contexts are merged into that of the page. */
export function buildCollectionPage(input: {
  id: string
  page: number
  pageSize: number
  totalItems: number
  items: (string | JsonObject)[]
  kind?: ContextKind
}): JsonObject {
  const { id, page, pageSize, totalItems } = input
  return {
    '@context': contextOf(input.kind ?? 'base'),
    id: pageUrl(id, page),
    type: 'OrderedCollectionPage',
    ...(page > 1 ? { prev: pageUrl(id, page - 1) } : {}),
    ...(page * pageSize < totalItems ? { next: pageUrl(id, page + 1) } : {}),
    partOf: id,
    orderedItems: input.items.map((item) => (typeof item === 'string' ? item : withoutContext(item))),
    totalItems,
  }
}

const pageUrl = (id: string, page: number): string => `${id}?page=${page}`
