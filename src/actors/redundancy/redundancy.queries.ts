// Copies by video, for administrators.

import type { Columns, Database, InJson } from '../../platform/database/index.ts'
import type { Video } from '../video/video.entity.ts'
import type { Redundancy } from './redundancy.entity.ts'

export type CopyRow = InJson<Columns<Redundancy, 'id' | 'fileUrl' | 'strategy' | 'createdAt' | 'updatedAt' | 'expiresOn' | 'size'>>

export interface MirroredVideoRow extends Columns<Video, 'id' | 'name' | 'url' | 'uuid'> {
  files: CopyRow[]
  playlists: CopyRow[]
}

export interface MirroredVideosQuery {
  /** Remote copies of local videos, or local copies of remote ones. */
  target: 'my-videos' | 'remote-videos'
  start: number
  count: number
  descending: boolean
}

const copies = (what: string): string =>
  `(select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'file_url', r.file_url, 'strategy', r.strategy,
      'created_at', r.created_at, 'updated_at', r.updated_at, 'expires_on', r.expires_on, 'size', r.size) order by r.id), '[]')
    from redundancy r where r.video_id = v.id and r.${what} is not null and ${SHOWN})`

const SHOWN = "r.state in ('stored', 'announced') and (r.path is not null) = $1"

/** One page of the videos with copies, by name, with the total. One statement. */
export async function listMirroredVideos(
  db: Pick<Database, 'query'>,
  { target, start, count, descending }: MirroredVideosQuery,
): Promise<{ total: number; rows: MirroredVideoRow[] }> {
  const order = descending ? 'desc' : 'asc'
  const [page] = await db.query<{ total: number; rows: MirroredVideoRow[] }>(
    `with mirrored as (
       select v.id, v.name, v.url, v.uuid from video v
       where v.remote = $1 and exists (select 1 from redundancy r where r.video_id = v.id and ${SHOWN})
     ), page as (
       select v.*, ${copies('file_id')} as files, ${copies('streaming_playlist_id')} as playlists
       from (select * from mirrored order by name ${order}, id ${order} limit $2 offset $3) v
     )
     select (select count(*)::int from mirrored) as total,
       coalesce((select jsonb_agg(to_jsonb(page) order by name ${order}, id ${order}) from page), '[]') as rows`,
    [target === 'remote-videos', count, start],
  )
  return page ?? { total: 0, rows: [] }
}
