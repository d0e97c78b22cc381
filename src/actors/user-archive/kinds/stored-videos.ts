// The user's videos with their parts, in pages.

import type { FileStorage } from '../../video/index.ts'
import type { Export } from '../export.ts'
import { rowsOf, upTo } from '../rows.ts'

export interface VideoFileRow {
  filename: string
  extname: string
  /** True for a file of the HLS playlist. */
  hls: boolean
  /** Short side in px, 0 for sound alone. */
  resolution: number
  /** px */
  height: number | null
  /** Bytes. */
  size: number
  fps: number
  storage: FileStorage
  torrent: string | null
  hasVideo: boolean
  hasAudio: boolean
}

export interface VideoRow {
  key: number
  uuid: string
  url: string
  name: string
  category: number | null
  licence: number | null
  language: string | null
  tags: string[]
  privacy: number
  blocked: boolean
  passwords: string[]
  duration: number
  description: string | null
  support: string | null
  isLive: boolean
  live: { saveReplay: boolean; permanentLive: boolean; latencyMode: number } | null
  views: number
  likes: number
  dislikes: number
  nsfw: boolean
  commentsPolicy: number
  downloadEnabled: boolean
  waitTranscoding: boolean
  state: string
  channel: string
  createdAt: Date
  updatedAt: Date
  publishedAt: Date
  originallyPublishedAt: Date | null
  /** 1 thumbnail, 2 preview. */
  pictures: { type: number; filename: string }[]
  captions: { language: string; filename: string; automatic: boolean; createdAt: string; updatedAt: string }[]
  chapters: { timecode: number; title: string }[]
  /** Largest first. */
  files: VideoFileRow[]
  playlist: { type: number; filename: string | null; hashes: string | null; storage: FileStorage } | null
  source: {
    inputFilename: string
    keptFilename: string | null
    resolution: number | null
    size: number
    width: number | null
    height: number | null
    fps: number | null
    metadata: unknown
  } | null
}

const COLUMNS = `v.id as key, v.uuid, v.url, v.name, v.category, v.licence, v.language, v.tags, v.privacy, v.blocked, v.duration,
  v.description, v.support, v.is_live as "isLive", v.nsfw, v.comments_policy as "commentsPolicy",
  v.download_enabled as "downloadEnabled", v.wait_transcoding as "waitTranscoding", v.state, x.preferred_username as channel,
  v.created_at as "createdAt", v.updated_at as "updatedAt", v.published_at as "publishedAt",
  v.originally_published_at as "originallyPublishedAt",
  v.views + n.views as views, v.likes + n.likes as likes, v.dislikes + n.dislikes as dislikes,
  array(select w.password from video_password w where w.video_id = v.id order by w.id) as passwords,
  (select jsonb_build_object('saveReplay', l.save_replay, 'permanentLive', l.permanent_live, 'latencyMode', l.latency_mode)
   from video_live l where l.video_id = v.id) as live,
  (select coalesce(jsonb_agg(jsonb_build_object('type', t.type, 'filename', t.filename) order by t.type), '[]')
   from thumbnail t where t.video_id = v.id and t.on_disk) as pictures,
  (select coalesce(jsonb_agg(jsonb_build_object('language', k.language, 'filename', k.filename,
     'automatic', k.automatically_generated, 'createdAt', k.created_at, 'updatedAt', k.updated_at) order by k.language), '[]')
   from video_caption k where k.video_id = v.id) as captions,
  (select coalesce(jsonb_agg(jsonb_build_object('timecode', h.timecode, 'title', h.title) order by h.timecode), '[]')
   from video_chapter h where h.video_id = v.id) as chapters,
  (select coalesce(jsonb_agg(jsonb_build_object('filename', f.filename, 'extname', f.extname,
     'hls', f.streaming_playlist_id is not null, 'resolution', f.resolution, 'height', f.height, 'size', f.size,
     'fps', f.fps, 'storage', f.storage, 'torrent', f.torrent_filename, 'hasVideo', f.streams & 1 <> 0,
     'hasAudio', f.streams & 2 <> 0) order by f.resolution desc, f.fps desc, f.id), '[]')
   from video_file f where f.video_id = v.id and f.filename is not null) as files,
  (select jsonb_build_object('type', s.type, 'filename', s.playlist_filename, 'hashes', s.segments_sha256_filename,
     'storage', s.storage) from streaming_playlist s where s.video_id = v.id) as playlist,
  (select jsonb_build_object('inputFilename', o.input_filename, 'keptFilename', o.kept_filename,
     'resolution', o.resolution, 'size', o.size, 'width', o.width, 'height', o.height, 'fps', o.fps,
     'metadata', o.metadata) from video_source o where o.video_id = v.id) as source`

const FROM = `from video v join channel c on c.id = v.channel_id join actor x on x.id = c.actor_id cross join lateral (
    select coalesce(sum(d.views), 0)::int as views, coalesce(sum(d.likes), 0)::int as likes,
      coalesce(sum(d.dislikes), 0)::int as dislikes from video_delta d where d.video_id = v.id
  ) n`
const OURS = "not v.remote and v.state <> 'removed'"

const OF_CHANNEL = `select ${COLUMNS} ${FROM} where v.channel_id = $3 and ${OURS} and v.id > $1 order by v.id limit $2`
/** A small page, since the ffprobe output of an upload may be long. */
const PAGE = 10

/** All videos, channel by channel. */
export async function* videoRows(of: Export): AsyncGenerator<VideoRow> {
  yield* upTo(of, allRows(of))
}

async function* allRows(of: Export): AsyncGenerator<VideoRow> {
  for (const { id } of of.user.channels) yield* rowsOf<VideoRow>(of, OF_CHANNEL, [id], PAGE)
}

/** One video as it is now; undefined if it is removed. */
export async function videoRow({ query }: Pick<Export, 'query'>, id: number): Promise<VideoRow | undefined> {
  const [row] = await query<VideoRow>(`select ${COLUMNS} ${FROM} where v.id = $1 and ${OURS}`, [id])
  return row
}

/** The number of videos in the archive, and the approximate bytes of their files. */
export async function measureVideos({
  query,
  user,
  config,
}: Pick<Export, 'query' | 'user' | 'config'>): Promise<{ count: number; bytes: number }> {
  const channels = user.channels.map(({ id }) => id)
  const [row] = await query<{ count: number; bytes: number }>(
    `select count(*)::int as count, coalesce(sum(coalesce(
         (select o.size from video_source o where o.video_id = v.id and o.kept_filename is not null),
         (select max(f.size) from video_file f where f.video_id = v.id))), 0)::bigint as bytes
     from (select v.id from video v where v.channel_id = any($1) and ${OURS}
       order by array_position($1, v.channel_id), v.id limit $2) v`,
    [channels, config().vireo.user_data.export_max_items],
  )
  return row ?? { count: 0, bytes: 0 }
}
