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

/** A collection in SQL; `$1` is its owner. */
export interface PageParts {
  /**
   * `select … as id … order by …` of all of its rows. The page is cut out of the ids alone, so that an index answers also
   * for a page far behind.
   */
  ids: string
  /** An expression for how many; counted over `ids` when left out. An index alone counts 100,000 rows in less than 20 ms. */
  total?: string
  /** What is shown of a row of the page, and where that is found: `join … on … = page.id`. */
  item: string
  join: string
}

/** Total and items of a page in one statement. Pages of 0 items do not look for any. */
export async function readPage<T>(
  query: Sql,
  { ids, total, item, join, value }: PageParts & { value: number },
  { limit, offset }: Range,
): Promise<{ total: number; items: T[] }> {
  const [row] = await query<{ total: number; items: T[] }>(
    `with page as materialized (
       select k.id, row_number() over () as place from (${ids} limit $2 offset $3) k
     )
     select (${total ?? `(select count(*) from (${ids}) k)`})::int as total,
       (select coalesce(jsonb_agg(${item} order by page.place), '[]') from page ${join}) as items`,
    [value, limit, offset],
  )
  return row ?? { total: 0, items: [] }
}
