// Fields of the pages' own forms and addresses: texts, each at most once.

import type { FastifyRequest } from 'fastify'

/** A field of a form or query; undefined if it is missing, empty or repeated. */
export type Field = (name: string) => string | undefined

export const formOf = ({ body }: FastifyRequest): Field => fieldsOf(body)
export const queryOf = ({ query }: FastifyRequest): Field => fieldsOf(query)

function fieldsOf(from: unknown): Field {
  const fields = new Map(typeof from === 'object' && from !== null ? Object.entries(from) : [])
  return (name) => {
    const value: unknown = fields.get(name)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
}

/** The address of a page, or of the page with a sent form, with `changes` of its query: what was narrowed down stays so. */
export function pageOfForm({ url }: FastifyRequest, changes: Record<string, string> = {}): string {
  const { pathname, searchParams: query } = new URL(url, 'http://inside')
  query.delete('done')
  for (const [name, value] of Object.entries(changes)) query.set(name, value)
  return query.size > 0 ? `${pathname}?${query}` : pathname
}

/** Videos on a page; pictures load as they are scrolled to. */
export const PAGE_COUNT = 24
const LAST_PAGE = 500

export function pageNumber(field: Field): number {
  const text = field('page') ?? ''
  return /^\d{1,3}$/.test(text) ? Math.min(LAST_PAGE, Math.max(1, Number(text))) : 1
}
