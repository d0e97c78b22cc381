// The file that pictures of a local video are drawn from.

import { type FileRef, hlsFile, type Store, webVideoFile } from '../../../media/index.ts'
import type { Sql } from '../../../platform/database/index.ts'
import { hasPrivateFiles, type Openness } from '../video.policy.ts'

interface Row extends Openness {
  uuid: string
  kept: string | null
  filename: string | null
  isHls: boolean
}

// The original is the best source, since it has the cover of a sound; then the largest picture.
const SOURCE = `
  select v.uuid, v.privacy, v.blocked, s.kept_filename as kept, f.filename, f.streaming_playlist_id is not null as "isHls"
  from video v left join video_source s on s.video_id = v.id left join lateral (
    select filename, streaming_playlist_id from video_file f
    where f.video_id = v.id and f.filename is not null and not f.outdated
    order by f.streams & 1 = 1 desc, f.resolution desc, f.id limit 1) f on true
  where v.id = $1 and not v.remote and v.state <> 'removed'`

/** Undefined if the video or its file does not exist. */
export async function findPictureSource(
  { db, store }: { db: { query: Sql }; store: Pick<Store, 'stat'> },
  videoId: number,
): Promise<FileRef | undefined> {
  const [row] = await db.query<Row>(SOURCE, [videoId])
  if (!row) return undefined
  const { uuid, kept, filename, isHls, ...openness } = row
  if (kept !== null) return { kind: 'original_video_files', name: kept }
  if (filename === null) return undefined
  // In the folder of its privacy, or not moved yet.
  const at = (hidden: boolean) => (isHls ? hlsFile(uuid, filename, hidden) : webVideoFile(filename, hidden))
  const isPrivate = hasPrivateFiles(openness)
  const place = at(isPrivate)
  return (await store.stat(place)) ? place : at(!isPrivate)
}
