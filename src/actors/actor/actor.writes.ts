// Writes of actors in the transactions of other nouns.

import type { Sql } from '../../platform/database/index.ts'
import type { Unit } from '../runtime/index.ts'

/** Makes tombstones of the actors that the SQL `actors` selects, by `of` as $1. */
export const markActorsRemoved = (unit: Unit, actors: string, of: number) =>
  unit.query(`update actor set deleted_at = $2, updated_at = $2 where id in (${actors})`, [of, unit.now])

/** Servers that are notified of the end of one actor, beside those of its followers. */
const MAX_SERVERS = 10_000

/**
 * Keeps the inboxes of the servers that know an actor, as long as they can be found: those of the actors that the SQL `met` selects,
 * with `values` from $2. Kept once, they stay.
 */
export async function keepKnownServers(query: Sql, actorId: number, met: string, values: unknown[]): Promise<void> {
  await query(
    `update actor set known_at = (
       select coalesce(jsonb_agg(jsonb_build_object('inboxUrl', known.inbox, 'hostId', known.host_id)), '[]') from (
         select distinct coalesce(x.shared_inbox_url, x.inbox_url) as inbox, x.host_id from (${met}) met join actor x on x.id = met.id
         where x.host_id is not null and x.deleted_at is null limit ${MAX_SERVERS}
       ) known)
     where id = $1 and known_at is null`,
    [actorId, ...values],
  )
}

/** Takes the keys of removed local actors away when nothing is left to sign. Deliveries are sent, parked or dropped for their age. */
export async function dropUnusedKeys(query: Sql): Promise<void> {
  await query(
    `update actor x set private_key_sealed = null, ed25519_private_sealed = null
     where x.host_id is null and x.deleted_at is not null and x.private_key_sealed is not null
       and not exists (select 1 from account where actor_id = x.id)
       and not exists (select 1 from channel where actor_id = x.id)
       and not exists (select 1 from delivery d where d.actor_id = x.id and d.state = 'waiting')
       and not exists (select 1 from outbox o where o.event in ('AccountRemoved', 'ChannelEmptied') and o.parked_at is null
         and (o.aggregate_id = x.id or o.payload->'channels' @> jsonb_build_array(jsonb_build_object('actorId', x.id))))`,
  )
}

/** Removes an actor of another server that left, unless the SQL condition `stays` holds of the actor `x`. */
export const removeLeftActor = (query: Sql, actorId: number, stays: string) =>
  query(`delete from actor x where x.id = $1 and x.remote_state = 'left' and not ${stays}`, [actorId])
