// Lists of channels: all, of an account, by words, by handle, and those that a local actor follows. One statement per page.

import { type Aliased, containing, type Database } from '../../platform/database/index.ts'
import { type ActorProfile, accountProfile, channelProfile, type SeenActor, seenColumns, totalOfActors } from '../actor/index.ts'
import { isNotMuted, mutedAccounts, mutedHosts } from '../blocklist/index.ts'
import { DAYS_OF_VIEWS } from '../video/index.ts'
import { isPublic } from '../video/video.entity.ts'
import type { Channel } from './channel.entity.ts'

export interface ChannelRow {
  channel: ActorProfile
  account: ActorProfile
  /** Date of the request. */
  stats?: ChannelStats
  /** True if the given actor follows it, or requested to. */
  followed?: boolean
}

export interface ChannelStats {
  videos: number
  views: number
  /** The last 31 days including today, the oldest first; `day` as `2026-01-31`. */
  days: { day: string; views: number }[]
}

export interface ChannelListQuery {
  start: number
  count: number
  /** `followed`: by the date of the follow. */
  sort: {
    by: 'match' | 'id' | 'name' | 'displayName' | 'createdAt' | 'updatedAt' | 'followed' | 'followId'
    descending: boolean
  }
  /** Contained in a name. If it is in few, similar names are included. */
  search?: string | undefined
  /** With `search`: also similar names (trigrams). */
  alike?: boolean | undefined
  /** The name or the handle contains each of its words. */
  words?: { text: string; ownHost: string } | undefined
  /** Lower case; null for this server. */
  host?: string | null | undefined
  /** Hosts are null for local ones. */
  handles?: { name: string; host: string | null }[] | undefined
  /** Row ids. */
  ids?: number[] | undefined
  accountId?: number | undefined
  /** Only channels that this local actor follows, or requested to. */
  followerActorId?: number | undefined
  /** Includes whether this local actor follows each channel. */
  followedBy?: number | undefined
  /** Excludes channels muted by the instance or this account (null: by the instance alone); by default none. */
  mutedFor?: number | null | undefined
  /** Includes the number of their videos: of publicly listed ones, or of all. */
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

/** If a search finds fewer, similar names are included. */
const FEW = 15

export async function listChannels(db: Pick<Database, 'query'>, query: ChannelListQuery): Promise<{ total: number; rows: ChannelRow[] }> {
  const { text, values } = buildChannelList(query)
  const [page = { total: 0, rows: [] }] = await db.query<{ total: number; rows: ChannelRow[] }>(text, values)
  return query.search && !query.alike && page.total < FEW ? await listChannels(db, { ...query, alike: true }) : page
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
  const { by } = query.sort
  const isCompared = by === 'match' || query.alike === true
  const search = query.search ? { pattern: bind(containing(query.search)), text: isCompared ? bind(query.search) : '' } : undefined
  // A search reads its own table, which has the needed columns of actors and no rows of removed ones.
  const actor = search ? 'c' : 'x'
  const narrowed = conditions(query, bind, actor)
  const reader = query.mutedFor === undefined ? undefined : `${bind(query.mutedFor)}::int`
  const heard = reader === undefined ? [] : [isNotMuted('c.account_id', `${actor}.host_id`, reader)]
  const shown = search ? isCalled(search, query.alike) : 'x.deleted_at is null'
  const where = [shown, ...narrowed, ...heard].join(' and ')
  // Matches that are counted row by row are read once, for the total and for the page.
  const isNarrowed = follow !== '' || narrowed.length > 0 || search !== undefined
  const total = isNarrowed
    ? '(select count(*)::int from matched)'
    : [totalOfActors('channels'), ...(reader === undefined ? [] : [mutedOf(reader)])].join(' - ')
  const direction = query.sort.descending ? 'desc' : 'asc'
  const range = { start: `${bind(query.start)}::int`, count: `${bind(query.count)}::int` }
  const isRanked = search !== undefined && by === 'match'
  const isBounded = isRanked && query.sort.descending
  const ofSearch = { ...COLUMNS, createdAt: columnOf('created_at'), updatedAt: columnOf('updated_at') }
  const key = isBounded ? boundTo(search.text) : isRanked ? likenessTo(search.text) : (search ? ofSearch : COLUMNS)[by]
  const from = search ? 'channel_search c' : 'channel c join actor x on x.id = c.actor_id'
  const best = isBounded ? `${bestOf(search.text, range)},` : ''
  const stats = query.stats === undefined ? '' : `, 'stats', ${statsOf('c', query.stats)}`
  const followed = query.followedBy === undefined ? '' : `, 'followed', ${isFollowed('c', bind(query.followedBy))}`
  const text = `with matched as ${isNarrowed ? '' : 'not '}materialized (
      select c.id, ${key} as sort_key from ${from} ${follow} where ${where}
    ), ${best}
    page as materialized (
      select id, sort_key from ${isBounded ? 'best' : 'matched'}
      order by sort_key ${direction}, id ${direction} limit ${range.count} offset ${range.start}
    )
    select ${total} as total,
      coalesce((
        select jsonb_agg(jsonb_build_object('channel', ${channelProfile('c', 'x')}, 'account', ${accountProfile('a', 'o')}${stats}${followed})
          order by p.sort_key ${direction}, p.id ${direction})
        from page p join channel c on c.id = p.id join actor x on x.id = c.actor_id
          join account a on a.id = c.account_id join actor o on o.id = a.actor_id), '[]') as rows`
  return { text, values }
}

/** SQL: true if a local actor follows a channel, or requested to. */
const isFollowed = (channel: string, follower: string): string =>
  `exists (select from follow f where f.follower_id = ${follower} and f.target_id = ${channel}.actor_id
     and f.state in ('pending', 'accepted'))`

/** SQL: number of channels that the instance or a reader mutes. */
const mutedOf = (reader: string): string =>
  `(select count(*)::int from (
      select c.id from channel c join actor x on x.id = c.actor_id
      where c.account_id in (${mutedAccounts(reader)}) and x.deleted_at is null
      union select c.id from actor x join channel c on c.actor_id = x.id
      where x.host_id in (${mutedHosts(reader)}) and x.deleted_at is null) muted)`

interface SearchValues {
  text: string
  /** For `ilike`. */
  pattern: string
}

/** SQL: true if a name or a username contains the text, or the name is similar to it. The most expensive comparison comes last. */
const isCalled = ({ text, pattern }: SearchValues, alike: boolean | undefined): string =>
  `(c.name ilike ${pattern} or c.preferred_username ilike ${pattern}${alike ? ` or c.name % ${text}` : ''})`

const likenessTo = (text: string): string => `greatest(similarity(c.name, ${text}), similarity(c.preferred_username, ${text}))`

/** SQL: upper bound of the similarity to the text, reached if the larger one contains all trigrams of the smaller one. */
function boundTo(text: string): string {
  const size = `(select cardinality(show_trgm(${text})))`
  const bounds = ['c.name_size', 'c.username_size'].map((own) => `least(${own}, ${size})::real / greatest(${own}, ${size}, 1)`)
  return `greatest(${bounds.join(', ')})`
}

/** SQL: a column of a found channel that the search table lacks. */
const columnOf = (column: string): string => `(select o.${column} from channel o where o.id = c.id)`

/** Rows ranked first, beyond those of the page. */
const RANKED_FIRST = 50

/**
 * SQL: CTEs up to `best`, which contains at least the rows of the page with their similarity. `matched` is sorted by its bound: once the last
 * row of the page is found, rows with a lower bound need no similarity, which is the most expensive part of a search.
 */
function bestOf(text: string, { start, count }: { start: string; count: string }): string {
  const ranked = `select m.id, ${likenessTo(text)} as sort_key from`
  return `ranked_first as materialized (
      ${ranked} (select id from matched order by sort_key desc, id desc limit ${start} + ${count} + ${RANKED_FIRST}) m
        join channel_search c on c.id = m.id
    ), best as (
      select id, sort_key from ranked_first
      union all
      ${ranked} matched m join channel_search c on c.id = m.id
      where m.id not in (select id from ranked_first) and (m.sort_key, m.id) > (
        select sort_key, id from ranked_first order by sort_key desc, id desc limit 1 offset greatest(${start} + ${count} - 1, 0))
    )`
}

/** `actor`: the alias that has the columns of the channel's actor. */
function conditions(query: ChannelListQuery, bind: (value: unknown) => string, actor: string): string[] {
  const found: string[] = []
  if (query.words) {
    const handle = `${actor}.preferred_username || '@' || coalesce((select h.host from remote_host h where h.id = ${actor}.host_id), ${bind(query.words.ownHost)})`
    const words = query.words.text.split(/\s+/).filter((word) => word !== '')
    found.push(`(c.name || ' ' || ${handle}) ilike all (${bind(words.map(containing))}::text[])`)
  }
  if (query.host !== undefined) {
    found.push(
      query.host === null
        ? `${actor}.host_id is null`
        : `${actor}.host_id = (select h.id from remote_host h where h.host = ${bind(query.host)})`,
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

/** SQL for `ChannelStats`. Numbers for others exclude what only the owner sees. */
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

/** A stored channel by its name, local (`host` null) or remote. */
export interface ChannelHandle {
  name: string
  host: string | null
}

/** The properties that decide who may do what with a channel. */
export interface FoundChannel extends Aliased<Channel, 'id' | 'accountId'> {
  actorId: number
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

/** True if there is such a channel, local or remote. */
export async function channelExists(db: Pick<Database, 'query'>, id: number): Promise<boolean> {
  return (await db.query("select 1 from channel where id = $1 and state = 'active'", [id])).length > 0
}

/** The public columns of a channel, with its account, and whether `followedBy` follows it; in one statement. */
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
