// Maintained totals of whole tables, so that they need no count: triggers write changes to `<table>_delta`, which is folded continuously
// into `<table>`, one row per key. Reads add what is not folded yet.

import type { Database } from '../../platform/database/index.ts'

type Reader = Pick<Database, 'query'>

export interface MaintainedTotal {
  /** Has the columns of the key and `total`; `<table>_delta` has the same key, `id` and `delta`. */
  table: string
  key: readonly string[]
}

/** Rows per fold. */
const BATCH = 1000

const of = (alias: string, key: readonly string[]): string => key.map((column) => `${alias}.${column}`).join(', ')

/** SQL for the sum of the rows that match `where` (SQL); without it, of all. */
export function sumOf({ table }: MaintainedTotal, where?: string): string {
  const picked = where === undefined ? '' : ` where ${where}`
  return `((select coalesce(sum(total), 0) from ${table}${picked})
    + (select coalesce(sum(delta), 0) from ${table}_delta${picked}))::int`
}

/** Folds all pending rows. One process at a time; the others skip it. */
export async function foldTotal(db: Reader, kept: MaintainedTotal): Promise<void> {
  if (!(await hasRows(db, `${kept.table}_delta`))) return
  while ((await foldSome(db, kept)) === BATCH);
}

/** True if rows wait to be folded. Usually there are none, and this check is much cheaper than a fold. */
export async function hasRows(db: Reader, table: string): Promise<boolean> {
  return (await db.query(`select from ${table} order by id limit 1`, [])).length > 0
}

/** Returns how many rows were folded. */
async function foldSome(db: Reader, { table, key }: MaintainedTotal): Promise<number> {
  const columns = key.join(', ')
  const [row] = await db.query<{ taken: number }>(
    `with locked as materialized (
       select ${columns} from ${table} where (${columns}) in (select ${columns} from ${table}_delta)
       order by ${columns} for no key update skip locked
     ), taken as (
       delete from ${table}_delta where id in (
         select id from ${table}_delta where (${columns}) in (select ${columns} from locked) order by id limit ${BATCH}
       ) returning ${columns}, delta
     ), folded as (
       update ${table} t set total = t.total + s.delta
       from (select ${columns}, sum(delta) as delta from taken group by ${columns}) s
       where (${of('t', key)}) = (${of('s', key)})
     ) select count(*)::int as taken from taken`,
  )
  return row?.taken ?? 0
}

/**
 * Corrects the totals to the truth of one moment; two concurrent runs would correct twice. `counted` is SQL for the truth: rows of the key
 * and `rows`; a missing key counts zero.
 */
export async function setTotalRight(db: Reader, { table, key }: MaintainedTotal, counted: string): Promise<void> {
  await db.query(
    `with counted as materialized (${counted}), lacking as materialized (
       select ${of('k', key)}, coalesce(c.rows, 0) - k.total
         - coalesce((select sum(d.delta) from ${table}_delta d where (${of('d', key)}) = (${of('k', key)})), 0) as rows
       from ${table} k left join counted c on (${of('c', key)}) = (${of('k', key)})
     )
     update ${table} t set total = t.total + l.rows from lacking l where (${of('t', key)}) = (${of('l', key)}) and l.rows <> 0`,
  )
}
