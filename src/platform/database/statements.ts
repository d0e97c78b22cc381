// Prepared statements: each connection parses and plans an SQL text once, and closes the least recently used ones. PostgreSQL plans again
// for each execution if such a plan seems cheaper: for a list of one element, or for a null. `(select $1::text[])` instead of `$1::text[]`
// hides the value from the planner.

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

  function namesOn(connection: ClientBase): Named {
    const known = prepared.get(connection)
    if (known?.generation === generation) return known
    if (known) close(connection, [...known.names.values()])
    const fresh = { names: makeLru<string, string>(max), generation, next: known?.next ?? 1 }
    prepared.set(connection, fresh)
    return fresh
  }

  function nameOf(connection: ClientBase, text: string): string {
    const named = namesOn(connection)
    const known = named.names.get(text)
    if (known !== undefined) return known
    if (named.names.size >= max) close(connection, [named.names.pop() ?? ''])
    const name = `vireo_${named.next}`
    named.next += 1
    named.names.set(text, name)
    return name
  }

  return async <R extends object>(
    connection: ClientBase,
    { text, values }: { text: string; values: readonly unknown[] },
    { prepared: wanted = true }: StatementOptions = {},
  ) => {
    const statement = { text, values: [...values] }
    if (!wanted || max === 0 || text.includes(';')) return await connection.query<R>(statement)
    try {
      return await connection.query<R>({ ...statement, name: nameOf(connection, text) })
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
  /** Names are not reused on a connection. */
  next: number
}

/** The part of `pg`'s connection that its types omit: texts by name, as known to the server. */
interface WithStatements extends Connection {
  parsedStatements?: Record<string, string>
}

/** Queued like a query (PostgreSQL, "Message Formats", Close). */
function close(connection: ClientBase, names: readonly string[]): void {
  const closing: Submittable & Record<'handleReadyForQuery' | 'handleError', () => void> = {
    submit(wire: WithStatements) {
      for (const name of names) {
        wire.close({ type: 'S', name }, true)
        if (wire.parsedStatements) delete wire.parsedStatements[name]
      }
      wire.sync()
    },
    handleReadyForQuery() {},
    // A lost connection has no statements.
    handleError() {},
  }
  connection.query(closing)
}
