// Writes of channels in the transactions of other nouns.

import type { Sql } from '../../platform/database/index.ts'
import { DomainError, type Unit } from '../runtime/index.ts'
import { Channel } from './channel.entity.ts'

export const createChannel = ({ em, now }: Unit, channel: Pick<Channel, 'actorId' | 'accountId' | 'name'>): Channel =>
  em.create(Channel, { ...channel, createdAt: now, updatedAt: now })

/** The channel of a remote actor, which belongs to its first known owner. Throws `unprocessable`. */
export async function storeRemoteChannel(
  unit: Unit,
  actorId: number,
  channel: { name: string; summary: string | null; support: string | null; ownerUrls: string[]; createdAt: Date },
): Promise<void> {
  const rows = await unit.query(
    `insert into channel (actor_id, account_id, name, description, support, created_at)
     select $1, ac.id, $3, $4, $5, $7::timestamptz from unnest((select $2::text[])) with ordinality as owner (url, place)
       join actor o on o.url_hash = md5(owner.url)::uuid and o.url = owner.url join account ac on ac.actor_id = o.id
     where o.deleted_at is null and o.host_id = (select host_id from actor where id = $1) order by owner.place limit 1
     on conflict (actor_id) do update set account_id = excluded.account_id, name = excluded.name,
       description = excluded.description, support = excluded.support, updated_at = $6
     returning id`,
    [actorId, channel.ownerUrls, channel.name, channel.summary, channel.support, unit.now, channel.createdAt],
  )
  if (rows.length === 0) throw new DomainError('unprocessable', 'This channel has no account of its own server.')
}

export const removeChannel = (query: Sql, channelId: number | null) => query('delete from channel where id = $1', [channelId])

export const removeChannelsOf = (query: Sql, accountId: number) => query('delete from channel where account_id = $1', [accountId])
