// Names of work in the list of jobs: those of the contract. Each job type has one, and so have the lanes and periodic tasks that are jobs
// in PeerTube.

import type { JobTypeName } from '../../config/index.ts'
import type { Registry } from '../runtime/index.ts'

export const JOB_NAMES: Readonly<Record<string, JobTypeName>> = {
  'activitypub-cleaner': 'activitypub-cleaner',
  'activitypub-follow': 'activitypub-follow',
  'activitypub-http-fetcher': 'activitypub-http-fetcher',
  'activitypub-refresher': 'activitypub-refresher',
  'after-video-channel-import': 'after-video-channel-import',
  'blocked-follows': 'activitypub-cleaner',
  'channel-removal': 'activitypub-cleaner',
  'channel-support': 'federate-video',
  'comment-thread': 'activitypub-http-fetcher',
  'comments-refresh': 'activitypub-refresher',
  'comments-removal': 'activitypub-cleaner',
  'create-user-export': 'create-user-export',
  'directory-user': 'activitypub-refresher',
  email: 'email',
  'federate-video': 'federate-video',
  'generate-video-storyboard': 'generate-video-storyboard',
  'host-software': 'activitypub-refresher',
  'import-user-archive': 'import-user-archive',
  'instance-update': 'activitypub-http-broadcast',
  'manage-video-torrent': 'manage-video-torrent',
  'move-to-file-system': 'move-to-file-system',
  'move-to-object-storage': 'move-to-object-storage',
  notify: 'notify',
  'playlist-reading': 'activitypub-http-fetcher',
  'plugin-action': 'notify',
  'plugin-logout': 'notify',
  'playlists-of-followed': 'activitypub-http-fetcher',
  'redundancy-removal': 'video-redundancy',
  'remote-actor-removal': 'activitypub-cleaner',
  'remote-chapters': 'activitypub-http-fetcher',
  'remote-followers': 'activitypub-refresher',
  'remote-rates': 'activitypub-http-fetcher',
  transcribe: 'video-transcription',
  'user-removal': 'activitypub-cleaner',
  'video-channel-import': 'video-channel-import',
  'video-files-placement': 'move-to-file-system',
  'video-import': 'video-import',
  'video-listing': 'activitypub-refresher',
  'video-live-ending': 'video-live-ending',
  'video-pictures': 'transcoding-job-builder',
  'video-redundancy': 'video-redundancy',
  'video-removal': 'activitypub-cleaner',
  'video-studio-edition': 'video-studio-edition',
  'video-studio-transcoding': 'video-studio-edition',
  'video-transcoding': 'video-transcoding',
  'video-transcription': 'video-transcription',
  'vod-audio-merge-transcoding': 'video-transcoding',
  'vod-hls-transcoding': 'video-transcoding',
  'vod-web-video-transcoding': 'video-transcoding',
  'web-push': 'notify',
}

/** Lanes whose rows are listed one by one. Activities of others are handled like those that a fetcher reads from an outbox. */
export const LANE_NAMES = {
  delivery: 'activitypub-http-unicast',
  inbox: 'activitypub-http-fetcher',
  'inbox-unverified': 'activitypub-http-fetcher',
} as const satisfies Record<string, JobTypeName>

/** Lanes that are no job in PeerTube: the metrics show them. */
const UNLISTED_LANES: readonly string[] = ['live-encoding']

/** Periodic tasks that are a repeated job in PeerTube. */
export const TASK_NAMES: Readonly<Record<string, JobTypeName>> = { 'fold-views': 'videos-views-stats' }

/** Refuses to start if some kind of work would be invisible to administrators. */
export function refuseNameless({ jobs, lanes, periodics }: Registry): void {
  const nameless = [
    ...[...jobs.keys()].filter((type) => !Object.hasOwn(JOB_NAMES, type)).map((type) => `job ${type}`),
    ...[...lanes.keys()].filter((kind) => !Object.hasOwn(LANE_NAMES, kind) && !UNLISTED_LANES.includes(kind)).map((kind) => `lane ${kind}`),
    ...Object.keys(TASK_NAMES)
      .filter((name) => !periodics.has(name))
      .map((name) => `periodic task ${name}`),
  ]
  if (nameless.length > 0) throw new Error(`The list of jobs has no name for: ${nameless.join(', ')}.`)
}
