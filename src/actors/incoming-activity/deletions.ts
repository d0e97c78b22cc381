// Prevents a document that was fetched before a Delete from restoring the deleted object. Writers of a document and the handler of its
// Delete synchronise on the address: one of them sees the other.

import type { Sql } from '../../platform/database/index.ts'

/** SQL: the lock of an address. Writers share it; a Delete waits for all of them. */
const lockOf = (url: string): string => `hashtextextended(${url}, 7219)`

/** Blocks Deletes of these addresses until the end of the transaction. Later statements see every Delete that was handled before. */
export async function blockDeletes(query: Sql, urls: readonly string[]): Promise<void> {
  await query(`select pg_advisory_xact_lock_shared(${lockOf('u.url')}) from unnest((select $1::text[])) as u (url)`, [urls])
}

/** Waits for all writers of this address. The Delete itself is stored: later writers will see it. */
export async function awaitSavers(query: Sql, url: string): Promise<void> {
  await query(`select pg_advisory_xact_lock(${lockOf('$1')})`, [url])
}

/**
 * SQL: true if one of these actors (an array of ids) deleted the object and sent nothing else about it later. `since`: the caller has
 * handled earlier Deletes already.
 */
export function isDeletedBy(sql: { url: string; actorIds: string; since?: string }): string {
  const by = (state: string) => `select 1 from incoming_activity d
    where d.actor_hash = any(array(select x.url_hash from actor x where x.id = any(${sql.actorIds})))
      and d.subject_hash = md5('object ' || ${sql.url})::uuid and d.type = 'Delete' and ${state}
      ${sql.since === undefined ? '' : `and d.received_at >= ${sql.since}`}`
  // Each of the two has an index of its own.
  return `(exists (${by("d.state = 'done'")}) or exists (${by("d.state in ('received', 'retrying')")}))`
}
