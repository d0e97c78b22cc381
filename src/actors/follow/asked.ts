// Follows that a job still looks up: whom to follow is not known yet.

import type { Sql } from '../../platform/database/index.ts'
import { cancelJobs } from '../runtime/index.ts'

/**
 * Whether one was being looked up; its job sees that nobody wants it any more. `followerId`: null for the instance. Before the
 * follow itself is looked for, which the job may make until it is told.
 */
export async function forgetAsked(query: Sql, asked: { followerId: number | null; hostOrHandle: string }): Promise<boolean> {
  // A job that is cancelled while it asks for the next one has that stored by the time its row is free.
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
