// The document of a local video, from its rows.

import type { VideoCaption } from '../../actors/caption/index.ts'
import type { Storyboard } from '../../actors/storyboard/index.ts'
import {
  categoryLabels,
  hasPrivateFiles,
  labelledState,
  languageLabels,
  licenceLabels,
  type Thumbnail,
  type Video,
  videoPrivacies,
} from '../../actors/video/index.ts'
import type { Columns, Sql } from '../../platform/database/index.ts'
import type { Urls } from '../urls.ts'
import { AS_PUBLIC, type Audience, buildVideo, type JsonObject, type LabelledDocument } from '../wire/index.ts'
import { imageType } from './media-types.ts'
import { type FileRow, linksOf, type PlaylistRow, trackerLinks } from './video-files.ts'

export interface FoundVideo {
  document: JsonObject
  id: number
  uuid: string
  url: string
  privacy: number
  state: string
  accountUrl: string
  channelUrl: string
}

type ThumbnailRow = Columns<Thumbnail, 'type' | 'filename' | 'width' | 'height' | 'fileUrl'>

type CaptionRow = Columns<typeof VideoCaption, 'language' | 'filename' | 'automaticallyGenerated'>

type StoryboardRow = Columns<
  typeof Storyboard,
  'filename' | 'totalWidth' | 'totalHeight' | 'spriteWidth' | 'spriteHeight' | 'spriteDuration'
>

interface VideoRow
  extends Columns<Video, 'id' | 'uuid' | 'url' | 'name' | 'category' | 'licence' | 'language' | 'privacy' | 'blocked' | 'nsfw'>,
    Columns<Video, 'description' | 'support' | 'duration' | 'state' | 'waitTranscoding' | 'commentsPolicy' | 'downloadEnabled'>,
    Columns<Video, 'isLive' | 'aspectRatio' | 'tags' | 'originallyPublishedAt' | 'publishedAt' | 'updatedAt'> {
  views: number
  account_url: string
  channel_url: string
  files: FileRow[]
  playlist: PlaylistRow | null
  thumbnails: ThumbnailRow[]
  captions: CaptionRow[]
  storyboard: StoryboardRow | null
  live: { save_replay: boolean; permanent_live: boolean; latency_mode: number } | null
}

/** Columns of a `VideoRow`, for `from video v`, and the joins that they need. */
const VIDEO_COLUMNS = `v.id, v.uuid, v.url, v.name, v.category, v.licence, v.language, v.privacy, v.blocked, v.nsfw, v.description,
  v.support, v.duration, v.state, v.wait_transcoding, v.comments_policy, v.download_enabled, v.is_live, v.aspect_ratio,
  v.tags, v.originally_published_at, v.published_at, v.updated_at, ax.url as account_url, cx.url as channel_url,
  v.views + (select coalesce(sum(d.views), 0)::int from video_delta d where d.video_id = v.id) as views,
  (select coalesce(jsonb_agg(jsonb_build_object('id', f.id, 'streaming_playlist_id', f.streaming_playlist_id,
     'resolution', f.resolution, 'width', f.width, 'height', f.height, 'size', f.size, 'extname', f.extname,
     'fps', f.fps, 'filename', f.filename, 'file_url', f.file_url, 'metadata_url', f.metadata_url,
     'torrent_filename', f.torrent_filename, 'torrent_url', f.torrent_url, 'magnet_url', f.magnet_url,
     'storage', f.storage, 'format_flags', f.format_flags, 'streams', f.streams) order by f.resolution desc, f.id), '[]')
   from video_file f where f.video_id = v.id) as files,
  (select jsonb_build_object('id', s.id, 'playlist_filename', s.playlist_filename, 'playlist_url', s.playlist_url,
     'segments_sha256_filename', s.segments_sha256_filename, 'segments_sha256_url', s.segments_sha256_url,
     'storage', s.storage, 'info_hashes', s.p2p_media_loader_info_hashes)
   from streaming_playlist s where s.video_id = v.id) as playlist,
  (select coalesce(jsonb_agg(jsonb_build_object('type', t.type, 'filename', t.filename, 'width', t.width,
     'height', t.height, 'file_url', t.file_url) order by t.type), '[]')
   from thumbnail t where t.video_id = v.id) as thumbnails,
  (select coalesce(jsonb_agg(jsonb_build_object('language', k.language, 'filename', k.filename,
     'automatically_generated', k.automatically_generated) order by k.language), '[]')
   from video_caption k where k.video_id = v.id) as captions,
  (select jsonb_build_object('filename', b.filename, 'total_width', b.total_width, 'total_height', b.total_height,
     'sprite_width', b.sprite_width, 'sprite_height', b.sprite_height, 'sprite_duration', b.sprite_duration)
   from storyboard b where b.video_id = v.id) as storyboard,
  (select jsonb_build_object('save_replay', l.save_replay, 'permanent_live', l.permanent_live,
     'latency_mode', l.latency_mode) from video_live l where l.video_id = v.id) as live`
const VIDEO_JOINS = `join channel c on c.id = v.channel_id join actor cx on cx.id = c.actor_id
  join account a on a.id = c.account_id join actor ax on ax.id = a.actor_id`

/**
 * The document of a local video, whatever its privacy and state: the caller checks access. Null if it does not exist or is being removed.
 * One statement.
 */
export async function videoDocument(query: Sql, urls: Urls, videoId: number): Promise<FoundVideo | null> {
  const [found] = await videoDocuments(query, urls, [videoId])
  return found ?? null
}

/** The documents of several videos, in the order of `videoIds`. One statement. */
export async function videoDocuments(query: Sql, urls: Urls, videoIds: readonly number[]): Promise<FoundVideo[]> {
  if (videoIds.length === 0) return []
  const rows = await query<VideoRow>(
    `select ${VIDEO_COLUMNS} from video v ${VIDEO_JOINS}
     where v.id = any($1::int[]) and not v.remote and v.state <> 'removed' order by array_position($1::int[], v.id)`,
    [videoIds],
  )
  return rows.map((row) => ({
    document: documentOf(row, urls),
    id: row.id,
    uuid: row.uuid,
    url: row.url,
    privacy: row.privacy,
    state: row.state,
    accountUrl: row.account_url,
    channelUrl: row.channel_url,
  }))
}

/**
 * Recipients of a video: the public, with the followers of its account in copy. Unlisted videos are reached by their address alone and have
 * no recipients, as in the reference.
 */
export function videoAudience(urls: Urls, video: { privacy: number; accountUrl: string }): Audience {
  const followers = urls.actorCollection(video.accountUrl, 'followers')
  if (video.privacy === videoPrivacies.public) return { to: [AS_PUBLIC], cc: [followers] }
  return { to: [], cc: [] }
}

function documentOf(row: VideoRow, urls: Urls): JsonObject {
  const { uuid } = row
  const folder = hasPrivateFiles(row) ? 'private/' : ''
  return buildVideo({
    ...videoAudience(urls, { privacy: row.privacy, accountUrl: row.account_url }),
    id: row.url,
    uuid,
    name: row.name,
    durationSeconds: row.duration,
    attributedTo: [
      { type: 'Person', id: row.account_url },
      { type: 'Group', id: row.channel_url },
    ],
    category: labelOf(categoryLabels, row.category),
    licence: labelOf(licenceLabels, row.licence),
    language: labelOf(languageLabels, row.language),
    views: row.views,
    isSensitive: row.nsfw,
    waitTranscoding: row.wait_transcoding,
    state: labelledState(row.state).id,
    commentsPolicy: row.comments_policy === 2 || row.comments_policy === 3 ? row.comments_policy : 1,
    downloadEnabled: row.download_enabled,
    publishedAt: row.published_at,
    originallyPublishedAt: row.originally_published_at,
    updatedAt: row.updated_at,
    uploadedAt: null,
    tags: row.tags,
    description: row.description,
    descriptionMediaType: 'text/markdown',
    support: row.support,
    captions: row.captions.map((caption) => captionOf(caption, urls)),
    thumbnails: row.thumbnails.map((image) => thumbnailOf(image, urls)),
    storyboard: row.storyboard && storyboardOf(row.storyboard, urls),
    aspectRatio: row.aspect_ratio,
    page: row.url,
    ...linksOf({ uuid, folder, urls, files: row.files, playlist: row.playlist }),
    trackers: trackerLinks(urls.origin),
    likes: urls.videoCollection(uuid, 'likes'),
    dislikes: urls.videoCollection(uuid, 'dislikes'),
    shares: urls.videoCollection(uuid, 'announces'),
    comments: urls.videoCollection(uuid, 'comments'),
    chapters: urls.videoCollection(uuid, 'chapters'),
    live: row.is_live ? liveOf(row.live) : null,
  })
}

const captionOf = (row: CaptionRow, urls: Urls) => ({
  language: row.language,
  label: languageLabels[row.language] ?? row.language,
  automaticallyGenerated: row.automatically_generated,
  url: `${urls.origin}/lazy-static/video-captions/${row.filename}`,
})

const storyboardOf = (row: StoryboardRow, urls: Urls) => ({
  url: `${urls.origin}/lazy-static/storyboards/${row.filename}`,
  mediaType: imageType(row.filename) ?? 'image/jpeg',
  width: row.total_width,
  height: row.total_height,
  tileWidth: row.sprite_width,
  tileHeight: row.sprite_height,
  tileDuration: row.sprite_duration,
})

const liveOf = (row: VideoRow['live']) => ({
  saveReplay: row?.save_replay ?? false,
  isPermanent: row?.permanent_live ?? false,
  latencyMode: row?.latency_mode ?? 1,
})

function labelOf(labels: Readonly<Record<string | number, string>>, id: string | number | null) {
  const name = id === null ? undefined : labels[id]
  return id === null || name === undefined ? null : ({ identifier: String(id), name } satisfies LabelledDocument)
}

/** px, for pictures of unknown size; peers refuse a picture without one. */
const SIZES = { 1: { width: 280, height: 157 }, 2: { width: 850, height: 480 } } as const

function thumbnailOf(row: ThumbnailRow, urls: Urls) {
  const isMiniature = row.type === 1
  const size = SIZES[isMiniature ? 1 : 2]
  return {
    url: row.file_url ?? `${urls.origin}/lazy-static/${isMiniature ? 'thumbnails' : 'previews'}/${row.filename}`,
    mediaType: imageType(row.filename) ?? 'image/jpeg',
    width: row.width ?? size.width,
    height: row.height ?? size.height,
  }
}
