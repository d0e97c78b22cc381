// Writes of actors in the transactions of other nouns.

import type { Sql } from '../../platform/database/index.ts'
import type { Unit } from '../runtime/index.ts'

/** Makes tombstones of the actors that the SQL `actors` selects, by `of` as $1. */
export const markActorsRemoved = (unit: Unit, actors: string, of: number) =>
  unit.query(`update actor set deleted_at = $2, updated_at = $2 where id in (${actors})`, [of, unit.now])

/** Limit of servers that are notified of an actor's removal, in addition to those of its followers. */
const MAX_SERVERS = 10_000

/**
 * Stores the inboxes of the servers that know an actor, before they cannot be found any more: those of the actors that the SQL `met`
 * selects, with `values` from $2.
 */
export async function storeKnownServers(query: Sql, actorId: number, met: string, values: unknown[]): Promise<void> {
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

/** Deletes the keys of removed local actors when nothing is left to sign: deliveries are sent, parked or dropped for their age. */
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

/** Deletes a removed remote actor, unless the SQL condition `stays` holds for the actor `x`. */
export const removeLeftActor = (query: Sql, actorId: number, stays: string) =>
  query(`delete from actor x where x.id = $1 and x.remote_state = 'left' and not ${stays}`, [actorId])
