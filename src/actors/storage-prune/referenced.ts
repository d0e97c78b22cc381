// Which files of the store are referenced: by a row that names them, a note of their writer, or an upload in progress.

import type { FileKind, FileRef } from '../../media/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import { isUuid } from '../../platform/ids.ts'

/** The server clears work folders itself, and other programs may use the folder that contains them. */
export type PrunableKind = Exclude<FileKind, 'tmp'>

export const isPrunable = (kind: FileKind): kind is PrunableKind => kind !== 'tmp'

// For a file `a`: its name, the last part of it (`base`), the folders above it, and the uuid that the nearest of these may be. A video's
// file may be in either folder: it may be on its way between the public and the private one.
const NAMED: Record<PrunableKind, string> = {
  original_video_files: 'exists (select from video_source where kept_filename = a.base)',
  web_videos: 'exists (select from video_file where filename = a.base)',
  streaming_playlists: `exists (select from video v where v.uuid = a.uuid and (
      exists (select from video_file f where f.video_id = v.id and a.base in (f.filename, f.playlist_filename))
      or exists (select from streaming_playlist p where p.video_id = v.id
        and a.base in (p.playlist_filename, p.segments_sha256_filename))))`,
  thumbnails: `exists (select from thumbnail where filename = a.base)
    or exists (select from playlist where thumbnail_filename = a.base)`,
  previews: 'exists (select from thumbnail where filename = a.base)',
  avatars: 'exists (select from actor_image where filename = a.base)',
  captions: 'exists (select from video_caption where filename = a.base)',
  storyboards: 'exists (select from storyboard where filename = a.base)',
  torrents: 'exists (select from video_file where torrent_filename = a.base)',
  redundancy: 'exists (select from redundancy where path = a.name or path = any(a.folders))',
  user_exports: 'exists (select from user_export where filename = a.base)',
  uploads: `exists (select from upload where state in ('created', 'receiving', 'assembled')
      and token = regexp_replace(a.name, '-(?:thumbnail|preview)\\.jpg$', ''))
    or exists (select from user_import where archive = a.name and state in ('pending', 'processing'))
    or exists (select from video_edition_task where filename = a.name)`,
}

const unreferenced = (kind: PrunableKind): string => `
  select a.name from jsonb_to_recordset($1) as a(name text, base text, uuid uuid, folders text[])
  where not (${NAMED[kind]})
    and not exists (select from pending_file where kind = $2 and name = a.name)
    and not exists (select from pending_file where kind = $2 and folder and name = any(a.folders))
    and not exists (select from video_coming_file where kind = $2 and filename = a.base)
    and not exists (select from spare_copy where kind = $2 and name = a.name)`

/** The currently unreferenced ones of these files, all of one kind. */
export async function findUnreferenced(query: Sql, kind: PrunableKind, names: readonly string[]): Promise<Set<string>> {
  const rows = await query<{ name: string }>(unreferenced(kind), [JSON.stringify(names.map(partsOf)), kind])
  return new Set(rows.map(({ name }) => name))
}

function partsOf(name: string) {
  const segments = name.split('/')
  const folder = segments.at(-2) ?? ''
  return {
    name,
    base: segments.at(-1) ?? name,
    uuid: isUuid(folder) ? folder : null,
    folders: segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/')),
  }
}

/** Rows that name files: the rest of a statement that calls them `o`, and the files that a row names. */
export interface NamingRows {
  from: string
  columns: string
  /** In the order of `columns`: each under all its possible names. */
  refsOf(row: Record<string, unknown>): FileRef[][]
}

const video = 'join video v on v.id = o.video_id'
const plain = (kind: FileKind, table: string, column: string, condition: string): NamingRows => ({
  from: `from ${table} o ${condition}`,
  columns: `o.${column} as name`,
  refsOf: ({ name }) => [[{ kind, name: String(name) }]],
})

const inFolders = (uuid: unknown, name: unknown): FileRef[] =>
  ['hls', 'hls/private'].map((folder) => ({ kind: 'streaming_playlists', name: `${folder}/${uuid}/${name}` }))

export const namingRows: readonly NamingRows[] = [
  {
    from: `from video_file o ${video} where not v.remote and o.filename is not null`,
    columns: `v.uuid, o.filename, o.playlist_filename as playlist, o.torrent_filename as torrent,
      o.streaming_playlist_id is not null as hls`,
    refsOf: ({ uuid, filename, playlist, torrent, hls }) => [
      hls ? inFolders(uuid, filename) : ['', 'private/'].map((folder) => ({ kind: 'web_videos', name: `${folder}${filename}` })),
      ...(hls && playlist ? [inFolders(uuid, playlist)] : []),
      ...(torrent ? [[{ kind: 'torrents', name: String(torrent) } as const]] : []),
    ],
  },
  {
    from: `from streaming_playlist o ${video} where not v.remote`,
    columns: 'v.uuid, o.playlist_filename as playlist, o.segments_sha256_filename as hashes',
    refsOf: ({ uuid, playlist, hashes }) => [playlist, hashes].filter((name) => name !== null).map((name) => inFolders(uuid, name)),
  },
  {
    from: `from thumbnail o ${video} where not v.remote and o.on_disk`,
    columns: 'o.filename as name, o.type',
    refsOf: ({ name, type }) => [[{ kind: type === 1 ? 'thumbnails' : 'previews', name: String(name) }]],
  },
  plain('storyboards', 'storyboard', 'filename', `${video} where not v.remote`),
  plain('captions', 'video_caption', 'filename', `${video} where not v.remote`),
  plain('thumbnails', 'playlist', 'thumbnail_filename', 'where o.thumbnail_filename is not null and not o.remote'),
  plain('avatars', 'actor_image', 'filename', 'join actor a on a.id = o.actor_id where o.on_disk and a.host_id is null'),
  plain('user_exports', 'user_export', 'filename', 'where o.filename is not null'),
  {
    from: 'from (select video_id as id, kept_filename from video_source where kept_filename is not null) o where true',
    columns: 'o.kept_filename as name',
    refsOf: ({ name }) => [[{ kind: 'original_video_files', name: String(name) }]],
  },
]
