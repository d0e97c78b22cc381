// The columns of a video that lists and single reads share: one row each, no entity.

import type { Columns, InJson } from '../../platform/database/index.ts'
import { type ActorProfile, type ActorSummary, accountProfile, channelProfile, summaryOf } from '../actor/index.ts'
import { currentViewers } from './current-viewers.ts'
import type { StreamingPlaylist, VideoFile } from './files.entity.ts'
import { thumbnailTypes, type Video, type VideoSchedule, type VideoSource } from './video.entity.ts'

export interface VideoFileRow
  extends Columns<typeof VideoFile, 'id' | 'streamingPlaylistId' | 'resolution' | 'width' | 'height' | 'size' | 'extname' | 'fps'>,
    Columns<typeof VideoFile, 'filename' | 'fileUrl' | 'playlistFilename' | 'metadataUrl' | 'torrentFilename' | 'torrentUrl'>,
    Columns<typeof VideoFile, 'magnetUrl' | 'infoHash' | 'streams' | 'storage'> {
  /** Addresses of copies of a web video on other servers; null without copies. */
  mirrors?: string[] | null
}

export interface PlaylistRow
  extends Columns<typeof StreamingPlaylist, 'id' | 'type' | 'playlistFilename' | 'playlistUrl' | 'storage'>,
    Columns<typeof StreamingPlaylist, 'segmentsSha256Filename' | 'segmentsSha256Url'> {
  /** Folders of copies, on other servers or here. */
  mirrors: string[]
}

export type SourceRow = InJson<
  Columns<VideoSource, 'inputFilename' | 'keptFilename' | 'size' | 'resolution' | 'width' | 'height' | 'fps' | 'metadata' | 'createdAt'>
>

export interface VideoRow<A extends ActorSummary = ActorSummary>
  extends Columns<Video, 'id' | 'uuid' | 'url' | 'remote' | 'listed' | 'name' | 'category' | 'licence' | 'language' | 'privacy'>,
    Columns<Video, 'blocked' | 'nsfw' | 'description' | 'duration' | 'aspectRatio' | 'views' | 'likes' | 'dislikes' | 'comments'>,
    Columns<Video, 'state' | 'waitTranscoding' | 'isLive' | 'createdAt' | 'updatedAt' | 'publishedAt' | 'originallyPublishedAt' | 'tags'> {
  /** Reason of the block, if given. */
  block_reason: string | null
  /** Current viewers. */
  viewers: number
  /** File names of the miniature and the preview. */
  thumbnail: string | null
  preview: string | null
  account: A
  channel: A
  schedule: InJson<Columns<typeof VideoSchedule, 'updateAt' | 'privacy'>> | null
  /** Last position of the requester, in seconds. */
  watched_seconds?: number | null
}

/** A row of a list, with the optional columns of its query. */
export type VideoListRow = VideoRow & {
  files?: VideoFileRow[]
  playlist?: PlaylistRow | null
  /** `description` is truncated. */
  whole_description?: string | null
  source?: SourceRow | null
  automatic_tags?: string[]
  blocked_owner?: boolean
  blocked_server?: boolean
}

export interface VideoDetailsRow
  extends VideoRow<ActorProfile>,
    Columns<Video, 'support' | 'commentsPolicy' | 'downloadEnabled' | 'refreshedAt' | 'inputFileUpdatedAt' | 'trackerUrls'> {
  owner_account_id: number
  files: VideoFileRow[]
  playlist: PlaylistRow | null
}

/** The joins that the columns of a video `v` need. */
export const videoJoins = `
  left join channel c on c.id = v.channel_id
  left join actor ca on ca.id = c.actor_id
  left join account a on a.id = c.account_id
  left join actor aa on aa.id = a.actor_id
  left join lateral (
    select coalesce(sum(d.views), 0)::int as views, coalesce(sum(d.likes), 0)::int as likes,
      coalesce(sum(d.dislikes), 0)::int as dislikes, coalesce(sum(d.comments), 0)::int as comments
    from video_delta d where d.video_id = v.id
  ) d on true
  left join viewing w on w.video_id = v.id`

const plainColumns = `v.id, v.uuid, v.url, v.remote, v.listed, v.name, v.category, v.licence, v.language, v.privacy, v.blocked,
  case when v.blocked then (select b.reason from video_block b where b.video_id = v.id) end as block_reason, v.nsfw,
  v.duration, v.aspect_ratio, v.views + d.views as views,
  ${currentViewers('v', 'w')} as viewers, v.likes + d.likes as likes,
  v.dislikes + d.dislikes as dislikes, v.comments + d.comments as comments, v.state, v.wait_transcoding, v.is_live,
  v.created_at, v.updated_at, v.published_at, v.originally_published_at, v.tags,
  (select t.filename from thumbnail t where t.video_id = v.id and t.type = ${thumbnailTypes.miniature}) as thumbnail,
  (select t.filename from thumbnail t where t.video_id = v.id and t.type = ${thumbnailTypes.preview}) as preview,
  (select jsonb_build_object('update_at', s.update_at, 'privacy', s.privacy)
   from video_schedule s where s.video_id = v.id) as schedule`

/** Longest description that lists show, in characters, plus one that reveals that there is more. */
const LISTED_DESCRIPTION = 251

export const listColumns = `${plainColumns}, left(v.description, ${LISTED_DESCRIPTION}) as description,
  ${summaryOf('a', 'aa')} as account, ${summaryOf('c', 'ca')} as channel`

/** SQL: true if players may be sent to the copy `r`. */
const IS_OFFERED = "r.state in ('stored', 'announced') and (r.expires_on is null or r.expires_on > now())"

/** Web videos and renditions, the largest first. */
export const fileColumns = `
  (select coalesce(jsonb_agg(jsonb_build_object('id', f.id, 'streaming_playlist_id', f.streaming_playlist_id,
     'resolution', f.resolution, 'width', f.width, 'height', f.height, 'size', f.size, 'extname', f.extname, 'fps', f.fps,
     'filename', f.filename, 'file_url', f.file_url, 'playlist_filename', f.playlist_filename,
     'metadata_url', f.metadata_url, 'torrent_filename', f.torrent_filename, 'torrent_url', f.torrent_url,
     'magnet_url', f.magnet_url, 'info_hash', f.info_hash, 'streams', f.streams, 'storage', f.storage,
     'mirrors', (select jsonb_agg(r.file_url order by r.id) from redundancy r where r.file_id = f.id and ${IS_OFFERED}))
     order by f.resolution desc, f.id), '[]')
   from video_file f where f.video_id = v.id) as files,
  (select jsonb_build_object('id', s.id, 'type', s.type, 'playlist_filename', s.playlist_filename,
     'playlist_url', s.playlist_url, 'segments_sha256_filename', s.segments_sha256_filename,
     'segments_sha256_url', s.segments_sha256_url, 'storage', s.storage,
     'mirrors', (select coalesce(jsonb_agg(r.file_url order by r.id), '[]') from redundancy r
       where r.streaming_playlist_id = s.id and ${IS_OFFERED}))
   from streaming_playlist s where s.video_id = v.id) as playlist`

export const sourceColumn = `
  (select jsonb_build_object('input_filename', o.input_filename, 'kept_filename', o.kept_filename, 'size', o.size,
     'resolution', o.resolution, 'width', o.width, 'height', o.height, 'fps', o.fps, 'metadata', o.metadata,
     'created_at', o.created_at)
   from video_source o where o.video_id = v.id) as source`

/** SQL: whether the instance or a reader (the id of an account, or null) mutes the owner of a video or its server. */
export const mutedColumns = (reader: string): string => `
  exists (select 1 from account_block ab where ab.target_id = a.id
    and (ab.owner_id is null or ab.owner_id = ${reader})) as blocked_owner,
  exists (select 1 from server_block sb join remote_host sh on sh.host = sb.host where sh.id = aa.host_id
    and (sb.owner_id is null or sb.owner_id = ${reader})) as blocked_server`

export const detailColumns = `${plainColumns}, v.description, v.support, v.comments_policy, v.download_enabled,
  v.refreshed_at, v.input_file_updated_at, v.tracker_urls, c.account_id as owner_account_id, ${fileColumns},
  ${accountProfile('a', 'aa')} as account,
  ${channelProfile('c', 'ca')} as channel`

/**
 * SQL: true if a video is more than an upload: published, processed again after that, live, or remote. An announced video is never reported
 * as missing, since other servers would delete it.
 */
export const isBegun = (video: string): string => `${video}.state <> 'removed' and (${video}.state = 'published'
  or ${video}.remote or ${video}.is_live or exists (select 1 from share s join actor x on x.id = s.actor_id
    where s.video_id = ${video}.id and x.host_id is null))`
