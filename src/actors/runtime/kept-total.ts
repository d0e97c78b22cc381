// Totals of whole tables that are kept instead of counted: triggers write what changes to `<table>_delta`, which is folded into the
// rows of `<table>`, one for each key, all the time. Reads add what is not folded yet.

import type { Database } from '../../platform/database/index.ts'

type Reader = Pick<Database, 'query'>

export interface KeptTotal {
  /** With the columns of the key and `total`; beside it `<table>_delta` with the same key, `id` and `delta`. */
  table: string
  key: readonly string[]
}

/** Rows that one fold takes. */
const BATCH = 1000

const of = (alias: string, key: readonly string[]): string => key.map((column) => `${alias}.${column}`).join(', ')

/** SQL for the sum of the rows that `where` (SQL) picks; left out: of all. */
export function sumOf({ table }: KeptTotal, where?: string): string {
  const picked = where === undefined ? '' : ` where ${where}`
  return `((select coalesce(sum(total), 0) from ${table}${picked})
    + (select coalesce(sum(delta), 0) from ${table}_delta${picked}))::int`
}

/** Folds all that waits. One process at a time: the others leave it to that one. */
export async function foldTotal(db: Reader, kept: KeptTotal): Promise<void> {
  if (!(await hasRows(db, `${kept.table}_delta`))) return
  while ((await foldSome(db, kept)) === BATCH);
}

/** Whether anything waits to be folded: mostly nothing does, which is found out with much less than a fold. */
export async function hasRows(db: Reader, table: string): Promise<boolean> {
  return (await db.query(`select from ${table} order by id limit 1`, [])).length > 0
}

/** Answers how many rows were taken. */
async function foldSome(db: Reader, { table, key }: KeptTotal): Promise<number> {
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
 * Adds to the totals what they lack, of one moment: two of these at once would add it twice. `counted` is SQL for the truth: rows of
 * the key and `rows`; what it leaves out is none.
 */
export async function setTotalRight(db: Reader, { table, key }: KeptTotal, counted: string): Promise<void> {
  await db.query(
    `with counted as materialized (${counted}), lacking as materialized (
       select ${of('k', key)}, coalesce(c.rows, 0) - k.total
         - coalesce((select sum(d.delta) from ${table}_delta d where (${of('d', key)}) = (${of('k', key)})), 0) as rows
       from ${table} k left join counted c on (${of('c', key)}) = (${of('k', key)})
     )
     update ${table} t set total = t.total + l.rows from lacking l where (${of('t', key)}) = (${of('l', key)}) and l.rows <> 0`,
  )
}
