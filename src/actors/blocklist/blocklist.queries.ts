// Block checks of federation and follows, and SQL that excludes muted content from lists.

import type { Sql } from '../../platform/database/index.ts'

/** Which of the servers the instance blocks, with and without their port, and with a trailing dot. One statement. */
export async function blockedHosts(query: Sql, hosts: string[]): Promise<boolean[]> {
  const names = hosts.map(nameOf)
  const found = await query<{ host: string }>('select host from server_block where host = any($1) and owner_id is null', [
    [...new Set(names.flatMap((name) => [name, withoutPort(name)]))],
  ])
  const blocked = new Set(found.map(({ host }) => host))
  return names.map((name) => blocked.has(name) || blocked.has(withoutPort(name)))
}

const nameOf = (host: string): string => host.toLowerCase().replace(/\.+(?=:|$)/, '')
const withoutPort = (host: string): string => host.replace(/:\d+$/, '')

/** `isActor`: by name, as an account or one of its channels. */
export interface Blocks {
  isServer: boolean
  isActor: boolean
}

/** Whether the instance blocks these servers, and the accounts of these actors. One statement. */
export async function blocksOf(query: Sql, asked: readonly { host: string; url: string }[]): Promise<Blocks[]> {
  const names = asked.map(({ host }) => nameOf(host))
  return await query<Blocks>(
    `select exists (
         select 1 from server_block b where b.host in (asked.host, asked.without_port) and b.owner_id is null) as "isServer",
       exists (select 1 from account_block where owner_id is null) and exists (
         select 1 from actor x left join channel c on c.actor_id = x.id
           join account a on a.actor_id = x.id or a.id = c.account_id
           join account_block b on b.target_id = a.id and b.owner_id is null
         where x.url_hash = md5(asked.url)::uuid and x.url = asked.url) as "isActor"
     from unnest((select $1::text[]), (select $2::text[]), (select $3::text[])) with ordinality
       as asked (host, without_port, url, place) order by asked.place`,
    [names, names.map(withoutPort), asked.map(({ url }) => url)],
  )
}

/** For each video, whether the instance blocks its account. One statement. */
export async function ownedByBlocked(query: Sql, videoUrls: string[]): Promise<boolean[]> {
  const found = await query<{ url: string }>(
    `select asked.url from unnest((select $1::text[])) as asked (url)
     where exists (select 1 from account_block where owner_id is null) and exists (
       select 1 from video v join channel c on c.id = v.channel_id
         join account_block b on b.target_id = c.account_id and b.owner_id is null
       where v.url_hash = md5(asked.url)::uuid and v.url = asked.url)`,
    [[...new Set(videoUrls)]],
  )
  const owned = new Set(found.map(({ url }) => url))
  return videoUrls.map((url) => owned.has(url))
}

/**
 * True if the instance, or the account that `ownActorId` belongs to (null: only the instance), mutes an actor or its server. One statement.
 */
export async function isMutedBy(query: Sql, pair: { ownActorId: number | null; actorId: number }): Promise<boolean> {
  const found = await query(
    `select 1 from actor x left join channel c on c.actor_id = x.id
       left join account a on a.actor_id = x.id or a.id = c.account_id
       cross join (select coalesce((select id from account where actor_id = $2::int),
         (select account_id from channel where actor_id = $2)) as id) own
     where x.id = $1 and (a.id in (${mutedAccounts('own.id')}) or x.host_id in (${mutedHosts('own.id')}))`,
    [pair.actorId, pair.ownActorId],
  )
  return found.length > 0
}

/** SQL: the ids of channels that the instance or a reader mutes. */
export const mutedChannels = (reader: string): string => `
  select mc.id from account_block ab join channel mc on mc.account_id = ab.target_id where ${byEither('ab', reader)}
  union all
  select mc.id from server_block sb join remote_host mh on mh.host = sb.host join channel_search mc on mc.host_id = mh.id
    where ${byEither('sb', reader)}`

/** SQL: the ids of the accounts that the instance or a reader mutes by name. */
export const mutedAccounts = (reader: string): string => `select ab.target_id from account_block ab where ${byEither('ab', reader)}`

/** SQL: the ids of the servers that the instance or a reader mutes. */
export const mutedHosts = (reader: string): string =>
  `select mh.id from server_block sb join remote_host mh on mh.host = sb.host where ${byEither('sb', reader)}`

/**
 * SQL: true if neither mutes an account or its server (null for a local one). The few muted ids are compared with each row, without a
 * look-up per row.
 */
export const isNotMuted = (account: string, host: string, reader: string): string =>
  `${account} not in (${mutedAccounts(reader)}) and (${host} is null or ${host} not in (${mutedHosts(reader)}))`

function byEither(block: string, reader: string): string {
  return `(${block}.owner_id is null or ${block}.owner_id = ${reader})`
}

/** SQL: true if the instance or a reader mutes anything: often nothing, which saves further checks. */
export const isAnythingMuted = (reader: string): string =>
  `(${['account_block', 'server_block'].map((table) => `exists (select from ${table} b where ${byEither('b', reader)})`).join(' or ')})`

/** SQL: true if the instance or a reader (the id of an account, or null) mutes an account or its server. */
export const isMutedFor = (account: string, reader: string): string => `(
  exists (select 1 from account_block ab where ab.target_id = ${account} and ${byEither('ab', reader)})
  or (exists (select 1 from server_block sb where ${byEither('sb', reader)}) and exists (
    select 1 from account ma join actor mx on mx.id = ma.actor_id join remote_host mh on mh.id = mx.host_id
      join server_block sb on sb.host = mh.host and ${byEither('sb', reader)} where ma.id = ${account})))`

/** SQL: the same for an actor of an account or an instance, for many readers at once: each part has its index. */
export const isActorMutedFor = (actor: string, reader: string): string => {
  const accounts = `select 1 from account ma join account_block ab on ab.target_id = ma.id where ma.actor_id = ${actor}`
  const servers = `select 1 from actor mx join remote_host mh on mh.id = mx.host_id join server_block sb on sb.host = mh.host
    where mx.id = ${actor}`
  return `(exists (${accounts} and ab.owner_id is null) or exists (${accounts} and ab.owner_id = ${reader})
  or exists (${servers} and sb.owner_id is null) or exists (${servers} and sb.owner_id = ${reader}))`
}
