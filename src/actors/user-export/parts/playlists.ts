// The user's playlists with their elements and pictures: `video-playlists`.

import { extname } from 'node:path'
import type { PartItem } from '../../user-archive/index.ts'
import type { Export } from '../export.ts'
import { iso, rowsOf } from '../rows.ts'

interface PlaylistRow {
  key: number
  uuid: string
  url: string
  name: string
  description: string | null
  privacy: number
  type: number
  channelName: string | null
  thumbnail: string | null
  createdAt: Date
  updatedAt: Date
  elements: { videoUrl: string; startTimestamp: number | null; stopTimestamp: number | null }[]
}

const PLAYLISTS = `select p.id as key, p.uuid, p.url, p.name, p.description, p.privacy, p.type,
    x.preferred_username as "channelName", p.thumbnail_filename as thumbnail, p.created_at as "createdAt",
    p.updated_at as "updatedAt",
    (select coalesce(jsonb_agg(jsonb_build_object('videoUrl', v.url, 'startTimestamp', e.start_timestamp,
       'stopTimestamp', e.stop_timestamp) order by e.position, e.id), '[]')
     from playlist_element e join video v on v.id = e.video_id where e.playlist_id = p.id) as elements
  from playlist p left join channel c on c.id = p.channel_id left join actor x on x.id = c.actor_id
  where p.account_id = $3 and not p.remote and p.id > $1 order by p.id limit $2`
/** A small page, since each playlist may have many elements. */
const PAGE = 20

export async function writePlaylists(of: Export): Promise<void> {
  const rows = () => rowsOf<PlaylistRow>(of, PLAYLISTS, [of.user.account.id], PAGE)
  // The document names files of the archive: write the pictures first.
  const pictures = new Map<number, string>()
  for await (const { key, uuid, thumbnail } of rows()) {
    if (thumbnail === null) continue
    const name = `files/video-playlists/thumbnails/${uuid}${extname(thumbnail)}`
    const file = await of.writer.file(name, [{ kind: 'thumbnails', name: thumbnail }])
    if (file) pictures.set(key, file.path)
  }
  await of.writer.list('video-playlists', items(of, rows(), pictures))
}

async function* items(
  { urls }: Export,
  rows: AsyncIterable<PlaylistRow>,
  pictures: ReadonlyMap<number, string>,
): AsyncGenerator<PartItem<'video-playlists'>> {
  for await (const row of rows) {
    yield {
      displayName: row.name,
      description: row.description,
      privacy: row.privacy,
      url: row.url,
      uuid: row.uuid,
      type: row.type,
      channel: row.channelName === null ? {} : { name: row.channelName },
      createdAt: iso(row.createdAt),
      updatedAt: iso(row.updatedAt),
      ...(row.thumbnail === null ? {} : { thumbnailUrl: `${urls.origin}/lazy-static/thumbnails/${row.thumbnail}` }),
      elements: row.elements,
      archiveFiles: { thumbnail: pictures.get(row.key) ?? null },
    }
  }
}
