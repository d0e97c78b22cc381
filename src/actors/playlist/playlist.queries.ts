// Reads of playlists and their elements: one statement each.

import { type Aliased, type Columns, containing, type Database, pageOf } from '../../platform/database/index.ts'
import { type ActorSummary, summaryOf } from '../actor/index.ts'
import { isMutedFor, mutedAccounts, mutedHosts } from '../blocklist/index.ts'
import { isBegun, listColumns, type VideoListRow, videoJoins } from '../video/index.ts'
import { FEDERATED_PRIVACIES, thumbnailTypes } from '../video/video.entity.ts'
import { type Playlist, type PlaylistElement, playlistPrivacies } from './playlist.entity.ts'
import { totalPlaylists } from './totals.ts'

type Reader = Pick<Database, 'query'>

/** How a request names a playlist. */
export type PlaylistKey = { id: number } | { uuid: string }

export interface PlaylistRow
  extends Columns<Playlist, 'id' | 'uuid' | 'url' | 'remote' | 'name' | 'description' | 'privacy' | 'type' | 'elementsCount'>,
    Columns<Playlist, 'accountId' | 'refreshedAt' | 'createdAt' | 'updatedAt'> {
  /** Its own picture, or that of the first public video. */
  thumbnail: string | null
  account: ActorSummary
  channel: ActorSummary | null
}

/** The picture of the first public video, for `playlist p`. */
export const firstPicture = `(select t.filename from playlist_element e
    join video f on f.id = e.video_id and f.privacy in ${FEDERATED_PRIVACIES} and not f.blocked and ${isBegun('f')}
    join thumbnail t on t.video_id = f.id and t.type = ${thumbnailTypes.miniature}
  where e.playlist_id = p.id order by e.position, e.id limit 1)`

const COLUMNS = `p.id, p.uuid, p.url, p.remote, p.name, p.description, p.privacy, p.type, p.elements_count,
  p.account_id, p.refreshed_at, p.created_at, p.updated_at, coalesce(p.thumbnail_filename, ${firstPicture}) as thumbnail,
  ${summaryOf('a', 'aa')} as account, case when c.id is not null then ${summaryOf('c', 'ca')} end as channel`
const JOINS = `join account a on a.id = p.account_id join actor aa on aa.id = a.actor_id
  left join channel c on c.id = p.channel_id left join actor ca on ca.id = c.actor_id`

const keyed = (key: PlaylistKey): [string, unknown] => ('id' in key ? ['p.id = $1', key.id] : ['p.uuid = $1', key.uuid])

/** A playlist with everything that its view shows. */
export async function findPlaylist(db: Reader, key: PlaylistKey): Promise<PlaylistRow | undefined> {
  const [where, value] = keyed(key)
  const [row] = await db.query<PlaylistRow>(`select ${COLUMNS} from playlist p ${JOINS} where ${where}`, [value])
  return row
}

/** The properties that decide who may do what with a playlist, and whether a remote one is stale. */
export async function findPlaylistKey(db: Reader, key: PlaylistKey) {
  const [where, value] = keyed(key)
  const [row] = await db.query<Aliased<Playlist, 'id' | 'uuid' | 'url' | 'privacy' | 'type' | 'remote' | 'accountId' | 'refreshedAt'>>(
    `select p.id, p.uuid, p.url, p.privacy, p.type, p.remote, p.account_id as "accountId", p.refreshed_at as "refreshedAt"
     from playlist p where ${where}`,
    [value],
  )
  return row
}

/** The owner of the requested playlists: the account or channel of this name, local (`host` null) or remote. */
export async function findPlaylistOwner(
  db: Reader,
  { kind, name, host }: { kind: 'account' | 'channel'; name: string; host: string | null },
): Promise<{ accountId: number; channelId: number | null } | undefined> {
  const [row] = await db.query<{ accountId: number; channelId: number | null }>(
    `select coalesce(a.id, c.account_id) as "accountId", c.id as "channelId"
     from actor x left join account a on a.actor_id = x.id left join channel c on c.actor_id = x.id
       left join remote_host h on h.id = x.host_id
     where lower(x.preferred_username) = lower($1) and h.host is not distinct from lower($2) and x.deleted_at is null
       and x.type <> 'Application' and ${kind === 'account' ? 'a.id' : 'c.id'} is not null`,
    [name, host],
  )
  return row
}

export const playlistSortFields = ['name', 'displayName', 'createdAt', 'updatedAt'] as const

export interface PlaylistListQuery {
  /** The owner; by default anybody. */
  of?: { accountId: number } | { channelId: number }
  /** True if the owner requests them, who also sees those that are not public. */
  everyPrivacy: boolean
  type?: number | undefined
  search?: string | undefined
  /** Only of this server (null: this one). */
  host?: string | null | undefined
  uuids?: readonly string[] | undefined
  /** Only these, also if they are unlisted: the requester knows their addresses. */
  ids?: readonly number[] | undefined
  /** Excludes owners muted by the instance or this account (null: by the instance alone); by default none. */
  mutedFor?: number | null | undefined
  /** Excludes empty ones. */
  withVideos?: boolean
  sort: { by: (typeof playlistSortFields)[number] | 'match'; descending: boolean }
  start: number
  count: number
}

const ORDER = {
  match: 'p.created_at',
  name: 'p.name',
  displayName: 'p.name',
  createdAt: 'p.created_at',
  updatedAt: 'p.updated_at',
} as const

/** A page of playlists. */
export async function listPlaylists(db: Reader, query: PlaylistListQuery): Promise<{ total: number; rows: PlaylistRow[] }> {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const { of, type, search, sort, host, uuids, ids, mutedFor } = query
  const ofType = type === undefined ? undefined : bind(type)
  const reader = mutedFor === undefined ? undefined : `${bind(mutedFor)}::int`
  const shown = ids ? [playlistPrivacies.public, playlistPrivacies.unlisted] : [playlistPrivacies.public]
  const where = [
    ...(query.everyPrivacy ? [] : [`p.privacy in (${shown.join(', ')})`]),
    ...(of && 'accountId' in of ? [`p.account_id = ${bind(of.accountId)}`] : []),
    ...(of && 'channelId' in of ? [`p.channel_id = ${bind(of.channelId)}`] : []),
    ...(ofType === undefined ? [] : [`p.type = ${ofType}`]),
    ...(search === undefined ? [] : [`p.name ilike ${bind(containing(search))}`]),
    ...(host === undefined ? [] : [ofHost(host, bind)]),
    ...(uuids === undefined ? [] : [`p.uuid = any(${bind(uuids)}::uuid[])`]),
    ...(ids === undefined ? [] : [`p.id = any(${bind(ids)}::int[])`]),
    ...(reader === undefined ? [] : [ofUnmuted(reader)]),
    ...(query.withVideos ? ['p.elements_count > 0'] : []),
  ].join(' and ')
  const isOfAll = !(query.everyPrivacy || of || query.withVideos) && [search, host, uuids, ids].every((one) => one === undefined)
  const total = isOfAll
    ? [totalPlaylists(ofType), ...(reader === undefined ? [] : [mutedOf(reader, ofType)])].join(' - ')
    : `(select count(*)::int from playlist p where ${where})`
  const direction = sort.descending ? 'desc' : 'asc'
  const likeness = sort.by === 'match' && search !== undefined ? `similarity(p.name, ${bind(search)}) ${direction}, ` : ''
  const order = `${likeness}${ORDER[sort.by]} ${direction}, p.id ${direction}`
  const rows = await db.query<(PlaylistRow | { id: null }) & { total: number }>(
    `with page as materialized (
       ${pageOf({ columns: 'p.id', rows: `playlist p where ${where}`, order }, query, bind)}
     )
     select ${total} as total, shown.*
     from (values (1)) one left join (
       select ${COLUMNS}, row_number() over (order by ${order}) as place
       from page join playlist p on p.id = page.id ${JOINS}
     ) shown on true order by shown.place`,
    values,
  )
  return {
    total: rows[0]?.total ?? 0,
    rows: rows.filter((row): row is PlaylistRow & { total: number } => row.id !== null),
  }
}

/** SQL: true for accounts that neither the instance nor a reader mutes. */
const ofUnmuted = (reader: string): string =>
  `p.account_id not in (${mutedAccounts(reader)}) and (not p.remote or not exists (
     select 1 from account ma join actor mx on mx.id = ma.actor_id
     where ma.id = p.account_id and mx.host_id in (${mutedHosts(reader)})))`

/** SQL: number of public playlists of accounts that they mute. */
const mutedOf = (reader: string, type: string | undefined): string =>
  `(select count(*)::int from playlist p where p.privacy = ${playlistPrivacies.public}${type === undefined ? '' : ` and p.type = ${type}`}
     and p.account_id in (${mutedAccounts(reader)} union select a.id from actor x join account a on a.actor_id = x.id
       where x.host_id in (${mutedHosts(reader)})))`

const ofHost = (host: string | null, bind: (value: unknown) => string): string =>
  host === null
    ? 'not p.remote'
    : `p.account_id in (select a.id from remote_host h join actor x on x.host_id = h.id
         join account a on a.actor_id = x.id where h.host = ${bind(host)})`

/** An element with its video, whose columns are null if it is removed. */
export interface ElementRow extends Columns<PlaylistElement, 'position' | 'startTimestamp' | 'stopTimestamp'> {
  element_id: number
  owner_account_id: number | null
  /** True if the instance or the requester mutes the owner of the video. */
  muted: boolean
  video: VideoListRow | null
}

type FlatElement = Omit<VideoListRow, 'id'> &
  Omit<ElementRow, 'video' | 'element_id'> & { id: number | null; element_id: number | null; total: number }

/** A page of the elements of a playlist, in order. `watcher` is the account of the requester. */
export async function listElements(
  db: Reader,
  query: { playlistId: number; start: number; count: number; watcher?: number | undefined },
): Promise<{ total: number; rows: ElementRow[] }> {
  const values: unknown[] = [query.playlistId, query.watcher ?? null]
  const elements = {
    columns: 'e.id, e.position, e.start_timestamp, e.stop_timestamp, e.video_id',
    rows: 'playlist_element e where e.playlist_id = $1',
    order: 'e.position, e.id',
  }
  const rows = await db.query<FlatElement>(
    `with page as materialized (
       ${pageOf(elements, query, (value) => `$${values.push(value)}`)}
     )
     select (select count(*)::int from playlist_element e where e.playlist_id = $1) as total, page.id as element_id,
       page.position, page.start_timestamp, page.stop_timestamp, c.account_id as owner_account_id,
       ${isMutedFor('c.account_id', '$2::int')} as muted, ${listColumns},
       (select h.seconds from history h where h.account_id = $2::int and h.video_id = v.id) as watched_seconds
     from (values (1)) one left join page on true
       left join video v on v.id = page.video_id and v.state <> 'removed' ${videoJoins}
     order by page.position, page.id`,
    values,
  )
  return { total: rows[0]?.total ?? 0, rows: rows.flatMap(toElement) }
}

function toElement(row: FlatElement): ElementRow[] {
  const { element_id, position, start_timestamp, stop_timestamp, owner_account_id, muted, total: _total, id, ...video } = row
  if (element_id === null) return []
  const element = { element_id, position, start_timestamp, stop_timestamp, owner_account_id, muted }
  return [{ ...element, video: id === null ? null : { id, ...video } }]
}

export interface PlaylistWith extends Columns<Playlist, 'name' | 'uuid'>, Columns<PlaylistElement, 'startTimestamp' | 'stopTimestamp'> {
  video_id: number
  element_id: number
  playlist_id: number
}

/** The playlists of an account that contain the videos. */
export async function listPlaylistsWith(
  db: Reader,
  { accountId, videoIds }: { accountId: number; videoIds: number[] },
): Promise<PlaylistWith[]> {
  return await db.query<PlaylistWith>(
    `select e.video_id, e.id as element_id, p.id as playlist_id, p.name, p.uuid, e.start_timestamp, e.stop_timestamp
     from playlist_element e join playlist p on p.id = e.playlist_id
     where e.video_id = any($2::int[]) and p.account_id = $1 order by e.id`,
    [accountId, videoIds],
  )
}

/** The uploaded picture of a playlist. `fileUrl`: its address on another server; null for local pictures. */
export async function findPlaylistPicture(db: Reader, filename: string): Promise<{ fileUrl: string | null } | undefined> {
  const [row] = await db.query<{ fileUrl: string | null }>(
    'select case when remote then thumbnail_url end as "fileUrl" from playlist where thumbnail_filename = $1',
    [filename],
  )
  return row
}
