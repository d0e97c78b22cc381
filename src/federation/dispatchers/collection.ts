// A collection as one question, how many and which, and the document that answers it.

import { DomainError } from '../../actors/runtime/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import { buildCollection, buildCollectionPage, type ContextKind, type JsonObject } from '../wire/index.ts'

/** Counted from 1; null for the collection itself. */
export type Page = number | null

/** `limit` is 0 when only the total is asked for. */
export interface Range {
  limit: number
  offset: number
}

export interface Items {
  total: number
  items: (string | JsonObject)[]
}

export type ReadItems = (range: Range) => Promise<Items>

/** The page that a query asks for. Throws `invalid` for what is no page number. */
export function pageOf(query: URLSearchParams): Page {
  const page = query.get('page')
  if (page === null) return null
  if (/^[1-9]\d{0,8}$/.test(page)) return Number(page)
  throw new DomainError('invalid', 'Incorrect request parameters: page', {
    invalidParams: [{ name: 'page', location: 'query', msg: 'Invalid value', value: page }],
  })
}

/** The collection, or a page of it. Pages behind the last one are empty, as in the reference. */
export async function collectionDocument(options: {
  id: string
  page: Page
  pageSize: number
  /** Context that the items need. */
  kind?: ContextKind
  read: ReadItems
}): Promise<JsonObject> {
  const { id, page, pageSize, kind, read } = options
  if (page === null) return buildCollection({ id, totalItems: (await read({ limit: 0, offset: 0 })).total })
  const { total, items } = await read({ limit: pageSize, offset: (page - 1) * pageSize })
  return buildCollectionPage({ id, page, pageSize, totalItems: total, items, ...(kind === undefined ? {} : { kind }) })
}

/**
 * Total and items of a page in one statement. `from` is of `from … where …` with `$1`; `column` and `order` are what is
 * selected of it. Pages of 0 items do not look for any.
 */
export async function readPage<T>(
  query: Sql,
  parts: { from: string; column: string; order: string; value: number },
  { limit, offset }: Range,
): Promise<{ total: number; items: T[] }> {
  const { from, column, order, value } = parts
  const [row] = await query<{ total: number; items: T[] }>(
    `select (select count(*)::int ${from}) as total,
       (select coalesce(jsonb_agg(page.item), '[]')
        from (select ${column} as item ${from} order by ${order} limit $2 offset $3) page) as items`,
    [value, limit, offset],
  )
  return row ?? { total: 0, items: [] }
}
