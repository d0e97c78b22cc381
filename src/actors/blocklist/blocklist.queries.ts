// Who is blocked: the checks of federation and of follows, and the SQL with which lists leave out what is muted.

import type { Sql } from '../../platform/database/index.ts'

/** Whether the instance blocks a server. One statement. */
export async function isBlockedHost(query: Sql, host: string): Promise<boolean> {
  const found = await query('select 1 from server_block where host = $1 and owner_id is null', [host.toLowerCase()])
  return found.length > 0
}

/** Whether the instance blocks the actor with this address, its account or its server. One statement. */
export async function isBlockedActor(query: Sql, actorUrl: string): Promise<boolean> {
  const found = await query(
    `select 1 where exists (select 1 from server_block where host = $1 and owner_id is null)
       or (exists (select 1 from account_block where owner_id is null) and exists (
         select 1 from actor x left join channel c on c.actor_id = x.id
           join account a on a.actor_id = x.id or a.id = c.account_id
           join account_block b on b.target_id = a.id and b.owner_id is null
         where x.url_hash = md5($2)::uuid and x.url = $2))`,
    [URL.parse(actorUrl)?.host ?? '', actorUrl],
  )
  return found.length > 0
}

/**
 * Whether the instance, or the account to which `ownActorId` belongs (null: only the instance), mutes an actor or its
 * server. One statement.
 */
export async function isMutedBy(query: Sql, pair: { ownActorId: number | null; actorId: number }): Promise<boolean> {
  const found = await query(
    `select 1 from actor x left join channel c on c.actor_id = x.id
       left join account a on a.actor_id = x.id or a.id = c.account_id
       cross join (select coalesce((select id from account where actor_id = $2::int),
         (select account_id from channel where actor_id = $2)) as id) own
     where x.id = $1 and ${isMutedFor('a.id', 'own.id')}`,
    [pair.actorId, pair.ownActorId],
  )
  return found.length > 0
}

/** SQL: the ids of channels that the instance or a reader mutes. */
export const mutedChannels = (reader: string): string => `
  select mc.id from account_block ab join channel mc on mc.account_id = ab.target_id where ${byEither('ab', reader)}
  union all
  select mc.id from server_block sb join remote_host mh on mh.host = sb.host join actor mx on mx.host_id = mh.id
    join channel mc on mc.actor_id = mx.id where ${byEither('sb', reader)}`

function byEither(block: string, reader: string): string {
  return `(${block}.owner_id is null or ${block}.owner_id = ${reader})`
}

/** SQL: whether the instance or a reader (the id of an account, or null) mutes an account or its server. */
export const isMutedFor = (account: string, reader: string): string => `(
  exists (select 1 from account_block ab where ab.target_id = ${account} and ${byEither('ab', reader)})
  or (exists (select 1 from server_block sb where ${byEither('sb', reader)}) and exists (
    select 1 from account ma join actor mx on mx.id = ma.actor_id join remote_host mh on mh.id = mx.host_id
      join server_block sb on sb.host = mh.host and ${byEither('sb', reader)} where ma.id = ${account})))`
