// Synchronisations on a separate database, with a list as the other site and rows as imports.

import { makeChannelSyncs, runChannelSyncs } from '../../../src/actors/channel-sync/index.ts'
import { type ActorDeps, DomainError } from '../../../src/actors/runtime/index.ts'
import { makeJobs } from '../../../src/actors/runtime/jobs.ts'
import { quotaLeft } from '../../../src/actors/video/quota.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { type App, makeApp } from '../../../src/http/app.ts'
import { videoChannelSyncsArea } from '../../../src/http/video-channel-syncs/routes.ts'
import type { RemoteVideoEntry } from '../../../src/media/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { type MadeUser, makeUser, TEST_ORIGIN } from '../../support/builders.ts'
import { fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { makeTestRuntime } from '../../support/runtime.ts'

export const HOUR = 3_600_000
export const CHANNEL = 'https://video.example.com/c/x'

/** A video of the other site, published this many days after 1 May 2026, or in the future. */
export const remote = (name: string, day: number | null = 1000): RemoteVideoEntry => ({
  url: `https://video.example.com/v/${name}`,
  title: name,
  publishedAt: day === null ? null : new Date(Date.UTC(2026, 4, 1 + day)),
})

export type Harness = Awaited<ReturnType<typeof makeHarness>>

export async function makeHarness() {
  const clock = fakeClock(new Date('2026-05-01T12:00:00Z'))
  const jobSettings = { leaseMs: 3000, ttlMs: () => null, concurrency: () => 2, maxLostLeases: 2 }
  const backOff = { initial_backoff: 5000, max_backoff: 600_000 }
  const test = await makeTestRuntime({ clock, settings: { jobs: { ...jobSettings, attempts: () => 1 } } })
  const { db, runtime } = test
  const jobs = makeJobs({
    db,
    registry: runtime.registry,
    clock,
    logger: silentLogger,
    owner: 'a test',
    settings: () => ({ ...jobSettings, backOff }),
    isPaused: () => false,
  })
  const work = (type: string) => jobs.work(type)
  const switches = { enabled: true, http: true, max_per_user: 2 }
  const config = () =>
    testConfig({
      import: {
        videos: { http: { enabled: switches.http } },
        video_channel_synchronization: {
          enabled: switches.enabled,
          max_per_user: switches.max_per_user,
          videos_limit_per_synchronization: 3,
          full_sync_videos_limit: 5,
        },
      },
    })
  const deps: ActorDeps = {
    db,
    tell: runtime.tell,
    registry: runtime.registry,
    clock,
    logger: silentLogger,
    config,
    urls: makeUrls(TEST_ORIGIN),
    secrets: makeSecrets({ secret: 'a secret for tests' }),
  }
  const users = {
    owner: await makeUser(db),
    other: await makeUser(db),
    moderator: await makeUser(db, { role: 1 }),
  }
  /** The videos of the other site, newest first. */
  const site: { videos: RemoteVideoEntry[]; asked: { url: string; limit: number }[]; away: string | null } = {
    videos: [],
    asked: [],
    away: null,
  }
  /** Refused URLs, with their errors. */
  const refusals = new Map<string, DomainError>()
  /** Called before each import request. */
  const before: { request: () => Promise<void> } = { request: async () => {} }

  const channelSyncs = makeChannelSyncs({
    ...deps,
    async checkQuota(userId, bytes) {
      if (bytes > (await quotaLeft(db, userId))) {
        throw new DomainError('too_large', 'Too much.', { code: 'quota_reached' })
      }
    },
  })
  runChannelSyncs({
    ...deps,
    store: { workFolder: async () => '/nowhere' },
    pendingFiles: { reserve: async () => {}, discard: async () => {} },
    leases: { owner: 'a test' },
    downloads: {
      async listRemoteVideos({ url, limit }) {
        site.asked.push({ url, limit })
        if (site.away) throw new Error(site.away)
        return site.videos.slice(0, limit)
      },
    },
    videoImports: {
      async request(wanted) {
        const targetUrl = 'targetUrl' in wanted ? wanted.targetUrl : ''
        await before.request()
        const refusal = refusals.get(targetUrl)
        if (refusal) throw refusal
        const { userId, channelId, channelSyncId = null, fields } = wanted
        const [row] = await db.query<{ id: number }>(
          `insert into video_import (user_id, channel_id, channel_sync_id, target_url, fields, state, created_at)
           values ($1, $2, $3, $4, $5, 'pending', $6) returning id`,
          [userId, channelId, channelSyncId, targetUrl, JSON.stringify(fields), clock.now()],
        )
        return { importId: row?.id ?? 0, videoId: 0 }
      },
    },
  })
  const app: App = await makeApp({
    config,
    logger: silentLogger,
    publicUrl: TEST_ORIGIN,
    async authenticate(token) {
      const known = Object.values(users).find(({ username }) => username === token)
      if (!known) return null
      const { id, username, accountId, actorId } = known
      const role = known === users.moderator ? 1 : 2
      const user = { id, username, accountId, actorId, role, videoQuota: -1, videoQuotaDaily: -1 } as const
      return { id, user, scopes: null, nsfwPolicy: 'display', mutes: false, language: null }
    },
    areas: [videoChannelSyncsArea({ db, config, urls: deps.urls, channelSyncs })],
    checkResponses: true,
    version: '0.0.0',
  })

  const send = async (by: MadeUser | null, method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => {
    const headers = by ? { authorization: `Bearer ${by.username}` } : {}
    const answer = await app.inject({ method, url: `/api/v1${url}`, headers, ...(payload ? { payload } : {}) })
    return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() }
  }

  return {
    clock,
    db,
    runtime,
    switches,
    users,
    site,
    refusals,
    before,
    channelSyncs,
    send,
    work,

    async make(by: MadeUser = users.owner, url = CHANNEL): Promise<number> {
      const body = { externalChannelUrl: url, videoChannelId: by.channelId }
      return (await send(by, 'POST', '/video-channel-syncs', body)).body.videoChannelSync.id
    },

    /** Runs everything due now: timeouts, then jobs, until nothing is left. */
    async run(): Promise<void> {
      for (let more = true; more; ) {
        await runtime.sweeper.sweep()
        await work('video-channel-import')
        await work('after-video-channel-import')
        more = (await db.query("select 1 from job where state = 'waiting'")).length > 0
      }
    },

    stateOf: async (id: number) => (await db.query<{ state: string }>('select state from channel_sync where id = $1', [id]))[0]?.state,

    imports: async (channelId = users.owner.channelId) =>
      (await db.query<{ url: string }>('select target_url as url from video_import where channel_id = $1 order by id', [channelId])).map(
        ({ url }) => url.split('/').at(-1),
      ),

    /** Ends all pending imports with this result. */
    importsEnd: (state: 'success' | 'failed' | 'cancelled' | 'rejected') =>
      db.query("update video_import set state = $1 where state = 'pending'", [state]),

    async clean(): Promise<void> {
      for (const table of ['video_import', 'channel_sync', 'job', 'outbox']) await db.query(`delete from ${table}`)
      await db.query("update users set state = 'active', video_quota = -1")
      await db.query("update channel set state = 'active'")
      Object.assign(switches, { enabled: true, http: true, max_per_user: 2 })
      Object.assign(site, { videos: [], asked: [], away: null })
      refusals.clear()
      before.request = async () => {}
    },

    async stop(): Promise<void> {
      await app.close()
      await test.stop()
    },
  }
}
