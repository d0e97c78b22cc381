// The runtime's settings, read from the configuration each time, so that overrides take effect at once.

import type { RuntimeSettings } from './actors/runtime/index.ts'
import type { Config } from './config/index.ts'

export const roles = ['web', 'federation', 'media', 'live'] as const
export type Role = (typeof roles)[number]

/** Jobs that the contract does not name. */
const OTHER_JOBS = { attempts: 5, ttl: 3_600_000, concurrency: 2 }

const LOST_LEASES = 25

export function runtimeSettings(config: Config, played: readonly Role[]): RuntimeSettings {
  const { runtime, jobs, federation } = config.vireo
  const federates = played.includes('federation')
  const named = (type: string) => Object.entries(jobs.types).find(([name]) => name === type)?.[1]
  const job = (type: string) => named(type) ?? OTHER_JOBS
  const priorities: Record<string, number> = {
    'video-transcoding': jobs.priorities.transcoding,
    'video-studio-edition': jobs.priorities.video_studio,
    'video-transcription': jobs.priorities.transcription,
  }
  return {
    relayIntervalMs: runtime.relay_interval,
    sweepIntervalMs: runtime.sweep_interval,
    laneLeaseMs: runtime.lane_lease,
    lockTimeoutMs: runtime.lock_timeout,
    jobs: {
      leaseMs: jobs.lease,
      ttlMs: (type) => job(type).ttl,
      concurrency: (type) => job(type).concurrency ?? OTHER_JOBS.concurrency,
      attempts: (type) => job(type).attempts,
      maxLostLeases: LOST_LEASES,
      backOff: jobs,
      priority: (type) => priorities[type] ?? 0,
      ownWorkers: (type) => named(type)?.concurrency ?? 0,
    },
    queueConcurrency: {
      delivery: federates ? federation.delivery.hosts_in_flight : 0,
      inbox: federates ? 10 : 0,
      mail: federates ? 1 : 0,
      io: federates ? 5 : 0,
      cron: federates ? 1 : 0,
      media: played.includes('media') ? 2 : 0,
    },
  }
}
