// Reads for downloads: the stored file, its download name, and who may have it. One statement each.

import type { Aliased, Columns, Database } from '../../../platform/database/index.ts'
import type { VideoFile } from '../files.entity.ts'
import type { Video } from '../video.entity.ts'
import type { GuardedVideo } from '../video.policy.ts'
import { accessColumns, passwordCheck, type VideoAccessRow, type VideoKey } from '../video.queries.ts'

type Reader = Pick<Database, 'query'>

/** A video whose files may be downloaded unless its owner disables that. */
export type DownloadRow = VideoAccessRow & Aliased<Video, 'name' | 'downloadEnabled'>

export interface StoredFileRow extends Columns<typeof VideoFile, 'id' | 'extname' | 'resolution'> {
  filename: string
  /** True for a file of the HLS playlist. */
  hls: boolean
  hasVideo: boolean
  hasAudio: boolean
}

const downloadColumns = `${accessColumns}, ${passwordCheck}, v.name, v.download_enabled as "downloadEnabled"`
const FILE = `f.id, f.filename, f.extname, f.streaming_playlist_id is not null as hls, f.resolution,
  f.streams & 1 <> 0 as "hasVideo", f.streams & 2 <> 0 as "hasAudio"`

/** A file of a local video by its download name. */
export async function findDownload(
  db: Reader,
  file: { uuid: string; resolution: number; extname: string; hls: boolean },
  password?: string,
): Promise<(DownloadRow & { filename: string }) | undefined> {
  const [row] = await db.query<DownloadRow & { filename: string }>(
    `select ${downloadColumns}, f.filename from video v
       join channel c on c.id = v.channel_id join video_file f on f.video_id = v.id
     where v.uuid = $1 and not v.remote and v.state <> 'removed' and f.filename is not null
       and f.resolution = $3 and f.extname = $4 and (f.streaming_playlist_id is not null) = $5
     order by f.fps desc, f.id desc limit 1`,
    [file.uuid, password ?? null, file.resolution, file.extname, file.hls],
  )
  return row
}

/** A local video with the files of these ids. */
export async function findDownloads(
  db: Reader,
  key: VideoKey,
  asked: { fileIds: readonly number[]; password: string | undefined },
): Promise<(DownloadRow & { files: StoredFileRow[] }) | undefined> {
  const [row] = await db.query<DownloadRow & { files: StoredFileRow[] }>(
    `select ${downloadColumns}, coalesce((select jsonb_agg(to_jsonb(x)) from (
         select ${FILE} from video_file f where f.video_id = v.id and f.id = any($3) and f.filename is not null
           and not v.remote) x), '[]') as files
     from video v join channel c on c.id = v.channel_id
     where ${'id' in key ? 'v.id' : 'v.uuid'} = $1 and v.state <> 'removed'`,
    ['id' in key ? key.id : key.uuid, asked.password ?? null, asked.fileIds],
  )
  return row
}

/** The retained original of a local video by its name in the store. */
export async function findKeptUpload(
  db: Reader,
  filename: string,
): Promise<(GuardedVideo & { id: number; uuid: string; inputFilename: string }) | undefined> {
  const [row] = await db.query<GuardedVideo & { id: number; uuid: string; inputFilename: string }>(
    `select ${accessColumns}, o.input_filename as "inputFilename" from video_source o
       join video v on v.id = o.video_id join channel c on c.id = v.channel_id
     where o.kept_filename = $1 and not v.remote and v.state <> 'removed'`,
    [filename],
  )
  return row
}

export interface TorrentRow extends VideoAccessRow {
  /** Name of the video. */
  name: string
  resolution: number
  hls: boolean
  /** Address of the file on its own server; null for local files. */
  fileUrl: string | null
}

/** The file that a torrent describes. */
export async function findTorrent(db: Reader, filename: string, password?: string): Promise<TorrentRow | undefined> {
  const [row] = await db.query<TorrentRow>(
    `select ${accessColumns}, ${passwordCheck}, v.name, f.resolution, f.streaming_playlist_id is not null as hls,
       f.torrent_url as "fileUrl"
     from video_file f join video v on v.id = f.video_id join channel c on c.id = v.channel_id
     where f.torrent_filename = $1 and v.state <> 'removed'`,
    [filename, password ?? null],
  )
  return row
}
