// The schema has the contract's keys and limits, copied into test/fixtures/contract.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { JOB_TYPE_NAMES, loadConfig } from '../../../src/config/index.ts'
import { isValues } from '../../../src/config/layers.ts'
import { WITHOUT_EFFECT } from '../../../src/config/peertube.ts'
import { findNode } from '../../../src/config/tree.ts'
import { parseDuration, parseSize } from '../../../src/config/units.ts'

interface ContractKey {
  type: string
  default?: unknown
  runtimeEditable?: boolean
}

const contract = readFixture('config-keys.json')
const limits = readFixture('intervals.json')
// An empty file, so that only the defaults of the keys count, and not those of a server without files.
const { config } = loadConfig({ files: ['/dev/null'], env: { VIREO_DATA_DIR: '/data' }, cwd: '/' })

/** Texts with the product's name, values that differ on purpose, and URLs that the contract leaves open. */
const OWN_WORDING: Record<string, unknown> = {
  'instance.name': 'Vireo',
  'email.body.signature': 'Vireo',
  'email.subject.prefix': '[Vireo]',
  // No ACL is sent by default: many stores refuse them.
  'object_storage.upload_acl.public': null,
  'object_storage.upload_acl.private': null,
}

/** Intervals that are replaced by due times, or do not apply. */
const WITHOUT_KEY = [
  'ACTOR_FOLLOW_SCORES',
  'CHECK_PLUGINS',
  'GEO_IP_UPDATE',
  'REMOVE_EXPIRED_USER_EXPORTS',
  'UPDATE_VIDEOS',
  'YOUTUBE_DL_UPDATE',
  'pluginExternalAuthMs',
  'view',
]

describe('every key of the contract', () => {
  it.each(contractKeys(contract, []).filter(([path]) => !WITHOUT_EFFECT.has(path)))('%s exists with its default', (path, key) => {
    const value = at(config, path.split('.'))
    expect(value).not.toBeUndefined()
    if (key.default !== undefined && !/^<.*>$/.test(String(key.default))) expect(value).toEqual(expected(path, key))
  })

  it.each(contractKeys(contract, []).filter(([, key]) => key.runtimeEditable))('%s is editable', (path) => {
    expect(findNode(path.split('.'))).toMatchObject({ kind: 'key', info: { editable: true } })
  })
})

describe('intervals, lifetimes, page sizes and attempts', () => {
  const { vireo } = config
  const all = Object.entries(section(limits, 'jobs', 'types'))
  const types = all.filter(([name]) => name in vireo.jobs.types)

  it('covers all job types of the contract, with keys for those that are jobs here', () => {
    expect([...JOB_TYPE_NAMES].sort()).toEqual(all.map(([name]) => name).sort())
    expect(Object.keys(vireo.jobs.types).sort()).toEqual(types.map(([name]) => name).sort())
    expect(all.length - types.length).toBe(4)
  })

  it.each(types)('job type %s', (name, wanted) => {
    const elsewhere: Record<string, unknown> = {
      'config:import.videos.concurrency': config.import.videos.concurrency,
      'config:import.videos.timeout': config.import.videos.timeout,
      'config:transcoding.concurrency': config.transcoding.concurrency,
    }
    const resolved = (value: unknown) => elsewhere[String(value)] ?? value
    const completed = section(limits, 'jobs', 'keep', 'successMs')
    expect(at(vireo.jobs.types, [name])).toEqual({
      attempts: at(wanted, ['attempts']),
      ttl: resolved(at(wanted, ['ttlMs'])),
      concurrency: resolved(at(wanted, ['concurrency'])),
      keep_completed: completed[name] ?? completed.DEFAULT,
      keep_failed: at(limits, ['jobs', 'keep', 'failureMs', 'DEFAULT']),
    })
  })

  const schedulers = Object.entries(section(limits, 'schedulers')).filter(([name]) => !WITHOUT_KEY.includes(name))
  const lifetimes = Object.entries(section(limits, 'lifetimes')).filter(([name]) => !WITHOUT_KEY.includes(name))

  it.each(schedulers)('scheduler %s', (name, wanted) => {
    const expectedValue = typeof wanted === 'string' ? at(config, wanted.slice('config:'.length).split('.')) : wanted
    expect(at(vireo.schedulers, [name.toLowerCase()])).toBe(expectedValue)
  })

  it.each(lifetimes)('lifetime %s', (name, wanted) => {
    const key = snake(name.replace(/Ms$/, ''))
    expect(at(vireo.lifetimes, [key])).toBe(parseDuration(wanted))
  })

  it.each(Object.entries(section(limits, 'caching', 'filesMaxAgeMs')))('cache of %s', (name, wanted) => {
    expect(at(vireo.caching.files, [name])).toBe(wanted)
  })

  it('caches of routes and static files', () => {
    // ActivityPub documents are cached until they change.
    const { ACTIVITY_PUB: _until, ...routes } = section(limits, 'caching', 'routes')
    for (const [name, wanted] of Object.entries(routes)) {
      expect(at(vireo.caching.routes, [name.toLowerCase()])).toBe(parseDuration(wanted))
    }
    for (const [name, wanted] of Object.entries(section(limits, 'caching', 'staticMaxAge'))) {
      expect(at(vireo.caching.static, [name.toLowerCase()])).toBe(parseDuration(wanted))
    }
  })

  it.each([
    ['federation.collection_page_items', 'federation.collectionPageItems', 1],
    ['federation.backfill.max_pages', 'federation.fetchPageLimit', 1],
    ['federation.delivery.hosts_in_flight', 'federation.broadcastConcurrency', 1],
    ['federation.max_comment_recursion', 'federation.maxCommentRecursion', 1],
    ['federation.inbox.clock_skew', 'federation.clockSkewSeconds', 1000],
    ['federation.fetch.timeout', 'federation.requestTimeoutsMs.default', 1],
    ['federation.fetch.file_timeout', 'federation.requestTimeoutsMs.file', 1],
    ['federation.fetch.video_file_timeout', 'federation.requestTimeoutsMs.videoFile', 1],
    ['federation.refresh.actor', 'federation.refreshMs.actor', 1],
    ['federation.refresh.video', 'federation.refreshMs.video', 1],
    ['federation.refresh.playlist', 'federation.refreshMs.playlist', 1],
    ['federation.follow_score.base', 'federation.followScore.BASE', 1],
    ['jobs.list_max', 'jobs.listMax', 1],
    ['jobs.keep.max_jobs', 'jobs.keep.maxJobs', 1],
    ['jobs.priorities.transcoding', 'jobs.priorities.TRANSCODING', 1],
    ['jobs.priorities.transcription', 'jobs.priorities.TRANSCRIPTION', 1],
    ['jobs.priorities.video_studio', 'jobs.priorities.VIDEO_STUDIO', 1],
    ['pagination.default_count', 'pagination.count.default', 1],
    ['pagination.max_count', 'pagination.count.max', 1],
    ['uploads.max_image_size', 'uploads.actorImageMaxBytes', 1],
    ['uploads.legacy_timeout', 'uploads.legacyTimeoutMs', 1],
    ['uploads.max_metadata', 'uploads.resumable.maxMetadataBytes', 1],
    ['uploads.max_partial_per_user', 'uploads.resumable.maxPartialBytesPerUser', 1],
    // An hour there: a laptop that sleeps for a night would lose what it has sent.
    ['uploads.session_lifetime', 'uploads.resumable.sessionLifetimeMs', 24],
    ['uploads.busy_retry_after', 'uploads.busyRetryAfterSeconds', 1000],
    ['uploads.max_caption_size', 'captionMaxBytes', 1],
    ['uploads.max_torrent_size', 'torrentMaxBytes', 1],
    ['lifetimes.contact_form_per_ip', 'contactFormPerIpMs', 1],
    ['live.cleanup_delay', 'live.cleanupDelayMs', 1],
    ['live.segments_in_playlist', 'live.segmentsInPlaylist', 1],
    ['live.segment_duration', 'live.segmentSeconds.DEFAULT_LATENCY', 1000],
    ['live.small_latency_segment_duration', 'live.segmentSeconds.SMALL_LATENCY', 1000],
    ['media.nice', 'niceness.VOD', 1],
    ['media.nice_live', 'niceness.LIVE', 1],
    ['media.nice_thumbnail', 'niceness.THUMBNAIL', 1],
    ['runners.contact_update_interval', 'runners.lastContactUpdateMs', 1],
    ['runners.max_failures', 'runners.maxFailures', 1],
    ['tracker.announces_per_ip', 'tracker.announcesPerIp', 1],
    ['tracker.announces_per_ip_per_infohash', 'tracker.announcesPerIpPerInfohash', 1],
    ['tracker.block_for', 'tracker.blockMs', 1],
    ['tracker.announce_window', 'tracker.intervalMs', 1],
    ['views.max_watch_sections', 'views.maxWatchSections', 1],
    ['views.buffer_sync_interval', 'views.redisSyncMs', 1],
    ['views.stats_max_days', 'views.statsMaxDays', 1],
    ['logs.max_chars', 'misc.maxLogsChars', 1],
    ['user_data.import_max_playlist_elements', 'misc.userImportMaxPlaylistElements', 1],
    ['overview.videos_per_sample', 'overview.videosPerSample', 1],
    ['overview.min_videos_per_sample', 'overview.minVideosPerSample', 1],
    ['overview.max_page', 'overview.page.max', 1],
  ])('vireo.%s is %s', (local, remote, factor) => {
    expect(at(vireo, local.split('.'))).toBe(Number(at(limits, remote.split('.'))) * factor)
  })
})

function expected(path: string, key: ContractKey): unknown {
  if (path in OWN_WORDING) return OWN_WORDING[path]
  if (key.type === 'duration') return parseDuration(key.default)
  if (key.type === 'size') return parseSize(key.default)
  if (key.type === 'path') return `/data/${String(key.default).replace(/\/$/, '')}`
  return key.type.startsWith('array') && key.default === null ? [] : key.default
}

function contractKeys(values: Record<string, unknown>, prefix: string[]): [string, ContractKey][] {
  return Object.entries(values).flatMap(([name, value]): [string, ContractKey][] => {
    const path = [...prefix, name]
    if (!isValues(value)) throw new Error(`${path.join('.')} is no key`)
    if (typeof value.type !== 'string') return contractKeys(value, path)
    return [[path.join('.'), { ...value, type: value.type, runtimeEditable: value.runtimeEditable === true }]]
  })
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner: unknown, name) => (isValues(inner) ? inner[name] : undefined), value)
}

function section(values: unknown, ...path: string[]): Record<string, unknown> {
  const found = at(values, path)
  if (!isValues(found)) throw new Error(`${path.join('.')} is no section`)
  return found
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function readFixture(name: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(readFileSync(new URL(`../../fixtures/contract/${name}`, import.meta.url), 'utf8'))
  if (!isValues(parsed)) throw new Error(`${name} is no object`)
  return parsed
}
