// Reads of single videos: one statement each. Videos that are being removed are invisible.

import type { Columns, Database } from '../../platform/database/index.ts'
import { notFound } from '../runtime/index.ts'
import type { Storyboard } from '../storyboard/storyboard.entity.ts'
import { type Thumbnail, type ThumbnailType, thumbnailTypes, type Video } from './video.entity.ts'
import type { FollowedVideo, GuardedVideo, Openness } from './video.policy.ts'
import { detailColumns, type SourceRow, sourceColumn, type VideoDetailsRow, videoJoins } from './video.rows.ts'

/** How a request names a video. */
export type VideoKey = { id: number } | { uuid: string }

type Reader = Pick<Database, 'query'>

/** Result of checking the password of a request. */
export type PasswordCheck = 'none' | 'right' | 'wrong'

/** Everything that the page of a video shows. `password` is what the visitor gave, `watcher` the account of the requester. */
export async function findVideoDetails(
  db: Reader,
  key: VideoKey,
  password?: string,
  watcher?: number,
): Promise<(VideoDetailsRow & { password: PasswordCheck }) | undefined> {
  const [row] = await db.query<VideoDetailsRow & { password: PasswordCheck }>(
    `select ${detailColumns}, ${passwordCheck},
       (select h.seconds from history h where h.account_id = $3 and h.video_id = v.id) as watched_seconds
     from video v ${videoJoins} where ${keyed(key)} and v.state <> 'removed'`,
    [keyValue(key), password ?? null, watcher ?? null],
  )
  return row
}

export interface VideoAccessRow extends GuardedVideo, FollowedVideo, Columns<Video, 'id' | 'uuid' | 'state'> {
  password: PasswordCheck
}

export const accessColumns = `v.id, v.uuid, v.url, v.privacy, v.blocked, v.remote, v.listed, v.state, c.account_id as "ownerAccountId"`
export const passwordCheck = `case when (select $2::text) is null then 'none'
  when exists (select 1 from video_password p where p.video_id = v.id and normalize(p.password) = normalize((select $2::text))) then 'right'
  else 'wrong' end as password`

/** The id of a video. A numeric key is returned without a check. Throws `not_found` for an unknown UUID. */
export async function findVideoId(db: Reader, key: VideoKey): Promise<number> {
  const [id] = await findVideoIds(db, [key])
  if (id === undefined) throw notFound('Video not found')
  return id
}

/** The same for several, in their order; undefined for an unknown UUID. */
export async function findVideoIds(db: Reader, keys: readonly VideoKey[]): Promise<(number | undefined)[]> {
  const uuids = keys.flatMap((key) => ('uuid' in key ? [key.uuid] : []))
  const rows =
    uuids.length === 0
      ? []
      : await db.query<Columns<Video, 'id' | 'uuid'>>('select id, uuid from video where uuid = any($1::uuid[])', [uuids])
  const ids = new Map(rows.map(({ id, uuid }) => [uuid, id]))
  return keys.map((key) => ('id' in key ? key.id : ids.get(key.uuid)))
}

const BY_URL = "select id, remote, privacy, blocked from video where url_hash = md5($1)::uuid and url = $1 and state <> 'removed'"

/** A video by its URL, unless it is removed. */
export const findVideoByUrl = async ({ query }: Reader, url: string) =>
  (await query<Openness & { id: number; remote: boolean }>(BY_URL, [url])).at(0)

/** The URL of a remote video; undefined if it does not exist. */
export const findRemoteAddress = async ({ query }: Reader, videoId: number): Promise<string | undefined> =>
  (await query<Columns<Video, 'url'>>("select url from video where id = $1 and remote and state <> 'removed'", [videoId])).at(0)?.url

/** The properties that decide who may do what with a video. */
export async function findVideoAccess(db: Reader, key: VideoKey, password?: string): Promise<VideoAccessRow | undefined> {
  const [row] = await db.query<VideoAccessRow>(
    `select ${accessColumns}, ${passwordCheck} from video v join channel c on c.id = v.channel_id
     where ${keyed(key)} and v.state <> 'removed'`,
    [keyValue(key), password ?? null],
  )
  return row
}

/** The properties that decide who may manage a video, and since when it has statistics. */
export async function findVideoAge(db: Reader, key: VideoKey): Promise<(GuardedVideo & VideoAge) | undefined> {
  const [row] = await db.query<GuardedVideo & VideoAge>(
    `select ${accessColumns}, v.published_at as "publishedAt"
     from video v join channel c on c.id = v.channel_id where ${keyed(key)} and v.state <> 'removed'`,
    [keyValue(key)],
  )
  return row
}

interface VideoAge {
  id: number
  publishedAt: Date
}

/** The properties that decide who may watch a video, and its valid positions. */
export async function findWatchableVideo(
  db: Reader,
  key: VideoKey,
  password?: string,
): Promise<(VideoAccessRow & { duration: number; isLive: boolean }) | undefined> {
  const [row] = await db.query<VideoAccessRow & { duration: number; isLive: boolean }>(
    `select ${accessColumns}, ${passwordCheck}, v.duration, v.is_live as "isLive"
     from video v join channel c on c.id = v.channel_id where ${keyed(key)} and v.state <> 'removed'`,
    [keyValue(key), password ?? null],
  )
  return row
}

/** The local video that a stored web video belongs to. */
export async function findAccessByWebVideo(db: Reader, filename: string, password?: string): Promise<VideoAccessRow | undefined> {
  const [row] = await db.query<VideoAccessRow>(
    `select ${accessColumns}, ${passwordCheck} from video_file f
     join video v on v.id = f.video_id join channel c on c.id = v.channel_id
     where f.filename = $1 and f.streaming_playlist_id is null and not v.remote and v.state <> 'removed'`,
    [filename, password ?? null],
  )
  return row
}

/** The ffprobe output of a file, with the properties that decide who may read it. */
export async function findFileMetadata(
  db: Reader,
  fileId: number,
  password?: string,
): Promise<(VideoAccessRow & { metadata: Record<string, unknown> | null }) | undefined> {
  const [row] = await db.query<VideoAccessRow & { metadata: Record<string, unknown> | null }>(
    `select ${accessColumns}, ${passwordCheck}, f.metadata from video_file f
     join video v on v.id = f.video_id join channel c on c.id = v.channel_id
     where f.id = $1 and v.state <> 'removed'`,
    [fileId, password ?? null],
  )
  return row
}

const picture = (type: ThumbnailType) => ({
  table: `thumbnail p on p.type = ${type} and p.filename = $1`,
  isAwaited: 'p.file_url is null and not p.on_disk',
})

/** Small files of a video: the column that names each kind, and whether the file is still to be made. */
const SMALL_FILES = {
  thumbnail: picture(thumbnailTypes.miniature),
  preview: picture(thumbnailTypes.preview),
  caption: { table: 'video_caption p on p.filename = $1', isAwaited: 'false' },
  storyboard: { table: 'storyboard p on p.filename = $1', isAwaited: 'false' },
} as const

export type SmallFileKind = keyof typeof SMALL_FILES

export interface SmallFileRow extends VideoAccessRow {
  /** Its address on another server; null for local files. */
  fileUrl: string | null
  /** True if it is not drawn yet. */
  isAwaited: boolean
}

/** The video that a small file belongs to. */
export async function findAccessBySmallFile(
  db: Reader,
  file: { of: SmallFileKind; filename: string },
  password?: string,
): Promise<SmallFileRow | undefined> {
  const { table, isAwaited } = SMALL_FILES[file.of]
  const [row] = await db.query<SmallFileRow>(
    `select ${accessColumns}, ${passwordCheck}, p.file_url as "fileUrl", ${isAwaited} as "isAwaited"
     from video v join channel c on c.id = v.channel_id join ${table} and p.video_id = v.id
     where v.state <> 'removed'`,
    [file.filename, password ?? null],
  )
  return row
}

/** Those of these pictures of local videos that are not drawn yet. */
export async function findAwaitedPictures(db: Reader, filenames: readonly string[]): Promise<string[]> {
  const rows = await db.query<Columns<Thumbnail, 'filename'>>(
    `select t.filename from thumbnail t join video v on v.id = t.video_id
     where t.filename = any($1) and t.file_url is null and not t.on_disk and v.state <> 'removed'`,
    [filenames],
  )
  return rows.map(({ filename }) => filename)
}

/** The file that a video was made from, with the properties that decide who may see it. */
export async function findSource(
  db: Reader,
  key: VideoKey,
): Promise<(GuardedVideo & { id: number; source: SourceRow | null }) | undefined> {
  const [row] = await db.query<GuardedVideo & { id: number; source: SourceRow | null }>(
    `select ${accessColumns}, ${sourceColumn} from video v join channel c on c.id = v.channel_id
     where ${keyed(key)} and v.state <> 'removed'`,
    [keyValue(key)],
  )
  return row
}

export type StoryboardRow = Columns<
  typeof Storyboard,
  'filename' | 'totalWidth' | 'totalHeight' | 'spriteWidth' | 'spriteHeight' | 'spriteDuration'
>

/** The storyboard of a video. A list, as clients expect. */
export async function listStoryboards(db: Reader, videoId: number): Promise<StoryboardRow[]> {
  return await db.query<StoryboardRow>(
    `select filename, total_width, total_height, sprite_width, sprite_height, sprite_duration
     from storyboard where video_id = $1`,
    [videoId],
  )
}

/** The whole description, which lists truncate. */
export async function findDescription(
  db: Reader,
  key: VideoKey,
  password?: string,
): Promise<(VideoAccessRow & { description: string | null }) | undefined> {
  const [row] = await db.query<VideoAccessRow & { description: string | null }>(
    `select ${accessColumns}, ${passwordCheck}, v.description from video v join channel c on c.id = v.channel_id
     where ${keyed(key)} and v.state <> 'removed'`,
    [keyValue(key), password ?? null],
  )
  return row
}

/** The remote address of an avatar (1) or banner (2) that is not cached here. */
export async function findRemoteActorImage(db: Reader, image: { type: number; filename: string }): Promise<string | undefined> {
  const [row] = await db.query<{ file_url: string }>(
    'select file_url from actor_image where filename = $1 and type = $2 and not on_disk and file_url is not null',
    [image.filename, image.type],
  )
  return row?.file_url
}

/** How lists treat sensitive videos for a user: the name of the policy. */
export async function nsfwPolicyOf(db: Reader, userId: number): Promise<string | undefined> {
  const [row] = await db.query<{ nsfw_policy: string }>('select nsfw_policy from users where id = $1', [userId])
  return row?.nsfw_policy
}

const keyed = (key: VideoKey): string => ('id' in key ? 'v.id = $1' : 'v.uuid = $1')
const keyValue = (key: VideoKey): unknown => ('id' in key ? key.id : key.uuid)
