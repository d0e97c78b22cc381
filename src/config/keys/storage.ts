// Keys of storage: folders, object storage, caches.

import { duration, EDITABLE, flag, integer, optionalText, SECRET, section, size, text } from '../kinds.ts'

const folder = (name: string, doc: string) => text(`storage/${name}/`, doc)

/** Of objects that this server serves or signs addresses for: a signature is valid only at the endpoint. */
const closedBucket = (name: string, of: string) => ({
  bucket_name: text(name, `bucket of ${of}`),
  prefix: text('', 'first part of the keys, so that buckets can be shared'),
})

const bucket = (name: string, of: string) => ({
  ...closedBucket(name, of),
  base_url: text('', 'public address of the bucket, such as a CDN; empty: the endpoint'),
})

/** Kinds that PeerTube stores on disk; with all of them in buckets, no disk has to be shared. */
const onDisk = (of: string) => `${of}; empty: they stay on the file system`
const ownBucket = (of: string) => section(bucket('', onDisk(of)))
const hiddenBucket = (of: string) => section(closedBucket('', onDisk(of)))

/** `vireo.object_storage`. */
export const ownObjectStorageKeys = {
  open_buckets: flag(
    true,
    'whether everybody may read public objects; false: each reader is sent to a signed address, for stores without ACLs and policies',
  ),
  signed_lifetime: duration('1 hour', 'how long a signed address holds'),
  thumbnails: hiddenBucket('thumbnails'),
  previews: hiddenBucket('previews'),
  avatars: hiddenBucket('avatars and banners'),
  storyboards: hiddenBucket('storyboards'),
  torrents: hiddenBucket('torrent files'),
  uploads: hiddenBucket('uploads in progress'),
  redundancy: ownBucket("copies of other servers' videos"),
}

const cacheSize = (of: string) => section({ size: integer(500, `remote ${of} cached on disk`, EDITABLE) })

export const storageKeys = {
  storage: section({
    tmp: folder('tmp', 'unfinished files; what dead processes left is removed'),
    tmp_persistent: folder('tmp-persistent', 'unfinished files that outlive a restart'),
    bin: folder('bin', 'downloaded programs'),
    avatars: folder('avatars', 'avatars and banners'),
    web_videos: folder('web-videos', 'web video files'),
    streaming_playlists: folder('streaming-playlists', 'HLS files'),
    original_video_files: folder('original-video-files', 'kept uploads'),
    redundancy: folder('redundancy', "copies of other servers' videos"),
    logs: folder('logs', 'log files; processes may share the folder, and read the files of all of them'),
    previews: folder('previews', 'previews'),
    thumbnails: folder('thumbnails', 'thumbnails'),
    storyboards: folder('storyboards', 'storyboards'),
    torrents: folder('torrents', 'torrent files'),
    captions: folder('captions', 'captions'),
    user_exports: folder('user-exports', 'archives of users'),
    cache: folder('cache', 'cached remote files'),
    plugins: folder('plugins', 'plugins and themes'),
    well_known: folder('well-known', 'files served below /.well-known'),
    client_overrides: folder('client-overrides', "files in place of the web client's own"),
  }),
  static_files: section({
    private_files_require_auth: flag(true, 'whether files of private videos need a token'),
  }),
  object_storage: section({
    enabled: flag(false, 'whether video files go to object storage'),
    endpoint: text('', 'S3 endpoint, https by default; files there are found even if `enabled` is false'),
    force_path_style: flag(false, 'whether buckets stand in the path of addresses; always so for IP addresses and single names'),
    region: text('us-east-1', 'S3 region'),
    credentials: section({
      access_key_id: text('', 'S3 key id; empty: AWS_ACCESS_KEY_ID, or what else the AWS library finds', SECRET),
      secret_access_key: text('', 'S3 secret; empty: AWS_SECRET_ACCESS_KEY', SECRET),
    }),
    upload_acl: section({
      public: optionalText(null, 'ACL of public objects, such as public-read; null: none is sent, the policy of the bucket decides'),
      private: optionalText(null, 'ACL of private objects, such as private; null: none is sent'),
    }),
    proxy: section({
      proxify_private_files: flag(true, 'whether private objects are sent through this server'),
    }),
    max_upload_part: size('100MB', 'largest part of an upload'),
    max_request_attempts: integer(3, 'tries of a request', { min: 1 }),
    streaming_playlists: section({
      ...bucket('streaming-playlists', 'HLS files'),
      store_live_streams: flag(true, 'whether live segments go to object storage too'),
    }),
    web_videos: section(bucket('web-videos', 'web video files')),
    user_exports: section(closedBucket('user-exports', 'archives of users')),
    original_video_files: section(closedBucket('original-video-files', 'kept uploads')),
    captions: section(closedBucket('captions', onDisk('captions'))),
  }),
  cache: section({
    previews: cacheSize('previews'),
    captions: cacheSize('captions'),
    torrents: cacheSize('torrents'),
    storyboards: cacheSize('storyboards'),
  }),
}
