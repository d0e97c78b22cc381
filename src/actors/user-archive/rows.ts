// Reads many rows of one kind in pages, so that memory stays bounded.

import type { Config } from '../../config/index.ts'
import type { Sql } from '../../platform/database/index.ts'

const PAGE = 500

/**
 * All rows of a statement that orders them by `key`. Its `$1` is the last key of the previous page (0 at first) and `$2` the page size;
 * other parameters follow. Throws when the signal aborts.
 */
export async function* rowsOf<R extends { key: number }>(
  { query, signal }: { query: Sql; signal: AbortSignal },
  text: string,
  values: readonly unknown[],
  page = PAGE,
): AsyncGenerator<R> {
  for (let last = 0; ; ) {
    signal.throwIfAborted()
    const rows = await query<R>(text, [last, page, ...values])
    yield* rows
    const end = rows.at(-1)
    if (!end || rows.length < page) return
    last = end.key
  }
}

/** A time of a row; text if the row came as JSON. */
export const iso = (time: Date | string): string => new Date(time).toISOString()

/** At most as many as the configuration allows in an archive. */
export async function* upTo<R>({ config }: { config: () => Config }, rows: AsyncIterable<R>): AsyncGenerator<R> {
  const most = config().vireo.user_data.export_max_items
  let count = 0
  for await (const row of rows) {
    if (most !== null && count >= most) return
    yield row
    count += 1
  }
}

export async function* mapped<R, I>(rows: AsyncIterable<R>, toItem: (row: R) => I): AsyncGenerator<I> {
  for await (const row of rows) yield toItem(row)
}
