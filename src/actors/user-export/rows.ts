// Many rows of one kind, a page at a time, so that it does not matter how many they are.

import type { Config } from '../../config/index.ts'
import type { Sql } from '../../platform/database/index.ts'

const PAGE = 500

/**
 * All rows of a statement that orders them by `key` and has `$1` for the last key of the page before (0 at first) and `$2` for how
 * many; its other parameters come behind. Ends, and throws, when the signal says so.
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

/** A time of a row, which is a text where JSON was made of it. */
export const iso = (time: Date | string): string => new Date(time).toISOString()

/** No more of them than the configuration wants in an archive. */
export async function* upTo<R>({ config }: { config: () => Config }, rows: AsyncIterable<R>): AsyncGenerator<R> {
  const most = config().vireo.user_data.export_max_items
  let count = 0
  for await (const row of rows) {
    if (most !== null && count >= most) return
    yield row
    count += 1
  }
}
