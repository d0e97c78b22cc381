// The page of a video in one statement: the video and the context that a player shows.

import type { Columns, Database, InJson } from '../../platform/database/index.ts'
import type { VideoCaption } from '../caption/caption.entity.ts'
import type { VideoChapter } from '../chapter/chapter.entity.ts'
import { waits } from '../comment/comment.entity.ts'
import { isPublic, thumbnailTypes, type Video } from './video.entity.ts'
import { type PasswordCheck, passwordCheck, type StoryboardRow, type VideoKey } from './video.queries.ts'
import { detailColumns, type VideoDetailsRow, videoJoins } from './video.rows.ts'

export type WatchedCaption = Columns<typeof VideoCaption, 'language' | 'filename' | 'automaticallyGenerated'>

export interface NextVideo extends InJson<Columns<Video, 'uuid' | 'name' | 'duration' | 'views' | 'isLive' | 'nsfw' | 'publishedAt'>> {
  thumbnail: string | null
}

export interface WatchedVideoRow extends VideoDetailsRow {
  password: PasswordCheck
  captions: WatchedCaption[]
  /** `timecode` in seconds. */
  chapters: Columns<typeof VideoChapter, 'timecode' | 'title'>[]
  storyboard: StoryboardRow | null
  /** The latest other videos of its channel. */
  next: NextVideo[]
}

const NEXT_COUNT = 8

const partColumns = `
  (select coalesce(jsonb_agg(jsonb_build_object('language', t.language, 'filename', t.filename,
     'automatically_generated', t.automatically_generated) order by t.language), '[]')
   from video_caption t where t.video_id = v.id) as captions,
  (select coalesce(jsonb_agg(jsonb_build_object('timecode', h.timecode, 'title', h.title) order by h.timecode), '[]')
   from video_chapter h where h.video_id = v.id) as chapters,
  (select jsonb_build_object('filename', s.filename, 'total_width', s.total_width, 'total_height', s.total_height,
     'sprite_width', s.sprite_width, 'sprite_height', s.sprite_height, 'sprite_duration', s.sprite_duration)
   from storyboard s where s.video_id = v.id) as storyboard,
  (select coalesce(jsonb_agg(to_jsonb(n) - 'id' order by n.published_at desc, n.id desc), '[]') from (
     select o.id, o.uuid, o.name, o.duration, o.views, o.is_live, o.nsfw, o.published_at,
       (select t.filename from thumbnail t where t.video_id = o.id and t.type = ${thumbnailTypes.miniature}) as thumbnail
     from video o where o.channel_id = v.channel_id and ${isPublic('o')}
       and o.id <> v.id and ($4::boolean or not o.nsfw or v.nsfw)
     order by o.published_at desc, o.id desc limit ${NEXT_COUNT}
   ) n) as next`

/** `password` is what the visitor gave, `watcher` the account of the requester; `sensitive`: whether other videos may be sensitive. */
export async function findWatchedVideo(
  db: Pick<Database, 'query'>,
  key: VideoKey,
  options: { password?: string | undefined; watcher?: number | undefined; sensitive: boolean },
): Promise<WatchedVideoRow | undefined> {
  const { password, watcher, sensitive } = options
  const [row] = await db.query<WatchedVideoRow>(
    `select ${detailColumns}, ${partColumns}, ${passwordCheck},
       (select h.seconds from history h where h.account_id = $3::int and h.video_id = v.id) as watched_seconds
     from video v ${videoJoins}
     where ${'id' in key ? 'v.id = $1' : 'v.uuid = $1'} and v.state <> 'removed'`,
    ['id' in key ? key.id : key.uuid, password ?? null, watcher ?? null, sensitive],
  )
  return row
}

/**
 * What the page of a video shows to one account: the last position, and whether its comments differ from those of a visitor. One statement.
 */
export async function findOwnReading(
  db: Pick<Database, 'query'>,
  { videoId, accountId, seesPendingReview }: { videoId: number; accountId: number; seesPendingReview: boolean },
): Promise<{ watchedSeconds: number | null; differs: boolean }> {
  const [row] = await db.query<{ watchedSeconds: number | null; differs: boolean }>(
    `select (select h.seconds from history h where h.account_id = $2 and h.video_id = $1) as "watchedSeconds",
       exists (select from account_block b where b.owner_id = $2) or exists (select from server_block b where b.owner_id = $2)
       or exists (select from account_block b where b.owner_id is null and b.target_id = $2)
       or exists (select from comment m where m.video_id = $1 and ${waits('m')} and ($3::boolean or m.account_id = $2)) as differs`,
    [videoId, accountId, seesPendingReview],
  )
  return row ?? { watchedSeconds: null, differs: true }
}
