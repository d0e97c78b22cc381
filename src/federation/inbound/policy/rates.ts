// Recent activity counts per host, stored like the rate limits of the server: in Redis for all processes, otherwise in the memory of each.
// Only signed activities count, for the host of the signature: nobody can use up the limit of another host.

import type { Config } from '../../../config/index.ts'
import type { LimitStore } from '../../../platform/limit-stores.ts'
import type { ActivityDocument } from '../../wire/index.ts'
import type { Count } from './facts.ts'
import { mayBeComment } from './kinds.ts'

interface Limit {
  reason: Count['reason']
  windowMs: number
  max: (settings: Config['vireo']['federation']['inbox']) => number
  covers: (activity: ActivityDocument) => boolean
}

const MINUTE_MS = 60_000

export const LIMITS: readonly Limit[] = [
  {
    reason: 'too_many_activities',
    windowMs: MINUTE_MS,
    max: ({ activities_per_host }) => activities_per_host,
    covers: () => true,
  },
  {
    reason: 'too_many_comments',
    windowMs: MINUTE_MS,
    max: ({ comments_per_host }) => comments_per_host,
    covers: mayBeComment,
  },
  {
    reason: 'too_many_follows',
    windowMs: MINUTE_MS,
    max: ({ follows_per_host }) => follows_per_host,
    covers: ({ type }) => type === 'Follow',
  },
  {
    reason: 'too_many_announces',
    windowMs: MINUTE_MS,
    max: ({ announces_per_host }) => announces_per_host,
    covers: ({ type }) => type === 'Announce',
  },
  {
    reason: 'too_many_reports',
    windowMs: 60 * MINUTE_MS,
    max: ({ reports_per_host }) => reports_per_host,
    covers: ({ type }) => type === 'Flag',
  },
]

/** Counts one more activity of a host, under each limit that covers it. */
export type CountOf = (host: string, activity: ActivityDocument) => Promise<Count[]>

export function makeCountOf({ store, config }: { store: LimitStore; config: () => Config }): CountOf {
  return async (host, activity) => {
    const settings = config().vireo.federation.inbox
    const covering = LIMITS.filter(({ covers }) => covers(activity))
    return await Promise.all(
      covering.map(async ({ reason, windowMs, max }) => {
        const { current, ttl } = await store.add(`${reason}:${host}`, windowMs)
        return { reason, count: current, max: max(settings), endsInMs: ttl }
      }),
    )
  }
}
