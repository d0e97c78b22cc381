// Walks over many rows by id, in batches, for work that changes or removes each by a command.

import type { Database } from '../../platform/database/index.ts'

const BATCH = 100

export interface Walk {
  db: Pick<Database, 'query'>
  /** Ends the walk, which throws. */
  signal: AbortSignal
  /** Begins with `from`, and calls the table of the ids `o`; `values` are its parameters. */
  from: string
  values: unknown[]
  /** Columns in addition to the id. */
  columns?: string
}

/** Visits each row once; a row that cannot be processed is left to the next walk. */
export async function eachRow<R extends { id: number }>(
  { db, signal, from, values, columns = '' }: Walk,
  work: (row: R) => Promise<void>,
): Promise<void> {
  const selected = columns === '' ? 'o.id' : `o.id, ${columns}`
  const after = `$${values.length + 1}`
  let last = 0
  for (;;) {
    const rows = await db.query<R>(`select ${selected} ${from} and o.id > ${after} order by o.id limit ${BATCH}`, [...values, last])
    if (rows.length === 0) return
    for (const row of rows) {
      signal.throwIfAborted()
      await work(row)
      last = row.id
    }
  }
}

const REMOVED_AT_ONCE = 1000

/** Repeats a statement that processes at most `limit` rows until it processes fewer. Throws when `signal` aborts. */
export async function inBatches(signal: AbortSignal, work: (limit: number) => Promise<unknown[]>): Promise<void> {
  do signal.throwIfAborted()
  while ((await work(REMOVED_AT_ONCE)).length === REMOVED_AT_ONCE)
}
