// Follow-up of a changed public address: torrents that contain it, and follows that other servers do not know.

import type { Follows } from '../follow/index.ts'
import { type ActorDeps, DomainError, eachRow } from '../runtime/index.ts'
import { queueTorrents } from '../video/index.ts'

export type AfterHostChange = ReturnType<typeof makeAfterHostChange>

export function makeAfterHostChange(deps: ActorDeps & { follows: Pick<Follows, 'request'> }) {
  const { db, tell, config, follows } = deps
  const { signal } = new AbortController()
  return {
    /** Queues jobs for the running server; idempotent. */
    async afterHostChange(onProgress: (done: number) => void): Promise<{ videos: number; follows: number }> {
      const done = { videos: 0, follows: 0 }
      await eachRow<{ id: number }>(
        { db, signal, values: [], from: "from video o where not o.remote and o.state <> 'removed'" },
        async ({ id }) => {
          await tell.create(async (unit) => queueTorrents(unit, id, config(), 'update-metadata'))
          done.videos += 1
          onProgress(done.videos)
        },
      )
      await eachRow<{ id: number; followerId: number; targetId: number }>(
        {
          db,
          signal,
          values: [],
          columns: 'o.follower_id as "followerId", o.target_id as "targetId"',
          from: `from follow o join actor a on a.id = o.follower_id join actor t on t.id = o.target_id
            where a.host_id is null and t.host_id is not null and o.state in ('pending', 'accepted')`,
        },
        async ({ followerId, targetId }) => {
          try {
            await follows.request({ followerId, targetId })
            done.follows += 1
          } catch (error) {
            // The target may be blocked here meanwhile.
            if (!(error instanceof DomainError)) throw error
          }
        },
      )
      return done
    },
  }
}
