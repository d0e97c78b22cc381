// What is in the database, in short: a sum of all rows for each table.

import type { Database } from '../../../src/platform/database/index.ts'

/** Rows of each table by their number and content. Two of them differ when anything was written in between. */
export async function fingerprint(db: Pick<Database, 'query'>): Promise<Record<string, string>> {
  const tables = await db.query<{ name: string }>(
    "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' order by 1",
  )
  const sums = tables.map(
    ({ name }) => `select '${name}' as name, count(*) || ' rows, ' || coalesce(sum(hashtextextended(t::text, 0)), 0) as sum from ${name} t`,
  )
  const rows = await db.query<{ name: string; sum: string }>(sums.join(' union all '))
  return Object.fromEntries(rows.map(({ name, sum }) => [name, sum]))
}
