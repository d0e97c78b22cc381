// Keys under vireo.jobs and vireo.schedulers: attempts, durations and concurrency of each kind of work.

import { duration, integer, optionalDuration, optionalInteger, section } from '../kinds.ts'

const HOUR = '1 hour'

/** [attempts, maximum duration, concurrency]; null: taken from another key (see complete.ts), or no limit. */
const TYPES = {
  'activitypub-cleaner': [1, HOUR, 1],
  'activitypub-follow': [5, '10 minutes', 1],
  'activitypub-http-fetcher': [2, '10 hours', 3],
  'activitypub-refresher': [1, '10 minutes', 1],
  'actor-keys': [3, '20 minutes', 1],
  'after-video-channel-import': [1, '5 minutes', 1],
  'create-user-export': [1, '1 day', 1],
  email: [5, '10 minutes', 5],
  'federate-video': [1, '5 minutes', 3],
  'generate-video-storyboard': [1, '6 hours', 1],
  'import-user-archive': [1, '1 day', 1],
  'manage-video-torrent': [1, '3 hours', 1],
  'move-to-file-system': [3, '3 hours', 1],
  'move-to-object-storage': [3, '3 hours', 1],
  notify: [1, '5 minutes', 5],
  'transcoding-job-builder': [1, '1 minute', 1],
  'video-channel-import': [1, '4 hours', 1],
  'video-file-import': [1, HOUR, 1],
  'video-import': [1, null, null],
  'video-live-ending': [1, '10 minutes', 10],
  'video-redundancy': [1, '3 hours', 1],
  'video-studio-edition': [1, '10 hours', 1],
  'video-transcoding': [1, '2 days', null],
  'video-transcription': [2, '6 hours', 1],
} as const satisfies Record<string, readonly [number, string | null, number | null]>

export type ConfiguredJobType = keyof typeof TYPES

/** Jobs of PeerTube whose work is done in another way here; lists of jobs show it under these names. */
const OTHER_WORK = [
  'activitypub-http-broadcast',
  'activitypub-http-broadcast-parallel',
  'activitypub-http-unicast',
  'videos-views-stats',
] as const

export type JobTypeName = ConfiguredJobType | (typeof OTHER_WORK)[number]

const CONFIGURED = Object.keys(TYPES) as ConfiguredJobType[]

export const JOB_TYPE_NAMES: readonly JobTypeName[] = [...CONFIGURED, ...OTHER_WORK]

/** How long completed jobs are retained, if it is not `vireo.jobs.keep.completed`. */
const KEEP_COMPLETED: Partial<Record<ConfiguredJobType, string>> = {
  'activitypub-refresher': '10 hours',
}

const jobType = (name: ConfiguredJobType) => {
  const [attempts, ttl, concurrency] = TYPES[name]
  return section({
    attempts: integer(attempts, 'tries', { min: 1 }),
    ttl: optionalDuration(ttl, `longest run; null: ${name === 'video-import' ? '`import.videos.timeout`' : 'no limit'}`),
    concurrency: optionalInteger(concurrency, `at once in one process; null: ${concurrencySource(name)}`, {
      min: 1,
    }),
    keep_completed: optionalDuration(KEEP_COMPLETED[name] ?? null, 'null: `vireo.jobs.keep.completed`'),
    keep_failed: optionalDuration(null, 'null: `vireo.jobs.keep.failed`'),
  })
}

export const jobsKeys = {
  lease: duration('30 seconds', 'how long a worker owns a job without renewing it'),
  initial_backoff: duration('5 seconds', 'wait after the first failed try; it doubles'),
  max_backoff: duration('10 minutes', 'longest wait between tries'),
  list_max: integer(100, 'jobs in one answer of the API', { min: 1 }),
  keep: section({
    completed: duration('2 days', 'how long completed jobs are listed'),
    failed: duration('7 days', 'how long failed jobs are listed'),
    max_jobs: integer(10_000, 'ended jobs of one type that are retained'),
  }),
  priorities: section({
    transcoding: integer(100, 'of a transcoding, among waiting ones; lower goes first'),
    video_studio: integer(150, 'of studio work'),
    transcription: integer(200, 'of transcription'),
  }),
  repeating: section({
    activitypub_cleaner: section({
      interval: duration(
        '1 week',
        'how often other servers are asked whether likes, comments and shares still exist; whole days, starting on a random one',
      ),
      hour: integer(5, 'when, in the time zone of the server', { max: 23 }),
      minute: integer(30, 'when', { max: 59 }),
    }),
  }),
  types: section(
    Object.fromEntries(CONFIGURED.map((name) => [name, jobType(name)])) as Record<ConfiguredJobType, ReturnType<typeof jobType>>,
  ),
}

export const schedulerKeys = {
  auto_follow_index_instances: duration('1 day', 'how often the index is read'),
  channel_sync_check_interval: optionalDuration(null, 'null: `import.video_channel_synchronization.check_interval`'),
  check_peertube_version: duration('1 day', 'how often a new version is looked for'),
  remove_dangling_resumable_uploads: duration(HOUR, 'how often abandoned uploads are removed'),
  remove_old_history: duration('1 day', 'how often old history is removed'),
  remove_old_jobs: duration(HOUR, 'how often ended jobs are removed'),
  remove_old_views: duration('1 day', 'how often old views are removed'),
  update_inbox_stats: duration('1 minute', 'how often the inbox is counted'),
  video_scores: duration('1 minute', 'how often videos are weighed for the sorts trending, hot and best'),
  video_views_buffer_update: optionalDuration(null, 'null: `views.videos.local_buffer_update_interval`'),
}

function concurrencySource(name: ConfiguredJobType): string {
  if (name === 'video-transcoding') return '`transcoding.concurrency`'
  return name === 'video-import' ? '`import.videos.concurrency`' : '1'
}
