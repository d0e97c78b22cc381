// The audited fields of each kind of entity: harmless ones, listed explicitly.

import type { AggregateRef } from '../runtime/index.ts'

export interface AuditedFields {
  /** The name of the kind for clients. */
  domain: AuditDomain
  /** One jsonb value for the row whose id is `$id`, or nothing if it does not exist. */
  sql: string
}

export type AuditDomain =
  | 'users'
  | 'channels'
  | 'videos'
  | 'comments'
  | 'abuse'
  | 'follows'
  | 'video-imports'
  | 'user-exports'
  | 'user-imports'
  | 'channel-syncs'
  | 'registrations'
  | 'blocklist'
  | 'watched-words'
  | 'config'
  | 'plugins'

/** In responses, names of fields have the kind as a prefix. */
export const PREFIXES: Readonly<Record<AuditDomain, string>> = {
  users: 'user',
  channels: 'channel',
  videos: 'video',
  comments: 'comment',
  abuse: 'abuse',
  follows: 'follow',
  'video-imports': 'video-import',
  'user-exports': 'user-export',
  'user-imports': 'user-import',
  'channel-syncs': 'channelSync',
  registrations: 'registration',
  blocklist: 'block',
  'watched-words': 'list',
  config: 'config',
  plugins: 'plugin',
}

/** By aggregate; messages to others are not audited. */
export const AUDITED_FIELDS: Partial<Record<AggregateRef['aggregate'], AuditedFields>> = {
  user: {
    domain: 'users',
    sql: `select jsonb_build_object('id', u.id, 'username', u.username, 'email', u.email, 'emailVerified', u.email_verified,
        'role', u.role, 'adminFlags', u.admin_flags, 'nsfwPolicy', u.nsfw_policy, 'autoPlayVideo', u.auto_play_video,
        'videoQuota', u.video_quota, 'videoQuotaDaily', u.video_quota_daily, 'pluginAuth', u.plugin_auth,
        'blocked', u.blocked, 'blockedReason', u.blocked_reason, 'account-id', a.id, 'account-displayName', a.name,
        'account-description', a.description, 'createdAt', u.created_at)
      from users u left join account a on a.user_id = u.id where u.id = $id and u.state <> 'deleted'`,
  },
  actor: {
    domain: 'channels',
    sql: `select jsonb_build_object('id', c.id, 'name', x.preferred_username, 'displayName', c.name,
        'description', c.description, 'support', c.support, 'ownerAccount-id', c.account_id, 'createdAt', c.created_at)
      from channel c join actor x on x.id = c.actor_id where x.id = $id and c.state = 'active'`,
  },
  video: {
    domain: 'videos',
    sql: `select jsonb_build_object('id', v.id, 'uuid', v.uuid, 'name', v.name, 'category', v.category, 'licence', v.licence,
        'language', v.language, 'privacy', v.privacy, 'nsfw', v.nsfw, 'description', v.description, 'support', v.support,
        'tags', to_jsonb(v.tags), 'commentsPolicy', v.comments_policy, 'downloadEnabled', v.download_enabled,
        'waitTranscoding', v.wait_transcoding, 'blocked', v.blocked, 'isLive', v.is_live, 'duration', v.duration,
        'originallyPublishedAt', v.originally_published_at, 'inputFileUpdatedAt', v.input_file_updated_at, 'channel-id', v.channel_id, 'createdAt', v.created_at,
        'blockedReason', (select b.reason from video_block b where b.video_id = v.id),
        'webVideoFiles', (select count(*) from video_file f where f.video_id = v.id and f.streaming_playlist_id is null),
        'hlsFiles', (select count(*) from video_file f where f.video_id = v.id and f.streaming_playlist_id is not null),
        'originalFile', exists (select from video_source o where o.video_id = v.id and o.kept_filename is not null))
      from video v where v.id = $id and v.state <> 'removed'`,
  },
  comment: {
    domain: 'comments',
    sql: `select jsonb_build_object('id', m.id, 'text', m.text, 'threadId', m.thread_id, 'inReplyToCommentId', m.parent_id,
        'heldForReview', m.held_for_review, 'video-id', m.video_id, 'account-id', m.account_id, 'createdAt', m.created_at)
      from comment m where m.id = $id and m.deleted_at is null`,
  },
  abuse: {
    domain: 'abuse',
    sql: `select jsonb_build_object('id', b.id, 'state', b.state, 'reason', b.reason, 'predefinedReasons',
        to_jsonb(b.predefined_reasons), 'moderationComment', b.moderation_comment, 'reporter-name', b.reporter_name,
        'reportee-name', b.reportee_name, 'video-id', b.video_id, 'video-name', b.video_name, 'comment-id', b.comment_id,
        'createdAt', b.created_at)
      from abuse b where b.id = $id`,
  },
  // Of the instance; those of users are private.
  follow: {
    domain: 'follows',
    sql: `select jsonb_build_object('id', f.id, 'state', f.state, 'follower', x.url, 'following', t.url,
        'createdAt', f.created_at)
      from follow f join actor x on x.id = f.follower_id join actor t on t.id = f.target_id
      where f.id = $id and f.state <> 'none'
        and (x.host_id is null and x.type = 'Application' or t.host_id is null and t.type = 'Application')`,
  },
  video_import: {
    domain: 'video-imports',
    sql: `select jsonb_build_object('id', i.id, 'state', i.state, 'targetUrl', i.target_url, 'torrentName', i.torrent_name,
        'video-id', i.video_id, 'channel-id', i.channel_id, 'createdAt', i.created_at)
      from video_import i where i.id = $id`,
  },
  channel_sync: {
    domain: 'channel-syncs',
    sql: `select jsonb_build_object('id', s.id, 'externalChannelUrl', s.external_channel_url, 'channel-id', s.channel_id,
        'createdAt', s.created_at)
      from channel_sync s where s.id = $id`,
  },
  registration: {
    domain: 'registrations',
    sql: `select jsonb_build_object('id', r.id, 'state', r.state, 'username', r.username, 'email', r.email,
        'channelHandle', r.channel_handle, 'moderationResponse', r.moderation_response, 'createdAt', r.created_at)
      from registration r where r.id = $id`,
  },
  user_export: {
    domain: 'user-exports',
    sql: `select jsonb_build_object('id', e.id, 'state', e.state, 'withVideoFiles', e.with_video_files, 'user-id', e.user_id,
        'user-username', (select u.username from users u where u.id = e.user_id), 'createdAt', e.created_at)
      from user_export e where e.id = $id`,
  },
  user_import: {
    domain: 'user-imports',
    sql: `select jsonb_build_object('id', i.id, 'state', i.state, 'user-id', i.user_id,
        'user-username', (select u.username from users u where u.id = i.user_id), 'createdAt', i.created_at)
      from user_import i where i.id = $id`,
  },
  // Settings may be secret: their names are noted.
  plugin: {
    domain: 'plugins',
    sql: `select jsonb_build_object('id', p.id, 'npmName', p.npm_name, 'state', p.state, 'version', p.version, 'integrity', p.integrity,
        'createdAt', p.created_at)
      from plugin p where p.id = $id`,
  },
  job_queue: { domain: 'config', sql: `select jsonb_build_object('jobs', q.state) from job_queue q where q.id = $id` },
  // None of the editable keys is secret.
  runtime_config: { domain: 'config', sql: 'select r.overrides from runtime_config r where r.id = $id' },
}
