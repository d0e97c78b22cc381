// Vireo's own keys, under vireo: intervals, lifetimes, page sizes and limits that other servers hard-code.

import {
  duration,
  EDITABLE,
  flag,
  integer,
  optionalDuration,
  optionalInteger,
  optionalText,
  port,
  records,
  SECRET,
  section,
  size,
  text,
} from '../kinds.ts'
import { ldapProvider, openIdProvider } from './items.ts'
import { ownObjectStorageKeys } from './storage.ts'
import { federationKeys } from './vireo-federation.ts'
import { jobsKeys, schedulerKeys } from './vireo-jobs.ts'

const LOGINS = { ...EDITABLE, ...SECRET }

export const vireoKeys = {
  vireo: section({
    federation: section(federationKeys),
    jobs: section(jobsKeys),
    schedulers: section(schedulerKeys),
    runtime: section({
      relay_interval: duration('250 ms', 'how often the outbox is looked at, beside being woken'),
      sweep_interval: duration('1 second', 'how often time-outs and lost work are looked for'),
      counters_interval: duration('1 second', 'how often counters are folded'),
      lane_lease: duration('30 seconds', 'how long a worker owns a lane without renewing it'),
      lock_timeout: duration('2 seconds', 'longest wait for the lock of a row'),
      drain_timeout: duration('6 seconds', 'longest wait for requests and jobs in progress when the server stops'),
      stop_timeout: duration('10 seconds', 'time after which a server that stops ends, whatever still runs'),
    }),
    http: section({
      drain_delay: duration(
        '0',
        'how long a stopping server keeps serving while it reports that it is not ready, so that load balancers notice',
      ),
    }),
    auth: section({
      local_passwords: flag(
        true,
        'whether users log in with a password of this server; see `vireo doctor` before switching it off',
        EDITABLE,
      ),
      openid_connect: records(openIdProvider, 'a list of providers, as in docs/operations.md', [], 'logins with OpenID Connect', LOGINS),
      ldap: records(ldapProvider, 'a list of directories, as in docs/operations.md', [], 'logins with LDAP', LOGINS),
    }),
    plugins: section({
      registry: text('https://registry.npmjs.org', 'registry of packages from which plugins are installed'),
      memory: size('128MB', 'heap of the process of one plugin'),
      filter_timeout: duration('500 ms', 'how long a plugin may take to change an answer'),
      hostname: text('127.0.0.1', 'address at which the process that runs a plugin answers the other processes of this server'),
    }),
    client: section({
      dist: optionalText(null, 'folder of a built web client for the API of PeerTube, which replaces the built-in pages; null: built-in'),
    }),
    health: section({
      hostname: text('127.0.0.1', 'address of a listener for `/health` alone'),
      port: optionalInteger(null, 'its port; 0: a free one, null: there is none', { max: 65_535 }),
    }),
    queue: section({
      pool_max: integer(2, 'database connections that the queues of one process share, where there is no Redis', { min: 1 }),
    }),
    database: section({
      prepared_statements: integer(
        200,
        'prepared statements per connection; 0 behind a pooler that does not track them, such as PgBouncer before 1.21',
        { max: 10_000 },
      ),
    }),
    embedded: section({
      postgres_port: port(0, 'port of the embedded PostgreSQL; 0: a free one'),
      max_connections: integer(200, 'connections that it allows', { min: 20 }),
      pool_max: integer(20, 'connections of one process to it, unless `database.pool.max` is set', { min: 2 }),
    }),
    media: section({
      ffmpeg_path: optionalText(null, 'ffmpeg; null: the one on PATH, else the bundled one'),
      ffprobe_path: optionalText(null, 'ffprobe; null: the one on PATH, else the bundled one'),
      nice: integer(15, 'niceness of ffmpeg', { max: 19 }),
      nice_thumbnail: integer(10, 'niceness of ffmpeg for thumbnails', { max: 19 }),
      nice_live: integer(5, 'niceness of ffmpeg for live streams', { max: 19 }),
      probe_timeout: duration('1 minute', 'longest look into a file'),
      stall_timeout: duration('5 minutes', 'time without progress after which ffmpeg is killed'),
      max_memory: size('4GB', 'memory of one ffmpeg beyond which it is killed; a download program may use at most 1GB'),
    }),
    delivery: section({
      x_accel_location: optionalText(
        null,
        'internal location of nginx with the storage folders, such as `/internal`; null: this server sends the bytes',
      ),
      stall_timeout: duration('1 minute', 'time without progress after which the response to a reader of a file is ended'),
      muxes: integer(4, 'downloads that one process puts together from two files at once', { min: 1 }),
    }),
    live: section({
      segment_duration: duration('4 seconds', 'length of live segments'),
      small_latency_segment_duration: duration('2 seconds', 'length of live segments with small latency'),
      segments_in_playlist: integer(15, 'segments in the live playlist', { min: 3 }),
      no_data_timeout: duration('30 seconds', 'silence after which a stream is interrupted'),
      reconnect_window: duration('1 minute', 'how long an interrupted stream waits for its publisher; 0: it ends at once'),
      cleanup_delay: duration('5 minutes', 'how long files of an ended stream stay'),
    }),
    object_storage: section(ownObjectStorageKeys),
    uploads: section({
      session_lifetime: duration('1 day', 'silence after which a resumable upload expires'),
      busy_retry_after: duration('5 minutes', '`Retry-After` of requests for an upload that is being finished'),
      legacy_timeout: duration('10 minutes', 'longest upload in one request; a chunk of a resumable one may take as long as bytes arrive'),
      max_partial_per_user: size('50GB', 'bytes of unfinished uploads of one user'),
      max_metadata: size('10MB', 'largest metadata of an upload'),
      max_image_size: size('4MB', 'largest thumbnail, preview, avatar or banner'),
      max_caption_size: size('20MB', 'largest caption'),
      max_torrent_size: size('200KB', 'largest torrent file'),
    }),
    imports: section({
      max_size: size('50GB', 'largest video that is imported'),
      silence_timeout: duration('1 minute', 'how long another site may send nothing'),
      peer_timeout: duration('15 minutes', 'how long the peers of a torrent may send nothing'),
      torrent_dht: flag(true, 'whether peers are looked for in the distributed hash table'),
    }),
    abuses: section({
      reports_per_user: integer(50, 'reports of abuse that one user makes in an hour'),
    }),
    pagination: section({
      default_count: integer(15, 'items of a list when the client does not say', { min: 1 }),
      max_count: integer(100, 'items of a list at most', { min: 1 }),
    }),
    overview: section({
      videos_per_sample: integer(12, 'videos of a category, tag or channel in the overview'),
      min_videos_per_sample: integer(6, 'fewer videos make no sample'),
      max_page: integer(20, 'last page'),
    }),
    lifetimes: section({
      email_verification: duration('1 hour', 'link that verifies an address'),
      password_create: duration('7 days', 'link that sets the first password'),
      password_reset: duration('1 hour', 'link that resets a password'),
      two_factor_request: duration('10 minutes', 'request for two-factor login'),
      user_export_download_token: duration('15 minutes', 'link to an archive'),
      video_file_token: duration('8 hours', 'token for the files of a private video'),
      viewer_counter: duration('2 minutes', 'how long a viewer counts after the last sign'),
      viewer_stats: duration('1 hour', 'how long a viewer belongs to one watch statistic'),
      contact_form_per_ip: duration('1 hour', 'time between two messages from one address'),
    }),
    views: section({
      buffer_sync_interval: duration('30 seconds', 'how often counts of viewers are shared between processes'),
      max_watch_sections: integer(100, 'watched parts stored per viewer'),
      stats_max_days: integer(3650, 'longest statistic, in days'),
      max_remote_viewers: integer(1000, 'viewers of one video at once that another server is believed'),
      max_remote_views: integer(1000, 'views, and watched parts, of one video in one hour that another server is believed'),
    }),
    caching: section({
      files: section({
        previews: duration('3 hours', 'remote previews'),
        captions: duration('3 hours', 'remote captions'),
        torrents: duration('3 hours', 'remote torrents'),
        storyboards: duration('1 day', 'remote storyboards'),
      }),
      kept: section({
        thumbnails: integer(10_000, 'remote thumbnails cached on disk'),
        avatars: integer(10_000, 'remote avatars and banners cached on disk'),
      }),
      routes: section({
        feeds: duration('15 minutes', 'feeds, in their Cache-Control'),
        nodeinfo: duration('10 minutes', 'nodeinfo'),
        robots: duration('2 hours', '/robots.txt'),
        securitytxt: duration('2 hours', '/.well-known/security.txt'),
        sitemap: duration('1 day', '/sitemap.xml'),
        stats: duration('4 hours', 'statistics of the server'),
        videos: duration(
          '5 seconds',
          'lists of videos, single ones, feeds, searches, comments and pages for visitors, and the shared parts of lists for users; 0: not cached',
        ),
        well_known: duration('1 day', 'other files below /.well-known'),
        dnt_policy: duration('1 week', '/.well-known/dnt-policy.txt'),
      }),
      memory: section({ videos: size('32MB', 'bytes of ready answers about videos in one process, at most') }),
      static: section({
        client: duration('30 days', "the web client's files"),
        lazy_server: duration('2 days', 'avatars, previews, captions'),
        server: duration('2 hours', 'video files, their torrents and thumbnails'),
      }),
    }),
    runners: section({
      contact_update_interval: duration('30 seconds', 'how often the last contact of a runner is stored'),
      max_failures: integer(5, 'failures after which a job is given up', { min: 1 }),
      jobs_per_request: integer(10, 'jobs offered at once', { min: 1 }),
      local_after: optionalDuration(
        null,
        'this server does their work when no runner has been in contact for so long, more than `contact_update_interval`; null: never',
      ),
    }),
    tracker: section({
      announce_window: duration('5 minutes', 'window of the two limits below'),
      announces_per_ip: integer(30, 'announces of one address'),
      announces_per_ip_per_infohash: integer(15, 'announces of one address for one torrent'),
      block_for: duration('3 minutes', 'how long too eager peers are blocked'),
    }),
    notifications: section({
      keep: duration('180 days', 'how long notifications are stored'),
      flood_limit: integer(
        20,
        'notifications of one kind in the window below after which each replaces the previous one, without being pushed',
        { min: 1 },
      ),
      flood_window: duration('1 hour', 'window of the limit above'),
      mail_window: duration('10 minutes', 'how long after a mail the notifications of its kind wait, to go together in the next one'),
    }),
    user_data: section({
      export_max_items: optionalInteger(null, 'items of each kind in an archive, the oldest first; null: all'),
      import_max_playlist_elements: integer(1000, 'elements of an imported playlist; those behind are left out'),
      export_attempts: integer(3, 'lost workers after which an export fails', { min: 1 }),
    }),
    logs: section({
      max_chars: integer(10_000_000, 'characters of logs in one answer'),
      max_read: size('100MB', 'bytes of log files that are read for one answer'),
      keep_audit: duration('1 year', 'how long the audit log is stored'),
    }),
  }),
}
