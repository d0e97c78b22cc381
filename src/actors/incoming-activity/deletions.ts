// What another server took back while a document of it was on its way here must not come back by that document. Whoever
// stores the document and whoever handles the Delete meet at the address: one of them sees what the other did.

import type { Sql } from '../../platform/database/index.ts'

/** SQL: the lock of an address. Those who store share it; a Delete waits for them all. */
const lockOf = (url: string): string => `hashtextextended(${url}, 7219)`

/**
 * Holds until the end of the transaction that a Delete of one of these addresses is handled afterwards. Statements behind it see
 * every Delete that was handled before.
 */
export async function holdDeletes(query: Sql, urls: readonly string[]): Promise<void> {
  await query(`select pg_advisory_xact_lock_shared(${lockOf('u.url')}) from unnest((select $1::text[])) as u (url)`, [urls])
}

/** Waits for everybody who stores something under this address. The Delete itself is stored: those behind will see it. */
export async function awaitSavers(query: Sql, url: string): Promise<void> {
  await query(`select pg_advisory_xact_lock(${lockOf('$1')})`, [url])
}

/**
 * SQL: whether one of these actors (an array of their ids) deleted the thing, and said nothing else of it later.
 * `since`: of Deletes that came before, the caller knows already.
 */
export function isDeletedBy(sql: { url: string; actorIds: string; since?: string }): string {
  const by = (state: string) => `select 1 from incoming_activity d
    where d.actor_hash = any(array(select x.url_hash from actor x where x.id = any(${sql.actorIds})))
      and d.subject_hash = md5('object ' || ${sql.url})::uuid and d.type = 'Delete' and ${state}
      ${sql.since === undefined ? '' : `and d.received_at >= ${sql.since}`}`
  // Each of the two has an index of its own.
  return `(exists (${by("d.state = 'done'")}) or exists (${by("d.state in ('received', 'retrying')")}))`
}
