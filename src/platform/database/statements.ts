// Prepared statements: each connection parses and plans an SQL text once, and closes the least recently used ones. PostgreSQL plans again
// for each execution if such a plan seems cheaper: for a list of one element, or for a null. `(select $1::text[])` instead of `$1::text[]`
// hides the value from the planner.

import { createHash } from 'node:crypto'
import type { LRUCache } from 'lru-cache'
import type { ClientBase, Connection, QueryResult, Submittable } from 'pg'
import { makeLru } from '../lru.ts'
import { isStalePlan } from './errors.ts'

export interface StatementOptions {
  /**
   * False for texts whose best plan depends on the values: they are planned each time. Also for several statements in one text, which
   * PostgreSQL cannot prepare.
   */
  prepared?: boolean
}

/** Runs a statement on a connection. After `isStalePlan`, all statements are planned again. */
export type RunStatement = <R extends object>(
  connection: ClientBase,
  statement: { text: string; values: readonly unknown[] },
  options?: StatementOptions,
) => Promise<QueryResult<R>>

/** `max`: prepared statements per connection; 0 for none, for poolers that mix clients without tracking names (PgBouncer before 1.21). */
export function makeStatements(max: number): RunStatement {
  const prepared = new WeakMap<ClientBase, Named>()
  /** Incremented when the schema changes: older plans are discarded. */
  let generation = 0

  /** The name of a text, and the names that are no longer needed. */
  function nameOf(connection: ClientBase, text: string): { name: string; unused: string[] } {
    const known = prepared.get(connection)
    const isCurrent = known?.generation === generation
    const unused = known && !isCurrent ? [...known.names.values()] : []
    const { names } = isCurrent ? known : { names: makeLru<string, string>(max) }
    if (!isCurrent) prepared.set(connection, { names, generation })
    const found = names.get(text)
    if (found !== undefined) return { name: found, unused }
    if (names.size >= max) unused.push(names.pop() ?? '')
    // Derived from the text: behind a pooler that does not track names, another client's statement of that name has the same text.
    const name = `vireo_${createHash('sha256').update(text).digest('hex').slice(0, NAME_DIGITS)}`
    names.set(text, name)
    return { name, unused }
  }

  return async <R extends object>(
    connection: ClientBase,
    { text, values }: { text: string; values: readonly unknown[] },
    { prepared: wanted = true }: StatementOptions = {},
  ) => {
    const statement = { text, values: [...values] }
    if (!wanted || max === 0 || text.includes(';')) return await connection.query<R>(statement)
    const { name, unused } = nameOf(connection, text)
    if (unused.length > 0) await close(connection, unused)
    try {
      return await connection.query<R>({ ...statement, name })
    } catch (error) {
      if (isStalePlan(error)) generation += 1
      throw error
    }
  }
}

interface Named {
  /** By text. */
  names: LRUCache<string, string>
  generation: number
}

const NAME_DIGITS = 32

/** The part of `pg`'s connection that its types omit: texts by name, as known to the server. */
interface WithStatements extends Connection {
  parsedStatements?: Record<string, string>
}

/** Sent like a query (PostgreSQL, "Message Formats", Close). */
function close(connection: ClientBase, names: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const closing: Submittable & Record<'handleReadyForQuery' | 'handleError', () => void> = {
      submit(wire: WithStatements) {
        for (const name of names) {
          wire.close({ type: 'S', name }, true)
          if (wire.parsedStatements) delete wire.parsedStatements[name]
        }
        wire.sync()
      },
      handleReadyForQuery: resolve,
      // A lost connection has no statements: the next query fails.
      handleError: resolve,
    }
    connection.query(closing)
  })
}
