// Lists of videos: one statement for a page, whatever it is filtered by. Totals of the public list come from counters.

import { containing, type Database } from '../../platform/database/index.ts'
import { mutedChannels } from '../blocklist/index.ts'
import { fileColumns, listColumns, sourceColumn, type VideoListRow, videoJoins } from './video.rows.ts'

export const videoSortFields = [
  'name',
  'duration',
  'createdAt',
  'publishedAt',
  'originallyPublishedAt',
  'views',
  'likes',
  'localVideoFilesSize',
] as const

export type VideoSortField = (typeof videoSortFields)[number]

/** Whose videos. `owner`: all that an account has, whatever their privacy and state. */
export type VideoListScope =
  | { of: 'everybody' }
  | { of: 'channel'; channelId: number }
  | { of: 'account'; accountId: number }
  /** Of the channels that an actor of ours follows. */
  | { of: 'followed'; followerActorId: number }
  | { of: 'owner'; accountId: number; channelId?: number | undefined }
  /** In the history of an account, what was watched last first, whatever the sort. */
  | { of: 'watched'; accountId: number }

export interface VideoListQuery {
  scope: VideoListScope
  /** Also internal videos, as users of this server see them. */
  internal: boolean
  start: number
  count: number
  sort: { by: VideoSortField | 'match'; descending: boolean }
  skipCount: boolean
  /** Left out: all. */
  nsfw?: boolean | undefined
  isLocal?: boolean | undefined
  isLive?: boolean | undefined
  categoryOneOf?: number[] | undefined
  licenceOneOf?: number[] | undefined
  /** `_unknown` stands for videos without a language. */
  languageOneOf?: string[] | undefined
  /** Lower case. */
  tagsOneOf?: string[] | undefined
  tagsAllOf?: string[] | undefined
  /** Only for those who see all videos. */
  privacyOneOf?: number[] | undefined
  /** Also videos that are not published (yet). Only for those who see all videos. */
  unpublished?: boolean | undefined
  /** Also videos that the instance blocked. Only for those who see all videos. */
  blocked?: boolean | undefined
  hasHlsFiles?: boolean | undefined
  hasWebVideoFiles?: boolean | undefined
  search?: string | undefined
  uuids?: string[] | undefined
  publishedAt?: Span<Date> | undefined
  originallyPublishedAt?: Span<Date> | undefined
  /** Seconds. */
  duration?: Span<number> | undefined
  /** One video that is asked for by its address: unlisted ones are shown too. */
  named?: number | undefined
  /** Lower case; null for this server. */
  host?: string | null | undefined
  /** Without what the instance or this account (null: nobody more) mutes. */
  mutedFor?: number | null | undefined
  /** The account whose position in each video comes along. */
  watcher?: number | undefined
  /** Without what this account watched. */
  notWatchedBy?: number | undefined
  include?: { files?: boolean; source?: boolean }
}

/** Both ends belong to it. */
export interface Span<T> {
  from?: T | undefined
  to?: T | undefined
}

export interface VideoPage {
  /** Undefined when it was not to be counted. */
  total: number | undefined
  rows: VideoListRow[]
}

/** A page of videos in one statement. Counters folded within the last second may not yet act on the order. */
export async function listVideos(db: Pick<Database, 'query'>, query: VideoListQuery): Promise<VideoPage> {
  const { text, values } = buildVideoList(query)
  // With values to filter by, the best plan depends on them.
  const rows = await db.query<Listed>(text, values, { prepared: values.length === 0 })
  const total = query.skipCount ? undefined : (rows[0]?.total ?? 0)
  return { total, rows: rows.filter((row): row is VideoListRow & { total: number | null } => row.id !== null) }
}

type Listed = (VideoListRow & { total: number | null }) | { id: null; total: number | null }

/** The statement of a page. Of an empty page one row with nulls comes, so that the total is always there. */
export function buildVideoList(query: VideoListQuery): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const visible = conditions(query, bind).join(' and ')
  const muted =
    query.mutedFor === undefined ? undefined : mutedChannels(query.mutedFor === null ? 'null' : bind(query.mutedFor))
  const where = muted === undefined ? visible : `${visible} and v.channel_id not in (${muted})`
  const order = orderBy(query, bind)
  const { files = false, source = false } = query.include ?? {}
  const { watched, seen } = positions(query, bind)
  const columns = [listColumns, ...(files ? [fileColumns] : []), ...(source ? [sourceColumn] : []), ...seen.columns]
  const from = watched ? 'history seen join video v on v.id = seen.video_id' : 'video v'
  const total = query.skipCount ? 'null::int' : totalOf(query, { from, visible, where, muted })
  const text = `with page as materialized (
      select v.id from ${from} where ${where} order by ${order} limit ${Number(query.count)}${query.start === 0 ? '' : ` offset ${bind(query.start)}`}
    )
    select ${total} as total, ${columns.join(', ')}
    from (values (1)) one left join page on true left join video v on v.id = page.id ${videoJoins} ${seen.join}
    order by ${order}`
  return { text, values }
}

type Bind = (value: unknown) => string

function conditions(query: VideoListQuery, bind: Bind): string[] {
  const isShown = query.blocked || query.scope.of === 'owner' ? [] : ['not v.blocked']
  return [...visibility(query), ...isShown, ...scope(query.scope, bind), ...filters(query, bind)]
}

function visibility(query: VideoListQuery): string[] {
  if (query.scope.of === 'owner') return ["v.state <> 'removed'", 'not v.remote']
  const state = query.unpublished ? "v.state <> 'removed'" : "v.state = 'published'"
  if (query.privacyOneOf) return [state, `v.privacy in (${query.privacyOneOf.map(Number).join(', ') || 'null'})`]
  if (query.named !== undefined) return [state, query.internal ? 'v.privacy in (1, 2, 4)' : 'v.privacy in (1, 2)']
  return [state, query.internal ? 'v.privacy in (1, 4)' : 'v.privacy = 1']
}

function scope(of: VideoListScope, bind: Bind): string[] {
  const channels = (accountId: number) =>
    `v.channel_id in (select id from channel where account_id = ${bind(accountId)})`
  switch (of.of) {
    case 'everybody':
      return []
    case 'channel':
      return [`v.channel_id = ${bind(of.channelId)}`]
    case 'account':
      return [channels(of.accountId)]
    case 'followed':
      return [
        `v.channel_id in (select fc.id from follow f join channel fc on fc.actor_id = f.target_id
           where f.follower_id = ${bind(of.followerActorId)} and f.state in ('pending', 'accepted'))`,
      ]
    case 'owner':
      return [channels(of.accountId), ...(of.channelId === undefined ? [] : [`v.channel_id = ${bind(of.channelId)}`])]
    case 'watched':
      return [`seen.account_id = ${bind(of.accountId)}`]
  }
}

function filters(query: VideoListQuery, bind: Bind): string[] {
  const { nsfw, isLocal, isLive, categoryOneOf, licenceOneOf, tagsOneOf, tagsAllOf, host } = query
  const found: string[] = []
  if (nsfw !== undefined) found.push(nsfw ? 'v.nsfw' : 'not v.nsfw')
  if (isLocal !== undefined) found.push(isLocal ? 'not v.remote' : 'v.remote')
  if (isLive !== undefined) found.push(isLive ? 'v.is_live' : 'not v.is_live')
  if (categoryOneOf) found.push(`v.category = any(${bind(categoryOneOf)}::int[])`)
  if (licenceOneOf) found.push(`v.licence = any(${bind(licenceOneOf)}::int[])`)
  if (query.languageOneOf) found.push(language(query.languageOneOf, bind))
  if (tagsOneOf) found.push(`lower_tags(v.tags) && ${bind(tagsOneOf)}::text[]`)
  if (tagsAllOf) found.push(`lower_tags(v.tags) @> ${bind(tagsAllOf)}::text[]`)
  if (query.search) found.push(named(query.search, bind))
  if (query.named !== undefined) found.push(`v.id = ${bind(query.named)}`)
  if (query.uuids) found.push(`v.uuid = any(${bind(query.uuids)}::uuid[])`)
  if (query.notWatchedBy !== undefined) found.push(having(false, watchedBy(bind(query.notWatchedBy))))
  found.push(...within('v.published_at', query.publishedAt, bind))
  found.push(...within('v.originally_published_at', query.originallyPublishedAt, bind))
  found.push(...within('v.duration', query.duration, bind))
  if (host !== undefined) found.push(host === null ? 'not v.remote' : onHost(host, bind))
  if (query.hasHlsFiles !== undefined) found.push(having(query.hasHlsFiles, HLS))
  if (query.hasWebVideoFiles !== undefined) found.push(having(query.hasWebVideoFiles, WEB_VIDEO))
  return found
}

/** What a list of what was watched is taken from, and how a page gets the positions of who asks. */
function positions({ scope: of, watcher }: VideoListQuery, bind: Bind) {
  const watched = of.of === 'watched'
  const account = of.of === 'watched' ? of.accountId : watcher
  if (account === undefined) return { watched, seen: { columns: [], join: '' } }
  return {
    watched,
    seen: {
      columns: ['seen.seconds as watched_seconds'],
      join: `left join history seen on seen.video_id = v.id and seen.account_id = ${bind(account)}`,
    },
  }
}

function within(column: string, { from, to }: Span<Date | number> = {}, bind: Bind): string[] {
  return [
    ...(from === undefined ? [] : [`${column} >= ${bind(from)}`]),
    ...(to === undefined ? [] : [`${column} <= ${bind(to)}`]),
  ]
}

function language(codes: string[], bind: Bind): string {
  const known = codes.filter((code) => code !== '_unknown')
  const one = `v.language = any(${bind(known)}::text[])`
  return known.length === codes.length ? one : `(v.language is null or ${one})`
}

/** Names that hold the words or are much like them (trigrams, which the index serves), and tags. */
function named(search: string, bind: Bind): string {
  const like = bind(containing(search))
  const word = bind(search)
  return `(v.name ilike ${like} or v.name % ${word} or lower_tags(v.tags) @> array[lower(${word})])`
}

const onHost = (host: string, bind: Bind): string =>
  `v.channel_id in (select c.id from channel c join actor a on a.id = c.actor_id
    join remote_host h on h.id = a.host_id where h.host = ${bind(host)})`

const HLS = 'select 1 from streaming_playlist s where s.video_id = v.id'
const WEB_VIDEO = 'select 1 from video_file f where f.video_id = v.id and f.streaming_playlist_id is null'
const watchedBy = (account: string): string =>
  `select 1 from history h where h.account_id = ${account} and h.video_id = v.id`
const having = (wanted: boolean, rows: string): string => `${wanted ? '' : 'not '}exists (${rows})`

const COLUMNS: Record<VideoSortField, string> = {
  name: 'v.name',
  duration: 'v.duration',
  createdAt: 'v.created_at',
  publishedAt: 'v.published_at',
  originallyPublishedAt: 'v.originally_published_at',
  views: 'v.views',
  likes: 'v.likes',
  localVideoFilesSize: '(select coalesce(sum(f.size), 0) from video_file f where f.video_id = v.id and not v.remote)',
}

/** Every order ends in the id, so that pages neither overlap nor miss a video. Without words, the newest match best. */
function orderBy({ scope: of, sort: { by, descending }, search }: VideoListQuery, bind: Bind): string {
  if (of.of === 'watched') return 'seen.watched_at desc, v.id desc'
  const direction = descending ? 'desc' : 'asc'
  const nulls = by === 'originallyPublishedAt' ? ' nulls last' : ''
  if (by === 'match' && search) {
    return `similarity(v.name, ${bind(search)}) ${direction}, v.published_at ${direction}, v.id ${direction}`
  }
  return `${COLUMNS[by === 'match' ? 'publishedAt' : by]} ${direction}${nulls}, v.id ${direction}`
}

/** Videos in all: read from the counters where nothing is filtered but nsfw and origin, else counted. */
function totalOf(
  query: VideoListQuery,
  { from, visible, where, muted }: { from: string; visible: string; where: string; muted: string | undefined },
): string {
  if (!isCounted(query)) return `(select count(*)::int from ${from} where ${where})`
  const { nsfw, isLocal } = query
  const rows = [
    ...(nsfw === undefined ? [] : [`nsfw = ${nsfw === true}`]),
    ...(isLocal === undefined ? [] : [`local = ${isLocal === true}`]),
  ].join(' and ')
  const only = rows === '' ? '' : ` where ${rows}`
  const internal = query.internal ? ` + (select count(*) from video v where ${visible} and v.privacy = 4)` : ''
  const less =
    muted === undefined ? '' : ` - (select count(*) from video v where ${visible} and v.channel_id in (${muted}))`
  return `((select coalesce(sum(total), 0) from video_total${only})
    + (select coalesce(sum(delta), 0) from video_total_delta${only})${internal}${less})::int`
}

function isCounted(query: VideoListQuery): boolean {
  const {
    scope: of,
    start,
    count,
    sort,
    skipCount,
    internal,
    nsfw,
    isLocal,
    include,
    mutedFor,
    watcher,
    ...others
  } = query
  return of.of === 'everybody' && Object.values(others).every((filter) => filter === undefined || filter === false)
}
