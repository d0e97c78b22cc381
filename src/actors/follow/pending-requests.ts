// Follow requests whose target a job is still looking up.

import type { Sql } from '../../platform/database/index.ts'
import { cancelJobs } from '../runtime/index.ts'

/**
 * Cancels such a request; its job notices that. `followerId`: null for the instance. Returns false if there was none. Call it before
 * looking for the follow itself, which the job may create until it notices.
 */
export async function cancelPendingRequest(query: Sql, asked: { followerId: number | null; hostOrHandle: string }): Promise<boolean> {
  // A cancelled job that is queueing its next attempt has stored it by the time its row is unlocked.
  let wasAsked = false
  while (await cancel(query, asked)) wasAsked = true
  return wasAsked
}

const cancel = (query: Sql, { followerId, hostOrHandle }: { followerId: number | null; hostOrHandle: string }): Promise<boolean> =>
  cancelJobs(
    query,
    `type = 'activitypub-follow' and (data->>'followerId')::int is not distinct from $1
       and lower(coalesce(data->>'handle', data->>'host')) = lower($2)`,
    [followerId, hostOrHandle],
  )
