// Writes of video files in the transactions of the nouns that make and move them.

import type { LadderFile, PlaylistNames } from '../../media/index.ts'
import type { Unit } from '../runtime/index.ts'
import type { FileStorage } from './files/file-storage.ts'

/** The names of the master and the hashes never change, so that other servers keep valid addresses. Returns the id. */
export async function storePlaylist(unit: Unit, videoId: number, names: PlaylistNames, storage: FileStorage): Promise<number> {
  const [row] = await unit.query<{ id: number }>(
    `insert into streaming_playlist (video_id, playlist_filename, segments_sha256_filename, created_at, updated_at, storage)
     values ($1, $2, $3, $4, $4, $5)
     on conflict (video_id) do update set updated_at = excluded.updated_at returning id`,
    [videoId, names.masterFilename, names.hashesFilename, unit.now, storage],
  )
  if (!row) throw new Error('The playlist could not be stored.')
  return row.id
}

/** Removes the row of the playlist, not its files. */
export const dropPlaylist = (unit: Unit, videoId: number) => unit.query('delete from streaming_playlist where video_id = $1', [videoId])

/** Returns true if the playlist still had the master `master` and has the new names now. */
export async function renamePlaylist(
  unit: Unit,
  videoId: number,
  { master, names, storage }: { master: string; names: PlaylistNames; storage: FileStorage },
): Promise<boolean> {
  const rows = await unit.query(
    `update streaming_playlist set playlist_filename = $3, segments_sha256_filename = $4, updated_at = $5, storage = $6
     where video_id = $1 and playlist_filename = $2 returning id`,
    [videoId, master, names.masterFilename, names.hashesFilename, unit.now, storage],
  )
  return rows.length > 0
}

export async function storeRendition(
  unit: Unit,
  videoId: number,
  file: LadderFile,
  { playlistId, storage }: { playlistId: number | null; storage: FileStorage },
): Promise<void> {
  await unit.query(
    `insert into video_file (video_id, streaming_playlist_id, resolution, width, height, size, extname, fps, filename,
       playlist_filename, metadata, format_flags, streams, hls, created_at, updated_at, storage)
     values ($1, $2, $3, $4, $5, $6, '.mp4', $7, $8, $9, $10, $11, $12, $13, $14, $14, $15)
     on conflict (filename) do nothing`,
    [
      videoId,
      file.hls ? playlistId : null,
      file.resolution,
      file.width,
      file.height,
      file.size,
      file.fps,
      file.filename,
      file.hls?.entry.playlistFilename ?? null,
      JSON.stringify(file.metadata),
      file.hls ? 2 : 1,
      (file.hasVideo ? 1 : 0) + (file.hasAudio ? 2 : 0),
      file.hls ? JSON.stringify(file.hls.entry) : null,
      unit.now,
      storage,
    ],
  )
}

export interface ReplacedFile {
  filename: string
  playlist: string | null
  torrent: string | null
  uuid: string
}

/**
 * Removes the rows that a rendition replaces: the earlier rendition and, with $5, HLS pictures with ($6 true) or without sound of their
 * own. The two sorts must not coexist.
 */
export const dropReplacedFiles = (unit: Unit, videoId: number, file: LadderFile): Promise<ReplacedFile[]> =>
  unit.query<ReplacedFile>(
    `delete from video_file f using video v
     where v.id = f.video_id and f.video_id = $1 and f.filename <> $3 and (f.streaming_playlist_id is not null) = $4
       and (f.resolution = $2 or ($5 and case when $6
         then f.streams <> 3 and exists (select from video_file o
           where o.video_id = $1 and o.streaming_playlist_id is not null and o.streams = 1)
         else f.streams = 3 end))
     returning f.filename, f.playlist_filename as playlist, f.torrent_filename as torrent, v.uuid`,
    [videoId, file.resolution, file.filename, file.hls !== undefined, file.hls !== undefined && file.hasVideo, file.hasAudio],
  )

export async function nameTorrents(
  unit: Unit,
  torrents: readonly { id: number; filename: string; infoHash: string; magnet: string }[],
): Promise<void> {
  await unit.query(
    `update video_file f set torrent_filename = n.filename, info_hash = n."infoHash", magnet_url = n.magnet,
       updated_at = $2
     from jsonb_to_recordset($1::jsonb) as n (id int, filename text, "infoHash" text, magnet text) where f.id = n.id`,
    [JSON.stringify(torrents), unit.now],
  )
}

export const nameSwarms = (unit: Unit, videoId: number, infoHashes: readonly string[]) =>
  unit.query('update streaming_playlist set p2p_media_loader_info_hashes = $2, updated_at = $3 where video_id = $1', [
    videoId,
    infoHashes,
    unit.now,
  ])

/** Stores where the files of a video are, for the kinds that move. */
export const noteStorage = (
  unit: Unit,
  videoId: number,
  storage: FileStorage,
  moves: { webVideos: boolean; streamingPlaylists: boolean },
) =>
  unit.query(
    `with files as (
       update video_file set storage = $2, updated_at = $3
       where video_id = $1 and case when streaming_playlist_id is null then $4::boolean else $5::boolean end)
     update streaming_playlist set storage = $2, updated_at = $3 where video_id = $1 and $5::boolean`,
    [videoId, storage, unit.now, moves.webVideos, moves.streamingPlaylists],
  )
