// Limits of pages in statements that are prepared.

const SMALLEST = 25

/**
 * At least `rows`, from a few sizes, so that the texts of statements do not vary with the pages that are requested. It stands in the text:
 * a plan for any limit would expect to read a tenth of all rows.
 */
export function roundedLimit(rows: number): number {
  const wanted = Number(rows)
  return wanted === 0 ? 0 : SMALLEST * 2 ** Math.max(0, Math.ceil(Math.log2(wanted / SMALLEST)))
}

/**
 * SQL: some columns of the rows of a page. `bind` adds a value to the statement; `order` without `order by`; `limit` for statements that are
 * not prepared.
 */
export function pageOf(
  from: { columns: string; rows: string; order: string },
  { start, count, limit = roundedLimit(start + count) }: { start: number; count: number; limit?: number },
  bind: (value: unknown) => string,
): string {
  return `select * from (select ${from.columns} from ${from.rows} order by ${from.order} limit ${limit}) rounded
      limit ${bind(count)} offset ${bind(start)}`
}
