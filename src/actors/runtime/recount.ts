// Corrects counters without deltas: wrong ones are counted again under the lock of their row.

import type { Sql } from '../../platform/database/index.ts'

/**
 * Corrects the counters of the next batch in a transaction. `counts` maps columns to the SQL that counts them, for a row `t`; `of` selects
 * the rows. Returns the id to continue after; undefined at the end. Locked rows are left for the next run.
 */
export async function recountNext(
  query: Sql,
  options: { table: string; of?: string; counts: Readonly<Record<string, string>>; after: number; limit: number },
): Promise<number | undefined> {
  const { table, of = 'true', counts, after, limit } = options
  const [kept, counted] = [Object.keys(counts).map((column) => `t.${column}`), Object.values(counts)]
  const [batch] = await query<{ rows: number; last: number | null; wrong: number[] }>(
    `select count(*)::int as rows, max(t.id) as last,
       array_agg(t.id) filter (where (${kept.join(', ')}) <> (${counted.join(', ')})) as wrong
     from (select * from ${table} where id > $1 and ${of} order by id limit $2) t`,
    [after, limit],
  )
  if (batch?.wrong) {
    const locked = await query<{ id: number }>(`select id from ${table} where id = any($1) order by id for no key update skip locked`, [
      batch.wrong,
    ])
    await query(`update ${table} t set ${Object.entries(counts).map(([column, count]) => `${column} = ${count}`)} where t.id = any($1)`, [
      locked.map(({ id }) => id),
    ])
  }
  return batch && batch.rows === limit ? (batch.last ?? undefined) : undefined
}
