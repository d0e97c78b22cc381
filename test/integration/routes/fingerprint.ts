// A fingerprint of the database: a checksum of all rows per table.

import type { Database } from '../../../src/platform/database/index.ts'

/** Number and checksum of the rows of each table. Any write changes it. */
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
