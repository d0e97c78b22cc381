// Lists of channels: all, of an account, by words, by handle, and those that an actor of ours follows. One statement for a page.

import { containing, type Database } from '../../platform/database/index.ts'
import { type SeenActor, seenColumns, totalOfActors } from '../actor/index.ts'
import { isNotMuted, mutedAccounts, mutedHosts } from '../blocklist/index.ts'
import { type ActorProfile, accountProfile, channelProfile, DAYS_OF_VIEWS } from '../video/index.ts'
import { isPublic } from '../video/video.entity.ts'

export interface ChannelRow {
  channel: ActorProfile
  account: ActorProfile
  /** When it was asked for. */
  stats?: ChannelStats
  /** Whether the actor that was named follows it, or asked to. */
  followed?: boolean
}

export interface ChannelStats {
  videos: number
  views: number
  /** The last 31 days with today, the oldest first; `day` as `2026-01-31`. */
  days: { day: string; views: number }[]
}

export interface ChannelListQuery {
  start: number
  count: number
  /** `followed`: the order in which they were followed. */
  sort: {
    by: 'match' | 'id' | 'name' | 'displayName' | 'createdAt' | 'updatedAt' | 'followed' | 'followId'
    descending: boolean
  }
  /** In a name, or similar to it. */
  search?: string | undefined
  /** Each of its words is in the name or in the handle. */
  words?: { text: string; ownHost: string } | undefined
  /** Lower case; null for this server. */
  host?: string | null | undefined
  /** Hosts are null for ours. */
  handles?: { name: string; host: string | null }[] | undefined
  /** Row ids. */
  ids?: number[] | undefined
  accountId?: number | undefined
  /** Only channels that this actor of ours follows, or asked to. */
  followerActorId?: number | undefined
  /** Says of each channel whether this actor of ours follows it. */
  followedBy?: number | undefined
  /** Without what the instance or this account (null: nobody more) mutes; left out: with all. */
  mutedFor?: number | null | undefined
  /** With the numbers of their videos: of those that everybody sees in lists, or of all. */
  stats?: 'public' | 'all' | undefined
}

const COLUMNS = {
  match: 'c.created_at',
  id: 'c.id',
  name: 'c.name',
  displayName: 'c.name',
  createdAt: 'c.created_at',
  updatedAt: 'c.updated_at',
  followed: 'f.created_at',
  followId: 'f.id',
} as const

export async function listChannels(db: Pick<Database, 'query'>, query: ChannelListQuery): Promise<{ total: number; rows: ChannelRow[] }> {
  const { text, values } = buildChannelList(query)
  const [page] = await db.query<{ total: number; rows: ChannelRow[] }>(text, values)
  return page ?? { total: 0, rows: [] }
}

/** The statement of a page: one row with `total` and `rows`. */
export function buildChannelList(query: ChannelListQuery): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const follow =
    query.followerActorId === undefined
      ? ''
      : `join follow f on f.target_id = c.actor_id and f.follower_id = ${bind(query.followerActorId)}
           and f.state in ('pending', 'accepted')`
  const narrowed = conditions(query, bind)
  const reader = query.mutedFor === undefined ? undefined : `${bind(query.mutedFor)}::int`
  const heard = reader === undefined ? [] : [isNotMuted('c.account_id', 'x.host_id', reader)]
  const where = ['x.deleted_at is null', ...narrowed, ...heard].join(' and ')
  // What is counted row by row is found once, for the total and for the page.
  const isNarrowed = follow !== '' || narrowed.length > 0 || Boolean(query.search)
  const total = isNarrowed
    ? '(select count(*)::int from matched)'
    : [totalOfActors('channels'), ...(reader === undefined ? [] : [mutedOf(reader)])].join(' - ')
  const direction = query.sort.descending ? 'desc' : 'asc'
  const key =
    query.sort.by === 'match' && query.search
      ? `greatest(similarity(c.name, ${bind(query.search)}), similarity(x.preferred_username, ${bind(query.search)}))`
      : COLUMNS[query.sort.by]
  const found = (channels: string) => `select c.id, ${key} as sort_key from ${channels} ${follow} where ${where}`
  const matching = query.search
    ? channelsCalled(query.search, bind).map(found).join(' union all ')
    : found('channel c join actor x on x.id = c.actor_id')
  const stats = query.stats === undefined ? '' : `, 'stats', ${statsOf('c', query.stats)}`
  const followed = query.followedBy === undefined ? '' : `, 'followed', ${isFollowed('c', bind(query.followedBy))}`
  const text = `with matched as ${isNarrowed ? '' : 'not '}materialized (${matching}),
    page as materialized (
      select id, sort_key from matched
      order by sort_key ${direction}, id ${direction} limit ${bind(query.count)} offset ${bind(query.start)}
    )
    select ${total} as total,
      coalesce((
        select jsonb_agg(jsonb_build_object('channel', ${channelProfile('c', 'x')}, 'account', ${accountProfile('a', 'o')}${stats}${followed})
          order by p.sort_key ${direction}, p.id ${direction})
        from page p join channel c on c.id = p.id join actor x on x.id = c.actor_id
          join account a on a.id = c.account_id join actor o on o.id = a.actor_id), '[]') as rows`
  return { text, values }
}

/** SQL: whether an actor of ours follows a channel, or asked to. */
const isFollowed = (channel: string, follower: string): string =>
  `exists (select from follow f where f.follower_id = ${follower} and f.target_id = ${channel}.actor_id
     and f.state in ('pending', 'accepted'))`

/** SQL: how many channels the instance or a reader mutes. */
const mutedOf = (reader: string): string =>
  `(select count(*)::int from (
      select c.id from channel c join actor x on x.id = c.actor_id
      where c.account_id in (${mutedAccounts(reader)}) and x.deleted_at is null
      union select c.id from actor x join channel c on c.actor_id = x.id
      where x.host_id in (${mutedHosts(reader)}) and x.deleted_at is null) muted)`

/**
 * SQL: the channels `c` with their actors `x` whose name contains the text or is similar to it, and the others whose username contains it.
 * An index serves each part. The planner overestimates what a text matches: without the offset it would read whole tables.
 */
function channelsCalled(search: string, bind: (value: unknown) => string): string[] {
  const like = bind(containing(search))
  const named = `(c.name ilike ${like} or c.name % ${bind(search)})`
  return [
    `(select * from channel c where ${named}) c cross join lateral (select * from actor where id = c.actor_id offset 0) x`,
    `(select * from actor where preferred_username ilike ${like} offset 0) x
      cross join lateral (select * from channel c where x.type = 'Group' and c.actor_id = x.id and not ${named} offset 0) c`,
  ]
}

function conditions(query: ChannelListQuery, bind: (value: unknown) => string): string[] {
  const found: string[] = []
  if (query.words) {
    const handle = `x.preferred_username || '@' || coalesce((select h.host from remote_host h where h.id = x.host_id), ${bind(query.words.ownHost)})`
    const words = query.words.text.split(/\s+/).filter((word) => word !== '')
    found.push(`(c.name || ' ' || ${handle}) ilike all (${bind(words.map(containing))}::text[])`)
  }
  if (query.host !== undefined) {
    found.push(
      query.host === null ? 'x.host_id is null' : `x.host_id = (select h.id from remote_host h where h.host = ${bind(query.host)})`,
    )
  }
  if (query.ids) found.push(`c.id = any(${bind(query.ids)}::int[])`)
  if (query.accountId !== undefined) found.push(`c.account_id = ${bind(query.accountId)}`)
  if (query.handles) {
    const names = bind(query.handles.map(({ name }) => name.toLowerCase()))
    const hosts = bind(query.handles.map(({ host }) => host?.toLowerCase() ?? null))
    found.push(
      `c.id in (
         select n.id from unnest(${names}::text[], ${hosts}::text[]) as wanted(name, host)
           join actor u on lower(u.preferred_username) = wanted.name join channel n on n.actor_id = u.id
           left join remote_host h on h.id = u.host_id
         where h.host is not distinct from wanted.host)`,
    )
  }
  return found
}

/** SQL for `ChannelStats`. What only the owner sees shows in no number for others. */
function statsOf(channel: string, of: 'public' | 'all'): string {
  const counted = of === 'all' ? "v.state <> 'removed'" : `${isPublic('v')} and v.listed`
  const today = "(now() at time zone 'UTC')::date"
  return `(select jsonb_build_object('videos', count(v.id),
      'views', coalesce(sum(v.views + (select coalesce(sum(d.views), 0) from video_delta d where d.video_id = v.id)), 0),
      'days', (
        select jsonb_agg(jsonb_build_object('day', g.day::date, 'views', coalesce(w.views, 0)) order by g.day)
        from generate_series(${today} - ${DAYS_OF_VIEWS}, ${today}, interval '1 day') as g (day)
          left join (
            select w.day, sum(w.views) as views from video v join video_day_views w on w.video_id = v.id
            where v.channel_id = ${channel}.id and ${counted} and w.day >= ${today} - ${DAYS_OF_VIEWS} group by w.day
          ) w on w.day = g.day::date))
    from video v where v.channel_id = ${channel}.id and ${counted})`
}

/** A channel by its name, of ours (`host` null) or of another server, as far as it is stored. */
export interface ChannelHandle {
  name: string
  host: string | null
}

/** What decides who may do something with a channel. */
export interface FoundChannel {
  id: number
  actorId: number
  accountId: number
  remote: boolean
}

const BY_HANDLE = `actor x join channel c on c.actor_id = x.id left join remote_host h on h.id = x.host_id
  where lower(x.preferred_username) = lower($1) and h.host is not distinct from lower($2) and x.deleted_at is null`

export async function findChannelByHandle(db: Pick<Database, 'query'>, { name, host }: ChannelHandle): Promise<FoundChannel | undefined> {
  const [row] = await db.query<FoundChannel>(
    `select c.id, x.id as "actorId", c.account_id as "accountId", x.host_id is not null as remote
     from ${BY_HANDLE} order by c.id limit 1`,
    [name, host],
  )
  return row
}

/** Whether there is such a channel, of ours or of another server. */
export async function channelExists(db: Pick<Database, 'query'>, id: number): Promise<boolean> {
  return (await db.query("select 1 from channel where id = $1 and state = 'active'", [id])).length > 0
}

/** All that everybody sees of a channel, with its account, and whether `followedBy` follows it; in one statement. */
export async function findChannel(
  db: Pick<Database, 'query'>,
  { name, host }: ChannelHandle,
  { followedBy }: { followedBy?: number | undefined } = {},
): Promise<(ChannelRow & { seen: SeenActor }) | undefined> {
  const [row] = await db.query<ChannelRow & { actorId: number } & Omit<SeenActor, 'id'>>(
    `select ${channelProfile('c', 'x')} as channel, ${accountProfile('a', 'o')} as account, ${seenColumns('x')}${
      followedBy === undefined ? '' : `, ${isFollowed('c', '$3')} as followed`
    }
     from (select c.id from ${BY_HANDLE} order by c.id limit 1) found join channel c on c.id = found.id
       join actor x on x.id = c.actor_id join account a on a.id = c.account_id join actor o on o.id = a.actor_id`,
    followedBy === undefined ? [name, host] : [name, host, followedBy],
  )
  if (!row) return undefined
  const { channel, account, followed, actorId: id, remote, refreshedAt } = row
  return { channel, account, ...(followed === undefined ? {} : { followed }), seen: { id, remote, refreshedAt } }
}
