// The documents of local playlists and their elements, from their rows. Videos that others may not see are left out.

import { firstPicture, type Playlist, type PlaylistElement, playlistPrivacies } from '../../actors/playlist/index.ts'
import { FEDERATED_PRIVACIES, isBegun } from '../../actors/video/index.ts'
import type { Columns, Sql } from '../../platform/database/index.ts'
import type { Urls } from '../urls.ts'
import { AS_PUBLIC, type Audience, buildPlaylist, buildPlaylistElement, type JsonObject } from '../wire/index.ts'

export interface FoundPlaylist {
  document: JsonObject
  url: string
  privacy: number
  accountActorId: number
  accountUrl: string
  channelActorId: number
  channelUrl: string
}

interface PlaylistRow extends Columns<Playlist, 'uuid' | 'url' | 'name' | 'description' | 'privacy' | 'createdAt' | 'updatedAt'> {
  thumbnail: string | null
  account_actor_id: number
  account_url: string
  channel_actor_id: number
  channel_url: string
  total: number
  items: number[]
}

/** SQL: elements that others can see, of a playlist `p`. */
const VISIBLE = `from playlist_element e join video v on v.id = e.video_id
  where e.playlist_id = p.id and v.privacy in ${FEDERATED_PRIVACIES} and not v.blocked and ${isBegun('v')}`

/** A local playlist, or a page of it. Null if it does not exist, and for private ones, which are not federated. One statement. */
export async function playlistDocument(
  query: Sql,
  urls: Urls,
  playlistId: number,
  page?: { number: number; size: number },
): Promise<FoundPlaylist | null> {
  const [row] = await query<PlaylistRow>(
    `select p.uuid, p.url, p.name, p.description, p.privacy, p.created_at, p.updated_at,
       coalesce(p.thumbnail_filename, ${firstPicture}) as thumbnail,
       ax.id as account_actor_id, ax.url as account_url, cx.id as channel_actor_id, cx.url as channel_url,
       (select count(*)::int ${VISIBLE}) as total,
       array(select e.id ${VISIBLE} order by e.position, e.id limit $2 offset $3) as items
     from playlist p join account a on a.id = p.account_id join actor ax on ax.id = a.actor_id
       join channel c on c.id = p.channel_id join actor cx on cx.id = c.actor_id
     where p.id = $1 and not p.remote and p.privacy <> ${playlistPrivacies.private}`,
    [playlistId, page?.size ?? 0, page ? (page.number - 1) * page.size : 0],
  )
  if (!row) return null
  return {
    document: documentOf(row, urls, page),
    url: row.url,
    privacy: row.privacy,
    accountActorId: row.account_actor_id,
    accountUrl: row.account_url,
    channelActorId: row.channel_actor_id,
    channelUrl: row.channel_url,
  }
}

/** Recipients of a playlist; an unlisted one has none, like a video. */
export function playlistAudience(urls: Urls, playlist: { privacy: number; accountUrl: string }): Audience {
  if (playlist.privacy !== playlistPrivacies.public) return { to: [], cc: [] }
  return { to: [AS_PUBLIC], cc: [urls.actorCollection(playlist.accountUrl, 'followers')] }
}

/** px, for pictures of playlists and thumbnails of videos. */
const PICTURE = { mediaType: 'image/jpeg', width: 280, height: 157 }

function documentOf(row: PlaylistRow, urls: Urls, page: { number: number; size: number } | undefined): JsonObject {
  const { thumbnail } = row
  return buildPlaylist(
    {
      ...playlistAudience(urls, { privacy: row.privacy, accountUrl: row.account_url }),
      id: row.url,
      name: row.name,
      description: row.description,
      uuid: row.uuid,
      totalItems: row.total,
      publishedAt: row.created_at,
      updatedAt: row.updated_at,
      attributedTo: [{ type: 'Group', id: row.channel_url }],
      thumbnail: thumbnail === null ? null : { url: `${urls.origin}/lazy-static/thumbnails/${thumbnail}`, ...PICTURE },
    },
    page && { ...page, items: row.items.map((id) => urls.playlistElement(row.uuid, id)) },
  )
}

/** An element of a local playlist; null if others may not see it. One statement. */
export async function playlistElementDocument(query: Sql, urls: Urls, playlistId: number, elementId: number): Promise<JsonObject | null> {
  const [row] = await query<
    Columns<Playlist, 'uuid'> & Columns<PlaylistElement, 'position' | 'startTimestamp' | 'stopTimestamp'> & { video: string }
  >(
    `select p.uuid, v.url as video, e.position, e.start_timestamp, e.stop_timestamp
     from playlist p join playlist_element e on e.playlist_id = p.id join video v on v.id = e.video_id
     where p.id = $1 and e.id = $2 and not p.remote and p.privacy <> ${playlistPrivacies.private}
       and v.privacy in ${FEDERATED_PRIVACIES} and not v.blocked and ${isBegun('v')}`,
    [playlistId, elementId],
  )
  if (!row) return null
  return buildPlaylistElement({
    id: urls.playlistElement(row.uuid, elementId),
    video: row.video,
    position: row.position,
    startTimestamp: row.start_timestamp,
    stopTimestamp: row.stop_timestamp,
  })
}
