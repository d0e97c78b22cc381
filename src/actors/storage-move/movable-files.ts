// The files of a video that its move includes, from their rows.

import { type FileRef, hlsFile, webVideoFile } from '../../media/index.ts'
import type { Columns, Sql } from '../../platform/database/index.ts'
import { hasPrivateFiles, type Openness } from '../video/index.ts'
import type { Video } from '../video/video.entity.ts'

export interface MovableVideo extends Openness, Columns<Video, 'state' | 'uuid'> {
  /** Target of its running move; null if there is none. */
  target: number | null
  webVideos: string[]
  hls: string[]
  original: string | null
  /** True if a transcoding may be reading or writing the files. */
  isTranscoding: boolean
}

/** Undefined if the video is removed. */
export async function findMovable(query: Sql, videoId: number): Promise<MovableVideo | undefined> {
  const [video] = await query<MovableVideo>(
    `select v.uuid, v.state, v.privacy, v.blocked, m.target,
       array(select f.filename from video_file f
         where f.video_id = v.id and f.streaming_playlist_id is null and f.filename is not null order by f.id) as "webVideos",
       array(select unnest(array[f.filename, f.playlist_filename]) from video_file f
           where f.video_id = v.id and f.streaming_playlist_id is not null
         union select unnest(array[p.playlist_filename, p.segments_sha256_filename]) from streaming_playlist p
           where p.video_id = v.id) as hls,
       (select s.kept_filename from video_source s where s.video_id = v.id) as original,
       exists (select 1 from transcoding t where t.video_id = v.id
         and t.state in ('planned', 'running', 'packaged', 'stored')) as "isTranscoding"
     from video v left join storage_move m on m.video_id = v.id where v.id = $1 and not v.remote`,
    [videoId],
  )
  return video
}

export interface MovableFile extends FileRef {
  /** Its location after a change of the privacy; undefined if that does not move it. */
  other?: FileRef
}

/** In the folders of the current privacy. */
export function filesOf(video: MovableVideo): MovableFile[] {
  const { uuid, webVideos, hls, original } = video
  const hidden = hasPrivateFiles(video)
  const inBoth = (refOf: (isPrivate: boolean) => FileRef): MovableFile => ({ ...refOf(hidden), other: refOf(!hidden) })
  return [
    ...webVideos.map((name) => inBoth((isPrivate) => webVideoFile(name, isPrivate))),
    ...hls.filter((name) => name !== null).map((name) => inBoth((isPrivate) => hlsFile(uuid, name, isPrivate))),
    ...(original === null ? [] : [{ kind: 'original_video_files', name: original } as const]),
  ]
}

/** Under both names, since they may be moved between the folders at any moment; current ones first. */
export const namesOf = (files: readonly MovableFile[]): FileRef[] => [...files, ...files.flatMap(({ other }) => (other ? [other] : []))]

/** Files that a transcoding overwrites under the same name: they are moved only when none can be running. */
export const isRewritten = ({ name }: FileRef): boolean => /\.(?:m3u8|json)$/.test(name)
