// Lists of channels: by words, by handle, and those that an actor of ours follows. One statement for a page.

import { containing, type Database } from '../../platform/database/index.ts'
import { type ActorProfile, accountProfile, channelProfile } from '../video/index.ts'

export interface ChannelRow {
  channel: ActorProfile
  account: ActorProfile
}

export interface ChannelListQuery {
  start: number
  count: number
  /** `followed`: the order in which they were followed. */
  sort: { by: 'match' | 'displayName' | 'createdAt' | 'followed' | 'followId'; descending: boolean }
  search?: string | undefined
  /** Lower case; null for this server. */
  host?: string | null | undefined
  /** Hosts are null for ours. */
  handles?: { name: string; host: string | null }[] | undefined
  /** Row ids. */
  ids?: number[] | undefined
  /** Only channels that this actor of ours follows, or asked to. */
  followerActorId?: number | undefined
}

const COLUMNS = {
  match: 'c.created_at',
  displayName: 'c.name',
  createdAt: 'c.created_at',
  followed: 'f.created_at',
  followId: 'f.id',
} as const

export async function listChannels(
  db: Pick<Database, 'query'>,
  query: ChannelListQuery,
): Promise<{ total: number; rows: ChannelRow[] }> {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const follow =
    query.followerActorId === undefined
      ? ''
      : `join follow f on f.target_id = x.id and f.follower_id = ${bind(query.followerActorId)}
           and f.state in ('pending', 'accepted')`
  const from = `from channel c join actor x on x.id = c.actor_id join account a on a.id = c.account_id
    join actor o on o.id = a.actor_id left join remote_host h on h.id = x.host_id ${follow}`
  const where = conditions(query, bind).join(' and ')
  const direction = query.sort.descending ? 'desc' : 'asc'
  const key =
    query.sort.by === 'match' && query.search
      ? `greatest(similarity(c.name, ${bind(query.search)}), similarity(x.preferred_username, ${bind(query.search)}))`
      : COLUMNS[query.sort.by]
  const [page] = await db.query<{ total: number; rows: ChannelRow[] }>(
    `with matching as (select c.id, ${key} as sort_key ${from} where ${where}),
     page as (
       select * from matching order by sort_key ${direction}, id ${direction} limit ${bind(query.count)} offset ${bind(query.start)}
     )
     select (select count(*)::integer from matching) as total,
       coalesce((
         select json_agg(json_build_object('channel', ${channelProfile('c', 'x')}, 'account', ${accountProfile('a', 'o')})
           order by p.sort_key ${direction}, p.id ${direction})
         from page p join channel c on c.id = p.id join actor x on x.id = c.actor_id
           join account a on a.id = c.account_id join actor o on o.id = a.actor_id), '[]') as rows`,
    values,
  )
  return page ?? { total: 0, rows: [] }
}

function conditions(query: ChannelListQuery, bind: (value: unknown) => string): string[] {
  const found = ['x.deleted_at is null']
  if (query.search) {
    const like = bind(containing(query.search))
    found.push(`(c.name ilike ${like} or x.preferred_username ilike ${like} or c.name % ${bind(query.search)})`)
  }
  if (query.host !== undefined) found.push(query.host === null ? 'x.host_id is null' : `h.host = ${bind(query.host)}`)
  if (query.ids) found.push(`c.id = any(${bind(query.ids)}::int[])`)
  if (query.handles) {
    const names = bind(query.handles.map(({ name }) => name.toLowerCase()))
    const hosts = bind(query.handles.map(({ host }) => host?.toLowerCase() ?? null))
    found.push(
      `exists (select 1 from unnest(${names}::text[], ${hosts}::text[]) as wanted(name, host)
         where wanted.name = lower(x.preferred_username) and wanted.host is not distinct from h.host)`,
    )
  }
  return found
}

/** The channel of this name, of ours (`host` null) or of another server, as far as it is stored. */
export async function findChannelByHandle(
  db: Pick<Database, 'query'>,
  { name, host }: { name: string; host: string | null },
): Promise<{ id: number; actorId: number } | undefined> {
  const [row] = await db.query<{ id: number; actorId: number }>(
    `select c.id, x.id as "actorId" from actor x join channel c on c.actor_id = x.id left join remote_host h on h.id = x.host_id
     where lower(x.preferred_username) = lower($1) and h.host is not distinct from lower($2) and x.deleted_at is null
     order by c.id limit 1`,
    [name, host],
  )
  return row
}
